import { makePostgresDatabase } from '../store/postgres-contract.ts'
import type { DatabaseUnderTest } from '../store/port-contract.ts'
import { insertAccount, makeSqliteDatabase } from '../store/sqlite-contract.ts'
import { mustWrite } from '../store/store.ts'
import { describePeopleContract, type PeopleUnderTest } from './people-contract.ts'
import { openSqliteManagementKeys } from './sqlite-management-keys.ts'
import { openSqliteSavedViews } from './sqlite-saved-views.ts'
import { openSqliteSessions } from './sqlite-sessions.ts'
import { openSqliteUsers } from './sqlite-users.ts'

const tables = ['"user"', 'setup_link', 'session', 'management_key', 'saved_view']

async function openOn(database: DatabaseUnderTest): Promise<PeopleUnderTest> {
  const store = await database.open()
  const sessions = await openSqliteSessions(store)
  const text = (_: string, value: unknown): unknown => (typeof value === 'bigint' ? value.toString() : value)
  return {
    users: await openSqliteUsers(store, (userId, write) => sessions.endAllOf(userId, write)),
    sessions,
    managementKeys: await openSqliteManagementKeys(store),
    savedViews: openSqliteSavedViews(store),
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
