/**
 * Runs a batch with a savepoint for each transaction, so that one can fail alone. This is slower. Several transactions
 * are sent at once. When one fails, the server refuses those behind it, and they are sent again.
 */
import type { WriteOutcome, WriteStep } from '../statement.ts'
import type { PendingWrite } from '../write-queue.ts'
import { queryOf } from './batch.ts'
import type { DatabaseError } from './client.ts'
import type { WriterConnection } from './connection.ts'
import { violationOf } from './constraints.ts'
import { returnedRow } from './outcomes.ts'
import { isUnmet, queryFailureOf } from './query-failure.ts'

/** The most transactions that are sent at once. After one that fails there are fewer, because others may fail too. */
const SENT_MAX = 32

/** Runs a batch in an open transaction. Resolves to the outcomes that are more than plainly written. */
export async function runApart(
  connection: WriterConnection,
  batch: readonly PendingWrite[],
): Promise<Map<number, WriteOutcome>> {
  const ended = new Map<number, WriteOutcome>()
  for (let at = 0, count = SENT_MAX; at < batch.length;) {
    const sent = batch.slice(at, at + count).map((tx) => send(connection, tx))
    const outcomes = await Promise.all(sent)
    const failed = outcomes.findIndex((outcome) => outcome?.kind === 'refused')
    for (const [i, outcome] of outcomes.entries())
      if (outcome && !(failed >= 0 && i > failed)) ended.set(at + i, outcome)
    if (failed < 0) {
      at += sent.length
      count = Math.min(2 * count, SENT_MAX)
    } else {
      await connection.runSimple('ROLLBACK TO tx; RELEASE tx')
      at += failed + 1
      count = Math.ceil(count / 4)
    }
  }
  return ended
}

/** Sends one transaction. Resolves to undefined if it is plainly written. Rejects for an error of the whole batch. */
async function send(connection: WriterConnection, { steps }: PendingWrite): Promise<WriteOutcome | undefined> {
  const results = await Promise.allSettled([
    connection.command('SAVEPOINT'),
    ...steps.map((step) => {
      const { text, bind } = queryOf(step)
      return connection.run(text, bind)
    }),
    connection.command('RELEASE'),
  ])
  const failed = results.findIndex(({ status }) => status === 'rejected')
  if (failed < 0) return returned(steps, results)
  const error = (results[failed] as PromiseRejectedResult).reason as Error & DatabaseError
  // The transaction before it has failed.
  if (error.errno === FAILED_TRANSACTION) return { kind: 'refused', step: -1, reason: error.message }
  if (queryFailureOf(error) !== 'refused') throw error
  const step = failed - 1
  if (isUnmet(error)) return { kind: 'refused', step, reason: `did not change ${steps[step]?.changes} rows` }
  return { kind: 'refused', step: -1, reason: error.message, violation: violationOf(error) }
}

function returned(
  steps: readonly WriteStep[],
  results: readonly PromiseSettledResult<readonly unknown[]>[],
): WriteOutcome | undefined {
  const rows = steps.flatMap((step, i) => {
    const result = results[i + 1]
    const columns = step.run.returns
    const row = columns && result?.status === 'fulfilled' ? returnedRow({ columns }, result.value) : undefined
    return row ? [row] : []
  })
  return rows.length === 0 ? undefined : { kind: 'written', rows }
}

const FAILED_TRANSACTION = '25P02'
