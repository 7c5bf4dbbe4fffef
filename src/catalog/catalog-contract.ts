/**
 * The contract of `Catalog` as tests for any store. A test file of the implementation calls `describeCatalogContract`
 * with a function that opens an empty store. The suite uses only the port.
 */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { modelKinds, type ModelDraft, type ModelKind, type OfferDraft, type ProviderDraft } from '../domain/catalog.ts'
import { unitPrices, type PriceCard, type UnitPrices } from '../domain/price.ts'
import type { AccountPriceDraft } from './account-prices.ts'
import type { Catalog, CatalogOptions } from './catalog.ts'

/** A catalogue that one process has open. */
export type CatalogUnderTest = {
  readonly catalog: Catalog
  /** Ends this instance and begins the next one on the same store. */
  restart(options: CatalogOptions): Promise<CatalogUnderTest>
  /** Makes an account known to the store. */
  addAccount(id: string): Promise<void>
  /** Everything that the store has about providers, as text. */
  stored(): Promise<string>
  close(): Promise<void>
}

type Declaration = CatalogOptions['declared']
type SuiteContext = {
  readonly catalog: () => Catalog
  readonly stored: () => Promise<string>
  readonly addAccounts: (ids: readonly string[]) => Promise<void>
  readonly restart: (declared?: Partial<Declaration>, masterKey?: Uint8Array) => Promise<void>
}

const MASTER_KEY = new Uint8Array(32).fill(3)
const NOTHING: Declaration = { providers: [], models: [], vendorModels: [] }
let sandboxUrl: string | undefined

const prices = (input: bigint, output = input * 2n): UnitPrices => unitPrices({ input, output })
const provider = (id: string, more: Partial<ProviderDraft> = {}): ProviderDraft => ({
  id,
  preset: 'custom',
  baseUrl: `https://${id}.example/v1`,
  reach: 'public',
  secret: undefined,
  ...more,
})
const offer = (providerId: string, more: Partial<OfferDraft> = {}): OfferDraft => ({
  providerId,
  upstreamModel: 'up',
  priority: 0,
  weight: 1,
  cost: prices(1n),
  ...more,
})
const model = (id: string, offers: readonly OfferDraft[], more: Partial<ModelDraft> = {}): ModelDraft => ({
  id,
  ownedBy: undefined,
  limits: {},
  price: prices(10n),
  offers,
  ...more,
})

/** Runs the suite. `open` gives an empty store. */
export function describeCatalogContract(
  name: string,
  open: (options: CatalogOptions) => Promise<CatalogUnderTest>,
): void {
  describe(`${name} keeps the contract of the catalogue`, () => {
    let current: CatalogUnderTest
    const optionsOf = (declared: Declaration, masterKey: Uint8Array = MASTER_KEY): CatalogOptions => ({
      masterKey,
      applies: true,
      sandboxUrl: () => sandboxUrl,
      declared,
    })
    beforeEach(async () => {
      sandboxUrl = undefined
      current = await open(optionsOf(NOTHING))
    })
    afterEach(() => current.close())
    const context: SuiteContext = {
      catalog: () => current.catalog,
      stored: () => current.stored(),
      async addAccounts(ids) {
        for (const id of ids) await current.addAccount(id)
      },
      async restart(declared = {}, masterKey = MASTER_KEY) {
        current = await current.restart(optionsOf({ ...NOTHING, ...declared }, masterKey))
      },
    }
    testProviders(context)
    testModels(context)
    testAliases(context)
    testPrices(context)
    testAccountPrices(context)
    testDeclared(context)
  })
}

const errorOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => 'no error',
    (error: unknown) => error,
  )

