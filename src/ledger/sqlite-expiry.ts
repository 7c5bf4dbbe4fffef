/** The expiry of holds whose process is gone. */
import { mustWrite, type Store } from '../store/store.ts'
import type { LedgerOptions } from './ledger.ts'
import { moveFunds, resolveHold } from './steps.ts'

/** The owner of a hold that lives as long as its task, beyond any process. */
export const TASK_OWNER = 'task'

/** Expires the open holds of a former process. Returns their number. */
export async function expireOrphans(store: Store, also: LedgerOptions['alsoOnExpiry']): Promise<number> {
  const sql = "SELECT id, account_id, amount FROM hold WHERE state = 'open' AND owner <> ?"
  const orphans = await store.query(sql, [TASK_OWNER])
  for (const { id, account_id: accountId, amount } of orphans) {
    await mustWrite(store, [
      { run: resolveHold, bind: [id as string, 'expired', Date.now()], changes: 1 },
      { run: moveFunds, bind: [0n, amount as bigint, accountId as string], changes: 1 },
      ...(also?.(id as string) ?? []),
    ])
  }
  return orphans.length
}
