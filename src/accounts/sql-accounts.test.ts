import { expect, test } from 'bun:test'
import { noChanges, type ChangeLog } from '../store/change-log.ts'
import { makePostgresDatabase } from '../store/postgres-contract.ts'
import type { DatabaseUnderTest } from '../store/port-contract.ts'
import { makeSqliteDatabase } from '../store/sqlite-contract.ts'
import type { Store } from '../store/store.ts'
import { createAccount, describeAccountsContract, type AccountsUnderTest } from './accounts-contract.ts'
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

test('a key whose account is not in memory yet is awaited: another instance has made both', async () => {
  const database = makeSqliteDatabase()
  const store = await database.open()
  const options: AccountsOptions = { pepper: new Uint8Array(32), onBarred: () => undefined, hasRights: () => true }
  const first = await openSqlAccounts(store, options)
  const { id } = await createAccount(first, { name: 'a' })
  const { secret } = await first.createKey({ accountId: id, name: 'k' })
  // The rows of keys arrive before those of accounts.
  const { promise: sent, resolve: sendAccounts } = Promise.withResolvers<void>()
  let accountsCome = sent
  const changes: ChangeLog = {
    ...noChanges,
    isShared: true,
    watch: async (watcher) => {
      if (watcher.kind === 'account') accountsCome = sent.then(() => watcher.load())
      else await watcher.load()
    },
    catchUp: () => accountsCome,
  }
  const other = await openSqlAccounts(Object.assign(Object.create(store), { changes }) as Store, options)
  expect(other.authenticate(secret)).toBeUndefined()
  expect(other.awaitKey(secret)).toBe(accountsCome)
  sendAccounts()
  await accountsCome
  expect(other.authenticate(secret)).toMatchObject({ account: { id } })
  expect(other.awaitKey(secret)).toBeUndefined()
  await store.close()
  await database.remove()
})
