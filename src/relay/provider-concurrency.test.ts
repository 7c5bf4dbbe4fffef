import { expect, test } from 'bun:test'
import type { KeyedProvider } from '../domain/catalog.ts'
import { concurrencyBounds, ProviderConcurrency } from './provider-concurrency.ts'
import { ProviderKeys } from './provider-keys.ts'

const one = { id: 'vendor', concurrentRequests: 1 }
/** A call that continues. */
const call = { upstreamStopped: false, took: () => undefined, landed: () => undefined }

test('there is a number of permits, and each is given back once', () => {
  const concurrency = new ProviderConcurrency()
  const pair = { id: 'vendor', concurrentRequests: 2 }
  const [first, second] = [concurrency.take(pair), concurrency.take(pair)]
  expect(concurrency.take(pair)).toBeUndefined()
  expect(concurrency.take({ id: 'other', concurrentRequests: 1 })).toBeDefined()
  first?.leave()
  first?.leave()
  expect(concurrency.take(pair)).toBeDefined()
  expect(concurrency.take(pair)).toBeUndefined()
  second?.leave()
  expect(concurrency.take(pair)).toBeDefined()
})

test('keys with limits take as many requests together, and a further one waits', async () => {
  const concurrency = new ProviderConcurrency()
  const keyOf = (id: string, most?: number) => ({ key: { id, concurrentRequests: most } }) as unknown as KeyedProvider
  const keyed = { id: 'vendor', keys: [keyOf('a', 1), keyOf('b', 2)] }
  const taken = [1, 2, 3].map(() => concurrency.take(keyed))
  expect(taken.every(Boolean)).toBe(true)
  expect(concurrency.take(keyed)).toBeUndefined()
  const waiting = concurrency.wait([keyed], 'acct', call)
  taken[0]?.leave()
  expect((await waiting)?.[0]).toBe(keyed)
  expect(concurrency.take({ ...keyed, concurrentRequests: 1 })).toBeUndefined()
  const unlimited = { id: 'other', keys: [keyOf('a', 1), keyOf('b')] }
  for (let i = 0; i < 9; i++) expect(concurrency.take(unlimited)).toBeDefined()
})

test('requests in flight with a resting key take no room from the others, and leave none behind', async () => {
  const keys = new ProviderKeys()
  const concurrency = new ProviderConcurrency(keys)
  const keyOf = (id: string) => ({ id: 'vendor', key: { id, concurrentRequests: 2 } }) as unknown as KeyedProvider
  const all = [keyOf('a'), keyOf('b')]
  const provider = { id: 'vendor', keys: all }
  const permitWith = (among: readonly KeyedProvider[]) => {
    const [permit, lease] = [concurrency.take(provider), keys.take(among)]
    if (lease) permit?.uses(lease)
    return permit
  }
  const resting = [1, 2].map(() => permitWith([keyOf('a')]))
  keys.refused(keyOf('a'), { kind: 'auth', message: '' })
  const ready = [1, 2].map(() => permitWith(all))
  expect(keys.standingOf(keyOf('b')).inFlight).toBe(2)
  expect(concurrency.take(provider)).toBeUndefined()
  let got: unknown
  const waiting = concurrency.wait([provider], 'acct', call).then((one) => (got = one))
  for (const permit of resting) permit?.leave()
  await Bun.sleep(1)
  expect(got).toBeUndefined()
  ready[0]?.leave()
  expect(await waiting).toBeDefined()
})

test('waiting requests are served in the order of arrival, before later ones', async () => {
  const concurrency = new ProviderConcurrency()
  const pair = { id: 'vendor', concurrentRequests: 2 }
  const taken = [concurrency.take(pair), concurrency.take(pair)]
  const order: string[] = []
  const waits = ['a', 'b'].map((name) => concurrency.wait([pair], 'acct', call).then((got) => (order.push(name), got)))
  taken[0]?.leave()
  expect(concurrency.take(pair)).toBeUndefined()
  taken[1]?.leave()
  expect((await Promise.all(waits)).every(Boolean)).toBe(true)
  expect(order).toEqual(['a', 'b'])
})

test('accounts take turns', async () => {
  const concurrency = new ProviderConcurrency()
  const four = { id: 'vendor', concurrentRequests: 4 }
  const taken = Array.from({ length: 4 }, () => concurrency.take(four))
  const order: string[] = []
  const wait = (account: string, name: string): Promise<number> =>
    concurrency.wait([four], account, call).then(() => order.push(name))
  const waits = [wait('greedy', 'g1'), wait('greedy', 'g2'), wait('greedy', 'g3'), wait('modest', 'm1')]
  for (const permit of taken) permit?.leave()
  await Promise.all(waits)
  expect(order).toEqual(['g1', 'm1', 'g2', 'g3'])
})

