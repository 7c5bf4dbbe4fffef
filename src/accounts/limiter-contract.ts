/**
 * The contract of `Limiter` as tests for any limiter. A test file of the implementation calls `describeLimiterContract`
 * with a function that opens a limiter. The suite uses only the port.
 */
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Caller } from '../domain/account.ts'
import type { LimitViolation } from '../domain/limit-violation.ts'
import { FUTILE_PER_MINUTE, type Limits, type ModelRates } from '../domain/limits.ts'
import type { LimitedModel, Limiter, LimiterOptions, LimiterPermit, PastSpend } from './limiter.ts'
import { DAY_MS, HOUR_MS } from '../lib/primitives/units.ts'

const START_MS = Date.UTC(2026, 10, 21, 12)

function caller(keyLimits: Limits = {}, accountLimits: Limits = {}, keyId = 'key_1'): Caller {
  const common = { createdAtMs: 0, allowedModels: undefined }
  return {
    key: {
      ...common,
      id: keyId,
      accountId: 'acct',
      kind: 'client',
      name: 'k',
      last4: 'abcd',
      revokedAtMs: undefined,
      limits: keyLimits,
    },
    account: { ...common, id: 'acct', name: 'a', status: 'active', origin: 'stored', limits: accountLimits },
  }
}

/** Opens a limiter. `past` is what was charged before. */
type OpenLimiter = (past: readonly PastSpend[], options: LimiterOptions) => Limiter

/** Runs the suite. */
export function describeLimiterContract(name: string, open: OpenLimiter): void {
  describe(`${name} keeps the contract of limits`, () => {
    testRequestsAMinute(open)
    testTokensAMinute(open)
    testSpend(open)
    testOtherLimits(open)
    testModels(open)
    testAnySpend(open)
  })
}

function setUp(open: OpenLimiter, past: readonly PastSpend[] = []) {
  const clock = { nowMs: START_MS }
  const limiter = open(past, { now: () => clock.nowMs })
  const enter = (who: Caller): LimiterPermit => {
    const entry = limiter.enter(who)
    if (entry.kind === 'admitted') return entry
    throw new Error(`limited: ${entry.kind}`)
  }
  return { clock, limiter, enter }
}

function testRequestsAMinute(open: OpenLimiter): void {
  test('a full minute is available at once, and then refills evenly', () => {
    const { clock, limiter, enter } = setUp(open)
    const who = caller({ requestsPerMinute: 60 })
    for (let i = 0; i < 60; i++) enter(who).leave()
    expect(limiter.enter(who)).toMatchObject({ kind: 'rate', scope: 'key', unit: 'requests', retryAfterMs: 1_000 })
    clock.nowMs += 999
    expect(limiter.enter(who)).toMatchObject({ kind: 'rate' })
    clock.nowMs += 1
    enter(who).leave()
    expect(limiter.enter(who)).toMatchObject({ kind: 'rate' })
  })

  test('free requests have a minute of their own, and no spend stops them', () => {
    const { clock, limiter, enter } = setUp(open)
    const who = caller({ requestsPerMinute: 2, spendPerDay: 0n, concurrentRequests: 0 }, { requestsPerMinute: 3 })
    for (let i = 0; i < 2; i++) expect(limiter.enterFree(who)).toBeUndefined()
    expect(limiter.enterFree(who)).toMatchObject({ kind: 'rate', scope: 'key', limit: 2, retryAfterMs: 30_000 })
    const other = caller({}, { requestsPerMinute: 3 }, 'key_2')
    expect(limiter.enterFree(other)).toBeUndefined()
    expect(limiter.enterFree(other)).toMatchObject({ kind: 'rate', scope: 'account', limit: 3 })
    for (let i = 0; i < 3; i++) enter(other).leave()
    clock.nowMs += 30_000
    expect(limiter.enterFree(who)).toBeUndefined()
  })

  test('keys of one account share its limit, and a refusal takes from neither', () => {
    const { limiter, enter } = setUp(open)
    const one = caller({}, { requestsPerMinute: 2 }, 'key_1')
    const two = caller({ requestsPerMinute: 5 }, { requestsPerMinute: 2 }, 'key_2')
    enter(one)
    enter(two)
    expect(limiter.enter(two)).toMatchObject({ kind: 'rate', scope: 'account' })
    expect(limiter.limitStatuses(two)[0]).toMatchObject({ requestsRemaining: 4, inFlight: 1 })
  })

  test('a raised or lowered limit is in force at once', () => {
    const { clock, limiter, enter } = setUp(open)
    enter(caller({ requestsPerMinute: 1 }))
    expect(limiter.enter(caller({ requestsPerMinute: 1 }))).toMatchObject({ kind: 'rate' })
    clock.nowMs += 100
    enter(caller({ requestsPerMinute: 600 }))
    expect(limiter.limitStatuses(caller({ requestsPerMinute: 1 }))[0]?.requestsRemaining).toBe(0)
  })
}

