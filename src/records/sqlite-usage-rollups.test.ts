import { openSqliteLedger } from '../ledger/sqlite-ledger.ts'
import { onPostgres } from '../store/postgres-contract.ts'
import { onSqlite } from '../store/sqlite-contract.ts'
import { openSqliteRecords } from './sqlite-records.ts'
import { openSqliteUsageRollups } from './sqlite-usage-rollups.ts'
import { describeUsageRollupsContract } from './usage-rollups-contract.ts'

let serial = 0

for (const [name, on, shard] of [
  ['SQLite', onSqlite, undefined],
  ['PostgreSQL', onPostgres, 'shard'],
] as const) {
  describeUsageRollupsContract(name, async () => {
    const under = await on(openSqliteUsageRollups)()
    const onBroken = (message: string): never => {
      throw new Error(message)
    }
    const { ledger } = await openSqliteLedger(under.store, { owner: 'test', onBroken })
    return {
      ...under,
      records: openSqliteRecords(under.store, shard),
      async hold(accountId, createdAtMs) {
        ledger.register(accountId)
        const held = ledger.hold({ id: `req_${serial++}`, accountId, amount: 0n, createdAtMs })
        if (held.kind !== 'held') throw new Error('a hold of nothing is refused')
        await held.durable
        return () => ledger.release(held.hold, [])
      },
    }
  })
}
