import { expect, test } from 'bun:test'
import type { Model, ModelDraft, Provider } from '../domain/catalog.ts'
import { defaultModelLimits } from '../domain/model-limits.ts'
import { planImport, type Change, type Difference, type ImportPlan, type ImportRequest } from './import-plan.ts'
import { priceList } from './price-list.ts'
import { skipAsListed } from './skips.ts'
import { draftOf, vendorModels } from './vendor-models.ts'

const atMs = Date.parse(priceList().source.released)
const provider = (id: string, preset = id): Provider => ({
  id,
  preset,
  baseUrl: 'https://vendor.example/v1',
  reach: 'public',
  secret: 'key',
  hangUp: undefined,
  origin: 'stored',
})

/** A draft as a stored model. */
const stored = (draft: ModelDraft, origin: Model['origin'] = 'stored'): Model => ({
  id: draft.id,
  ownedBy: draft.ownedBy ?? '',
  createdAtMs: 0,
  kind: draft.kind ?? 'text',
  limits: { ...defaultModelLimits, ...draft.limits },
  origin,
  sale: { id: 1, effectiveFromMs: 0, nanoPerMillion: draft.price, tiers: draft.priceTiers ?? [] },
  offers: draft.offers.map((offer) => ({
    ...offer,
    id: `${draft.id}@${offer.providerId}`,
    modelId: draft.id,
    cost: { id: 2, effectiveFromMs: 0, nanoPerMillion: offer.cost, tiers: offer.costTiers ?? [] },
  })),
})

function plan(models: readonly Model[], request: Partial<ImportRequest> = {}): ImportPlan {
  const providers = request.providers ?? [provider('openai')]
  const byId = new Map(models.map((model) => [model.id, model]))
  const usual = { aliases: new Set<string>(), patterns: [], by: 0n, atMs }
  return planImport({ models: byId, providers, selected: providers, ...usual, ...request })
}

const gpt5 = (by = 0n): ModelDraft => {
  const listed = vendorModels('openai', atMs).find(({ id }) => id === 'gpt-5')
  if (!listed) throw new Error('gpt-5 is not in the list')
  return draftOf(listed, { id: 'gpt-5', providerId: 'openai', by })
}
const only = { patterns: ['gpt-5'] }

/** The differences without their data for programs. */
const wordsOf = (change: Change | undefined): readonly Omit<Difference, 'about'>[] =>
  change?.differences.map(({ what, before, after }) => ({ what, before, after })) ?? []

test('a missing model is new, with its prices and limits', () => {
  const { changes, unchanged, skipped } = plan([], only)
  expect([changes.length, unchanged, skipped]).toEqual([1, [], []])
  expect(changes[0]).toMatchObject({ kind: 'new', draft: { id: 'gpt-5', price: { inputFresh: 1_250_000_000n } } })
  expect(wordsOf(changes[0])).toEqual([
    { what: 'sale input', before: undefined, after: '1.25' },
    { what: 'sale cached input', before: undefined, after: '0.125' },
    { what: 'sale output', before: undefined, after: '10.00' },
    { what: 'cost openai/gpt-5 input', before: undefined, after: '1.25' },
    { what: 'cost openai/gpt-5 cached input', before: undefined, after: '0.125' },
    { what: 'cost openai/gpt-5 output', before: undefined, after: '10.00' },
    { what: 'limit outputTokensMax', before: 'unknown', after: '128000' },
    { what: 'limit hidesReasoning', before: 'false', after: 'true' },
    { what: 'limit contextTokens', before: 'unknown', after: '400000' },
  ])
})

test('with a prefix, models have it before their ids, and an alias keeps its name', () => {
  const prefixed = plan([stored(gpt5())], { ...only, prefix: 'openai/' })
  expect(prefixed.changes.map(({ kind, draft }) => [kind, draft.id])).toEqual([['new', 'openai/gpt-5']])
  const named = (id: string) => ({ ...only, aliases: new Set([id]) })
  expect(plan([], named('gpt-5')).changes.map(({ draft }) => draft.id)).toEqual(['openai/gpt-5'])
  expect(plan([], { ...named('openai/gpt-5'), prefix: 'openai/' })).toMatchObject({
    changes: [],
    skipped: [{ what: 'gpt-5' }],
  })
})

