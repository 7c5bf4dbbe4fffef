/** The acknowledged results of a workload, and the check that a data folder still has them. */
import { openSqliteLedger } from '../../../src/ledger/sqlite-ledger.ts'
import { verifyLedger } from '../../../src/ledger/verify.ts'
import { openStore } from '../../../src/store/store.ts'

/** One acknowledged event, with the end of the log at that time. */
export type AcknowledgedWrite = {
  readonly kind: 'held' | 'settled' | 'released' | 'booked'
  readonly id: string
  readonly amount: bigint | undefined
  /** Of the log's filling: see workload.ts. */
  readonly salt: string
  readonly frame: number
}

export type AcknowledgedFacts = {
  /** Ids of everything that was begun: nothing else may be in the books. */
  readonly tried: readonly string[]
  readonly acknowledged: readonly AcknowledgedWrite[]
  /** How far it came: to its first round, to its end, or to a stop of its own, as the gateway stops itself. */
  readonly isReady: boolean
  readonly isDone: boolean
  readonly isStopped: boolean
}

/** Reads the lines of a workload. The last one is ignored when it was cut. */
export function readTold(output: string): AcknowledgedFacts {
  const lines = output.slice(0, output.lastIndexOf('\n') + 1).split('\n')
  const acknowledged = lines.flatMap((line): AcknowledgedWrite[] => {
    const match = /^(held|settled|released|booked) (\S+)(?: (\d+))? @(\w+):(\d+)$/.exec(line)
    if (!match) return []
    const [, kind, id = '', amount, salt = '', frame] = match
    const size = amount === undefined ? undefined : BigInt(amount)
    return [{ kind: kind as AcknowledgedWrite['kind'], id, amount: size, salt, frame: Number(frame) }]
  })
  const tried = lines.flatMap((line) => (line.startsWith('try ') ? [line.slice(4)] : []))
  const isStopped = lines.some((line) => line.startsWith('stopped '))
  return { tried, acknowledged, isReady: lines.includes('ready'), isDone: lines.includes('end'), isStopped }
}

const HOLDS = 'SELECT id, state, settled FROM hold'
const BOOKINGS = `SELECT journal.ref, entry.amount FROM journal
  JOIN entry ON entry.journal_id = journal.id AND entry.account_id NOT LIKE 'system:%'`

/** Opens the folder as the next start would and says what is wrong with it: nothing, it should be. */
export async function complaintsOf(folder: string, { tried, acknowledged }: AcknowledgedFacts): Promise<string[]> {
  const stop = (message: string): never => {
    throw new Error(message)
  }
  const store = await openStore(folder, stop)
  try {
    const { ledger } = await openSqliteLedger(store, { instance: 'examiner', onBroken: stop })
    const complaints = (await verifyLedger(store)).map(({ invariant, subject }) => `${invariant}: ${subject}`)
    if (ledger.openHolds() > 0) complaints.push(`${ledger.openHolds()} holds are open`)
    const holds = new Map((await store.query(HOLDS)).map((row) => [String(row['id']), row]))
    const bookings = await store.query(BOOKINGS)
    const amounts = new Map(bookings.map((row) => [String(row['ref']), row['amount'] as bigint]))
    if (amounts.size !== bookings.length) complaints.push('a reference is booked twice')
    for (const { kind, id, amount } of acknowledged) {
      const found = kind === 'booked' ? amounts.get(id) : holds.get(id)?.['state']
      if (kind === 'booked' ? found !== amount : !isKept(kind, String(found))) {
        complaints.push(`${kind} ${id} was acknowledged, found ${String(found)}`)
      }
      if (kind === 'settled' && holds.get(id)?.['settled'] !== amount) complaints.push(`${id} has another amount`)
    }
    const known = new Set(tried)
    const strangers = [...holds.keys(), ...amounts.keys()].filter((id) => !known.has(id))
    if (strangers.length > 0) complaints.push(`nobody asked for ${strangers.join(', ')}`)
    return complaints
  } finally {
    await store.close()
  }
}

/** A hold that was held may have ended since; its end may be what the crash swallowed, or what was not acknowledged. */
function isKept(kind: AcknowledgedWrite['kind'], state: string): boolean {
  return kind === 'held' ? ['settled', 'released', 'expired'].includes(state) : state === kind
}
