/** Pairs of a hold and its settlement on one account, with the record that a request writes. */
import type { Ledger } from '../src/ledger/ledger.ts'
import type { Records, RequestRecord } from '../src/records/records.ts'
import { statement, type WriteStep } from '../src/store/statement.ts'

export const ACCOUNT = 'bench'
const COST = 25_000n
const HOLD = 60_000n
const insertAccount = statement("INSERT INTO account (id, name, status, created_at) VALUES (?1, ?1, 'active', 0)")

/** Makes the account. */
export const accountStep: WriteStep = { run: insertAccount, bind: [ACCOUNT] }

const template: Omit<RequestRecord, 'id'> = {
  accountId: ACCOUNT,
  keyId: 'key_bench',
  endpoint: '/v1/chat/completions',
  model: 'bench-model',
  stream: true,
  status: 200,
  outcome: 'completed',
  errorCode: undefined,
  offerId: 'bench-offer',
  providerId: 'bench',
  upstreamModel: 'bench-model',
  usage: { inputFresh: 500, inputCached: 0, cacheWrite5m: 0, cacheWrite1h: 0, outputText: 200, outputReasoning: 0 },
  usageSource: 'reported',
  priceCardId: 1,
  costCardId: 1,
  held: HOLD,
  charged: COST,
  writtenOff: 0n,
  upstreamCost: 10_000n,
  attempts: [
    {
      offerId: 'bench-offer',
      providerId: 'bench',
      upstreamModel: 'bench-model',
      result: 'ok',
      startedMs: 1,
      tookMs: 2,
    },
  ],
  createdAtMs: Date.now(),
  firstEventMs: 1,
  totalMs: 3,
}

let serial = 0
/** Ids ascend in one process, and are unique among several. */
const nextId = (): string => `req_${String(serial++).padStart(20, '0')}_${process.pid}`

/** The number of holds made so far. */
export const holdsMade = (): number => serial

export type PairTimes = { readonly hold: number[]; readonly pair: number[] }

export type Books = { readonly ledger: Ledger; readonly records: Records }

/** One client: hold, wait until it is durable, settle, wait again. */
export async function drive(
  { ledger, records }: Books,
  { untilMs, written }: { readonly untilMs: number; readonly written: 'now' | 'soon' },
  times: PairTimes,
): Promise<void> {
  while (performance.now() < untilMs) {
    const startedMs = performance.now()
    const id = nextId()
    const held = ledger.hold({ id, accountId: ACCOUNT, amount: HOLD, written })
    if (held.kind !== 'held') throw new Error("the bench's account has no money left")
    if (written === 'now') {
      await held.durable
      times.hold.push(performance.now() - startedMs)
    }
    await ledger.settle(held.hold, { cost: COST, priceCardId: 1 }, () => records.steps({ ...template, id }))
    times.pair.push(performance.now() - startedMs)
  }
}
