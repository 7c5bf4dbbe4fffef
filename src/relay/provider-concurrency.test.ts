import { expect, test } from 'bun:test'
import { seatBounds, ProviderConcurrency } from './provider-concurrency.ts'

const one = { id: 'vendor', concurrentRequests: 1 }
/** A call that goes on. */
const call = { upstreamStopped: false, took: () => undefined, landed: () => undefined }

test('there are so many seats, and each is given back once', () => {
  const seats = new ProviderConcurrency()
  const pair = { id: 'vendor', concurrentRequests: 2 }
  const [first, second] = [seats.take(pair), seats.take(pair)]
  expect(seats.take(pair)).toBeUndefined()
  expect(seats.take({ id: 'other', concurrentRequests: 1 })).toBeDefined()
  first?.leave()
  first?.leave()
  expect(seats.take(pair)).toBeDefined()
  expect(seats.take(pair)).toBeUndefined()
  second?.leave()
  expect(seats.take(pair)).toBeDefined()
})

test('who waits is served in the order of arrival, before whoever comes then', async () => {
  const seats = new ProviderConcurrency()
  const pair = { id: 'vendor', concurrentRequests: 2 }
  const taken = [seats.take(pair), seats.take(pair)]
  const order: string[] = []
  const waits = ['a', 'b'].map((name) => seats.wait([pair], 'acct', call).then((got) => (order.push(name), got)))
  taken[0]?.leave()
  expect(seats.take(pair)).toBeUndefined()
  taken[1]?.leave()
  expect((await Promise.all(waits)).every(Boolean)).toBe(true)
  expect(order).toEqual(['a', 'b'])
})

test('accounts take turns', async () => {
  const seats = new ProviderConcurrency()
  const four = { id: 'vendor', concurrentRequests: 4 }
  const taken = Array.from({ length: 4 }, () => seats.take(four))
  const order: string[] = []
  const wait = (account: string, name: string): Promise<number> =>
    seats.wait([four], account, call).then(() => order.push(name))
  const waits = [wait('greedy', 'g1'), wait('greedy', 'g2'), wait('greedy', 'g3'), wait('modest', 'm1')]
  for (const seat of taken) seat?.leave()
  await Promise.all(waits)
  expect(order).toEqual(['g1', 'm1', 'g2', 'g3'])
})

test('who waits in vain is told so, and takes no seat later', async () => {
  const seats = new ProviderConcurrency()
  const taken = seats.take(one)
  const startedMs = performance.now()
  // The first of each account may wait, whoever waits already.
  const waiting = ['greedy', 'other', 'third'].map((account) => seats.wait([one], account, call))
  // Of an account as many wait as may be served: the next one is told at once.
  expect(seats.isOpenTo(one, 'greedy')).toBe(false)
  expect(seats.isOpenTo(one, 'fourth')).toBe(true)
  expect(await seats.wait([one], 'greedy', call)).toBeUndefined()
  expect(performance.now() - startedMs).toBeLessThan(seatBounds.waitMs)
  expect(await Promise.all(waiting)).toEqual([undefined, undefined, undefined])
  taken?.leave()
  expect(seats.take(one)).toBeDefined()
})

test('of several providers the first with room is taken, and only that one', async () => {
  const seats = new ProviderConcurrency()
  const other = { id: 'other', concurrentRequests: 1 }
  const taken = [seats.take(one), seats.take(other)]
  const waiting = seats.wait([one, other, one], 'acct', call)
  taken[1]?.leave()
  taken[0]?.leave()
  const [provider, seat] = (await waiting) ?? []
  expect(provider).toBe(other)
  expect([seats.take(one) !== undefined, seats.take(other)]).toEqual([true, undefined])
  seat?.leave()
  expect(seats.take(other)).toBeDefined()
})

test('a limit that is changed holds for who is there already, and serves who waits', async () => {
  const seats = new ProviderConcurrency()
  const taken = seats.take(one)
  const waiting = seats.wait([one], 'acct', call)
  expect(seats.take({ ...one, concurrentRequests: 3 })).toBeDefined()
  const [, seat] = (await waiting) ?? []
  expect(seat).toBeDefined()
  taken?.leave()
  seat?.leave()
  expect(seats.take(one)).toBeUndefined()
})

test('a seat that became free before anybody waited is had at once', async () => {
  const seats = new ProviderConcurrency()
  const [, seat] = (await seats.wait([one], 'acct', call)) ?? []
  expect(seat).toBeDefined()
  expect(seats.take(one)).toBeUndefined()
})

test('a call that is stopped waits no longer, before and meanwhile', async () => {
  const seats = new ProviderConcurrency()
  const taken = seats.take(one)
  const owner = new (class {
    upstreamStopped = false
    waiting: { abort(): void } | undefined
    took(waiting: { abort(): void }): void {
      this.waiting = waiting
    }
    landed(): void {
      this.waiting = undefined
    }
  })()
  const startedMs = performance.now()
  const stopped = seats.wait([one], 'acct', owner)
  owner.waiting?.abort()
  expect(await stopped).toBeUndefined()
  expect(owner.waiting).toBeUndefined()
  owner.upstreamStopped = true
  expect(await seats.wait([one], 'acct', owner)).toBeUndefined()
  expect(performance.now() - startedMs).toBeLessThan(seatBounds.waitMs)
  taken?.leave()
  expect(seats.take(one)).toBeDefined()
})
