/** The contract of `Idempotency` as tests for any store. The suite uses only the port. */
import { describe, expect, test } from 'bun:test'
import { MIB } from '../lib/primitives/units.ts'
import {
  Dice,
  shifted,
  withPort,
  written,
  type InstancesUnderTest,
  type PortUnderTest,
} from '../store/port-contract.ts'
import {
  ANSWER_BYTES_MAX,
  ANSWER_KEPT_MS,
  type Idempotency,
  type IdempotencyLock,
  type KeptAnswer,
  type LockOutcome,
} from './idempotency.ts'

export type IdempotencyUnderTest = PortUnderTest<Idempotency> & {
  /** Does to a key what the expiry of its request's hold does. */
  expire(requestId: string): Promise<void>
}

/** Opens an empty store in which an account may keep this many bytes. */
type Open = (bounds: { readonly bytesPerAccountMax: number }) => Promise<IdempotencyUnderTest>

const ANY = { bytesPerAccountMax: 1_000 * MIB }
const answer = (body: KeptAnswer['body'], more: Partial<KeptAnswer> = {}): KeptAnswer => ({
  status: 200,
  headers: { 'content-type': 'application/json' },
  body,
  ...more,
})

let serial = 0
const nextRequest = (): string => `req_${serial++}`

const ask = (port: Idempotency, key: string, what = 1, accountId = 'a'): Promise<LockOutcome> =>
  port.lock(accountId, { key, fingerprint: new Uint8Array([what, 0, 255]) })

async function locked(port: Idempotency, key: string, what = 1, accountId = 'a'): Promise<IdempotencyLock> {
  const outcome = await ask(port, key, what, accountId)
  if (outcome.kind !== 'locked') throw new Error(`${key} is ${outcome.kind}`)
  return outcome.lock
}

/** Carries a request out and keeps its answer. Returns the request's id. */
async function carryOut(under: IdempotencyUnderTest, key: string, kept: KeptAnswer, accountId = 'a'): Promise<string> {
  const lock = await locked(under.port, key, 1, accountId)
  const requestId = nextRequest()
  await written(under, lock.begin(requestId))
  await written(under, lock.keep(kept))
  lock.end()
  return requestId
}

/** Runs the suite. */
export function describeIdempotencyContract(name: string, open: Open): void {
  describe(`${name} keeps the contract of idempotency keys`, () => {
    testClaims(open)
    testExpiry(open)
    testBounds(open)
    testHistories(open)
  })
}