function testProviders({ catalog, restart, stored }: SuiteContext): void {
  test('a stored provider has what it was given, is replaced whole, and survives the process', async () => {
    const draft = provider('acme', { baseUrl: 'https://acme.example/v1//', hangUp: 'bills_on', concurrentRequests: 3 })
    await catalog().putProvider(draft)
    expect(catalog().provider('acme')).toMatchObject({
      id: 'acme',
      preset: 'custom',
      baseUrl: 'https://acme.example/v1',
      reach: 'public',
      secret: undefined,
      hangUp: 'bills_on',
      concurrentRequests: 3,
      origin: 'stored',
      state: 'serving',
    })
    await catalog().putProvider(provider('acme', { reach: 'private' }))
    await catalog().putProvider(provider('aardvark'))
    await restart()
    expect(catalog().provider('acme')).toMatchObject({
      reach: 'private',
      hangUp: undefined,
      concurrentRequests: undefined,
    })
    expect(
      catalog()
        .providers()
        .map(({ id }) => id),
    ).toEqual(['aardvark', 'acme'])
    expect(catalog().provider('ACME')).toBeUndefined()
  })

  test('a stored secret opens with its key and at its origin only, and is not stored in plain text', async () => {
    const secret = 'sk-very-secret-0123456789'
    await catalog().putProvider(provider('acme', { secret }))
    expect(catalog().provider('acme')?.secret).toBe(secret)
    expect(await stored()).not.toContain(secret)
    await restart({}, new Uint8Array(32).fill(4))
    expect(catalog().provider('acme')).toMatchObject({ secret: undefined, baseUrl: 'https://acme.example/v1' })
    await restart()
    expect(catalog().provider('acme')?.secret).toBe(secret)
    await catalog().putProvider(provider('acme', { baseUrl: 'https://other.example/v1' }))
    expect(catalog().provider('acme')?.secret).toBeUndefined()
  })

  test('what only a provider may learn is sealed, also to its own authorities, and comes back', async () => {
    const proxy = {
      scheme: 'socks5h',
      hostname: 'proxy.example',
      port: 1080,
      secret: 'me:password-of-the-proxy',
    } as const
    const headers = { 'x-token': 'value-of-the-header' }
    const query = { key: 'value-of-the-query' }
    const options = { proxy, headers, query, ca: 'text of authorities' }
    await catalog().putProvider(provider('acme', { secret: 'sk-of-acme', options }))
    for (const word of ['password-of-the-proxy', 'value-of-the-header', 'value-of-the-query', 'sk-of-acme'])
      expect(await stored()).not.toContain(word)
    await restart()
    expect(catalog().provider('acme')).toMatchObject({
      secret: 'sk-of-acme',
      options,
      egress: { proxy, ca: options.ca, namedBy: 'operator' },
      secrets: ['sk-of-acme', 'value-of-the-header', 'value-of-the-query', 'password-of-the-proxy'],
    })
    await catalog().putProvider(provider('acme'))
    expect(catalog().provider('acme')).toMatchObject({ secret: undefined })
    expect(catalog().provider('acme')?.options).toBeUndefined()
  })

  test('the address of the built-in sandbox is the current one', async () => {
    await catalog().putProvider(provider('sandbox', { preset: 'sandbox', baseUrl: undefined }))
    expect(catalog().provider('sandbox')).toMatchObject({ baseUrl: '', reach: 'private' })
    sandboxUrl = 'http://127.0.0.1:4711/v1'
    expect(catalog().provider('sandbox')?.baseUrl).toBe(sandboxUrl)
  })

  test('a removed provider takes its offers with it, and has none when it is made again', async () => {
    await catalog().putProvider(provider('one', { secret: 'sk-of-one' }))
    await catalog().putProvider(provider('two'))
    await catalog().putModel(model('m', [offer('one'), offer('two')]))
    expect(await catalog().removeProvider('one')).toBe(true)
    for (let life = 0; life < 2; life++) {
      expect(catalog().provider('one')).toBeUndefined()
      expect(
        catalog()
          .model('m')
          ?.offers.map(({ providerId }) => providerId),
      ).toEqual(['two'])
      expect(await catalog().removeProvider('one')).toBe(false)
      await restart()
    }
    await catalog().putProvider(provider('one'))
    expect(catalog().provider('one')?.secret).toBeUndefined()
    expect(catalog().model('m')?.offers).toHaveLength(1)
  })

  test('a drained provider drains its offers, through a restart and a change, until it serves again', async () => {
    await catalog().putProvider(provider('acme'))
    await catalog().putModel(model('m', [offer('acme')]))
    const states = () => [catalog().provider('acme')?.state, catalog().model('m')?.offers[0]?.state]
    expect(states()).toEqual(['serving', 'serving'])
    await catalog().setProviderState('acme', 'drained')
    await restart()
    await catalog().putProvider(provider('acme', { reach: 'private' }))
    expect(states()).toEqual(['drained', 'drained'])
    await catalog().setProviderState('acme', 'serving')
    expect(states()).toEqual(['serving', 'serving'])
    expect(await errorOf(catalog().setProviderState('none', 'drained'))).toBeInstanceOf(Error)
  })
}

