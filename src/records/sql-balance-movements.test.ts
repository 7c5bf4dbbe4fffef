import { openSqliteLedger } from '../ledger/sqlite-ledger.ts'
import { onPostgres } from '../store/postgres-contract.ts'
import { onSqlite } from '../store/sqlite-contract.ts'
import type { Store } from '../store/store.ts'
import { describeMovementQueriesContract } from './balance-movements-contract.ts'
import type { MovementQueries } from './balance-movements.ts'
import { openSqlMovementQueries } from './sql-balance-movements.ts'
import { openSqlRecords } from './sql-records.ts'
import { openSqlUsageRollups } from './sql-usage-rollups.ts'

const openPort = async (store: Store): Promise<MovementQueries> =>
  openSqlMovementQueries(store, await openSqlUsageRollups(store))

for (const [name, on, shard] of [
  ['SQLite', onSqlite, undefined],
  ['PostgreSQL', onPostgres, 'shard'],
] as const) {
  describeMovementQueriesContract(name, async (accounts) => {
    const under = await on(openPort)()
    const onBroken = (message: string): never => {
      throw new Error(message)
    }
    for (const id of accounts) await under.addAccount(id)
    const { ledger } = await openSqliteLedger(under.store, { instance: 'test', onBroken })
    return { ...under, ledger, records: openSqlRecords(under.store, shard) }
  })
}
