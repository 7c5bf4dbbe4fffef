/**
 * The contract of `Limiter` for two instances that share a store, as tests. Both are open at once. It adds to
 * `limiter-contract.ts`, which is about one instance. A reservation is written alone here. The product writes
 * it with its hold.
 */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import type { Caller } from '../domain/account.ts'
import type { LimitViolation } from '../domain/limit-violation.ts'
import { NO_LIMITS, type Limits, type ModelRates } from '../domain/limits.ts'
import { DAY_MS, HOUR_MS } from '../lib/primitives/units.ts'
import type { WriteOutcome, WriteStep } from '../store/statement.ts'
import type { LimitedModel, Limiter, LimiterPermit, LimitReservation, ReservationKind } from './limiter.ts'

/** One of the instances. */
export type LimiterInstance = {
  readonly limiter: Limiter
  write(steps: readonly WriteStep[]): Promise<WriteOutcome>
}

/** What the store has of a counter. */
export type CounterState = {
  readonly inFlight: number
  readonly daySpent: bigint
  readonly dayHeld: bigint
  readonly monthSpent: bigint
  readonly monthHeld: bigint
}

export type SharedLimitersUnderTest = {
  openInstance(): Promise<LimiterInstance>
  /** Sets the clock of the store and of all instances. Those of the instances may be wrong. */
  setClock(nowMs: number, instanceMs?: number): Promise<void>
  /** Writes what the key was charged in an hour, as settlements do. */
  charge(caller: Caller, hour: number, charged: bigint): Promise<void>
  counter(id: string): Promise<CounterState | undefined>
  close(): Promise<void>
}

const START_MS = Date.UTC(2026, 10, 21, 12)
/** After this time an instance refuses nobody by what it has read. The time is 100 ms, but a busy machine is late. */
const STALE_MS = 250
type Both = { a: LimiterInstance; b: LimiterInstance; shared: SharedLimitersUnderTest }

export function callerOf(keyLimits: Limits = NO_LIMITS, accountLimits: Limits = NO_LIMITS, keyId = 'key_1'): Caller {
  const key = { id: keyId, accountId: 'acct', limits: keyLimits }
  return { key, account: { id: 'acct', limits: accountLimits } } as unknown as Caller
}

type Size = {
  readonly model?: LimitedModel
  readonly amount?: bigint
  readonly tokens?: number
  readonly kind?: ReservationKind
}
type Running = {
  readonly kind: 'running'
  readonly permit: LimiterPermit
  readonly amount: bigint
  readonly tokens: number
}

/** Admits a request as the relay and the ledger would: by this process, and then by the store. */
async function admit(at: LimiterInstance, who: Caller, size: Size = {}): Promise<Running | LimitViolation> {
  const { amount = 0n, tokens = 0, kind = 'known' } = size
  const permit = at.limiter.enter(who)
  if (permit.kind !== 'admitted') return permit
  const refused =
    (size.model && permit.choose(size.model)) ??
    permit.obstacle(amount, tokens) ??
    (await written(at, permit.reserve(amount, tokens, kind)))
  if (!refused) return { kind: 'running', permit, amount, tokens }
  permit.withdraw()
  permit.leave()
  return refused
}

async function written(
  at: LimiterInstance,
  reservation: LimitReservation | undefined,
): Promise<LimitViolation | undefined> {
  if (!reservation) return undefined
  const outcome = await at.write(reservation.steps)
  return outcome.kind === 'written' ? undefined : reservation.violation()
}

async function running(at: LimiterInstance, who: Caller, size?: Size): Promise<Running> {
  const admitted = await admit(at, who, size)
  if (admitted.kind === 'running') return admitted
  throw new Error(`refused: ${admitted.kind}`)
}

async function end(at: LimiterInstance, { permit }: Running, charged = 0n, tokens = 0): Promise<void> {
  expect(await at.write(permit.settle(charged, tokens))).toEqual({ kind: 'written' })
  permit.leave()
}

/** Runs the suite. `open` gives an empty store. */
export function describeSharedLimiterContract(name: string, open: () => Promise<SharedLimitersUnderTest>): void {
  describe(`two instances of ${name} keep the contract of limits`, () => {
    const both = {} as Both
    beforeEach(async () => {
      const shared = await open()
      await shared.setClock(START_MS)
      Object.assign(both, { shared, a: await shared.openInstance(), b: await shared.openInstance() })
    })
    afterEach(() => both.shared.close())
    testAtOnce(both)
    testSpendTogether(both)
    testRefusals(both)
    testPeriods(both)
    testModelsTogether(both)
  })
}