/** A request for a model, as the relay makes it. Returns its permit, or the reason for a refusal. */
function request(limiter: Limiter, who: Caller, model: LimitedModel, tokens = 0): LimiterPermit | LimitViolation {
  const permit = limiter.enter(who)
  if (permit.kind !== 'admitted') return permit
  const refused = permit.choose(model) ?? permit.obstacle(0n, tokens)
  if (refused) permit.leave()
  else permit.reserve(0n, tokens)
  return refused ?? permit
}

function testModels(open: OpenLimiter): void {
  const fast = (rates: ModelRates): LimitedModel => ({ id: 'fast', rates })
  const permitOf = (entered: LimiterPermit | LimitViolation): LimiterPermit => {
    if (entered.kind === 'admitted') return entered
    throw new Error(`limited: ${entered.kind}`)
  }

  test('accounts share the limits of a model, and other models have their own', () => {
    const { clock, limiter } = setUp(open)
    const model = fast({ requestsPerMinute: 2 })
    const others = { ...caller(), account: { ...caller().account, id: 'other' } }
    permitOf(request(limiter, caller(), model))
    permitOf(request(limiter, others, model))
    const refused = { kind: 'rate', scope: 'model', model: 'fast', unit: 'requests', limit: 2, retryAfterMs: 30_000 }
    expect(request(limiter, others, model)).toMatchObject(refused)
    permitOf(request(limiter, caller(), { id: 'slow', rates: { requestsPerMinute: 1 } }))
    clock.nowMs += 30_000
    permitOf(request(limiter, caller(), model))
  })

  test('a model has requests at once from the reservation to the end, and a request that holds nothing takes none', () => {
    const { limiter, enter } = setUp(open)
    const model = fast({ concurrentRequests: 1, requestsPerMinute: 3 })
    for (let i = 0; i < 5; i++) {
      const vain = enter(caller())
      expect(vain.choose(model)).toBeUndefined()
      vain.leave()
    }
    const first = permitOf(request(limiter, caller(), model))
    expect(request(limiter, caller(), model)).toMatchObject({ kind: 'concurrency', scope: 'model', limit: 1 })
    first.settle(0n, 0)
    first.leave()
    first.leave()
    const second = permitOf(request(limiter, caller(), model))
    second.withdraw()
    second.withdraw()
    second.leave()
    for (let i = 0; i < 2; i++) permitOf(request(limiter, caller(), model)).leave()
    expect(request(limiter, caller(), model)).toMatchObject({ kind: 'rate', scope: 'model' })
  })

  test('tokens of a model are reserved and then corrected', () => {
    const { clock, limiter, enter } = setUp(open)
    const model = fast({ tokensPerMinute: 1_000 })
    const first = permitOf(request(limiter, caller(), model, 600))
    expect(request(limiter, caller(), model, 500)).toMatchObject({ unit: 'tokens', retryAfterMs: 6_000 })
    expect(request(limiter, caller(), model, 1_001)).toMatchObject({ unit: 'tokens', retryAfterMs: undefined })
    first.settle(0n, 100)
    permitOf(request(limiter, caller(), model, 900))
    expect(request(limiter, caller(), model, 1)).toMatchObject({ kind: 'rate', scope: 'model', unit: 'tokens' })
    clock.nowMs += 60_000
    const late = enter(caller())
    late.choose(model)
    expect(late.forecast(10, 8_000)).toBe(505)
  })

  test('key and account have limits of a model beside their own, by its id or an alias', () => {
    const { limiter } = setUp(open)
    const who = caller(
      { requestsPerMinute: 9, models: { fast: { requestsPerMinute: 1 } } },
      { models: { quick: { requestsPerMinute: 2 }, constructor: { requestsPerMinute: 1 } } },
    )
    const model = { id: 'fast', aliases: ['quick'] }
    permitOf(request(limiter, who, model))
    expect(request(limiter, who, model)).toMatchObject({ kind: 'rate', scope: 'key', model: 'fast', limit: 1 })
    const sibling = caller({}, who.account.limits, 'key_2')
    permitOf(request(limiter, sibling, model))
    expect(request(limiter, sibling, model)).toMatchObject({ kind: 'rate', scope: 'account', model: 'fast', limit: 2 })
    expect(request(limiter, who, { id: 'slow' }).kind).toBe('admitted')
    expect(request(limiter, who, { id: 'toString' }).kind).toBe('admitted')
  })

  test('if limits name a model and its alias, the lowest of each kind holds', () => {
    const { limiter } = setUp(open)
    const models = { fast: { requestsPerMinute: 5 }, quick: { requestsPerMinute: 2, concurrentRequests: 9 } }
    const who = caller({ models }, {})
    const model = { id: 'fast', aliases: ['quick'] }
    for (let i = 0; i < 2; i++) permitOf(request(limiter, who, model))
    expect(request(limiter, who, model)).toMatchObject({ kind: 'rate', scope: 'key', model: 'fast', limit: 2 })
  })

  test('headers say what is left of one’s own limits of the model, not of what all accounts share', () => {
    const { limiter } = setUp(open)
    const who = caller({ requestsPerMinute: 9 }, { models: { fast: { requestsPerMinute: 5 } } })
    const permit = permitOf(request(limiter, who, fast({ requestsPerMinute: 3, tokensPerMinute: 1_000 })))
    expect(permit.withRates()).toMatchObject({
      'x-ratelimit-limit-requests': '5',
      'x-ratelimit-remaining-requests': '4',
    })
    expect(permit.withRates()).not.toHaveProperty('x-ratelimit-limit-tokens')
  })
}

