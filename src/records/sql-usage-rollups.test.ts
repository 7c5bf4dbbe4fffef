import { openSqliteLedger } from '../ledger/sqlite-ledger.ts'
import type { PortUnderTest } from '../store/port-contract.ts'
import { onInstances, onPostgres } from '../store/postgres-contract.ts'
import { onSqlite } from '../store/sqlite-contract.ts'
import type { Store } from '../store/store.ts'
import { openSqlRecords } from './sql-records.ts'
import { openSqlUsageRollups } from './sql-usage-rollups.ts'
import {
  describeRollupsOfInstances,
  describeUsageRollupsContract,
  type RollupsUnderTest,
} from './usage-rollups-contract.ts'
import type { UsageRollups } from './usage-rollups.ts'

let serial = 0

async function withRecords(
  under: PortUnderTest<UsageRollups> & { readonly store: Store },
  shard: string | undefined,
): Promise<RollupsUnderTest> {
  const onBroken = (message: string): never => {
    throw new Error(message)
  }
  const { ledger } = await openSqliteLedger(under.store, { instance: 'test', onBroken })
  return {
    ...under,
    records: openSqlRecords(under.store, shard),
    async hold(accountId, createdAtMs) {
      ledger.register(accountId)
      const held = ledger.hold({ id: `req_${serial++}`, accountId, amount: 0n, createdAtMs })
      if (held.kind !== 'held') throw new Error('a hold of nothing is refused')
      await held.durable
      return () => ledger.release(held.hold, [])
    },
  }
}

describeUsageRollupsContract('SQLite', async () => withRecords(await onSqlite(openSqlUsageRollups)(), undefined))
describeUsageRollupsContract('PostgreSQL', async () => withRecords(await onPostgres(openSqlUsageRollups)(), 'shard'))
describeRollupsOfInstances('PostgreSQL', async () => {
  const under = await onInstances(openSqlUsageRollups)()
  const [first, second] = [await withRecords(under.first, 'shard 1'), await withRecords(under.second, 'shard 2')]
  return { ...under, first, second }
})
