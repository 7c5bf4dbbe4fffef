/** The end of an instance that has died: its open holds expire in the customer's favour. */
import type { SilentInstance } from '../store/postgres/silence-watch.ts'
import { statement, type WriteStep } from '../store/statement.ts'
import type { Store } from '../store/store.ts'
import { resolveHold } from './steps.ts'

/** Refused if the instance gave a sign of life meanwhile. Afterwards it commits nothing. */
const declareDead = statement(
  `UPDATE instance SET state = 'dead'
   WHERE id = ?1 AND beat = CAST(?2 AS timestamptz) AND state IN ('alive', 'draining')`,
)
/** Accounts are locked in the order in which every batch locks them. */
const returnFunds = statement(
  `UPDATE account SET held = account.held - open.amount
   FROM (SELECT id FROM account WHERE id IN (SELECT account_id FROM hold WHERE owner = ?1 AND state = 'open')
       ORDER BY id FOR NO KEY UPDATE) AS locked
     JOIN (SELECT account_id, CAST(sum(amount) AS bigint) AS amount FROM hold WHERE owner = ?1 AND state = 'open'
       GROUP BY account_id) AS open ON open.account_id = locked.id
   WHERE account.id = locked.id`,
)
const SELECT_HOLDS = "SELECT id FROM hold WHERE owner = ? AND state = 'open'"

/** Further steps of the transaction in which holds expire. */
export type ExpirySteps = {
  /** For the whole instance, before its holds are resolved. */
  readonly ofInstance?: (id: string) => readonly WriteStep[]
  /** For each hold. */
  readonly ofHold?: (holdId: string) => readonly WriteStep[]
}

const NONE = (): readonly WriteStep[] => []

/**
 * Declares an instance dead and expires its holds, in one transaction. Returns their number, or undefined if it lives
 * or another instance was faster.
 */
export async function expireHoldsOf(
  store: Store,
  { id, beat }: SilentInstance,
  { ofInstance = NONE, ofHold = NONE }: ExpirySteps = {},
): Promise<number | undefined> {
  // Every batch changes the beat, so these are all of them if the beat is still the same.
  const holds = (await store.query(SELECT_HOLDS, [id])).map((row) => row['id'] as string)
  const nowMs = Date.now()
  const outcome = await store.write(
    [
      { run: declareDead, bind: [id, beat], changes: 1 },
      { run: returnFunds, bind: [id] },
      ...ofInstance(id),
      ...holds.map((holdId) => ({ run: resolveHold, bind: [holdId, 'expired', nowMs], changes: 1 })),
      ...holds.flatMap(ofHold),
    ],
    'alone',
  )
  if (outcome.kind === 'written') return holds.length
  if (outcome.step === 0) return undefined
  throw new Error(`the holds of a dead instance cannot expire: step ${outcome.step}: ${outcome.reason}`)
}
