/** Users with their sessions, and management keys. When a user is barred, all sessions of the user end. */
import type { Store } from '../store/store.ts'
import type { ManagementKeys } from './management-keys.ts'
import type { Sessions } from './sessions.ts'
import { openSqlManagementKeys } from './sql-management-keys.ts'
import { openSqlSessions } from './sql-sessions.ts'
import { openSqlUsers } from './sql-users.ts'
import type { Users } from './users.ts'

type People = { readonly users: Users; readonly sessions: Sessions; readonly managementKeys: ManagementKeys }

/** Opens the ports. Loads all of them. */
export async function openSqlPeople(store: Store): Promise<People> {
  const sessions = await openSqlSessions(store)
  const users = await openSqlUsers(store, (userId, write) => sessions.endAllOf(userId, write))
  return { users, sessions, managementKeys: await openSqlManagementKeys(store) }
}