function testTokensAMinute(open: OpenLimiter): void {
  test('a forecast is reserved and then corrected, and use beyond it is owed', () => {
    const { clock, limiter, enter } = setUp(open)
    const who = caller({ tokensPerMinute: 1_000 })
    const entry = enter(who)
    expect(entry.obstacle(0n, 600)).toBeUndefined()
    entry.reserve(0n, 600)
    expect(limiter.limitStatuses(who)[0]?.tokensRemaining).toBe(400)
    const second = enter(who)
    expect(second.obstacle(0n, 500)).toMatchObject({ kind: 'rate', unit: 'tokens', retryAfterMs: 6_000 })
    entry.settle(0n, 1_600)
    expect(limiter.limitStatuses(who)[0]?.tokensRemaining).toBe(0)
    expect(limiter.enter(who)).toMatchObject({ kind: 'rate', unit: 'tokens' })
    clock.nowMs += 37_000 // 600 owed, and one token more
    enter(who)
  })

  test('the forecast of an answer without a limit is the recent size of such answers, within its bounds', () => {
    const { clock, enter } = setUp(open)
    const who = caller({ tokensPerMinute: 10_000 }, { tokensPerMinute: 50_000 })
    const first = enter(who)
    expect([first.forecast(10, 8_000), first.forecast(10, 300), first.forecast(9_900, 8_000)]).toEqual([
      510, 310, 9_950,
    ])
    // The known tokens alone exceed the limit. They are not reduced.
    expect(first.forecast(12_000, 8_000)).toBe(12_000)
    for (let i = 0; i < 12; i++) {
      clock.nowMs += 60_000
      const one = enter(who)
      one.reserve(0n, one.forecast(10, 8_000), 'forecast')
      one.settle(0n, 4_010, 4_000)
      one.leave()
    }
    expect(first.forecast(10, 8_000)).toBeWithin(3_800, 4_011)
    // Answers that were limited or cut off do not change the forecast.
    for (const [kind, output] of [
      ['known', 20],
      ['forecast', undefined],
    ] as const) {
      clock.nowMs += 60_000
      const one = enter(who)
      one.reserve(0n, 20, kind)
      one.settle(0n, 20, output)
    }
    expect(first.forecast(10, 8_000)).toBeWithin(3_800, 4_011)
    expect(enter(caller()).forecast(10, 8_000)).toBe(10)
  })

  test('unused tokens are returned', () => {
    const { limiter, enter } = setUp(open)
    const who = caller({ tokensPerMinute: 1_000 })
    const entry = enter(who)
    entry.reserve(0n, 900)
    entry.settle(0n, 0)
    expect(limiter.limitStatuses(who)[0]?.tokensRemaining).toBe(1_000)
  })

  test('a request beyond the whole limit is never worth a retry', () => {
    const { enter } = setUp(open)
    const entry = enter(caller({ tokensPerMinute: 100 }))
    expect(entry.obstacle(0n, 101)).toMatchObject({ kind: 'rate', retryAfterMs: undefined })
  })
}

