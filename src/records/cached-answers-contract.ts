/** The contract of `CachedAnswers` as tests for any store. The suite uses only the port. */
import { describe, expect, test } from 'bun:test'
import { SECOND_MS } from '../lib/primitives/units.ts'
import { shifted, withPort, type InstancesUnderTest, type PortUnderTest } from '../store/port-contract.ts'
import type { AnswerToKeep, CachedAnswer, CachedAnswers } from './cached-answers.ts'

export type CachedAnswersUnderTest = PortUnderTest<CachedAnswers>

/** Opens an empty store in which answers may take this many bytes together. */
type Open = (bounds: { readonly bytesMax: number }) => Promise<CachedAnswersUnderTest>

const MANY = { bytesMax: 1e9 }
const KEPT_MS = 60 * SECOND_MS
const answer = (text: string, more: Partial<CachedAnswer> = {}): CachedAnswer => ({
  text,
  offerId: 'm@p/u',
  dropped: [],
  ...more,
})

async function keep(port: CachedAnswers, key: string, kept: CachedAnswer, more: Partial<AnswerToKeep> = {}) {
  const bytes = Buffer.byteLength(kept.text)
  port.keep({ accountId: 'a', key, keptMs: KEPT_MS, bytes, make: () => Promise.resolve(kept), ...more })
  await port.settled()
}
const textOf = async (port: CachedAnswers, key: string, accountId = 'a'): Promise<string | undefined> =>
  (await port.find(accountId, key))?.text

/** Runs the suite. */
export function describeCachedAnswersContract(name: string, open: Open): void {
  describe(`${name} keeps the contract of the answer cache`, () => {
    const on =
      (use: (under: CachedAnswersUnderTest) => Promise<void>, bounds = MANY) =>
      () =>
        withPort(() => open(bounds), use)

    test(
      'an answer is found unchanged, also by the next process, and no other key or account finds it',
      on(async (under) => {
        const kept = answer('say "yes" \u{1f600}\n{"line": 2}', { dropped: ['seed', 'logit_bias'] })
        await keep(under.port, 'k', kept)
        const next = await under.reopen()
        for (const port of [under.port, next]) {
          expect(await port.find('a', 'k')).toEqual({ ...kept, createdAtMs: expect.any(Number) as never })
          for (const [account, key] of [
            ['a', 'K'],
            ['a', 'k '],
            ['b', 'k'],
            ['', 'k'],
            ['a\nk', ''],
          ] as const) {
            expect(await port.find(account, key)).toBeUndefined()
          }
        }
      }),
    )

    test(
      'names of questions repeat, and differ for each account and question',
      on(async (under) => {
        const { port } = under
        const pairs = [
          ['a', 'q'],
          ['a', 'r'],
          ['b', 'q'],
          ['a\nq', ''],
          ['a', '\nq'],
        ] as const
        const names = pairs.map(([account, question]) => port.keyOf(account, question))
        expect(new Set(names).size).toBe(pairs.length)
        const next = await under.reopen()
        expect(pairs.map(([account, question]) => next.keyOf(account, question))).toEqual(names)
      }),
    )

    test(
      'an answer ends with its time, and is deleted then',
      on(async ({ port }) => {
        await keep(port, 'short', answer('x'), { keptMs: 10 * SECOND_MS })
        await keep(port, 'long', answer('y'))
        await shifted(11 * SECOND_MS, async () => {
          expect(await textOf(port, 'short')).toBeUndefined()
          expect(await textOf(port, 'long')).toBe('y')
          const before = port.bytes
          await port.sweep()
          expect(port.bytes).toBeLessThan(before)
          expect(await textOf(port, 'long')).toBe('y')
        })
        await shifted(2 * KEPT_MS, () => port.sweep())
        expect(port.bytes).toBe(0)
      }),
    )

    test(
      'a newer answer replaces an older one',
      on(async ({ port }) => {
        await keep(port, 'k', answer('old'))
        await keep(port, 'k', answer('new'))
        expect(await textOf(port, 'k')).toBe('new')
        await port.sweep()
        expect(port.bytes).toBeLessThan(1_000)
      }),
    )

    test(
      'the oldest answers give way, and the bound is never passed',
      on(
        async ({ port }) => {
          const text = 'x'.repeat(1_000)
          for (let i = 0; i < 60; i++) {
            await shifted(i, () => keep(port, `k${i}`, answer(text)))
            expect(port.bytes).toBeLessThanOrEqual(30_000)
          }
          expect(await textOf(port, 'k59')).toBe(text)
          expect(await textOf(port, 'k0')).toBeUndefined()
          const left = await Promise.all(Array.from({ length: 60 }, (_, i) => textOf(port, `k${i}`)))
          expect(left.findIndex((one) => one !== undefined)).toBeGreaterThan(30)
          expect(left.filter((one) => one !== undefined).length).toBeGreaterThan(15)
          await keep(port, 'huge', answer('x'.repeat(40_000)))
          expect(await textOf(port, 'huge')).toBeUndefined()
          expect(await textOf(port, 'k59')).toBe(text)
        },
        { bytesMax: 30_000 },
      ),
    )

    test(
      'what cannot be made is not kept, and does not stop what follows',
      on(async ({ port }) => {
        await keep(port, 'none', answer('x'), { make: () => Promise.resolve(undefined) })
        await keep(port, 'broken', answer('x'), { make: () => Promise.reject(new Error('broken')) })
        await keep(port, 'k', answer('y'))
        expect(await Promise.all(['none', 'broken', 'k'].map((key) => textOf(port, key)))).toEqual([
          undefined,
          undefined,
          'y',
        ])
      }),
    )

    test(
      'of equal answers at once one is written, and a flood is bounded',
      on(async ({ port }) => {
        let made = 0
        const make = (): Promise<CachedAnswer> => Promise.resolve(answer(`${made++}`))
        for (let i = 0; i < 50; i++) port.keep({ accountId: 'a', key: 'k', keptMs: KEPT_MS, bytes: 1, make })
        for (let i = 0; i < 50; i++) port.keep({ accountId: 'a', key: `k${i}`, keptMs: KEPT_MS, bytes: 1e6, make })
        await port.settled()
        expect(await textOf(port, 'k')).toBe('0')
        expect(made).toBeGreaterThan(10)
        expect(made).toBeLessThan(20)
      }),
    )

    test(
      'a cache without room is off',
      on(
        async ({ port }) => {
          expect(port.isOff).toBe(true)
          await keep(port, 'k', answer('x'))
          expect(await textOf(port, 'k')).toBeUndefined()
        },
        { bytesMax: 0 },
      ),
    )
  })
}

/** Runs the part of the suite for two instances on one store. */
export function describeCachedAnswersOfInstances(
  name: string,
  open: () => Promise<InstancesUnderTest<CachedAnswersUnderTest>>,
): void {
  test(`${name}: an instance finds what the other has kept, whoever of them was last`, () =>
    withPort(open, async ({ first, second }) => {
      const keys = Array.from({ length: 20 }, (_, i) => `k${i}`)
      await Promise.all(
        [first, second].map(async ({ port }, i) => {
          const mine = i === 0 ? keys : keys.toReversed()
          for (const key of mine)
            port.keep({ accountId: 'a', key, keptMs: KEPT_MS, bytes: 9, make: async () => answer(key) })
          await port.settled()
        }),
      )
      for (const { port } of [first, second]) {
        expect(await Promise.all(keys.map((key) => textOf(port, key)))).toEqual(keys)
      }
    }))
}