function testClaims(open: Open): void {
  test('of concurrent requests one is carried out', () =>
    withPort(
      () => open(ANY),
      async (under) => {
        const outcomes = await Promise.all(Array.from({ length: 50 }, (_, i) => ask(under.port, 'k', i < 25 ? 1 : 2)))
        const kinds = outcomes.map(({ kind }) => kind)
        expect(kinds.filter((kind) => kind === 'locked')).toHaveLength(1)
        expect(kinds.filter((kind) => kind === 'running')).toHaveLength(24)
        expect(kinds.filter((kind) => kind === 'mismatch')).toHaveLength(25)
      },
    ))

  test('an answer is repeated unchanged, with the request that was charged for it', () =>
    withPort(
      () => open(ANY),
      async (under) => {
        const first = answer('say "yes" \u{1f600}\n', { status: 201, headers: { a: '1', b: '"2"' } })
        const requestId = await carryOut(under, 'k', first)
        expect(await ask(under.port, 'k')).toEqual({ kind: 'kept', requestId, answer: first })
        expect(await ask(under.port, 'k', 2)).toEqual({ kind: 'mismatch' })
        const next = await under.reopen()
        expect(await ask(next, 'k')).toEqual({ kind: 'kept', requestId, answer: first })
      },
    ))

  test('an answer of bytes is repeated to the byte, and counts for its length', () =>
    withPort(
      () => open({ bytesPerAccountMax: 1_000 }),
      async (under) => {
        const bytes = new Uint8Array(Array.from({ length: 600 }, (_, i) => i % 256))
        const first = answer(bytes, { headers: { 'content-type': 'audio/mpeg' } })
        const requestId = await carryOut(under, 'k', first)
        const kept = async (port: Idempotency, key: string): Promise<Uint8Array | undefined> => {
          const outcome = await ask(port, key)
          if (outcome.kind !== 'kept' || typeof outcome.answer.body === 'string') throw new Error(outcome.kind)
          return outcome.answer.body && Uint8Array.from(outcome.answer.body)
        }
        expect(await kept(under.port, 'k')).toEqual(bytes)
        expect(await ask(under.port, 'k')).toMatchObject({ requestId, answer: { headers: first.headers } })
        await carryOut(under, 'over', answer(bytes))
        expect(await kept(under.port, 'over')).toBeUndefined()
        const next = await under.reopen()
        expect(await kept(next, 'k')).toEqual(bytes)
        const again = { ...under, port: next }
        await carryOut(again, 'over again', answer(bytes))
        expect(await kept(next, 'over again')).toBeUndefined()
        await carryOut(again, 'fits', answer(bytes.subarray(200)))
        expect(await kept(next, 'fits')).toEqual(bytes.slice(200))
      },
    ))

  test('the same key of another account is another key', () =>
    withPort(
      () => open(ANY),
      async (under) => {
        await carryOut(under, 'k', answer('mine'))
        expect((await ask(under.port, 'k', 2, 'b')).kind).toBe('locked')
        expect(under.port.keepsFor('a')).toBe(true)
      },
    ))

  test('keys are compared to the last character', () =>
    withPort(
      () => open(ANY),
      async (under) => {
        await carryOut(under, 'Key', answer('one'))
        for (const key of ['key', 'Key ', 'Key\n', 'K%', "Key' OR 1=1", 'Kéy']) {
          expect([key, (await ask(under.port, key)).kind]).toEqual([key, 'locked'])
        }
      },
    ))

  test('a request without a charge leaves its key free', () =>
    withPort(
      () => open(ANY),
      async (under) => {
        const refused = await locked(under.port, 'refused')
        refused.end()
        refused.end()
        const dropped = await locked(under.port, 'dropped')
        await written(under, dropped.begin(nextRequest()))
        await written(under, dropped.drop())
        dropped.end()
        for (const key of ['refused', 'dropped']) expect((await ask(under.port, key, 2)).kind).toBe('locked')
      },
    ))

  test('a lock that has ended ends no later one', () =>
    withPort(
      () => open(ANY),
      async (under) => {
        const first = await locked(under.port, 'k')
        first.end()
        await locked(under.port, 'k')
        first.end()
        expect((await ask(under.port, 'k')).kind).toBe('running')
      },
    ))

  test('a key has one row: it is not begun twice', () =>
    withPort(
      () => open(ANY),
      async (under) => {
        const lock = await locked(under.port, 'k')
        const [first, second] = [nextRequest(), nextRequest()]
        await written(under, lock.begin(first))
        expect((await under.write(lock.begin(second))).kind).toBe('refused')
        const unbegun = await locked(under.port, 'other')
        expect((await under.write(unbegun.keep(answer('none')))).kind).toBe('refused')
        expect((await under.write(unbegun.drop())).kind).toBe('refused')
      },
    ))
}

function testExpiry(open: Open): void {
  test('a key goes with the hold of a request that died, and with no other', () =>
    withPort(
      () => open(ANY),
      async (under) => {
        const died = nextRequest()
        await written(under, (await locked(under.port, 'died')).begin(died))
        const kept = await carryOut(under, 'kept', answer('text'))
        for (const requestId of [died, kept, 'req_none']) await under.expire(requestId)
        const next = await under.reopen()
        expect((await ask(next, 'died', 2)).kind).toBe('locked')
        expect(await ask(next, 'kept')).toMatchObject({ kind: 'kept', requestId: kept })
      },
    ))

  test('an answer is kept for its time, and its key is free then, before and after a sweep', () =>
    withPort(
      () => open(ANY),
      async (under) => {
        for (const key of ['k1', 'k2', 'k3']) await carryOut(under, key, answer(key))
        const running = await locked(under.port, 'running')
        await written(under, running.begin(nextRequest()))
        await shifted(ANSWER_KEPT_MS - 5_000, async () => {
          await under.port.sweep()
          expect((await ask(under.port, 'k1')).kind).toBe('kept')
        })
        await shifted(ANSWER_KEPT_MS + 5_000, async () => {
          expect(await carryOut(under, 'k1', answer('again'))).toStartWith('req_')
          await under.port.sweep()
          expect(await ask(under.port, 'k1')).toMatchObject({ kind: 'kept', answer: { body: 'again' } })
          expect((await ask(under.port, 'k2', 2)).kind).toBe('locked')
          // A running request must not be forgotten.
          expect((await ask(under.port, 'running')).kind).toBe('running')
          await written(under, running.keep(answer('late')))
        })
      },
    ))

  test('a concurrent sweep and lock call give one lock', () =>
    withPort(
      () => open(ANY),
      async (under) => {
        const keys = Array.from({ length: 30 }, (_, i) => `k${i}`)
        await Promise.all(keys.map((key) => carryOut(under, key, answer('x'))))
        await shifted(ANSWER_KEPT_MS + 5_000, async () => {
          const sweeping = under.port.sweep()
          const locks = await Promise.all(keys.map((key) => locked(under.port, key)))
          await sweeping
          for (const lock of locks) await written(under, lock.begin(nextRequest()))
          for (const key of keys) expect((await ask(under.port, key)).kind).toBe('running')
        })
      },
    ))
}

