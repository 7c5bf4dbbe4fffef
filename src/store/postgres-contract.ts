/** Runs contract suites on PostgreSQL. Each port gets its own database, which is deleted with it. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openTestPostgres } from '../../test/support/postgres.ts'
import type { DatabaseUnderTest, InstancesUnderTest, PortUnderTest } from './port-contract.ts'
import { openClient } from './postgres/client.ts'
import { openPostgresStore } from './postgres/store.ts'
import { insertAccount } from './sqlite-contract.ts'
import { mustWrite, type Store } from './store.ts'

const onFatal = (message: string): never => {
  throw new Error(message)
}

/** A database that several stores may have open at once. */
export type SharedDatabase = DatabaseUnderTest & {
  /** From now on nothing is notified, as behind a pooler. Instances hear of changes by polling alone. */
  silence(): Promise<void>
  /** Connections that are opened from now on join by nested loops alone, as the planner may choose to. */
  nestLoops(): Promise<void>
}

const OTHER_PLANS = ['hashagg', 'hashjoin', 'mergejoin', 'sort', 'indexscan', 'bitmapscan', 'material']

/** Makes a database of PostgreSQL that has no rows. */
export async function makePostgresDatabase(): Promise<SharedDatabase> {
  const database = await openTestPostgres('schema')
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-contract-'))
  return {
    open: () => openPostgresStore(database.url, { folder, onFatal }),
    async silence() {
      const client = openClient(database.url, 'test', { max: 1 })
      await client.unsafe('DROP TRIGGER change_is_told ON change')
      await client.close()
    },
    async nestLoops() {
      const client = openClient(database.url, 'test', { max: 1 })
      const name = new URL(database.url).pathname.slice(1)
      for (const plan of OTHER_PLANS) await client.unsafe(`ALTER DATABASE ${name} SET enable_${plan} = off`)
      await client.close()
    },
    async remove() {
      await database.close()
      rmSync(folder, { recursive: true })
    },
  }
}

type PostgresPort<Port> = PortUnderTest<Port> & { readonly store: Store }

async function openOn<Port>(
  database: DatabaseUnderTest,
  openPort: (store: Store) => Port | Promise<Port>,
): Promise<PostgresPort<Port>> {
  const store = await database.open()
  return {
    port: await openPort(store),
    store,
    async addAccount(id) {
      await mustWrite(store, [{ run: insertAccount, bind: [id, Date.now()], changes: 1 }])
    },
    write: (steps) => store.write(steps),
    reopen: async () => openPort(store),
    close: () => store.close(),
  }
}

/** Opens a port of PostgreSQL for a contract suite. */
export const onPostgres =
  <Port>(openPort: (store: Store) => Port | Promise<Port>) =>
  async (): Promise<PostgresPort<Port>> => {
    const database = await makePostgresDatabase()
    const under = await openOn(database, openPort)
    return {
      ...under,
      async close() {
        await under.close()
        await database.remove()
      },
    }
  }

/** Opens a port on two instances that share a database of PostgreSQL. */
export const onInstances =
  <Port>(openPort: (store: Store) => Port | Promise<Port>) =>
  async (): Promise<InstancesUnderTest<PostgresPort<Port>>> => {
    const database = await makePostgresDatabase()
    const [first, second] = [await openOn(database, openPort), await openOn(database, openPort)]
    return {
      first,
      second,
      async close() {
        await Promise.all([first.close(), second.close()])
        await database.remove()
      },
    }
  }