const instances = ({ a, b }: Both): readonly LimiterInstance[] => [a, b]

/** So many tries on both instances at once. Resolves to those that were admitted, with their instances. */
async function tries(both: Both, who: (at: number) => Caller, times: number, size?: Size) {
  const all = Array.from({ length: times }, async (_, i) => {
    const at = instances(both)[i % 2] as LimiterInstance
    return { at, admitted: await admit(at, who(i), size) }
  })
  return (await Promise.all(all)).flatMap(({ at, admitted }) => (admitted.kind === 'running' ? [{ at, admitted }] : []))
}

function testModelsTogether(both: Both): void {
  const of = (rates: ModelRates): Size => ({ model: { id: 'a model', rates } })
  const accounts = [callerOf(), { ...callerOf(), account: { ...callerOf().account, id: 'other' } }]
  const anyone = (i: number): Caller => accounts[i % 4 < 2 ? 0 : 1] as Caller

  test('exactly as many requests and tokens of a model are admitted, of all accounts together', async () => {
    expect(await tries(both, anyone, 100, of({ requestsPerMinute: 30 }))).toHaveLength(30)
    const tokens = { model: { id: 'other', rates: { tokensPerMinute: 60_000 } }, tokens: 700 }
    const admitted = await tries(both, anyone, 120, tokens)
    expect(admitted).toHaveLength(85)
    for (const one of admitted.slice(0, 10)) await end(one.at, one.admitted, 0n, 0)
    await Bun.sleep(STALE_MS)
    // 500 tokens were left, and 7,000 came back.
    expect(await tries(both, anyone, 40, tokens)).toHaveLength(10)
  })

  test('a model never has more requests at once than allowed, and its counter is empty in the end', async () => {
    const admitted = await tries(both, anyone, 60, { ...of({ concurrentRequests: 7 }), amount: 5n })
    expect(admitted).toHaveLength(7)
    expect(await both.shared.counter('model/a%20model')).toMatchObject({ inFlight: 7, dayHeld: 35n })
    for (const one of admitted) await end(one.at, one.admitted, 3n)
    expect(await both.shared.counter('model/a%20model')).toMatchObject({ inFlight: 0, dayHeld: 0n, monthHeld: 0n })
  })

  test('a refused request says which limit, and takes nothing of it at its own instance', async () => {
    const who = callerOf({ models: { 'a model': { requestsPerMinute: 1 } } })
    const model = { id: 'a model' }
    await running(both.a, who, { model })
    const refused = { kind: 'rate', scope: 'key', model: 'a model', unit: 'requests', limit: 1 }
    expect(await admit(both.b, who, { model })).toMatchObject(refused)
    await both.shared.setClock(START_MS + 60_000)
    await Bun.sleep(STALE_MS)
    await running(both.b, who, { model })
    expect(await admit(both.a, who, { model })).toMatchObject(refused)
    expect(await both.shared.counter('key_1/a%20model')).toMatchObject({ inFlight: 2 })
  })
}

