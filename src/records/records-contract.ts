/** The contract of `Records` as tests for any store. The suite uses only the port. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Usage } from '../domain/usage.ts'
import { timeOrderedId } from '../lib/primitives/ids.ts'
import { Dice, written, type PortUnderTest } from '../store/port-contract.ts'
import { storedForm } from './record-row.ts'
import type { AttemptNote, Outcome, RecordFilter, Records, RequestRecord, StoredRecord } from './records.ts'
import { fits } from './search.ts'
import { HOUR_MS } from '../lib/primitives/units.ts'

const SEED = 20_251
const RECORDS = 400

const NO_USAGE: Usage = {
  inputFresh: 0,
  inputCached: 0,
  cacheWrite5m: 0,
  cacheWrite1h: 0,
  outputText: 0,
  outputReasoning: 0,
}

function randomUsage(dice: Dice): Usage {
  if (dice.once(8)) return NO_USAGE
  const count = (): number => dice.pick(0, 1, dice.below(1_000_000))
  const text = { ...NO_USAGE, inputFresh: count(), inputCached: count(), outputText: count(), outputReasoning: count() }
  if (dice.once(2)) return text
  const unit = dice.pick('piece:image/1024x1024', 'piece:second/720p', 'piece:other')
  const rare = { cacheWrite5m: count(), cacheWrite1h: count(), inputImage: count(), outputImage: count() }
  return { ...text, ...rare, ...(dice.once(2) ? { pieces: [{ unit, count: count() }] } : {}) }
}

/** A random record like those of real requests. Its request arrived at `atMs`. */
export function randomRecord(dice: Dice, atMs: number): RequestRecord {
  const names = { offerId: dice.pick('o1', 'o2'), providerId: dice.pick('p1', 'p2'), upstreamModel: 'upstream' }
  const served = dice.once(6) ? { offerId: undefined, providerId: undefined, upstreamModel: undefined } : names
  const ok: AttemptNote = { ...names, result: 'ok', requestId: 'abc', startedMs: 1, tookMs: 2 }
  const failed: AttemptNote = { ...ok, offerId: 'o3', result: 'rate', status: 429, message: 'say "no"\u0000\u{1f600}' }
  const outcome = dice.pick<Outcome>('completed', 'completed', 'failed', 'cut', 'client_closed', 'barred')
  const money = (): bigint => dice.pick(0n, 1n, BigInt(dice.below(1_000_000_000)), 2n ** 55n)
  return {
    ...served,
    id: timeOrderedId('req_', atMs),
    accountId: dice.pick('a', 'b'),
    keyId: dice.pick('k1', 'k2'),
    endpoint: dice.pick('chat.completions', 'images.edits'),
    model: dice.pick('m1', 'm2', "m'3"),
    stream: dice.once(2),
    status: dice.pick(200, 499, 502),
    outcome,
    errorCode: outcome === 'failed' ? 'upstream_error' : undefined,
    usage: randomUsage(dice),
    usageSource: outcome === 'failed' ? undefined : dice.pick('reported', 'estimated'),
    priceCardId: 1,
    priceFactor: dice.pick(undefined, 900_000n),
    costCardId: dice.pick(undefined, 2),
    held: money(),
    charged: money(),
    writtenOff: money(),
    upstreamCost: money(),
    attempts: dice.pick([], [ok], [failed, ok], [failed]),
    outputCap: dice.once(5) ? { tokens: 512, reason: 'balance' } : undefined,
    // A body takes time to arrive, so some requests hold their money in a later hour than that of their arrival.
    createdAtMs: atMs + dice.pick(0, 5, HOUR_MS),
    firstEventMs: dice.pick(undefined, 0, 49.6, 50, dice.below(20_000)),
    totalMs: dice.below(10_000) + 0.4,
  }
}

/** Compares alike: a store may return integers as `bigint` or as `number`. */
const plain = (record: StoredRecord | undefined): unknown =>
  record &&
  Object.fromEntries(
    Object.entries(record)
      .map(([name, value]) => [name, typeof value === 'bigint' ? value.toString() : value] as const)
      .map(([name, value]) => [name, typeof value === 'number' ? String(value) : value] as const),
  )

const newestFirst = (a: RequestRecord, b: RequestRecord): number => (a.id < b.id ? 1 : -1)

function randomFilter(dice: Dice, records: readonly RequestRecord[]): RecordFilter {
  const some = <T>(value: T): T | undefined => (dice.once(3) ? value : undefined)
  const one = records[dice.below(records.length)] as RequestRecord
  return {
    keyId: some(dice.pick('k1', 'k2', 'none')),
    model: some(dice.pick('m1', "m'3", 'none')),
    endpoints: some(dice.pick([], ['images.edits'], ['images.edits', 'chat.completions'])),
    outcome: some(dice.pick<Outcome>('completed', 'failed', 'cut', 'barred')),
    status: some(dice.pick(200, 404)),
    providerId: some('p1'),
    chargedMin: some(one.charged),
    totalMsMin: some(dice.below(10_000)),
    fromMs: some(one.createdAtMs - 2 * HOUR_MS),
    toMs: some(one.createdAtMs),
  }
}

