/** The plan of an import of list prices: what it would change. */
import { saleOfKind, type Model, type ModelDraft, type OfferDraft, type Provider } from '../domain/catalog.ts'
import { defaultModelLimits, type ModelLimits } from '../domain/model-limits.ts'
import { type ImageFacts } from '../domain/image.ts'
import { imageFamilies, imageFamilyNames } from '../vendors/image-families.ts'
import { formatUsd } from '../domain/money.ts'
import { CACHED_ANSWER, type PriceTier, type UnitPrices } from '../domain/price.ts'
import type { PieceUnit } from '../domain/usage.ts'
import type { MarkUp } from './mark-up.ts'
import { priceList, type PriceList } from './price-list.ts'
import { saySkip, skip, skipAsListed, type SkippedModel } from './skips.ts'
import { isStated, priceUnits } from '../domain/price-units.ts'
import { draftOf, vendorModels, type VendorModel } from './vendor-models.ts'

export type ImportRequest = {
  readonly models: ReadonlyMap<string, Model>
  /** A model never gets the name of an alias. */
  readonly aliases: ReadonlySet<string>
  /** All providers. They give the vendor of an offer. */
  readonly providers: readonly Provider[]
  /** The providers whose models are imported. */
  readonly selected: readonly Provider[]
  /** Ids, with `*` for any characters. An empty list means all. */
  readonly patterns: readonly string[]
  /** The public ids begin with it: `openai/`. Undefined: they are the vendor's ids. */
  readonly prefix?: string | undefined
  readonly by: MarkUp
  readonly atMs: number
  /** Undefined: the list in the program. */
  readonly list?: PriceList | undefined
}

/** The subject of a value: a unit of the sale price or of an offer's cost, with its tier, or a limit. */
export type PriceSubject = {
  readonly kind: 'origin' | 'sale' | 'cost' | 'limit'
  readonly name: string
  readonly offer?: string | undefined
  readonly aboveInputTokens?: number | undefined
}

/**
 * One value that would change. Amounts are dollars per million tokens, or for one piece if the unit is a `piece:…`.
 * `what` is for people, and `about` says the same to programs.
 */
export type Difference = {
  readonly what: string
  readonly about: PriceSubject
  readonly before: string | undefined
  readonly after: string
}

export type Change = {
  readonly kind: 'new' | 'changed'
  readonly draft: ModelDraft
  readonly differences: readonly Difference[]
}

export type ImportPlan = {
  readonly changes: readonly Change[]
  readonly unchanged: readonly string[]
  readonly skipped: readonly SkippedModel[]
  /** Models whose list price changes on a future day. */
  readonly changing: readonly { readonly model: string; readonly on: string }[]
}

function matcher(pattern: string): RegExp {
  const parts = pattern.split('*').map((part) => RegExp.escape(part))
  return new RegExp(`^${parts.join('.*')}$`)
}

/** Compares the list with the catalogue. Pure: the same request gives the same plan. */
export function planImport(request: ImportRequest): ImportPlan {
  const { models, selected, patterns, by, atMs, list } = request
  const matchers = patterns.map(matcher)
  const isWanted = (id: string): boolean => matchers.length === 0 || matchers.some((one) => one.test(id))
  const drafts = new Map<string, ModelDraft>()
  const skipped: SkippedModel[] = []
  const changing = new Map<string, string>()
  for (const provider of selected) {
    for (const model of vendorModels(provider.preset, atMs, list).filter(({ id }) => isWanted(id))) {
      const id = targetOf(model, provider, { ...request, drafts })
      const before = id === undefined ? undefined : (drafts.get(id) ?? models.get(id))
      if (id === undefined || (before && lacksOutput(model, before))) {
        skipped.push(skip(model.id, saySkip(id === undefined ? 'declared' : 'output_unpriced')))
        continue
      }
      drafts.set(id, merged(before, draftOf(model, { id, providerId: provider.id, by })))
      if (model.changesOn !== undefined) changing.set(id, model.changesOn)
    }
    skipped.push(...unpriced(provider, request, isWanted))
  }
  const changes = [...drafts.values()].map((draft) => changeOf(models.get(draft.id), draft))
  return {
    changes: changes.filter(({ differences }) => differences.length > 0),
    unchanged: changes.filter(({ differences }) => differences.length === 0).map(({ draft }) => draft.id),
    skipped: [...skipped, ...unmatched(patterns, { skipped, found: [...drafts.keys()] })],
    changing: [...changing].map(([model, on]) => ({ model, on })),
  }
}

/** Whether the list has no price for the output that a model sells. An embedding has none. */
const lacksOutput = ({ cost }: VendorModel, { kind = 'text' }: Pick<ModelDraft, 'kind'>): boolean =>
  cost.outputText === 0n && saleOfKind(kind).tokenPrices.includes('output')