function testModels({ catalog, restart }: SuiteContext): void {
  test('any model is read back as it was put, with its offers in the order of their priority', async () => {
    await catalog().putProvider(provider('one'))
    await catalog().putProvider(provider('two'))
    const offers = fc.uniqueArray(
      fc.record({
        providerId: fc.constantFrom('one', 'two'),
        upstreamModel: fc.stringMatching(/^[a-z0-9./-]{1,8}$/),
        priority: fc.integer({ min: 0, max: 5 }),
        weight: fc.integer({ min: 1, max: 100 }),
        contextTokens: fc.option(fc.integer({ min: 1, max: 2_000_000 }), { nil: undefined }),
      }),
      { maxLength: 5, selector: ({ providerId, upstreamModel }) => `${providerId}/${upstreamModel}` },
    )
    const kind = fc.constantFrom(...modelKinds)
    const outputTokensMax = fc.option(fc.integer({ min: 1, max: 1_000_000 }), { nil: undefined })
    let last: unknown
    await fc.assert(
      fc.asyncProperty(offers, kind, outputTokensMax, async (drafts, modelKind, tokens) => {
        const more = { kind: modelKind, ownedBy: 'acme', limits: { outputTokensMax: tokens } }
        await catalog().putModel(
          model(
            'm',
            drafts.map((draft) => offer(draft.providerId, draft)),
            more,
          ),
        )
        const found = catalog().model('m')
        expect(found).toMatchObject({ id: 'm', kind: modelKind, ownedBy: 'acme', origin: 'stored' })
        expect(found?.limits).toMatchObject({ outputTokensMax: tokens, outputTokensMin: 256 })
        const byPlace = (a: { priority: number; id: string }, b: { priority: number; id: string }): number =>
          a.priority - b.priority || (a.id < b.id ? -1 : 1)
        const wanted = drafts.map((draft) => ({ ...draft, id: `m@${draft.providerId}/${draft.upstreamModel}` }))
        expect(found?.offers).toMatchObject(wanted.toSorted(byPlace))
        last = found
      }),
      { numRuns: 30 },
    )
    await restart()
    expect(catalog().model('m')).toEqual(last as ReturnType<Catalog['model']>)
  })

  test('of several models all are put or none', async () => {
    await catalog().putProvider(provider('one'))
    const drafts = [model('a', [offer('one')]), model('b', [offer('nobody')]), model('c', [])]
    expect(await errorOf(catalog().putModels(drafts))).toBeInstanceOf(Error)
    expect(catalog().models()).toEqual([])
    await restart()
    expect(catalog().models()).toEqual([])
    await catalog().putModels([model('a', [offer('one')]), model('c', [])])
    expect(
      catalog()
        .models()
        .map(({ id }) => id),
    ).toEqual(['a', 'c'])
  })

  test('a model is removed once, and can be made again', async () => {
    await catalog().putModel(model('m', []))
    expect([await catalog().removeModel('m'), await catalog().removeModel('m')]).toEqual([true, false])
    await restart()
    expect([catalog().model('m'), await catalog().removeModel('m')]).toEqual([undefined, false])
    await catalog().putModel(model('m', []))
    expect(catalog().model('m')?.sale.nanoPerMillion).toEqual(prices(10n))
  })
}