test('a request that waits in vain learns it, and takes no permit later', async () => {
  const concurrency = new ProviderConcurrency()
  const taken = concurrency.take(one)
  const startedMs = performance.now()
  // The first request of each account may wait, whoever else waits.
  const waiting = ['greedy', 'other', 'third'].map((account) => concurrency.wait([one], account, call))
  // An account may have as many waiting as there are permits. A further one is refused at once.
  expect(concurrency.isOpenTo(one, 'greedy')).toBe(false)
  expect(concurrency.isOpenTo(one, 'fourth')).toBe(true)
  expect(await concurrency.wait([one], 'greedy', call)).toBeUndefined()
  expect(performance.now() - startedMs).toBeLessThan(concurrencyBounds.waitMs)
  expect(await Promise.all(waiting)).toEqual([undefined, undefined, undefined])
  taken?.leave()
  expect(concurrency.take(one)).toBeDefined()
})

test('of several providers the first with room is taken, and only that one', async () => {
  const concurrency = new ProviderConcurrency()
  const other = { id: 'other', concurrentRequests: 1 }
  const taken = [concurrency.take(one), concurrency.take(other)]
  const waiting = concurrency.wait([one, other, one], 'acct', call)
  taken[1]?.leave()
  taken[0]?.leave()
  const [provider, permit] = (await waiting) ?? []
  expect(provider).toBe(other)
  expect([concurrency.take(one) !== undefined, concurrency.take(other)]).toEqual([true, undefined])
  permit?.leave()
  expect(concurrency.take(other)).toBeDefined()
})

test('a changed limit applies to running requests, and serves waiting ones', async () => {
  const concurrency = new ProviderConcurrency()
  const taken = concurrency.take(one)
  const waiting = concurrency.wait([one], 'acct', call)
  expect(concurrency.take({ ...one, concurrentRequests: 3 })).toBeDefined()
  const [, permit] = (await waiting) ?? []
  expect(permit).toBeDefined()
  taken?.leave()
  permit?.leave()
  expect(concurrency.take(one)).toBeUndefined()
})

test('a permit that became free before a request waits is available at once', async () => {
  const concurrency = new ProviderConcurrency()
  const [, permit] = (await concurrency.wait([one], 'acct', call)) ?? []
  expect(permit).toBeDefined()
  expect(concurrency.take(one)).toBeUndefined()
})

test('a stopped call does not wait, whether it stops before or meanwhile', async () => {
  const concurrency = new ProviderConcurrency()
  const taken = concurrency.take(one)
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
  const stopped = concurrency.wait([one], 'acct', owner)
  owner.waiting?.abort()
  expect(await stopped).toBeUndefined()
  expect(owner.waiting).toBeUndefined()
  owner.upstreamStopped = true
  expect(await concurrency.wait([one], 'acct', owner)).toBeUndefined()
  expect(performance.now() - startedMs).toBeLessThan(concurrencyBounds.waitMs)
  taken?.leave()
  expect(concurrency.take(one)).toBeDefined()
})

test('instances divide a limit, with one permit at least for each, and share what a dead one leaves', async () => {
  const concurrency = new ProviderConcurrency()
  const five = { id: 'vendor', concurrentRequests: 5 }
  const permitsOf = (provider: { id: string; concurrentRequests?: number }): number => {
    const taken: { leave(): void }[] = []
    for (let permit = concurrency.take(provider); permit; permit = concurrency.take(provider)) taken.push(permit)
    for (const permit of taken) permit.leave()
    return taken.length
  }
  const shares = [1, 2, 3, 9].map((instances) => {
    concurrency.shareAmong(instances)
    return permitsOf(five)
  })
  expect(shares).toEqual([5, 2, 1, 1])
  expect(permitsOf({ id: 'unlimited' })).toBe(concurrencyBounds.requestsMax)
  concurrency.shareAmong(3)
  const taken = concurrency.take(five)
  const waiting = concurrency.wait([five], 'acct', call)
  concurrency.shareAmong(2)
  expect(concurrency.isOpenTo(five, 'other')).toBe(true)
  expect(await waiting).toBeDefined()
  expect(concurrency.take(five)).toBeUndefined()
  taken?.leave()
  expect(concurrency.take(five)).toBeDefined()
})
