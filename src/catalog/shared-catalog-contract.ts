/**
 * The contract of `Catalog` for two instances that share a store, as tests. Both are open at once. It adds to
 * `catalog-contract.ts`, which is about one instance.
 */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import type { ModelDraft } from '../domain/catalog.ts'
import { unitPrices, type UnitPrices } from '../domain/price.ts'
import type { Catalog, CatalogOptions } from './catalog.ts'

/** One of the instances. */
export type CatalogInstance = {
  readonly catalog: Catalog
  /** Resolves once all earlier changes of the other instance are in memory. */
  catchUp(): Promise<void>
}

export type SharedCatalogUnderTest = {
  openInstance(options: CatalogOptions): Promise<CatalogInstance>
  /** Makes an account known to the store. */
  addAccount(id: string): Promise<void>
  close(): Promise<void>
}

const accountId = 'acct_1'

type Both = { a: CatalogInstance; b: CatalogInstance }

const options: CatalogOptions = {
  masterKey: new Uint8Array(32).fill(3),
  applies: true,
  sandboxUrl: () => undefined,
  declared: { providers: [], models: [], vendorModels: [] },
}
const prices = (input: bigint): UnitPrices => unitPrices({ input, output: input * 2n })
const modelAt = (input: bigint, id = 'm'): ModelDraft => ({
  id,
  ownedBy: undefined,
  limits: {},
  price: prices(input),
  offers: [{ providerId: 'acme', upstreamModel: 'up', priority: 0, weight: 1, cost: prices(input) }],
})

/** Runs the suite. `open` gives an empty store. */
export function describeSharedCatalogContract(name: string, open: () => Promise<SharedCatalogUnderTest>): void {
  describe(`two instances of ${name} keep the contract of the catalogue`, () => {
    let shared: SharedCatalogUnderTest
    const both = {} as Both
    beforeEach(async () => {
      shared = await open()
      Object.assign(both, { a: await shared.openInstance(options), b: await shared.openInstance(options) })
      await both.a.catalog.putProvider({
        id: 'acme',
        preset: 'custom',
        baseUrl: 'https://acme.example/v1',
        reach: 'public',
        secret: 'sk-of-acme',
      })
      await shared.addAccount(accountId)
      await both.b.catchUp()
    })
    afterEach(() => shared.close())
    testSharedCatalog(both)
    testSharedPrices(both)
  })
}

function testSharedCatalog(both: Both): void {
  test('what one instance puts, drains and removes, the other has', async () => {
    const { a, b } = both
    expect(b.catalog.provider('acme')).toMatchObject({ secret: 'sk-of-acme', state: 'serving' })
    await a.catalog.putModel(modelAt(5n))
    await b.catchUp()
    expect(b.catalog.model('m')).toEqual(a.catalog.model('m') ?? expect.unreachable())
    await b.catalog.setProviderState('acme', 'drained')
    await a.catchUp()
    expect(a.catalog.model('m')?.offers).toMatchObject([{ state: 'drained' }])
    await b.catalog.removeModel('m')
    await a.catchUp()
    expect(a.catalog.models()).toEqual([])
  })

  test('an alias that one instance sets, points elsewhere or removes is the same for the other', async () => {
    const { a, b } = both
    await a.catalog.putModels([modelAt(1n, 'm'), modelAt(1n, 'n')])
    await a.catalog.putAlias({ id: 'alias', modelId: 'm' })
    await b.catchUp()
    expect(b.catalog.modelNamed('alias')?.id).toBe('m')
    await b.catalog.putAlias({ id: 'alias', modelId: 'n' })
    await a.catchUp()
    expect(a.catalog.modelNamed('alias')?.id).toBe('n')
    await a.catalog.removeAlias('alias')
    await b.catchUp()
    expect([b.catalog.modelNamed('alias'), b.catalog.aliases()]).toEqual([undefined, []])
  })

  test('of changes of a provider at both instances at once none is lost', async () => {
    const addHeader = ({ catalog }: CatalogInstance, name: string): Promise<void> =>
      catalog.inTurn(async () => {
        const before = catalog.provider('acme') ?? expect.unreachable()
        const options = { headers: { ...before.options?.headers, [name]: 'value' } }
        await catalog.putProvider({ ...before, options }, before)
      })
    const names = Array.from({ length: 8 }, (_, i) => `x-${i}`)
    await Promise.all(names.map((name, i) => addHeader(i % 2 === 0 ? both.a : both.b, name)))
    for (const instance of [both.a, both.b]) {
      await instance.catchUp()
      expect(Object.keys(instance.catalog.provider('acme')?.options?.headers ?? {}).toSorted()).toEqual(names)
    }
  })

  test('a provider that another instance has changed is not put back', async () => {
    const { a, b } = both
    const before = b.catalog.provider('acme') ?? expect.unreachable()
    await a.catalog.putProvider({ ...before, secret: 'sk-new' })
    const put = b.catalog.putProvider({ ...before, concurrentRequests: 3 }, before)
    expect(await put.catch(({ message }: Error) => message)).toContain('another instance')
    expect(b.catalog.provider('acme')).toMatchObject({ secret: 'sk-new', concurrentRequests: undefined })
  })

  test('changes of many models at both instances at once are all made', async () => {
    const { a, b } = both
    const ids = Array.from({ length: 10 }, (_, i) => `m${i}`)
    const forwards = ids.map((id, i) => modelAt(BigInt(i), id))
    await Promise.all([
      a.catalog.putModels(forwards),
      b.catalog.putModels(forwards.toReversed()),
      ...ids.map((id) => (id < 'm5' ? a : b).catalog.putModel(modelAt(7n, `other-${id}`))),
    ])
    await Promise.all([a.catchUp(), b.catchUp()])
    const known = a.catalog.models().map(({ id }) => id)
    expect(known.toSorted()).toEqual([...ids, ...ids.map((id) => `other-${id}`)].toSorted())
    expect(b.catalog.models()).toEqual(a.catalog.models())
  })
}

