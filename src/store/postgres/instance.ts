/**
 * The row of this instance. Each batch writes its number there, in its own transaction. The row has four uses:
 * - Outcome: after a lost answer, the number says whether the batch was committed.
 * - Fence: an instance that was declared dead can commit nothing.
 * - Sign of life: other instances see that the row changes.
 * - Loss detector: a number below the last confirmed one shows that the database lost confirmed writes.
 */
import { must } from './must.ts'

const LIVES = "state IN ('alive', 'draining')"

export const REGISTER = 'INSERT INTO instance (id, version, process) VALUES ($1, $2, $3)'

/** A process may stop in the middle of a batch, as on a machine that is paused. Its rows must not stay locked. */
const IDLE_TRANSACTION_MS = 5_000

/**
 * Changes no row unless the last committed batch of this instance is `$3`, and this instance was not declared dead. The
 * new number is `$2`.
 */
export const FENCE_CHANGE = `UPDATE instance SET batch = $2, beat = clock_timestamp()
  WHERE id = $1 AND batch = $3 AND ${LIVES}`

/**
 * Settings of the transaction of a batch. Its commit does not wait for the flush of the log, as the barrier behind it
 * does. They are set with the fence, because a pooler would refuse them at the start of a connection.
 */
export const BATCH_SETTINGS = `set_config('synchronous_commit', 'off', true),
  set_config('idle_in_transaction_session_timeout', '${IDLE_TRANSACTION_MS}', true)`

/** The fence as a query of its own. It fails if it changes no row. */
export const FENCE = must(FENCE_CHANGE, 1, { also: BATCH_SETTINGS })

/**
 * A synchronous commit after a batch. Commits become durable in their order, so once this one is, the batch is too. It
 * changes no row if this instance was declared dead.
 */
export const BARRIER = `UPDATE instance SET beat = clock_timestamp() WHERE id = $1 AND ${LIVES}`

export const LAST_BATCH = 'SELECT batch, state FROM instance WHERE id = $1'

/** The instance ends. If it has left holds open, the others find it dead and expire them. */
export const RETIRE = `UPDATE instance SET state = 'gone' WHERE id = $1 AND ${LIVES}
  AND NOT EXISTS (SELECT 1 FROM hold WHERE owner = $1 AND state = 'open')`