function testSpend(open: OpenLimiter): void {
  const past = [
    { accountId: 'acct', keyId: 'key_1', day: START_MS / DAY_MS - 0.5, charged: 30n },
    { accountId: 'acct', keyId: 'key_2', day: START_MS / DAY_MS - 3.5, charged: 50n },
  ]

  test('open holds count, and a settlement replaces them by the charge', () => {
    const { enter } = setUp(open)
    const who = caller({ spendPerDay: 100n })
    const one = enter(who)
    expect(one.spendable).toBe(100n)
    one.reserve(80n, 0)
    const two = enter(who)
    expect(two.spendable).toBe(20n)
    expect(two.obstacle(21n, 0)).toMatchObject({ kind: 'spend', period: 'day', limit: 100n, spent: 0n, held: 80n })
    one.settle(10n, 0)
    expect(two.spendable).toBe(90n)
    expect(two.obstacle(90n, 0)).toBeUndefined()
  })

  test('at the limit nothing is admitted before the day is over', () => {
    const { clock, limiter, enter } = setUp(open)
    const who = caller({ spendPerDay: 100n, spendPerMonth: 1_000n })
    const entry = enter(who)
    entry.reserve(100n, 0)
    entry.settle(100n, 0)
    expect(limiter.enter(who)).toMatchObject({ kind: 'spend', period: 'day', resetsInMs: DAY_MS / 2 })
    clock.nowMs += DAY_MS / 2
    expect(enter(who).spendable).toBe(100n)
    expect(limiter.limitStatuses(who)[0]?.month.spent).toBe(100n)
  })

  test('a request across midnight counts for the day on which it began', () => {
    const { clock, limiter, enter } = setUp(open)
    const who = caller({ spendPerDay: 100n })
    const entry = enter(who)
    entry.reserve(60n, 0)
    clock.nowMs += DAY_MS
    expect(enter(who).spendable).toBe(100n)
    entry.settle(60n, 0)
    expect(limiter.limitStatuses(who)[0]?.day).toMatchObject({ spent: 0n, held: 0n })
  })

  test('a month includes its days, even those of running requests, and the next month none of them', () => {
    const { clock, limiter, enter } = setUp(open, past)
    const who = caller({ spendPerMonth: 500n })
    const [one, two, three] = [enter(who), enter(who), enter(who)]
    one.reserve(60n, 0)
    clock.nowMs += DAY_MS
    two.reserve(7n, 0)
    clock.nowMs += 3 * DAY_MS
    three.reserve(5n, 0)
    two.settle(6n, 0)
    const month = (): unknown => limiter.limitStatuses(who).map(({ month: { spent, held } }) => [spent, held])
    expect(month()).toEqual([
      [36n, 65n],
      [86n, 65n],
    ])
    expect(enter(who).spendable).toBe(399n)
    one.settle(40n, 0)
    expect(month()).toEqual([
      [76n, 5n],
      [126n, 5n],
    ])
    clock.nowMs += 31 * DAY_MS
    expect(enter(who).spendable).toBe(500n)
    three.settle(5n, 0)
    expect(month()).toEqual([
      [0n, 0n],
      [0n, 0n],
    ])
  })

  test('a clock that is set back frees nothing', () => {
    const { clock, limiter, enter } = setUp(open)
    const who = caller({ spendPerDay: 100n })
    const entry = enter(who)
    entry.reserve(100n, 0)
    entry.settle(100n, 0)
    clock.nowMs -= DAY_MS
    expect(limiter.enter(who)).toMatchObject({ kind: 'spend' })
    clock.nowMs += DAY_MS
    expect(limiter.enter(who)).toMatchObject({ kind: 'spend', spent: 100n })
  })

  test('what was spent before a restart counts', () => {
    const { limiter, enter } = setUp(open, past)
    const statuses = limiter.limitStatuses(caller())
    expect(statuses[0]).toMatchObject({ day: { spent: 30n }, month: { spent: 30n } })
    expect(statuses[1]).toMatchObject({ day: { spent: 30n }, month: { spent: 80n } })
    expect(enter(caller({}, { spendPerMonth: 100n })).spendable).toBe(20n)
  })

  test('the tightest limit of key and account, day and month counts', () => {
    const { enter } = setUp(open, past)
    const entry = enter(caller({ spendPerMonth: 500n }, { spendPerDay: 35n, spendPerMonth: 1_000n }))
    expect(entry.spendable).toBe(5n)
    expect(entry.obstacle(6n, 0)).toMatchObject({ scope: 'account', period: 'day' })
  })

  test('of several limits that refuse a request, the longest is named, with what the request needs', () => {
    const { enter } = setUp(open)
    const who = caller({ spendPerDay: 100n, spendPerMonth: 400n }, { spendPerMonth: 120n })
    const one = enter(who)
    one.reserve(60n, 0)
    const two = enter(who)
    expect(two.obstacle(50n, 0)).toMatchObject({ scope: 'key', period: 'day', needed: 50n, freedBy: 'holds' })
    one.settle(60n, 0)
    expect(two.obstacle(50n, 0)).toMatchObject({ scope: 'key', period: 'day', freedBy: 'period' })
    expect(two.obstacle(70n, 0)).toMatchObject({ scope: 'account', period: 'month', freedBy: 'period' })
    expect(two.obstacle(101n, 0)).toMatchObject({ scope: 'key', period: 'day', freedBy: 'nothing' })
    expect(two.obstacle(121n, 0)).toMatchObject({ needed: 121n, freedBy: 'nothing' })
  })
}