/** Reads all pages of a search. */
async function all(records: Records, accountId: string, filter: RecordFilter, limit: number): Promise<string[]> {
  const ids: string[] = []
  let cursor: string | undefined
  do {
    const page = await records.search(accountId, { filter, cursor, limit })
    expect(page.records.length).toBeLessThanOrEqual(limit)
    ids.push(...page.records.map((record) => String(record['id'])))
    if (page.next !== undefined && cursor !== undefined) expect(page.next < cursor).toBe(true)
    cursor = page.next
  } while (cursor !== undefined)
  return ids
}

/** Runs the suite. `open` gives an empty store. */
export function describeRecordsContract(name: string, open: () => Promise<PortUnderTest<Records>>): void {
  describe(`${name} keeps the contract of request records`, () => {
    const dice = new Dice(SEED)
    const startMs = Date.now() - RECORDS * HOUR_MS
    const made = Array.from({ length: RECORDS }, (_, i) => randomRecord(dice, startMs + i * (HOUR_MS / 2)))
    const ofAccount = (accountId: string): RequestRecord[] =>
      made.filter((record) => record.accountId === accountId).toSorted(newestFirst)
    let under: PortUnderTest<Records>
    beforeAll(async () => {
      under = await open()
      for (const id of ['a', 'b']) await under.addAccount(id)
      await Promise.all(made.map((record) => written(under, under.port.steps(record))))
    })
    afterAll(() => under.close())

    test('a record comes back in its stored form, to its own account alone', async () => {
      for (const record of made.slice(0, 150)) {
        const { accountId, id } = record
        expect(plain(await under.port.find(accountId, id))).toEqual(plain(storedForm(record)))
        expect(await under.port.find(accountId === 'a' ? 'b' : 'a', id)).toBeUndefined()
        expect(plain(await under.port.findAnywhere(id))).toEqual(plain(storedForm(record)))
      }
    })

    test('an unknown id is not found', async () => {
      expect(await under.port.find('a', 'req_none')).toBeUndefined()
      expect(await under.port.find('none', made[0]?.id ?? '')).toBeUndefined()
      expect(await under.port.findAnywhere("req_' OR 1=1")).toBeUndefined()
      expect(await under.port.recent('none', { limit: 10 })).toEqual([])
      expect(await under.port.search('none', { filter: {}, limit: 10 })).toEqual({ records: [], next: undefined })
    })

    test('a record is written once, and a transaction that is refused writes none', async () => {
      const [again] = made as [RequestRecord]
      expect((await under.write(under.port.steps({ ...again, charged: 7n }))).kind).toBe('refused')
      const fresh = { ...again, id: timeOrderedId('req_', startMs - HOUR_MS) }
      expect((await under.write([...under.port.steps(fresh), ...under.port.steps(again)])).kind).toBe('refused')
      expect(await under.port.find(fresh.accountId, fresh.id)).toBeUndefined()
      expect(plain(await under.port.find(again.accountId, again.id))).toEqual(plain(storedForm(again)))
    })

    test('pages of recent requests hold each once, newest first', async () => {
      for (const accountId of ['a', 'b']) {
        const seen: string[] = []
        for (let before: string | undefined; ;) {
          const page = await under.port.recent(accountId, { limit: 1 + dice.below(60), before })
          if (page.length === 0) break
          seen.push(...page.map((record) => String(record['id'])))
          before = seen.at(-1)
        }
        expect(seen).toEqual(ofAccount(accountId).map(({ id }) => id))
      }
    })

    test('a search finds each request that fits once, newest first, whatever it asks', async () => {
      for (let round = 0; round < 60; round++) {
        const filter = randomFilter(dice, made)
        const accountId = dice.pick('a', 'b')
        const wanted = ofAccount(accountId).filter((record) => fits(filter, record))
        const found = await all(under.port, accountId, filter, 1 + dice.below(100))
        expect({ filter, found }).toEqual({ filter, found: wanted.map(({ id }) => id) })
      }
    })

    test('later requests do not disturb a search that continues', async () => {
      const first = await under.port.search('a', { filter: {}, limit: 10 })
      const late = { ...randomRecord(dice, Date.now()), accountId: 'a' }
      await written(under, under.port.steps(late))
      const second = await under.port.search('a', { filter: {}, cursor: first.next, limit: 10 })
      const ids = [...first.records, ...second.records].map((record) => String(record['id']))
      expect(ids).toEqual(
        ofAccount('a')
          .slice(0, 20)
          .map(({ id }) => id),
      )
      made.push(late)
    })

    test('charges are found by id, of one account, without those that are unknown', async () => {
      const [mine, theirs] = [ofAccount('a').slice(0, 20), ofAccount('b').slice(0, 20)]
      const ids = [...mine, ...theirs].map(({ id }) => id)
      const charged = await under.port.charged('a', [...ids, 'req_none', ids[0] ?? ''])
      expect(charged).toEqual(new Map(mine.map((record) => [record.id, record.charged])))
      expect(await under.port.charged('a', [])).toEqual(new Map())
    })

    test('the next process reads the same', async () => {
      const next = await under.reopen()
      const [record] = ofAccount('b') as [RequestRecord]
      expect(plain(await next.find('b', record.id))).toEqual(plain(storedForm(record)))
    })
  })
}