function testAtOnce(both: Both): void {
  test('exactly as many requests are admitted as a minute has, and then as many as it refills', async () => {
    const who = callerOf({ requestsPerMinute: 60 })
    expect(await tries(both, () => who, 200)).toHaveLength(60)
    await both.shared.setClock(START_MS + 7_000)
    await Bun.sleep(STALE_MS)
    expect(await tries(both, () => who, 50)).toHaveLength(7)
  })

  test('exactly as many tokens are admitted, whatever the sizes, and what is not used is given back', async () => {
    const who = callerOf({ tokensPerMinute: 60_000 })
    const admitted = await tries(both, () => who, 200, { tokens: 700 })
    expect(admitted).toHaveLength(85)
    for (const one of admitted.slice(0, 10)) await end(one.at, one.admitted, 0n, 0)
    for (const one of admitted.slice(10)) await end(one.at, one.admitted, 0n, 700)
    expect(await tries(both, () => who, 100, { tokens: 700 })).toHaveLength(10)
  })

  test('use beyond a forecast is owed on both', async () => {
    const who = callerOf({ tokensPerMinute: 1_000 })
    await end(both.a, await running(both.a, who, { tokens: 10 }), 0n, 1_600)
    const owing = await admit(both.b, who, { tokens: 1 })
    expect(owing).toMatchObject({ kind: 'rate', unit: 'tokens' })
    expect(owing.kind === 'rate' && owing.retryAfterMs).toBeWithin(35_000, 36_061)
    await both.shared.setClock(START_MS + 37_000)
    await Bun.sleep(STALE_MS)
    await running(both.b, who, { tokens: 1 })
  })

  test('tokens that are owed stop no answer that runs', async () => {
    const who = callerOf({ tokensPerMinute: 1_000 })
    const slow = await running(both.a, who, { tokens: 10, amount: 5n })
    await end(both.b, await running(both.b, who, { tokens: 10 }), 0n, 1_600)
    const extension = slow.permit.extend(7n)
    if (extension.kind === 'limited') throw new Error('it has money')
    expect(await written(both.a, extension.reservation)).toBeUndefined()
    expect(await both.shared.counter('key_1')).toMatchObject({ dayHeld: 12n })
    expect(await admit(both.a, who, { tokens: 0 })).toMatchObject({ kind: 'rate', unit: 'tokens' })
    await end(both.a, slow, 12n, 10)
  })

  test('no more are in flight at once than the limit allows, and no fewer than could be', async () => {
    const who = callerOf({ concurrentRequests: 7 })
    let [now, most] = [0, 0]
    const client = async (at: LimiterInstance): Promise<void> => {
      for (let served = 0; served < 5;) {
        const admitted = await admit(at, who)
        if (admitted.kind === 'running') {
          most = Math.max(most, ++now)
          await Bun.sleep(1)
          now--
          await end(at, admitted)
          served++
        } else expect(admitted).toEqual({ kind: 'concurrency', scope: 'key', limit: 7 })
        await Bun.sleep(2)
      }
    }
    await Promise.all(Array.from({ length: 20 }, (_, i) => client(instances(both)[i % 2] as LimiterInstance)))
    expect(most).toBe(7)
    expect(await both.shared.counter('key_1')).toMatchObject({ inFlight: 0 })
  })

  test('keys of one account share its limit on both, and each has its own', async () => {
    const keys = ['key_1', 'key_2', 'key_3']
    const who = (i: number): Caller => callerOf({ requestsPerMinute: 20 }, { requestsPerMinute: 50 }, keys[i % 3])
    expect(await tries(both, who, 300)).toHaveLength(50)
    expect(await tries(both, () => callerOf({ requestsPerMinute: 5 }, NO_LIMITS, 'key_4'), 30)).toHaveLength(5)
  })

  test('a task counts as a request, and is not in flight beyond its request', async () => {
    const who = callerOf({ concurrentRequests: 2, requestsPerMinute: 3 })
    expect(await tries(both, () => who, 2, { kind: 'task' })).toHaveLength(2)
    expect(await both.shared.counter('key_1')).toMatchObject({ inFlight: 0 })
  })
}

function testSpendTogether(both: Both): void {
  test('spent and held never exceed the day, and what holds release is spent to the last one that fits', async () => {
    const who = callerOf({ spendPerDay: 10_000n })
    let over = 0n
    let isOver = false
    const watch = (async () => {
      while (!isOver) {
        const { daySpent = 0n, dayHeld = 0n } = (await both.shared.counter('key_1')) ?? {}
        if (daySpent + dayHeld > 10_000n) over = daySpent + dayHeld
        await Bun.sleep(1)
      }
    })()
    const client = async (at: LimiterInstance): Promise<void> => {
      for (let refusals = 0; refusals < 20;) {
        const admitted = await admit(at, who, { amount: 60n })
        if (admitted.kind === 'running') await end(at, admitted, 25n)
        else {
          expect(admitted).toMatchObject({ kind: 'spend', scope: 'key', period: 'day', limit: 10_000n })
          refusals++
          await Bun.sleep(15)
        }
      }
    }
    await Promise.all(Array.from({ length: 8 }, (_, i) => client(instances(both)[i % 2] as LimiterInstance)))
    isOver = true
    await watch
    expect(over).toBe(0n)
    const { daySpent = 0n, ...rest } = (await both.shared.counter('key_1')) ?? {}
    expect(daySpent).toBe(25n * ((10_000n - 35n) / 25n))
    expect(rest).toMatchObject({ dayHeld: 0n, monthSpent: daySpent, monthHeld: 0n, inFlight: 0 })
  })

  test('exactly as many holds fit as the limit has money for, however they grow', async () => {
    const who = callerOf(NO_LIMITS, { spendPerMonth: 2_000n })
    const admitted = await tries(both, () => who, 60, { amount: 50n })
    expect(admitted).toHaveLength(40)
    for (const one of admitted.slice(0, 10)) await end(one.at, one.admitted, 20n)
    // 300 are free again, so six extensions of 50 fit.
    await Bun.sleep(STALE_MS)
    const extended = await Promise.all(
      admitted.slice(10, 30).map(async ({ at, admitted: { permit } }) => {
        const extension = permit.extend(50n)
        if (extension.kind === 'limited') return false
        if (!(await written(at, extension.reservation))) return true
        permit.retract(50n)
        return false
      }),
    )
    expect(extended.filter(Boolean)).toHaveLength(6)
    for (const one of admitted.slice(10)) await end(one.at, one.admitted, 10n)
    expect(await both.shared.counter('acct')).toMatchObject({ monthSpent: 500n, monthHeld: 0n, inFlight: 0 })
  })
}