test('an image model is new with the price of its images, and its capabilities in one word', () => {
  const request = { patterns: ['gemini-3-pro-image*'], providers: [provider('gemini')] }
  const [change] = plan([], request).changes
  expect(change?.draft).toMatchObject({ kind: 'image', limits: { image: { surface: 'turn' } } })
  expect(wordsOf(change).filter(({ what }) => /image/.test(what) && !what.startsWith('cost'))).toEqual([
    { what: 'sale image output', before: undefined, after: '120.00' },
    { what: 'limit image', before: '"open"', after: '"gemini-3-pro-image"' },
  ])
  if (change) expect(plan([stored(change.draft)], request).unchanged).toEqual(['gemini-3-pro-image-preview'])
})

test('a price by the piece that the list lacks is removed, and is shown for one piece', () => {
  const listed = gpt5()
  const own = { ...listed, price: { ...listed.price, 'piece:image/1024x1024': 40_000_000_000n * 1_000n } }
  expect(wordsOf(plan([stored(own)], only).changes[0])).toEqual([
    { what: 'sale piece:image/1024x1024', before: '0.04', after: 'none' },
  ])
})

test('the price of a cached answer is the operator’s, and stays', () => {
  const listed = gpt5()
  const own = { ...listed, price: { ...listed.price, 'piece:answer/cached': 1_000_000_000n } }
  const parent = { ...listed, price: { ...listed.price, 'piece:answer': 1n } }
  for (const one of [own, parent]) {
    expect(plan([stored(one)], only)).toMatchObject({ changes: [], unchanged: ['gpt-5'] })
  }
  const [change] = plan([stored(own)], { ...only, by: 200_000n }).changes
  expect(change?.draft.price).toMatchObject({ inputFresh: 1_500_000_000n, 'piece:answer/cached': 1_000_000_000n })
})

test('an equal model is unchanged, and another mark-up changes the sale price but not the cost', () => {
  expect(plan([stored(gpt5())], only)).toMatchObject({ changes: [], unchanged: ['gpt-5'] })
  const { changes } = plan([stored(gpt5())], { ...only, by: 200_000n })
  expect(wordsOf(changes[0])).toEqual([
    { what: 'sale input', before: '1.25', after: '1.50' },
    { what: 'sale cached input', before: '0.125', after: '0.15' },
    { what: 'sale output', before: '10.00', after: '12.00' },
  ])
})

test('other offers stay, and so do priorities and limits set by hand', () => {
  const draft = gpt5()
  const [own] = draft.offers
  if (!own) throw new Error('no offer')
  const spare = { ...own, providerId: 'spare', priority: 3 }
  const limits = { outputTokensMax: 99, contextTokens: 1 }
  const model = stored({ ...draft, limits, offers: [{ ...own, priority: 1, weight: 7, cost: draft.price }, spare] })
  const { changes } = plan([model], only)
  expect(wordsOf(changes[0])).toEqual([
    { what: 'limit hidesReasoning', before: 'false', after: 'true' },
    { what: 'limit contextTokens', before: '1', after: '400000' },
  ])
  expect(changes[0]?.draft.limits).toEqual({
    outputTokensMax: 99,
    contextTokens: 400_000,
    hidesReasoning: true,
  })
  expect(changes[0]?.draft.offers).toMatchObject([
    { providerId: 'openai', priority: 1, weight: 7 },
    { providerId: 'spare', priority: 3 },
  ])
})

test('a second provider of the same vendor becomes a second offer, another vendor a model of its own', () => {
  const providers = [provider('openai'), provider('openai-eu', 'openai')]
  const { changes } = plan([stored(gpt5())], { ...only, providers })
  expect(changes.map(({ draft }) => draft.id)).toEqual(['gpt-5'])
  expect(changes[0]?.draft.offers.map(({ providerId }) => providerId)).toEqual(['openai', 'openai-eu'])
  const others = [provider('fireworks'), provider('cerebras')]
  expect(plan([], { providers: others, patterns: ['gpt-oss-120b'] }).changes.map(({ draft }) => draft.id)).toEqual([
    'gpt-oss-120b',
    'cerebras/gpt-oss-120b',
  ])
  // A name that the operator uses for another model is not taken from it.
  const taken = stored({ ...gpt5(), offers: gpt5().offers.map((offer) => ({ ...offer, upstreamModel: 'llama' })) })
  expect(plan([taken], only).changes.map(({ draft }) => draft.id)).toEqual(['openai/gpt-5'])
})

