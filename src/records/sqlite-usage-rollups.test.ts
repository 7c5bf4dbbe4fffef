import { openSqliteLedger } from '../ledger/sqlite-ledger.ts'
import { onSqlite } from '../store/sqlite-contract.ts'
import { openSqliteRecords } from './sqlite-records.ts'
import { openSqliteUsageRollups } from './sqlite-usage-rollups.ts'
import { describeUsageRollupsContract } from './usage-rollups-contract.ts'

const open = onSqlite(openSqliteUsageRollups)
let serial = 0

describeUsageRollupsContract('SQLite', async () => {
  const under = await open()
  const onBroken = (message: string): never => {
    throw new Error(message)
  }
  const { ledger } = await openSqliteLedger(under.store, { owner: 'test', onBroken })
  return {
    ...under,
    records: openSqliteRecords(under.store),
    async hold(accountId, createdAtMs) {
      ledger.register(accountId)
      const held = ledger.hold({ id: `req_${serial++}`, accountId, amount: 0n, createdAtMs })
      if (held.kind !== 'held') throw new Error('a hold of nothing is refused')
      await held.durable
      return () => ledger.release(held.hold, [])
    },
  }
})