function testOtherLimits(open: OpenLimiter): void {
  test('concurrency counts each request in flight once', () => {
    const { limiter, enter } = setUp(open)
    const who = caller({ concurrentRequests: 2 })
    const first = enter(who)
    enter(who)
    expect(limiter.enter(who)).toEqual({ kind: 'concurrency', scope: 'key', limit: 2 })
    first.leave()
    first.leave()
    enter(who)
    expect(limiter.enter(who)).toMatchObject({ kind: 'concurrency' })
  })

  test('headers name the scope with less left, and none without limits', () => {
    const { enter } = setUp(open)
    expect(enter(caller()).withRates()).toEqual({})
    const entry = enter(caller({ requestsPerMinute: 100, tokensPerMinute: 6_000 }, { requestsPerMinute: 10 }))
    entry.reserve(0n, 100)
    expect(entry.withRates()).toEqual({
      'x-ratelimit-limit-requests': '10',
      'x-ratelimit-remaining-requests': '9',
      'x-ratelimit-reset-requests': '6s',
      'x-ratelimit-limit-tokens': '6000',
      'x-ratelimit-remaining-tokens': '5900',
      'x-ratelimit-reset-tokens': '1s',
    })
  })

  test('refusals of vendors are counted by account, and the count refills', () => {
    const { clock, limiter, enter } = setUp(open)
    const who = caller()
    const futile = (times: number): void => {
      for (let i = 0; i < times; i++) {
        const entry = enter(who)
        entry.wasFutile()
        entry.leave()
      }
    }
    futile(FUTILE_PER_MINUTE)
    const limit = FUTILE_PER_MINUTE
    expect(limiter.enter(caller({}, {}, 'key_2'))).toEqual({
      kind: 'futile',
      scope: 'account',
      limit,
      retryAfterMs: 50,
    })
    clock.nowMs += 1_000
    futile(FUTILE_PER_MINUTE / 60)
    expect(limiter.enter(who)).toMatchObject({ kind: 'futile' })
  })

  test('an account has a maximum of requests in flight, whatever its own limit is', () => {
    const limiter = open([], { accountMax: 2 })
    const permits = [
      limiter.enter(caller({}, {}, 'key_1')),
      limiter.enter(caller({}, { concurrentRequests: 9 }, 'key_2')),
    ]
    expect(permits.map(({ kind }) => kind)).toEqual(['admitted', 'admitted'])
    expect([limiter.inFlight('acct'), limiter.inFlight('key_1'), limiter.inFlight('nobody')]).toEqual([2, 1, 0])
    expect(limiter.enter(caller())).toEqual({ kind: 'concurrency', scope: 'account', limit: 2 })
    for (const permit of permits) if (permit.kind === 'admitted') permit.leave()
    expect(limiter.enter(caller()).kind).toBe('admitted')
  })
}