test('a declared model is skipped and named, and a model that a key has brought becomes stored', () => {
  expect(plan([stored(gpt5(), 'declared')], { ...only, by: 1n })).toMatchObject({
    changes: [],
    skipped: [{ what: 'gpt-5', reason: expect.stringContaining('tollgate.yaml') as string }],
  })
  expect(wordsOf(plan([stored(gpt5(), 'environment')], only).changes[0])).toEqual([
    { what: 'origin', before: 'environment', after: 'stored' },
  ])
})

test('skips name unknown vendors, kinds and names, and models without a list price', () => {
  const providers = [provider('openai'), provider('perplexity'), provider('mine', 'custom')]
  const odd = stored({ ...gpt5(), id: 'odd', offers: [{ ...gpt5().offers[0], upstreamModel: 'gpt-2' } as never] })
  const { skipped } = plan([odd], { providers })
  expect(skipped.map(({ what }) => what)).toEqual(
    expect.arrayContaining(['gpt-audio', 'provider perplexity', 'provider mine', 'odd']),
  )
  expect(plan([], { patterns: ['gpt-5', 'nothing-*'] }).skipped.map(({ what }) => what)).toEqual(['nothing-*'])
})

test('a pattern is a name with stars, and nothing else in it has a meaning', () => {
  const ids = (pattern: string): string[] => plan([], { patterns: [pattern] }).changes.map(({ draft }) => draft.id)
  expect(ids('o3*')).toEqual(['o3', 'o3-mini', 'o3-pro'])
  expect(ids('gpt-5.')).toEqual([])
  expect(ids('gpt-4.1')).toEqual(['gpt-4.1'])
  expect(ids('*').length).toBe(vendorModels('openai', atMs).length)
})

test('tiers are compared line by line, and announced changes are passed on', () => {
  const { changes } = plan([], { patterns: ['gpt-5.4'] })
  expect(wordsOf(changes[0])).toContainEqual({
    what: 'sale output above 271999 tokens',
    before: undefined,
    after: '22.50',
  })
  const gemini = [provider('gemini')]
  expect(plan([], { providers: gemini, patterns: ['gemini-3.6-flash'] }).changing).toEqual([
    { model: 'gemini-3.6-flash', on: '2027-01-01' },
  ])
})

test('a difference says the same to programs and to people', () => {
  const gemini = { providers: [provider('gemini')], patterns: ['gemini-2.5-pro'] }
  const differences = plan([], gemini).changes[0]?.differences ?? []
  const aboutOf = (words: string): unknown => differences.find(({ what }) => what === words)?.about
  expect(aboutOf('sale cached input')).toEqual({ kind: 'sale', name: 'cached_input' })
  expect(aboutOf('cost gemini/gemini-2.5-pro output above 200000 tokens')).toEqual({
    kind: 'cost',
    offer: 'gemini/gemini-2.5-pro',
    name: 'output',
    aboveInputTokens: 200_000,
  })
  const { differences: limits = [] } = plan([], only).changes[0] ?? {}
  expect(limits.find(({ what }) => what === 'limit contextTokens')?.about).toEqual({
    kind: 'limit',
    name: 'contextTokens',
  })
})

test('every skip has a code, for any reason in the list', () => {
  const { vendors, unlisted } = priceList()
  const reasons = [
    ...Object.values(unlisted),
    ...Object.values(vendors).flatMap(({ leftOut }) => Object.values(leftOut)),
  ]
  expect(reasons.length).toBeGreaterThan(20)
  expect(reasons.filter((why) => skipAsListed('m', why).code === 'as_listed')).toEqual([])
  expect(plan([], { patterns: ['no-such-model'] }).skipped).toEqual([
    {
      what: 'no-such-model',
      reason: 'no model of the chosen providers has this name',
      code: 'none_named',
      facts: {},
    },
  ])
})

test('an import keeps the context that the operator set for each offer', () => {
  const draft = gpt5()
  const [own] = draft.offers
  if (!own) throw new Error('the list has an offer')
  const spare = { ...own, providerId: 'spare', contextTokens: 32_000 }
  const model = stored({
    ...draft,
    price: { ...draft.price, inputFresh: 1n },
    offers: [{ ...own, contextTokens: 128_000 }, spare],
  })
  const [change] = plan([model], only).changes
  expect(change?.draft.offers.map(({ providerId, contextTokens }) => [providerId, contextTokens])).toEqual([
    ['openai', 128_000],
    ['spare', 32_000],
  ])
})
