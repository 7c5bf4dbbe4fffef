/** A lock among the instances that share a database. */
import { openClient } from './client.ts'

/** Any number that no other program in the database uses for an advisory lock, and migrations do not use. */
const LOCK = 7_468_655_218
/** A process that was stopped while it started must not keep the others from starting. */
const WAIT_MS = 10_000
const LOCK_NOT_AVAILABLE = '55P03'

/**
 * Lets one process at a time start. The first start makes an account and applies the declaration, and two processes
 * would do so twice. After ten seconds it goes on without the lock. The lock is that of a transaction, so a pooler may
 * stand in between, and it ends with the connection.
 */
export async function startInTurn<T>(url: string, start: () => Promise<T>): Promise<T> {
  const sql = openClient(url, 'start', { max: 1 })
  try {
    await sql.unsafe('BEGIN').simple()
    await sql.unsafe(`SET LOCAL lock_timeout = ${WAIT_MS}`).simple()
    await sql.unsafe(`SELECT pg_advisory_xact_lock(${LOCK})`).catch(async (error: { errno?: string }) => {
      if (error.errno !== LOCK_NOT_AVAILABLE) throw error
      // A pooler has the connection back for those that start meanwhile.
      await sql.unsafe('ROLLBACK').simple()
    })
    return await start()
  } finally {
    await sql.close({ timeout: 0 })
  }
}