function testAnySpend(open: OpenLimiter): void {
  const amount = fc.bigInt({ min: 0n, max: 60n })
  const step = fc.oneof(
    fc.record({ kind: fc.constant('reserve' as const), amount }),
    fc.record({ kind: fc.constant('extend' as const), pick: fc.nat(), amount }),
    fc.record({ kind: fc.constant('settle' as const), pick: fc.nat(), amount }),
    fc.record({ kind: fc.constant('wait' as const), hours: fc.integer({ min: 0, max: 30 }) }),
  )
  type OpenPermit = { permit: LimiterPermit; day: number; held: bigint }

  test('for any requests, spent and held of a day stay within its limit, and the rest is what was not taken', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: 100n }), fc.array(step, { maxLength: 40 }), (limit, steps) => {
        const { clock, enter, limiter } = setUp(open)
        const who = caller({ spendPerDay: limit })
        const spent = new Map<number, bigint>()
        const permits: OpenPermit[] = []
        const today = (): number => Math.floor(clock.nowMs / DAY_MS)
        const left = (): bigint => {
          const held = permits.filter(({ day }) => day === today()).reduce((sum, one) => sum + one.held, 0n)
          const free = limit - held - (spent.get(today()) ?? 0n)
          return free > 0n ? free : 0n
        }
        for (const one of steps) {
          if (one.kind === 'wait') clock.nowMs += one.hours * HOUR_MS
          if (one.kind === 'reserve' && left() > 0n) {
            const permit = enter(who)
            expect(permit.spendable).toBe(left())
            expect(permit.obstacle(one.amount, 0) === undefined).toBe(one.amount <= left())
            if (one.amount > left()) continue
            permit.reserve(one.amount, 0)
            permits.push({ permit, day: today(), held: one.amount })
          } else if (one.kind === 'reserve') expect(limiter.enter(who)).toMatchObject({ kind: 'spend', period: 'day' })
          const open = one.kind === 'extend' || one.kind === 'settle' ? permits[one.pick % permits.length] : undefined
          // An extension counts for the day of its request. The day of the call decides whether it is allowed.
          if (open && one.kind === 'extend' && open.day === today()) {
            const isPossible = one.amount <= left()
            expect(open.permit.extend(one.amount).kind).toBe(isPossible ? 'extended' : 'limited')
            if (isPossible) open.held += one.amount
          }
          if (open && one.kind === 'settle') {
            const charged = one.amount < open.held ? one.amount : open.held
            open.permit.settle(charged, 0)
            open.permit.settle(charged, 0)
            open.permit.leave()
            spent.set(open.day, (spent.get(open.day) ?? 0n) + charged)
            permits.splice(permits.indexOf(open), 1)
          }
          const day = limiter.limitStatuses(who)[0]?.day
          expect((day?.spent ?? 0n) + (day?.held ?? 0n)).toBe(limit - left())
        }
      }),
    )
  })
}