function testBounds(open: Open): void {
  test('of an answer that is too large, or beyond the total, only the charge is kept', () =>
    withPort(
      () => open({ bytesPerAccountMax: 250 }),
      async (under) => {
        const bodyOf = async (key: string, accountId = 'a'): Promise<KeptAnswer['body']> => {
          const outcome = await ask(under.port, key, 1, accountId)
          if (outcome.kind !== 'kept') throw new Error(outcome.kind)
          return outcome.answer.body
        }
        const hundred = 'x'.repeat(100)
        for (const key of ['k1', 'k2', 'k3']) await carryOut(under, key, answer(hundred))
        await carryOut(under, 'k1', answer(hundred), 'b')
        expect([await bodyOf('k1'), await bodyOf('k2'), await bodyOf('k3')]).toEqual([hundred, hundred, undefined])
        expect(await bodyOf('k1', 'b')).toBe(hundred)
        // An answer without a body takes no room.
        await carryOut(under, 'k4', answer(undefined))
        await carryOut(under, 'k5', answer('x'.repeat(50)))
        expect(await bodyOf('k5')).toBe('x'.repeat(50))
        // Forgotten answers free their room.
        await shifted(ANSWER_KEPT_MS + 5_000, async () => {
          await under.port.sweep()
          await carryOut(under, 'k6', answer(hundred))
          expect(await bodyOf('k6')).toBe(hundred)
        })
      },
    ))

  test('a body is measured in bytes of UTF-8', () =>
    withPort(
      () => open(ANY),
      async (under) => {
        const euros = '€'.repeat(Math.floor(ANSWER_BYTES_MAX / 3))
        await carryOut(under, 'fits', answer(euros))
        await carryOut(under, 'large', answer(`${euros}€`))
        expect(await ask(under.port, 'fits')).toMatchObject({ kind: 'kept', answer: { body: euros } })
        const large = await ask(under.port, 'large')
        expect(large.kind === 'kept' && large.answer.body).toBeUndefined()
      },
    ))
}

type Model =
  | { kind: 'free' }
  | { kind: 'locked'; what: number; lock: IdempotencyLock; requestId?: string }
  | { kind: 'kept'; what: number; requestId: string; body: string }

function testHistories(open: Open): void {
  test('any history of requests, ends and restarts agrees with the meaning of a key', () =>
    withPort(
      () => open(ANY),
      async (under) => {
        const dice = new Dice(404)
        const names = ['a 1', 'a 2', 'b 1']
        const models = new Map<string, Model>(names.map((name) => [name, { kind: 'free' }]))
        let port = under.port
        for (let step = 0; step < 600; step++) {
          if (dice.once(40)) {
            port = await restart(under, models)
            continue
          }
          const at = dice.pick(...names)
          const model = models.get(at) as Model
          models.set(at, await (dice.once(2) ? lockNext(port, at, model, dice) : goOn(under, model, dice)))
        }
      },
    ))
}

async function lockNext(port: Idempotency, at: string, model: Model, dice: Dice): Promise<Model> {
  const [accountId = '', key = ''] = at.split(' ')
  const what = dice.pick(1, 2)
  const outcome = await ask(port, key, what, accountId)
  if (model.kind === 'free') {
    expect(outcome.kind).toBe('locked')
    return outcome.kind === 'locked' ? { kind: 'locked', what, lock: outcome.lock } : model
  }
  if (what !== model.what) expect(outcome).toEqual({ kind: 'mismatch' })
  else if (model.kind === 'locked') expect(outcome.kind).toBe('running')
  else {
    const { requestId, body } = model
    expect(outcome).toEqual({ kind: 'kept', requestId, answer: answer(body) })
  }
  return model
}

/** The next step of a request that has a key, if there is one. */
async function goOn(under: IdempotencyUnderTest, model: Model, dice: Dice): Promise<Model> {
  if (model.kind !== 'locked') return model
  const { lock, what, requestId } = model
  if (requestId === undefined) {
    if (dice.once(4)) {
      lock.end()
      return { kind: 'free' }
    }
    const begun = nextRequest()
    await written(under, lock.begin(begun))
    return { ...model, requestId: begun }
  }
  const body = `answer ${dice.below(1_000)}`
  const isKept = dice.once(2)
  await written(under, isKept ? lock.keep(answer(body)) : lock.drop())
  lock.end()
  return isKept ? { kind: 'kept', what, requestId, body } : { kind: 'free' }
}