type Targets = ImportRequest & { readonly drafts: ReadonlyMap<string, ModelDraft> }

/**
 * The public id of a model: the vendor's own id, or `vendor/id` if another vendor's model has that id. Two models are
 * the same if one vendor offers both under one name, through any provider. Undefined: tollgate.yaml declares the model.
 * With a prefix, the id is the vendor's behind the prefix.
 */
function targetOf(
  model: VendorModel,
  { preset }: Provider,
  { models, aliases, prefix, drafts, providers }: Targets,
): string | undefined {
  const presetOf = (providerId: string): string | undefined => providers.find(({ id }) => id === providerId)?.preset
  const isSame = ({ offers }: Pick<ModelDraft, 'offers'> | Model): boolean =>
    offers.length === 0 ||
    offers.some((offer) => offer.upstreamModel === model.upstreamModel && presetOf(offer.providerId) === preset)
  for (const id of prefix === undefined ? [model.id, `${preset}/${model.id}`] : [prefix + model.id]) {
    const taken = drafts.get(id) ?? models.get(id)
    if ((taken && !isSame(taken)) || (!taken && aliases.has(id))) continue
    return models.get(id)?.origin === 'declared' ? undefined : id
  }
  return undefined
}

/** Merges a listed model into the model before. Its other offers, price of a cached answer and settings stay. */
function merged(before: ModelDraft | Model | undefined, listed: ModelDraft): ModelDraft {
  if (!before) return listed
  const offers = before.offers.map(offerDraft)
  const [own] = listed.offers
  const at = offers.findIndex(
    ({ providerId, upstreamModel }) => providerId === own?.providerId && upstreamModel === own.upstreamModel,
  )
  if (own && at === -1) offers.push(own)
  // The list knows what an offer costs. All else that is stored of it is the operator's.
  else if (own) offers.splice(at, 1, { ...own, ...offers[at], cost: own.cost, costTiers: own.costTiers })
  // An existing output limit may be the operator's own, so it stays. The list knows the other limits better.
  const { outputTokensMax, ...limits } = listed.limits
  const suggested = outputTokensMax === undefined ? {} : { outputTokensMax }
  return {
    ...listed,
    ownedBy: before.ownedBy,
    kind: before.kind,
    price: { ...listed.price, ...cachedAnswerPrice(before) },
    limits: { ...suggested, ...setByHand(before.limits), ...limits },
    offers,
  }
}

/** The price of a cached answer, which is the operator's own. It may stand under the name of a parent. */
function cachedAnswerPrice(before: ModelDraft | Model): Readonly<Record<PieceUnit, bigint>> {
  const prices = Object.entries('sale' in before ? before.sale.nanoPerMillion : before.price)
  return Object.fromEntries(prices.filter(([unit]) => `${CACHED_ANSWER}/`.startsWith(`${unit}/`)))
}

const offerDraft = (offer: OfferDraft | Model['offers'][number]): OfferDraft => {
  const { cost } = offer
  if (!('nanoPerMillion' in cost)) return offer as OfferDraft
  const { nanoPerMillion, tiers } = cost
  return { ...offer, cost: nanoPerMillion, costTiers: tiers }
}

const setByHand = (limits: Partial<ModelLimits>): Partial<ModelLimits> =>
  Object.fromEntries(
    Object.entries(limits).filter(([name, value]) => value !== defaultModelLimits[name as keyof ModelLimits]),
  )

function changeOf(before: Model | undefined, draft: ModelDraft): Change {
  const offersBefore = new Map((before?.offers ?? []).map((offer) => [offerName(offer), offer.cost]))
  const differences = [
    // A model that a vendor's key has brought becomes a stored one, which stays if the key is removed.
    ...(before?.origin === 'environment'
      ? [{ what: 'origin', about: { kind: 'origin', name: 'origin' } as const, before: 'environment', after: 'stored' }]
      : []),
    ...compare(
      { kind: 'sale' },
      namedPrices(before?.sale),
      namedPrices({ nanoPerMillion: draft.price, tiers: draft.priceTiers }),
    ),
    ...draft.offers.flatMap((offer) =>
      compare(
        { kind: 'cost', offer: offerName(offer) },
        namedPrices(offersBefore.get(offerName(offer))),
        namedPrices({ nanoPerMillion: offer.cost, tiers: offer.costTiers }),
      ),
    ),
    ...compare({ kind: 'limit' }, namedLimits(before?.limits), namedLimits({ ...defaultModelLimits, ...draft.limits })),
  ]
  return { kind: before ? 'changed' : 'new', draft, differences }
}

const offerName = ({ providerId, upstreamModel }: Pick<OfferDraft, 'providerId' | 'upstreamModel'>): string =>
  `${providerId}/${upstreamModel}`

