/** Users with their sessions, and management keys. When a user is barred, all sessions of the user end. */
import type { Store } from '../store/store.ts'
import type { ManagementKeys } from './management-keys.ts'
import type { Sessions } from './sessions.ts'
import { openSqliteManagementKeys } from './sqlite-management-keys.ts'
import { openSqliteSessions } from './sqlite-sessions.ts'
import { openSqliteUsers } from './sqlite-users.ts'
import type { Users } from './users.ts'

type People = { readonly users: Users; readonly sessions: Sessions; readonly managementKeys: ManagementKeys }

/** Opens the ports. Loads all of them. */
export async function openSqlitePeople(store: Store): Promise<People> {
  const sessions = await openSqliteSessions(store)
  const users = await openSqliteUsers(store, (userId, write) => sessions.endAllOf(userId, write))
  return { users, sessions, managementKeys: await openSqliteManagementKeys(store) }
}
