import { makePostgresDatabase } from '../store/postgres-contract.ts'
import type { DatabaseUnderTest } from '../store/port-contract.ts'
import { makeSqliteDatabase } from '../store/sqlite-contract.ts'
import type { Store } from '../store/store.ts'
import { describeAccountsContract, type AccountsUnderTest } from './accounts-contract.ts'
import type { AccountsOptions } from './accounts.ts'
import { describeSharedAccountsContract } from './shared-accounts-contract.ts'
import { openSqlAccounts } from './sql-accounts.ts'

async function openOn(database: DatabaseUnderTest, options: AccountsOptions): Promise<AccountsUnderTest> {
  const store = await database.open()
  const text = (_: string, value: unknown): unknown => {
    if (typeof value === 'bigint') return value.toString()
    return value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : value
  }
  return {
    accounts: await openSqlAccounts(store, options),
    async restart(next) {
      await store.close()
      return openOn(database, next)
    },
    stored: async () => JSON.stringify([await store.query('SELECT * FROM api_key')], text),
    async close() {
      await store.close()
      await database.remove()
    },
  }
}

describeAccountsContract('SqlAccounts on SQLite', (options) => openOn(makeSqliteDatabase(), options))
describeAccountsContract('SqlAccounts on PostgreSQL', async (options) => openOn(await makePostgresDatabase(), options))

describeSharedAccountsContract('SqlAccounts on PostgreSQL', async () => {
  const database = await makePostgresDatabase()
  const stores: Store[] = []
  return {
    async openInstance(options) {
      const store = await database.open()
      stores.push(store)
      return {
        accounts: await openSqlAccounts(store, options),
        catchUp: async () => store.changes.catchUp(),
      }
    },
    silence: () => database.silence(),
    async close() {
      await Promise.all(stores.map((store) => store.close()))
      await database.remove()
    },
  }
})
