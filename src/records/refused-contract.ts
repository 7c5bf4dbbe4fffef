/** The contract of `RefusedRequests` as tests for any store. The suite uses only the port. */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { timeOrderedId } from '../lib/primitives/ids.ts'
import { Dice, shifted, withPort, type InstancesUnderTest, type PortUnderTest } from '../store/port-contract.ts'
import {
  COUNTED_HOURS,
  refusedBounds,
  type RefusedFilter,
  type RefusedRequest,
  type RefusedRequests,
} from './refused.ts'
import { HOUR_MS, MINUTE_MS } from '../lib/primitives/units.ts'

/** An account gets this many rows in any minute. */
const ROWS = 25

const refusal = (change: Partial<RefusedRequest> = {}): RefusedRequest => ({
  id: timeOrderedId('req_', Date.now()),
  accountId: 'a',
  keyId: 'k1',
  method: 'POST',
  endpoint: 'chat.completions',
  model: 'fast',
  status: 429,
  code: 'rate_limited',
  atMs: Date.now(),
  ...change,
})

function randomRefusal(dice: Dice): RefusedRequest {
  const atMs = Date.now() - dice.below(3 * HOUR_MS)
  return refusal({
    id: timeOrderedId('req_', atMs),
    keyId: dice.pick('k1', 'k2', undefined),
    endpoint: dice.pick('chat.completions', 'embeddings'),
    model: dice.pick('fast', 'slow', undefined),
    status: dice.pick(401, 429),
    code: dice.pick('rate_limited', 'invalid_key'),
    atMs,
  })
}

const isWanted = (refused: RefusedRequest, { fromMs, toMs, ...same }: RefusedFilter): boolean =>
  Object.entries(same).every(
    ([name, value]) => value === undefined || refused[name as keyof RefusedRequest] === value,
  ) &&
  refused.atMs >= (fromMs ?? 0) &&
  refused.atMs < (toMs ?? Infinity)

const newestFirst = (a: RefusedRequest, b: RefusedRequest): number => (a.id < b.id ? 1 : -1)
const hoursAround = (atMs: number) => ({ fromHour: Math.floor(atMs / HOUR_MS), toHour: Math.floor(atMs / HOUR_MS) + 1 })

