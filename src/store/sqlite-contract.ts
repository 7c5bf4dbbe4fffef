/** Runs contract suites on SQLite. Each port gets its own data folder, which is deleted with it. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DatabaseUnderTest, PortUnderTest } from './port-contract.ts'
import { statement } from './statement.ts'
import { mustWrite, openStore, type Store } from './store.ts'

export const insertAccount = statement(
  "INSERT INTO account (id, name, status, created_at) VALUES (?1, ?1, 'active', ?2)",
)

const onFatal = (message: string): never => {
  throw new Error(message)
}

/** Makes an empty database of SQLite, in a folder of its own. */
export function makeSqliteDatabase(): DatabaseUnderTest {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-contract-'))
  return {
    open: () => openStore(folder, onFatal),
    async remove() {
      rmSync(folder, { recursive: true })
    },
  }
}

/** Opens a port of SQLite for a contract suite. */
export const onSqlite =
  <Port>(openPort: (store: Store) => Port | Promise<Port>) =>
  async (): Promise<PortUnderTest<Port> & { readonly store: Store }> => {
    const database = makeSqliteDatabase()
    const store = await database.open()
    return {
      port: await openPort(store),
      store,
      async addAccount(id) {
        await mustWrite(store, [{ run: insertAccount, bind: [id, Date.now()], changes: 1 }])
      },
      write: (steps) => store.write(steps),
      reopen: async () => openPort(store),
      async close() {
        await store.close()
        await database.remove()
      },
    }
  }