function testAliases({ catalog, restart }: SuiteContext): void {
  const named = (name: string): string | undefined => catalog().modelNamed(name)?.id

  test('an alias stands for its model, can be pointed elsewhere, and survives the process', async () => {
    await catalog().putModels([model('one', []), model('two', [])])
    await catalog().putAlias({ id: 'b', modelId: 'one' })
    await catalog().putAlias({ id: 'a', modelId: 'one' })
    expect(catalog().model('one')?.aliases).toEqual(['a', 'b'])
    await catalog().putAlias({ id: 'a', modelId: 'two' })
    for (let life = 0; life < 2; life++) {
      expect(catalog().aliases()).toEqual([
        { id: 'a', modelId: 'two', origin: 'stored' },
        { id: 'b', modelId: 'one', origin: 'stored' },
      ])
      expect(['a', 'b', 'one', 'c'].map(named)).toEqual(['two', 'one', 'one', undefined])
      expect(catalog().model('a')).toBeUndefined()
      expect(['one', 'two'].map((id) => catalog().model(id)?.aliases)).toEqual([['b'], ['a']])
      await restart()
    }
    expect([await catalog().removeAlias('a'), await catalog().removeAlias('a')]).toEqual([true, false])
    expect([named('a'), catalog().alias('a'), catalog().model('two')?.aliases]).toEqual([
      undefined,
      undefined,
      undefined,
    ])
  })

  test('an alias without its model stands for nothing, and for the model again once it is back', async () => {
    await catalog().putAlias({ id: 'a', modelId: 'm' })
    expect([named('a'), catalog().alias('a')?.modelId]).toEqual([undefined, 'm'])
    await catalog().putModel(model('m', []))
    expect(named('a')).toBe('m')
    await catalog().removeModel('m')
    expect([named('a'), catalog().alias('a')?.modelId]).toEqual([undefined, 'm'])
  })

  test('the id of a model comes before an alias, and an alias of an alias stands for nothing', async () => {
    await catalog().putModels([model('a', []), model('m', [])])
    await catalog().putAlias({ id: 'a', modelId: 'm' })
    await catalog().putAlias({ id: 'b', modelId: 'c' })
    await catalog().putAlias({ id: 'c', modelId: 'm' })
    await catalog().putAlias({ id: 'self', modelId: 'self' })
    expect(['a', 'b', 'c', 'self'].map(named)).toEqual(['a', undefined, 'm', undefined])
    expect(catalog().model('m')?.aliases).toEqual(['c'])
    await catalog().removeModel('a')
    expect(named('a')).toBe('m')
  })
}

const pricesIn = (card: PriceCard | undefined): unknown => card && [card.nanoPerMillion, card.tiers]

function testPrices({ catalog, restart }: SuiteContext): void {
  test('an unchanged price keeps its card, a changed one gets a new card, and no card ever changes', async () => {
    await catalog().putProvider(provider('one'))
    const price = fc.record({ input: fc.bigInt({ min: 0n, max: 3n }), output: fc.bigInt({ min: 0n, max: 2n ** 60n }) })
    const tiers = fc.uniqueArray(
      fc.record({ aboveInputTokens: fc.integer({ min: 1, max: 5 }), input: fc.bigInt(0n, 3n) }),
      {
        selector: ({ aboveInputTokens }) => aboveInputTokens,
        maxLength: 2,
      },
    )
    const seen = new Map<number, unknown>()
    await fc.assert(
      fc.asyncProperty(price, tiers, async ({ input, output }, longer) => {
        const priceTiers = longer.map((tier) => ({
          aboveInputTokens: tier.aboveInputTokens,
          nanoPerMillion: prices(tier.input),
        }))
        const draft = model('m', [offer('one', { cost: prices(input) })], { price: prices(input, output), priceTiers })
        const before = catalog().model('m')
        await catalog().putModel(draft)
        const { sale, offers } = catalog().model('m') ?? {}
        expect(sale?.nanoPerMillion).toEqual(prices(input, output))
        const wanted = priceTiers.toSorted((a, b) => a.aboveInputTokens - b.aboveInputTokens)
        expect(sale?.tiers ?? []).toEqual(wanted)
        expect(offers?.[0]?.cost.nanoPerMillion).toEqual(prices(input))
        await catalog().putModel(draft)
        expect(catalog().model('m')?.sale.id).toBe(sale?.id as number)
        expect(before?.sale.id === sale?.id).toBe(Bun.deepEquals(pricesIn(before?.sale), pricesIn(sale)))
        if (sale) seen.set(sale.id, sale)
      }),
      { numRuns: 30 },
    )
    await restart()
    for (const [id, card] of seen) expect(await catalog().card(id)).toEqual(card as never)
    const history = await catalog().priceHistory('m')
    const sales = history.filter(({ subject }) => subject === 'model').map(({ card }) => card.id)
    expect(sales).toEqual([...seen.keys()].toSorted((a, b) => b - a))
    expect(history.some(({ subject, subjectId }) => subject === 'offer' && subjectId === 'm@one/up')).toBe(true)
    expect([await catalog().card(1_000_000), await catalog().priceHistory('none')]).toEqual([undefined, []])
  })
}

const factorOf = (modelId: string | undefined, factor: bigint): AccountPriceDraft => ({
  modelId,
  value: { kind: 'factor', factor },
})
const cardOf = (modelId: string, input: bigint, soldAs: ModelKind = 'text'): AccountPriceDraft => ({
  modelId,
  value: { kind: 'card', soldAs, units: prices(input), tiers: [] },
})