/** Runs the suite. `open` gives an empty store. */
export function describeRefusedRequestsContract(
  name: string,
  open: () => Promise<PortUnderTest<RefusedRequests>>,
): void {
  describe(`${name} keeps the contract of refused requests`, () => {
    let under: PortUnderTest<RefusedRequests>
    beforeEach(async () => {
      under = await open()
    })
    afterEach(() => under.close())

    test('a refusal is found at once, by its own account and by the operator', async () => {
      const [mine, nobodys] = [refusal(), refusal({ accountId: undefined, keyId: undefined, model: undefined })]
      for (const one of [mine, nobodys]) under.port.note(one)
      expect(await under.port.find(mine.id, 'a')).toEqual({ ...mine, repeats: 0, lastAtMs: mine.atMs })
      expect(await under.port.find(mine.id)).toMatchObject({ accountId: 'a' })
      expect(await under.port.find(mine.id, 'b')).toBeUndefined()
      expect(await under.port.find(nobodys.id)).toMatchObject({
        id: nobodys.id,
        accountId: undefined,
        model: undefined,
      })
      expect(await under.port.find(nobodys.id, 'a')).toBeUndefined()
      expect(await under.port.find(refusal().id, 'b')).toBeUndefined()
      expect(await under.port.find("' OR 1=1", 'a')).toBeUndefined()
      expect(await under.port.list('b', { limit: 10 })).toEqual([])
    })

    test('pages of a list hold each refusal that fits once, newest first, for any filter', async () => {
      const dice = new Dice(8)
      const made = Array.from({ length: ROWS }, () => randomRefusal(dice))
      for (const one of made) under.port.note(one)
      for (const one of made) under.port.note({ ...one, id: timeOrderedId('req_', one.atMs), accountId: 'b' })
      for (let round = 0; round < 40; round++) {
        const some = <T>(value: T): T | undefined => (dice.once(3) ? value : undefined)
        const pivot = made[dice.below(made.length)] as RefusedRequest
        const filter: RefusedFilter = {
          code: some('invalid_key'),
          status: some(429),
          keyId: some('k1'),
          model: some('slow'),
          endpoint: some('embeddings'),
          fromMs: some(pivot.atMs),
          toMs: some(pivot.atMs),
        }
        const found: string[] = []
        for (let before: string | undefined; ;) {
          const page = await under.port.list('a', { limit: 1 + dice.below(9), before, ...filter })
          if (page.length === 0) break
          found.push(...page.map(({ id }) => id))
          before = found.at(-1)
        }
        const wanted = made.filter((one) => isWanted(one, filter)).toSorted(newestFirst)
        expect({ filter, found }).toEqual({ filter, found: wanted.map(({ id }) => id) })
      }
    })

    test('a flood is counted completely, and few rows stand for it', async () => {
      const flood = Array.from({ length: 3_000 }, () => refusal())
      for (const one of flood) under.port.note(one)
      const other = refusal({ status: 404, code: 'model_not_found' })
      under.port.note(other)
      const rows = await under.port.list('a', { limit: 1_000 })
      expect(rows.length).toBeLessThan(100)
      expect(rows.reduce((sum, { repeats }) => sum + 1 + repeats, 0)).toBe(3_001)
      expect(await under.port.find(other.id, 'a')).toMatchObject({ code: 'model_not_found' })
      expect(await under.port.find(flood.at(-1)?.id ?? '', 'a')).toMatchObject({ code: 'rate_limited' })
      expect(await under.port.counted('a', hoursAround(other.atMs))).toEqual([
        { status: 429, code: 'rate_limited', requests: 3_000 },
        { status: 404, code: 'model_not_found', requests: 1 },
      ])
    })

    test('a row that is written again counts no refusal twice', async () => {
      const atMs = Date.now()
      for (let i = 0; i < 200; i++) {
        under.port.note(refusal({ id: timeOrderedId('req_', atMs), atMs }))
        if (i % 20 === 0) await under.port.flush()
      }
      const rows = await under.port.list('a', { limit: 1_000 })
      expect(rows.reduce((sum, { repeats }) => sum + 1 + repeats, 0)).toBe(200)
      expect(await under.port.counted('a', hoursAround(atMs))).toMatchObject([{ requests: 200 }])
    })

    test('counts are of one account or of all, within their hours, largest first', async () => {
      const atMs = Math.floor(Date.now() / HOUR_MS) * HOUR_MS
      const earlier = atMs - HOUR_MS
      under.port.note(refusal({ atMs: earlier }))
      await under.port.flush()
      for (const one of [{ atMs }, { atMs }, { atMs, accountId: 'b' }]) under.port.note(refusal(one))
      under.port.note(refusal({ atMs, status: 401, code: 'invalid_key' }))
      const requests = async (accountId: string | undefined, fromMs: number, toMs: number): Promise<number[]> => {
        const hours = { fromHour: fromMs / HOUR_MS, toHour: toMs / HOUR_MS }
        return (await under.port.counted(accountId, hours)).map((count) => count.requests)
      }
      expect(await requests('a', atMs, atMs + HOUR_MS)).toEqual([2, 1])
      expect(await requests(undefined, atMs, atMs + HOUR_MS)).toEqual([3, 1])
      expect(await requests('a', earlier, atMs)).toEqual([1])
      expect(await requests('a', atMs, atMs)).toEqual([])
      expect(await requests('none', earlier, atMs + HOUR_MS)).toEqual([])
    })

    test('the newest refusals of an account are kept, and counts for longer than rows', async () => {
      const ids: string[] = []
      for (let minute = 0; minute < 60; minute++) {
        await shifted(minute * MINUTE_MS, async () => {
          const made = Array.from({ length: ROWS }, () => refusal())
          for (const one of made) under.port.note(one)
          ids.push(...made.map(({ id }) => id))
          await under.port.flush()
        })
      }
      const rows = await under.port.list('a', { limit: 10_000 })
      expect(rows.map(({ id }) => id)).toEqual(ids.toSorted().toReversed().slice(0, refusedBounds.rowsPerAccountMax))
      const sum = async (): Promise<number> => {
        const hours = { fromHour: 0, toHour: Math.floor(Date.now() / HOUR_MS) + 10 }
        return (await under.port.counted('a', hours)).reduce((all, { requests }) => all + requests, 0)
      }
      await under.port.sweep()
      expect(await sum()).toBe(60 * ROWS)
      await shifted((COUNTED_HOURS + 3) * HOUR_MS, () => under.port.sweep())
      expect(await sum()).toBe(0)
    })

    test('the next process reads what was noted', async () => {
      const one = refusal()
      under.port.note(one)
      await under.port.flush()
      expect(await (await under.reopen()).find(one.id, 'a')).toMatchObject({ id: one.id })
    })
  })
}

/** Runs the part of the suite for two instances on one store. */
export function describeRefusalsOfInstances(
  name: string,
  open: () => Promise<InstancesUnderTest<PortUnderTest<RefusedRequests>>>,
): void {
  describe(`${name} keeps the contract of refused requests between instances`, () => {
    test('refusals of both are found by both, and counted once each', () =>
      withPort(open, async ({ first, second }) => {
        const dice = new Dice(3)
        const atMs = Date.now()
        const made: RefusedRequest[] = []
        for (let round = 0; round < 20; round++) {
          for (const { port } of [first, second]) {
            for (let i = 0; i < 40; i++) {
              const code = dice.pick('rate_limited', 'invalid_key', 'none')
              const one = refusal({ id: timeOrderedId('req_', atMs), atMs, code, accountId: dice.pick('a', 'b', 'c') })
              made.push(one)
              port.note(one)
            }
          }
          await Promise.all([first.port.flush(), second.port.flush()])
        }
        for (const { port } of [first, second]) {
          const counts = await port.counted(undefined, hoursAround(atMs))
          expect(counts.reduce((sum, { requests }) => sum + requests, 0)).toBe(made.length)
          const rows = (await Promise.all(['a', 'b', 'c'].map((id) => port.list(id, { limit: 1_000 })))).flat()
          expect(rows.reduce((sum, { repeats }) => sum + 1 + repeats, 0)).toBe(made.length)
          for (const row of rows) expect(await port.find(row.id)).toEqual(row)
        }
      }))
  })
}