function testRefusals(both: Both): void {
  test('a refusal says what the limiter of one process says', async () => {
    const rate = callerOf({ requestsPerMinute: 1 })
    await running(both.a, rate)
    const limited = await admit(both.b, rate)
    expect(limited).toMatchObject({ kind: 'rate', scope: 'key', unit: 'requests', limit: 1 })
    // The clock of the store is known to half of the time that a query takes.
    expect(limited.kind === 'rate' && limited.retryAfterMs).toBeWithin(59_000, 60_001)
    const spend = callerOf(NO_LIMITS, { spendPerDay: 100n }, 'key_2')
    await running(both.a, spend, { amount: 80n })
    const more = { spent: 0n, held: 80n, needed: 30n, freedBy: 'holds' }
    expect(await admit(both.b, spend, { amount: 30n })).toMatchObject({ kind: 'spend', scope: 'account', ...more })
    const full = callerOf({ concurrentRequests: 1 }, NO_LIMITS, 'key_3')
    await running(both.a, full)
    expect(await admit(both.b, full)).toEqual({ kind: 'concurrency', scope: 'key', limit: 1 })
  })

  test('what was just refused is refused again without the store, and is tried again a moment later', async () => {
    const who = callerOf({ concurrentRequests: 1 })
    const first = await running(both.a, who)
    expect(await admit(both.b, who)).toMatchObject({ kind: 'concurrency' })
    await end(both.a, first)
    expect(both.b.limiter.enter(who)).toMatchObject({ kind: 'concurrency' })
    await Bun.sleep(STALE_MS)
    await running(both.b, who)
  })

  test('a refused request leaves nothing, in the store and in this process', async () => {
    const who = callerOf({ requestsPerMinute: 10, tokensPerMinute: 1_000, spendPerDay: 100n }, { spendPerDay: 50n })
    const first = await running(both.a, who, { amount: 50n, tokens: 900 })
    const before = [await both.shared.counter('key_1'), await both.shared.counter('acct')]
    for (let i = 0; i < 20; i++) {
      expect(await admit(both.b, who, { amount: 10n, tokens: 50 })).toMatchObject({ kind: 'spend', scope: 'account' })
      await Bun.sleep(10)
    }
    expect([await both.shared.counter('key_1'), await both.shared.counter('acct')]).toEqual(before)
    await end(both.a, first, 0n, 0)
    await Bun.sleep(STALE_MS)
    // All ten requests of the minute but one are left, although twenty were tried here.
    expect(await tries({ ...both, a: both.b }, () => who, 12)).toHaveLength(9)
  })

  test('what is told of the limits is of both', async () => {
    const who = callerOf({ requestsPerMinute: 100, tokensPerMinute: 9_000, spendPerDay: 900n, concurrentRequests: 9 })
    await running(both.a, who, { amount: 100n, tokens: 1_000 })
    await end(both.b, await running(both.b, who, { amount: 200n, tokens: 2_000 }), 150n, 1_500)
    for (const { limiter } of instances(both)) {
      await limiter.refresh(who)
      expect(limiter.limitStatuses(who)[0]).toMatchObject({
        requestsRemaining: 98,
        inFlight: 1,
        day: { spent: 150n, held: 100n },
        month: { spent: 150n, held: 100n },
      })
      expect(limiter.limitStatuses(who)[0]?.tokensRemaining).toBeWithin(6_500, 6_600)
      expect(limiter.headers(who)).toMatchObject({ 'x-ratelimit-remaining-requests': '98' })
    }
  })

  test('a request is sure of its limits while they have room for many, and never without a look', async () => {
    const who = callerOf({ concurrentRequests: 20, spendPerDay: 1_000n })
    const reservationOf = (amount: bigint): LimitReservation | undefined => {
      const permit = both.a.limiter.enter(who)
      if (permit.kind !== 'admitted') return undefined
      const reservation = permit.reserve(amount, 0)
      permit.withdraw()
      permit.leave()
      return reservation
    }
    expect(reservationOf(10n)?.isSure).toBe(false)
    await end(both.a, await running(both.a, who, { amount: 10n }), 10n)
    await both.a.limiter.refresh(who)
    expect([reservationOf(10n)?.isSure, reservationOf(500n)?.isSure]).toEqual([true, false])
  })
}

