/** What a failed query means for the transaction that it belongs to. */
import type { DatabaseError } from './client.ts'

/**
 * - `refused`: the rows of this transaction break a rule. Another try would fail too.
 * - `lost`: the connection broke, or the server ends or no longer takes writes. Nobody knows what was committed.
 * - `again`: nothing was written, and another try may succeed: a deadlock, a full disk, a cancelled query.
 * - `fault`: a mistake in this program or in the schema.
 */
export type QueryFailure = 'refused' | 'lost' | 'again' | 'fault'

/** By the class of PostgreSQL's code, or by the code. */
const KINDS: readonly (readonly [RegExp, QueryFailure])[] = [
  // Numbers of changes that were not met (see `must`), other values out of range, constraints, triggers that refuse.
  [/^(?:21|22|23|P0001)/, 'refused'],
  // Connections, the end of the server, a transaction that was idle, and a server that has become a standby.
  [/^(?:08|57P0|25P03|25006)/, 'lost'],
  // Deadlocks, full disks and memory, locks, cancelled queries, errors of the operating system.
  [/^(?:40|53|55|57|58)/, 'again'],
]

export function queryFailureOf({ code = '', errno }: DatabaseError): QueryFailure {
  if (errno === undefined) return /^ERR_POSTGRES_(?:CONNECTION|LIFETIME|IDLE)/.test(code) ? 'lost' : 'fault'
  return KINDS.find(([pattern]) => pattern.test(errno))?.[1] ?? 'fault'
}

/** A condition of `must` that was not met. */
export const isUnmet = ({ errno }: DatabaseError): boolean => errno === '22012'