/** The process dies. The holds of running requests expire. */
async function restart(under: IdempotencyUnderTest, models: Map<string, Model>): Promise<Idempotency> {
  for (const [at, model] of models) {
    if (model.kind !== 'locked') continue
    if (model.requestId !== undefined) await under.expire(model.requestId)
    models.set(at, { kind: 'free' })
  }
  return under.reopen()
}

/** Runs the part of the suite for two instances on one store. */
export function describeIdempotencyOfInstances(
  name: string,
  open: () => Promise<InstancesUnderTest<IdempotencyUnderTest>>,
): void {
  describe(`${name} keeps the contract of idempotency keys between instances`, () => {
    const on = (use: (under: InstancesUnderTest<IdempotencyUnderTest>) => Promise<void>) => () => withPort(open, use)

    test(
      'of instances that lock a key at once, one carries its request out',
      on(async ({ first, second }) => {
        for (let round = 0; round < 30; round++) {
          const key = `k${round}`
          const locks = await Promise.all([first, second].map(({ port }) => locked(port, key)))
          const ids = locks.map(nextRequest)
          const outcomes = await Promise.all(
            [first, second].map((under, i) => under.write(locks[i]?.begin(ids[i] ?? '') ?? [])),
          )
          const won = outcomes.findIndex(({ kind }) => kind === 'written')
          expect(outcomes[1 - won]).toMatchObject({ kind: 'refused', step: 0 })
          const [winner, loser] = won === 0 ? [first, second] : [second, first]
          locks[1 - won]?.end()
          expect((await ask(loser.port, key)).kind).toBe('running')
          expect((await ask(loser.port, key, 2)).kind).toBe('mismatch')
          await written(winner, locks[won]?.keep(answer(key)) ?? [])
          locks[won]?.end()
          for (const { port } of [first, second]) {
            expect(await ask(port, key)).toEqual({ kind: 'kept', requestId: ids[won] ?? '', answer: answer(key) })
          }
        }
      }),
    )

    test(
      'many keys that both instances begin in any order are each begun once',
      on(async ({ first, second }) => {
        const dice = new Dice(7)
        const begun: string[] = []
        const begin = async (under: IdempotencyUnderTest): Promise<void> => {
          const keys = Array.from({ length: 200 }, (_, i) => `k${i}`).toSorted(() => dice.below(3) - 1)
          await Promise.all(
            keys.map(async (key) => {
              const outcome = await ask(under.port, key)
              if (outcome.kind !== 'locked') return
              if ((await under.write(outcome.lock.begin(nextRequest()))).kind === 'written') begun.push(key)
              outcome.lock.end()
            }),
          )
        }
        await Promise.all([begin(first), begin(second)])
        expect(begun.length).toBe(200)
        expect(new Set(begun).size).toBe(200)
      }),
    )

    test(
      'a key whose request was dropped, or died with its hold, is free everywhere',
      on(async ({ first, second }) => {
        const dropped = await locked(first.port, 'dropped')
        await written(first, dropped.begin(nextRequest()))
        expect(await ask(second.port, 'dropped')).toMatchObject({ kind: 'running' })
        await written(first, dropped.drop())
        dropped.end()
        const died = nextRequest()
        await written(first, (await locked(first.port, 'died')).begin(died))
        await second.expire(died)
        for (const key of ['dropped', 'died']) {
          const lock = await locked(second.port, key, 2)
          await written(second, lock.begin(nextRequest()))
        }
      }),
    )

    test(
      'an expired answer gives way to one new request, whoever sweeps',
      on(async ({ first, second }) => {
        await carryOut(first, 'k', answer('old'))
        await shifted(ANSWER_KEPT_MS + 5_000, async () => {
          const locks = await Promise.all([first, second].map(({ port }) => locked(port, 'k')))
          const outcomes = await Promise.all([
            ...[first, second].map((under, i) => under.write(locks[i]?.begin(nextRequest()) ?? [])),
            second.port.sweep().then(() => ({ kind: 'swept' })),
          ])
          expect(outcomes.map(({ kind }) => kind).toSorted()).toEqual(['refused', 'swept', 'written'])
        })
      }),
    )

    test(
      'an instance knows of no account that it has no answers',
      on(async ({ first, second }) => {
        await carryOut(first, 'k', answer('text'))
        expect(second.port.keepsFor('a')).toBe(true)
      }),
    )
  })
}