function testPeriods(both: Both): void {
  const wait = async (untilMs: number): Promise<void> => {
    await both.shared.setClock(untilMs)
    for (const { limiter } of instances(both)) await limiter.refresh(callerOf({ spendPerDay: 1n }))
  }

  test('a request across midnight counts for the day on which it began, on whichever instance it ends', async () => {
    const who = callerOf({ spendPerDay: 100n, spendPerMonth: 1_000n })
    const first = await running(both.a, who, { amount: 60n })
    await wait(START_MS + DAY_MS)
    const second = await running(both.b, who, { amount: 100n })
    await end(both.a, first, 50n)
    expect(await both.shared.counter('key_1')).toMatchObject({ daySpent: 0n, dayHeld: 100n, monthSpent: 50n })
    await end(both.b, second, 100n)
    expect(await admit(both.a, who, { amount: 1n })).toMatchObject({ kind: 'spend', period: 'day', freedBy: 'period' })
    await wait(START_MS + 15 * DAY_MS)
    await end(both.a, await running(both.a, who, { amount: 100n }), 1n)
    expect(await both.shared.counter('key_1')).toMatchObject({ daySpent: 1n, monthSpent: 1n, monthHeld: 0n })
  })

  test('an instance that takes another day for today is refused once, and learns the day', async () => {
    const who = callerOf({ spendPerDay: 100n })
    await end(both.a, await running(both.a, who, { amount: 60n }), 60n)
    await both.shared.setClock(START_MS + DAY_MS / 2, START_MS)
    expect(await admit(both.b, who, { amount: 40n })).toMatchObject({ kind: 'spend', freedBy: 'holds', spent: 0n })
    await running(both.b, who, { amount: 60n })
    expect(await both.shared.counter('key_1')).toMatchObject({ daySpent: 0n, dayHeld: 60n, monthSpent: 60n })
  })

  test('a clock of the store that is set back frees nothing, and stops nobody who has room', async () => {
    const who = callerOf({ spendPerDay: 100n })
    await end(both.a, await running(both.a, who, { amount: 60n }), 60n)
    await wait(START_MS - DAY_MS)
    expect(await admit(both.b, who, { amount: 50n })).toMatchObject({ kind: 'spend', spent: 60n })
    await end(both.b, await running(both.b, who, { amount: 40n }), 40n)
    expect(await both.shared.counter('key_1')).toMatchObject({ daySpent: 100n, dayHeld: 0n, monthSpent: 100n })
  })

  test('a new counter begins with what was charged in the month, and charges of earlier requests are added', async () => {
    const free = callerOf()
    const hour = START_MS / HOUR_MS
    await both.shared.charge(free, hour - 1, 30n)
    await both.shared.charge(free, hour - 24 * 3, 500n)
    await both.shared.charge(free, hour - 24 * 40, 9_000n)
    const early = await running(both.a, free, { amount: 20n })
    const who = callerOf({ spendPerDay: 100n })
    const first = await running(both.a, who, { amount: 70n })
    expect(await both.shared.counter('key_1')).toMatchObject({ daySpent: 30n, dayHeld: 70n, monthSpent: 530n })
    await both.a.limiter.refresh(who)
    await end(both.a, early, 5n)
    expect(await both.shared.counter('key_1')).toMatchObject({ daySpent: 35n, dayHeld: 70n, inFlight: 1 })
    await end(both.a, first, 10n)
    expect(await both.shared.counter('acct')).toBeUndefined()
    expect(first.permit.settle(10n, 0)).toEqual([])
  })
}
