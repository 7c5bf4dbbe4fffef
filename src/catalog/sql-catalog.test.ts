import { makePostgresDatabase } from '../store/postgres-contract.ts'
import type { DatabaseUnderTest } from '../store/port-contract.ts'
import { makeSqliteDatabase } from '../store/sqlite-contract.ts'
import { expect } from 'bun:test'
import { insertAccount } from '../accounts/account-rows.ts'
import { mustWrite, type Store } from '../store/store.ts'
import { describeCatalogContract, type CatalogUnderTest } from './catalog-contract.ts'
import type { CatalogOptions } from './catalog.ts'
import { describeSharedCatalogContract } from './shared-catalog-contract.ts'
import { openSqlCatalog } from './sql-catalog.ts'

/** An account with this id. Instances that set a price of it lock its row. */
const addAccount = (store: Store, id: string): Promise<void> =>
  mustWrite(store, [{ run: insertAccount, bind: [id, id, 'active', null, '{}', 0, 0] }])

async function openOn(database: DatabaseUnderTest, options: CatalogOptions): Promise<CatalogUnderTest> {
  const store = await database.open()
  const text = (_: string, value: unknown): unknown => {
    if (typeof value === 'bigint') return value.toString()
    return value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : value
  }
  return {
    catalog: await openSqlCatalog(store, options),
    async restart(next) {
      await store.close()
      return openOn(database, next)
    },
    addAccount: (id) => addAccount(store, id),
    stored: async () => JSON.stringify(await store.query('SELECT * FROM provider'), text),
    async close() {
      await store.close()
      await database.remove()
    },
  }
}

describeCatalogContract('SqlCatalog on SQLite', (options) => openOn(makeSqliteDatabase(), options))
describeCatalogContract('SqlCatalog on PostgreSQL', async (options) => openOn(await makePostgresDatabase(), options))

describeSharedCatalogContract('SqlCatalog on PostgreSQL', async () => {
  const database = await makePostgresDatabase()
  const stores: Store[] = []
  return {
    async openInstance(options) {
      const store = await database.open()
      stores.push(store)
      return { catalog: await openSqlCatalog(store, options), catchUp: async () => store.changes.catchUp() }
    },
    addAccount: (id) => addAccount(stores[0] ?? expect.unreachable(), id),
    async close() {
      await Promise.all(stores.map((store) => store.close()))
      await database.remove()
    },
  }
})
