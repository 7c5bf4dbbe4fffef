import { afterAll } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { statement } from '../store/statement.ts'
import { mustWrite, openStore } from '../store/store.ts'
import { describePeopleContract, type PeopleUnderTest } from './people-contract.ts'
import { openSqliteManagementKeys } from './sqlite-management-keys.ts'
import { openSqliteSavedViews } from './sqlite-saved-views.ts'
import { openSqliteSessions } from './sqlite-sessions.ts'
import { openSqliteUsers } from './sqlite-users.ts'

const insertAccount = statement("INSERT INTO account (id, name, status, created_at) VALUES (?1, ?1, 'active', 0)")
const tables = ['user', 'setup_link', 'session', 'management_key', 'saved_view']

const folders: string[] = []
afterAll(() => folders.forEach((folder) => rmSync(folder, { recursive: true })))

async function openFolder(folder: string): Promise<PeopleUnderTest> {
  const store = await openStore(folder, (message) => {
    throw new Error(message)
  })
  const sessions = await openSqliteSessions(store)
  const text = (_: string, value: unknown): unknown => (typeof value === 'bigint' ? value.toString() : value)
  return {
    users: await openSqliteUsers(store, (userId) => sessions.endAllOf(userId)),
    sessions,
    managementKeys: await openSqliteManagementKeys(store),
    savedViews: openSqliteSavedViews(store),
    addAccount: (id) => mustWrite(store, [{ run: insertAccount, bind: [id] }]),
    async restart() {
      await store.close()
      return openFolder(folder)
    },
    async stored() {
      const rows = await Promise.all(tables.map((table) => store.query(`SELECT * FROM ${table}`)))
      return JSON.stringify(rows, text)
    },
    close: () => store.close(),
  }
}

describePeopleContract('Users, sessions, management keys and saved views on SQLite', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-people-'))
  folders.push(folder)
  return openFolder(folder)
})