function testAccountPrices({ catalog, restart, addAccounts }: SuiteContext): void {
  const inputOf = (account: string, id: string): bigint | undefined => {
    const sold = catalog().model(id)
    return sold && catalog().priced(sold, account).sale.nanoPerMillion.inputFresh
  }
  const end = (modelId: string | undefined): AccountPriceDraft => ({ modelId, value: { kind: 'none' } })

  test('an account pays its card, else its factor of a model, else its factor of all, else the model', async () => {
    await addAccounts(['a', 'b', 'c'])
    await catalog().putModels([model('m', []), model('n', [])])
    const base = catalog().model('m')
    expect(base && catalog().priced(base, 'a')).toBe(base as never)
    await catalog().putAccountPrices('a', [factorOf(undefined, 500_000n)], 'stay')
    await catalog().putAccountPrices('b', [factorOf(undefined, 500_000n), factorOf('m', 2_000_000n)], 'stay')
    await catalog().putAccountPrices('c', [cardOf('m', 77n)], 'stay')
    const all = () => ['a', 'b', 'c', 'd'].map((account) => [inputOf(account, 'm'), inputOf(account, 'n')])
    const expected = [
      [5n, 5n],
      [20n, 5n],
      [77n, 10n],
      [10n, 10n],
    ]
    expect(all()).toEqual(expected)
    await restart()
    expect(all()).toEqual(expected)
    const sold = catalog().model('m') ?? expect.unreachable()
    expect(catalog().priced(sold, 'a').sale).toMatchObject({ id: sold.sale.id, factor: 500_000n })
    expect(catalog().priced(sold, 'a')).toBe(catalog().priced(sold, 'a'))
    const own = catalog().priced(sold, 'c').sale
    expect(own).toMatchObject({ accountId: 'c' })
    expect(await catalog().card(own.id)).toEqual(own)
    await catalog().putModel(model('m', [], { price: prices(30n) }))
    expect(all().map(([m]) => m)).toEqual([15n, 60n, 77n, 30n])
    expect((await catalog().priceHistory('m')).every(({ subject }) => subject === 'model')).toBe(true)
  })

  test('a changed price is a new entry, an unchanged one keeps its own, and an ended one is history', async () => {
    await addAccounts(['a', 'ab'])
    await catalog().putModel(model('m', []))
    await catalog().putAccountPrices('a', [factorOf(undefined, 500_000n)], 'stay')
    const [first] = catalog().accountPrices('a')
    await catalog().putAccountPrices('a', [factorOf(undefined, 500_000n)], 'stay')
    expect(catalog().accountPrices('a')).toEqual([first] as never)
    await catalog().putAccountPrices('a', [cardOf('m', 7n)], 'stay')
    await catalog().putAccountPrices('a', [cardOf('m', 7n)], 'end')
    expect(catalog().accountPrices('a')).toMatchObject([{ modelId: 'm', value: { kind: 'card', soldAs: 'text' } }])
    await catalog().putAccountPrices('a', [end('m'), end('never')], 'stay')
    await catalog().putAccountPrices('ab', [factorOf(undefined, 1n)], 'stay')
    await restart()
    expect(catalog().accountPrices('a')).toEqual([])
    expect(inputOf('a', 'm')).toBe(10n)
    const history = await catalog().accountPriceHistory('a')
    expect(history.map(({ modelId, value }) => `${modelId} ${value.kind}`)).toEqual([
      'm none',
      'undefined none',
      'm card',
      'undefined factor',
    ])
    expect(history.at(-1)).toEqual(first as never)
    await catalog().putAccountPrices('a', [cardOf('m', 7n)], 'stay')
    expect(inputOf('a', 'm')).toBe(7n)
  })

  test('a card of an account does not sell a model that has become one of another kind', async () => {
    await addAccounts(['a'])
    await catalog().putModel(model('m', []))
    await catalog().putAccountPrices('a', [cardOf('m', 7n), factorOf(undefined, 500_000n)], 'stay')
    expect(inputOf('a', 'm')).toBe(7n)
    await catalog().putModel(model('m', [], { kind: 'video' }))
    expect(inputOf('a', 'm')).toBe(5n)
  })
}

