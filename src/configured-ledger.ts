/** The ledger of the store: one process decides, or the rows that several instances share. */
import type { LedgerOptions, OpenedLedger } from './ledger/ledger.ts'
import { openSqliteLedger } from './ledger/sqlite-ledger.ts'
import type { Store } from './store/store.ts'

/** On PostgreSQL nothing expires when an instance opens the ledger, because the owners of holds may be alive. */
export async function openConfiguredLedger(store: Store, options: LedgerOptions): Promise<OpenedLedger> {
  if (store.instance === undefined) return openSqliteLedger(store, options)
  const { openPostgresLedger } = await import('./ledger/postgres-ledger.ts')
  return { ledger: await openPostgresLedger(store, options), expired: 0 }
}