/** Values as text, by their names for people. */
type NamedValues = ReadonlyMap<string, Omit<PriceSubject, 'kind' | 'offer'> & { readonly value: string }>

type Prices = { readonly nanoPerMillion: UnitPrices; readonly tiers?: readonly PriceTier[] | undefined }

function namedPrices(card: Prices | undefined): NamedValues {
  if (!card) return new Map()
  return new Map([
    ...priceLines(card.nanoPerMillion),
    ...(card.tiers ?? []).flatMap(({ aboveInputTokens, nanoPerMillion }) =>
      priceLines(nanoPerMillion).map(
        ([words, line]) => [`${words} above ${aboveInputTokens} tokens`, { ...line, aboveInputTokens }] as const,
      ),
    ),
  ])
}

type PlanLine = readonly [words: string, { readonly name: string; readonly value: string }]

const priceLines = (prices: UnitPrices): readonly PlanLine[] => [
  ...priceUnits
    .filter((unit) => isStated(prices, unit))
    .map(({ unit, name, words }): PlanLine => [words, { name, value: formatUsd(prices[unit]) }]),
  ...Object.entries(prices)
    .filter(([unit]) => unit.startsWith('piece:'))
    .map(([name, price]): PlanLine => [name, { name, value: formatUsd(price / 1_000_000n) }]),
]

const familyOf = new Map(imageFamilyNames.map((name) => [JSON.stringify(imageFamilies[name]), name]))

/** The capabilities of an image model in one word, if they are those of a family. */
function namedFacts(facts: ImageFacts): string {
  const text = JSON.stringify(facts)
  return familyOf.get(text) ?? text
}

function textOf(name: string, value: unknown): string {
  if (value === undefined) return 'unknown'
  return JSON.stringify(name === 'image' ? namedFacts(value as ImageFacts) : value)
}

/** Most limits of most models are these, and to write them takes most of the time of a plan. */
const usual = new Map(Object.entries(defaultModelLimits).map(([name, value]) => [name, textOf(name, value)]))

const namedLimits = (limits: ModelLimits = defaultModelLimits): NamedValues =>
  new Map(
    Object.entries(limits).map(([name, value]) => {
      const isUsual = value === defaultModelLimits[name as keyof ModelLimits]
      return [name, { name, value: (isUsual ? usual.get(name) : undefined) ?? textOf(name, value) }]
    }),
  )

const GONE = 'none'

function compare(subject: Pick<PriceSubject, 'kind' | 'offer'>, before: NamedValues, after: NamedValues): Difference[] {
  const prefix = [subject.kind, subject.offer].filter((part) => part !== undefined).join(' ')
  return [...new Map([...before, ...after])]
    .filter(([words]) => before.get(words)?.value !== after.get(words)?.value)
    .map(([words, { name, aboveInputTokens }]) => ({
      what: `${prefix} ${words}`,
      about: { ...subject, name, aboveInputTokens },
      before: before.get(words)?.value,
      after: after.get(words)?.value ?? GONE,
    }))
}

/** Skips of a provider: its vendor if the list lacks it, else its models without a price. */
function unpriced(
  { id: providerId, preset }: Provider,
  { models, list = priceList() }: ImportRequest,
  isWanted: (id: string) => boolean,
): SkippedModel[] {
  const vendor = list.vendors[preset]
  if (!vendor) {
    const why = list.unlisted[preset]
    const what = `provider ${providerId}`
    return [why === undefined ? skip(what, saySkip('vendor_unknown', { preset })) : skipAsListed(what, why)]
  }
  const known = new Set(Object.keys(vendor.models).map((id) => `${vendor.upstreamPrefix ?? ''}${id}`))
  const offered = [...models.values()].filter(
    ({ id, origin, offers }) =>
      origin === 'stored' &&
      isWanted(id) &&
      offers.some((offer) => offer.providerId === providerId && !known.has(offer.upstreamModel)),
  )
  return [
    ...Object.entries(vendor.leftOut).flatMap(([what, reason]) => (isWanted(what) ? [skipAsListed(what, reason)] : [])),
    ...offered.map(({ id }) => skip(id, saySkip('offer_unpriced', { provider: providerId }))),
  ]
}

function unmatched(
  patterns: readonly string[],
  { skipped, found }: { readonly skipped: readonly SkippedModel[]; readonly found: readonly string[] },
): SkippedModel[] {
  const named = [...skipped.map(({ what }) => what), ...found, ...found.map((id) => id.slice(id.indexOf('/') + 1))]
  return patterns
    .filter((pattern) => !named.some((name) => matcher(pattern).test(name)))
    .map((what) => skip(what, saySkip('none_named')))
}