function testDeclared({ catalog, restart, stored }: SuiteContext): void {
  test('declared objects follow the declaration, and stored objects stay', async () => {
    await catalog().putProvider(provider('own'))
    await catalog().putModel(model('own-model', [offer('own')]))
    const declared = {
      providers: [provider('acme', { secret: 'sk-declared' }), provider('late')],
      models: [model('m', [offer('acme'), offer('own')])],
    }
    await restart(declared)
    expect(catalog().provider('acme')).toMatchObject({ origin: 'declared', secret: 'sk-declared' })
    expect(await stored()).not.toContain('sk-declared')
    expect(catalog().model('m')).toMatchObject({
      origin: 'declared',
      offers: [{ providerId: 'acme' }, { providerId: 'own' }],
    })
    const card = catalog().model('m')?.sale.id
    await catalog().setProviderState('acme', 'drained')
    await restart({ providers: [provider('acme')], models: [model('m', [offer('acme')])] })
    expect(catalog().provider('acme')).toMatchObject({ secret: undefined, state: 'drained' })
    expect(catalog().provider('late')).toBeUndefined()
    expect(catalog().model('m')).toMatchObject({ offers: [{ providerId: 'acme' }], sale: { id: card } })
    await restart()
    expect(
      catalog()
        .providers()
        .map(({ id }) => id),
    ).toEqual(['own'])
    expect(
      catalog()
        .models()
        .map(({ id }) => id),
    ).toEqual(['own-model'])
    expect(await catalog().card(card ?? 0)).toBeDefined()
  })

  test('a declaration takes over a stored object of the same name', async () => {
    await catalog().putProvider(provider('acme', { secret: 'sk-stored' }))
    await catalog().putModel(model('m', [offer('acme')]))
    await restart({ providers: [provider('acme')], models: [model('m', [offer('acme')], { price: prices(99n) })] })
    expect(catalog().provider('acme')).toMatchObject({ origin: 'declared', secret: undefined })
    expect(catalog().model('m')).toMatchObject({ origin: 'declared', sale: { nanoPerMillion: prices(99n) } })
  })

  test('a stored model replaces a model of its id that a vendor’s key brings', async () => {
    const declared = { providers: [provider('acme')], vendorModels: [model('m', [offer('acme')]), model('n', [])] }
    await restart(declared)
    expect(catalog().model('m')).toMatchObject({ origin: 'environment', sale: { nanoPerMillion: prices(10n) } })
    await catalog().putModel(model('m', [offer('acme')], { price: prices(7n) }))
    await restart(declared)
    expect(catalog().model('m')).toMatchObject({ origin: 'stored', sale: { nanoPerMillion: prices(7n) } })
    expect(catalog().model('n')).toMatchObject({ origin: 'environment' })
  })

  test('declared aliases follow the declaration, and an alias keeps its name from a vendor’s model', async () => {
    const brought = { providers: [provider('acme')], vendorModels: [model('new', []), model('own', [])] }
    await catalog().putModel(model('m', []))
    await catalog().putAlias({ id: 'own', modelId: 'm' })
    await restart({ ...brought, aliases: [{ id: 'said', modelId: 'new' }] })
    expect(['own', 'said', 'new'].map((name) => catalog().modelNamed(name)?.id)).toEqual(['m', 'new', 'new'])
    expect(
      catalog()
        .aliases()
        .map(({ origin }) => origin),
    ).toEqual(['stored', 'declared'])
    await restart({ aliases: [{ id: 'own', modelId: 'm' }] })
    expect(catalog().aliases()).toEqual([{ id: 'own', modelId: 'm', origin: 'declared' }])
    await restart()
    expect(catalog().aliases()).toEqual([])
  })

  test('only the first account has a reserved model once there is a vendor beside the sandbox', async () => {
    const sandbox = provider('sandbox', { preset: 'sandbox', baseUrl: undefined })
    const declared = { providers: [sandbox], models: [model('demo', [offer('sandbox')])], reserved: ['demo', 'stored'] }
    await restart(declared)
    expect(catalog().model('demo')?.audience).toBeUndefined()
    await catalog().putProvider(provider('acme'))
    await catalog().putModel(model('stored', [offer('acme')]))
    expect(['demo', 'stored'].map((id) => catalog().model(id)?.audience)).toEqual(['first_account', undefined])
    await catalog().removeProvider('acme')
    expect(catalog().model('demo')?.audience).toBeUndefined()
  })
}