function testSharedPrices(both: Both): void {
  const inputOf = ({ catalog }: CatalogInstance): (bigint | undefined)[] => {
    const { sale, offers } = catalog.model('m') ?? {}
    return [sale?.nanoPerMillion.inputFresh, offers?.[0]?.cost.nanoPerMillion.inputFresh]
  }

  test('a price that one instance sets is in force, whatever the other has in memory', async () => {
    const { a, b } = both
    await a.catalog.putModel(modelAt(10n))
    await b.catchUp()
    const expected = inputOf(a)
    for (let round = 0; round < 10; round++) {
      await a.catalog.putModel(modelAt(20n))
      // The other instance may still believe that this is the price.
      await b.catalog.putModel(modelAt(10n))
      expect(inputOf(b)).toEqual(expected)
      await a.catchUp()
      expect(inputOf(a)).toEqual(expected)
    }
  })

  test('a price of an account that one instance sets is in force at the other, whatever it had in memory', async () => {
    const { a, b } = both
    await a.catalog.putModel(modelAt(10n))
    const factor = (share: bigint) => [{ modelId: undefined, value: { kind: 'factor', factor: share } as const }]
    const paidAt = ({ catalog }: CatalogInstance): bigint =>
      catalog.priced(catalog.model('m') ?? expect.unreachable(), accountId).sale.nanoPerMillion.inputFresh
    await a.catalog.putAccountPrices(accountId, factor(500_000n), 'stay')
    await b.catchUp()
    expect([paidAt(a), paidAt(b)]).toEqual([5n, 5n])
    for (let round = 0; round < 5; round++) {
      await a.catalog.putAccountPrices(accountId, factor(2_000_000n), 'stay')
      // The other instance may still believe that this is the factor.
      await b.catalog.putAccountPrices(accountId, factor(500_000n), 'stay')
      await a.catchUp()
      expect([paidAt(a), paidAt(b)]).toEqual([5n, 5n])
    }
  })

  test('of prices that both set at once, both have the same one in the end', async () => {
    const { a, b } = both
    const perMillion = (input: bigint) => prices(input).inputFresh
    for (let round = 1n; round <= 10n; round++) {
      const changes = [a, b, a, b].map(({ catalog }, i) => catalog.putModel(modelAt(round * 10n + BigInt(i % 2))))
      await Promise.all(changes)
      await Promise.all([a.catchUp(), b.catchUp()])
      const [sale, cost] = inputOf(a)
      expect([perMillion(round * 10n), perMillion(round * 10n + 1n)]).toContain(sale as bigint)
      expect(cost).toBe(sale as bigint)
      expect(inputOf(b)).toEqual([sale, cost])
    }
  })
}
