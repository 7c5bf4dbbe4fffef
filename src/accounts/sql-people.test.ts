import { makePostgresDatabase } from '../store/postgres-contract.ts'
import type { DatabaseUnderTest } from '../store/port-contract.ts'
import { insertAccount, makeSqliteDatabase } from '../store/sqlite-contract.ts'
import { mustWrite, type Store } from '../store/store.ts'
import { describePeopleContract, type PeopleUnderTest } from './people-contract.ts'
import { describeSharedPeopleContract } from './shared-people-contract.ts'
import { openSqlPeople } from './sql-people.ts'
import { openSqlSavedViews } from './sql-saved-views.ts'

const tables = ['"user"', 'setup_link', 'session', 'management_key', 'saved_view']

async function openOn(database: DatabaseUnderTest): Promise<PeopleUnderTest> {
  const store = await database.open()
  const text = (_: string, value: unknown): unknown => (typeof value === 'bigint' ? value.toString() : value)
  return {
    ...(await openSqlPeople(store)),
    savedViews: openSqlSavedViews(store),
    addAccount: (id) => mustWrite(store, [{ run: insertAccount, bind: [id, 0] }]),
    write: (steps) => mustWrite(store, steps),
    async restart() {
      await store.close()
      return openOn(database)
    },
    async stored() {
      const rows = await Promise.all(tables.map((table) => store.query(`SELECT * FROM ${table}`)))
      return JSON.stringify(rows, text)
    },
    async close() {
      await store.close()
      await database.remove()
    },
  }
}

const ports = 'Users, sessions, management keys and saved views'
describePeopleContract(`${ports} on SQLite`, () => openOn(makeSqliteDatabase()))
describePeopleContract(`${ports} on PostgreSQL`, async () => openOn(await makePostgresDatabase()))

describeSharedPeopleContract('users, sessions and management keys on PostgreSQL', async () => {
  const database = await makePostgresDatabase()
  const stores: Store[] = []
  return {
    async openInstance() {
      const store = await database.open()
      stores.push(store)
      return { ...(await openSqlPeople(store)), catchUp: async () => store.changes.catchUp() }
    },
    async addAccount(id) {
      for (const store of stores.slice(0, 1)) await mustWrite(store, [{ run: insertAccount, bind: [id, 0] }])
    },
    silence: () => database.silence(),
    async close() {
      await Promise.all(stores.map((store) => store.close()))
      await database.remove()
    },
  }
})
