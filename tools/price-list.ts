/**
 * bun tools/price-list.ts: writes src/prices/price-list.json from the price list that is installed for development.
 * Only models that the gateway can sell at their price are taken: models for text, embeddings and images that the
 * presets' vendors serve now, by the ids of their APIs, priced by the token alone. Current models that are left out are
 * named with the reason. The list has no output limits and only some contexts. tools/token-limits.json has those, from
 * two more sources.
 */
import { findProvider, type TieredPrices, type ConditionalPrice, type ModelInfo } from '@pydantic/genai-prices'
import manifest from '../node_modules/@pydantic/genai-prices/package.json' with { type: 'json' }
import type { ImageFamily } from '../src/vendors/image-families.ts'
import { parseUsd } from '../src/domain/money.ts'
import { skips } from '../src/prices/skips.ts'
import type { ListedModel, ListedPrices, ListedTier, PriceList } from '../src/prices/price-list.ts'
import type { PriceListing } from '../src/vendors/preset.ts'
import { presets } from '../src/vendors/presets.ts'
import tokenLimits from './token-limits.json' with { type: 'json' }

export const FILE = 'src/prices/price-list.json'

/** The package does not state its release date. A new version needs its date here. */
const RELEASED: Readonly<Record<string, string>> = { '0.1.8': '2026-09-23' }

type ListedVendor = Extract<PriceListing, { listed: string }> & { readonly preset: string }

const vendors = presets.flatMap(({ id, listing }): ListedVendor[] =>
  listing && 'listed' in listing ? [{ preset: id, ...listing }] : [],
)
const unlisted = Object.fromEntries(
  presets.flatMap(({ id, listing }) => (listing && 'unlisted' in listing ? [[id, skips[listing.unlisted]]] : [])),
)

/** Other kinds, and models that search or act at the vendor by themselves, which is billed separately. */
const otherKinds = /audio|realtime|tts|transcribe|image|live|omni|search|deep-research|multi-agent|computer-use/
/** The image families of the gateway, by model id. A family says what its models can do. */
const families: readonly (readonly [id: RegExp, family: ImageFamily])[] = [
  [/^gpt-image-2$/, 'gpt-image-2'],
  [/^gpt-image-/, 'gpt-image'],
  [/^gemini-2\.5-flash-image/, 'gemini-2.5-flash-image'],
  [/^gemini-3-pro-image/, 'gemini-3-pro-image'],
  [/^gemini-3\.1-flash(?:-lite)?-image/, 'gemini-3.1-flash-image'],
]
const familyOf = (id: string): ImageFamily | undefined => families.find(([match]) => match.test(id))?.[1]

/** The parts of the price of a plain text call. Searches and the like are tools, which the gateway refuses. */
const plainKeys = new Set(
  ['input', 'output', 'cache_read', 'cache_write', 'cache_write_1h'].map((key) => `${key}_mtok`),
).union(new Set(['web_searches_kcount', 'storage_searches_kcount']))
/** Audio costs more than text, so models with these keys are sold without audio. */
const audioKeys = new Set(['input_audio_mtok', 'cache_audio_read_mtok'])

/** Facts of embedding models from the vendors' documentation, which the list does not have (2026-11). */
const vectors: Readonly<Record<string, Pick<ListedModel, 'dimensions' | 'adjustable'>>> = {
  'text-embedding-3-small': { dimensions: 1536, adjustable: true },
  'text-embedding-3-large': { dimensions: 3072, adjustable: true },
  'text-embedding-ada-002': { dimensions: 1536 },
  'gemini-embedding-001': { dimensions: 3072, adjustable: true },
  'gemini-embedding-2': { dimensions: 3072, adjustable: true },
  'mistral-embed': { dimensions: 1024 },
  'embed-v4.0': { dimensions: 1536 },
}

type Prices = ConditionalPrice['prices']
type Price = Prices[string]

/** Prices of images that differ from those of text. */
const imageKeys = new Set(['input_image_mtok', 'output_image_mtok', 'cache_image_read_mtok'])

const names = [
  ['input', 'input_mtok'],
  ['output', 'output_mtok'],
  ['cached', 'cache_read_mtok'],
  ['write', 'cache_write_mtok'],
  ['write1h', 'cache_write_1h_mtok'],
  ['imageInput', 'input_image_mtok'],
  ['imageOutput', 'output_image_mtok'],
] as const

/** Dollars per million tokens as exact text. The list's numbers are short decimals and print as they were written. */
function dollars(price: number): string {
  const text = String(price)
  if (parseUsd(text) === undefined) throw new Error(`${text} is not a price of at most nine decimals`)
  return text
}

const isTiered = (price: Price): price is TieredPrices => typeof price === 'object'

const baseOf = (price: Price): number | undefined => (isTiered(price) ? price.base : price)

function tierOf(price: Price, above: number): number | undefined {
  if (!isTiered(price)) return price
  return price.tiers.findLast(({ start }) => start <= above)?.price ?? price.base
}

const stated = (prices: Prices, at: (price: Price) => number | undefined): Omit<ListedTier, 'tokens'> =>
  Object.fromEntries(
    names.flatMap(([name, key]) => {
      const price = at(prices[key])
      return price === undefined ? [] : [[name, dollars(price)]]
    }),
  ) as Omit<ListedTier, 'tokens'>

function pricesOf(prices: Prices): ListedPrices {
  const starts = new Set(
    names.flatMap(([, key]) => {
      const price = prices[key]
      return isTiered(price) ? price.tiers.map(({ start }) => start) : []
    }),
  )
  const above = [...starts]
    .toSorted((a, b) => a - b)
    .map((tokens): ListedTier => ({ tokens, ...stated(prices, (price) => tierOf(price, tokens)) }))
  return { ...stated(prices, baseOf), ...(above.length === 0 ? {} : { above }) }
}

const dearer = (a: Price, b: Price): Price => ((baseOf(b) ?? 0) > (baseOf(a) ?? 0) ? b : a)

/**
 * The prices at a date. If a price depends on the hour, the highest counts, because a call may run into the next hour.
 */
function pricesAt(rows: readonly ConditionalPrice[], date: string): Prices {
  const found: Prices[] = []
  // The last row that applies counts.
  for (const { constraint, prices } of rows.toReversed()) {
    if (constraint?.type === 'start_date' && constraint.start_date > date) continue
    found.push(prices)
    if (constraint?.type !== 'time_of_date') break
  }
  const keys = new Set(found.flatMap((prices) => Object.keys(prices)))
  return Object.fromEntries(
    [...keys].map((key) => [key, found.map((prices) => prices[key]).reduce((a, b) => dearer(a, b))]),
  )
}

/**
 * The prices that a model is sold at. Prices of images stay only if the model makes images. Cached images cost more
 * than cached text, and the gateway has one price for both: the higher one.
 */
function asCharged(prices: Prices, family: ImageFamily | undefined): Prices {
  if (!family) return Object.fromEntries(Object.entries(prices).filter(([key]) => !imageKeys.has(key)))
  const cached = dearer(prices['cache_read_mtok'], prices['cache_image_read_mtok'])
  return cached === undefined ? prices : { ...prices, cache_read_mtok: cached }
}

function problemOf({ id }: ModelInfo, prices: Prices): string | undefined {
  const isEmbedding = id.includes('embed')
  const paints = familyOf(id) !== undefined
  if (otherKinds.test(id) && !paints) return skips.not_text
  if (!baseOf(prices['input_mtok']) || (!isEmbedding && !baseOf(prices['output_mtok']))) return skips.no_price
  const others = Object.keys(prices).filter(
    (key) => !plainKeys.has(key) && !audioKeys.has(key) && !(paints && imageKeys.has(key)),
  )
  return isEmbedding || others.length === 0 ? undefined : `it is billed by ${others.join(', ')} as well`
}

type TokenLimitsOfVendors = Readonly<
  Record<string, Readonly<Record<string, { readonly modelsDev?: TokenLimits; readonly litellm?: TokenLimits }>>>
>
const limitsByVendor: TokenLimitsOfVendors = tokenLimits.vendors

type TokenLimits = {
  readonly context?: number
  readonly input?: number
  readonly output?: number
  readonly reasoning?: boolean
}

const largest = (values: readonly (number | undefined)[]): number | undefined => {
  const known = values.filter((value) => value !== undefined)
  return known.length === 0 ? undefined : Math.max(...known)
}

/**
 * The context, and for text the longest output. If sources differ, the larger number counts. A number that is too small
 * would cut answers, while one that is too large only leads to the vendor's own refusal. For image models the price
 * list has the context of the text models that they are named after, so the other sources come first.
 */
function tokenLimitsOf(
  { preset, hidesReasoning, endedByContext }: ListedVendor,
  { id, context_window: listed }: ModelInfo,
  kind: ListedModel['kind'],
) {
  const { modelsDev = {}, litellm = {} } = limitsByVendor[preset]?.[id] ?? {}
  const others = [modelsDev.context, litellm.input]
  const context = largest(kind === 'image' && largest(others) !== undefined ? others : [listed, ...others])
  if (kind !== undefined) return { ...(context !== undefined && { context }) }
  const stated = endedByContext ? context : largest([modelsDev.output, litellm.output])
  const output = stated === undefined ? undefined : Math.min(stated, context ?? stated)
  const isHidden = hidesReasoning && (modelsDev.reasoning ?? litellm.reasoning ?? false)
  return {
    ...(context !== undefined && { context }),
    ...(output !== undefined && { output }),
    ...(isHidden && { reasoning: 'hidden' as const }),
  }
}

type DatedPrices = { readonly dates: readonly string[]; readonly rows: readonly ConditionalPrice[] }

function modelOf(vendor: ListedVendor, model: ModelInfo, { dates, rows }: DatedPrices): ListedModel {
  const isDearerSpoken = rows.some(({ prices }) => Object.keys(prices).some((key) => audioKeys.has(key)))
  const isEmbedding = model.id.includes('embed')
  const family = familyOf(model.id)
  const kind = isEmbedding ? 'embedding' : family && 'image'
  return {
    ...(kind && { kind }),
    ...(family && { family }),
    ...(isEmbedding && vectors[model.id]),
    ...tokenLimitsOf(vendor, model, kind),
    ...(isDearerSpoken && !isEmbedding && { media: 'refused' as const }),
    prices: dates.map((from, i) => ({ ...(i > 0 && { from }), ...pricesOf(asCharged(pricesAt(rows, from), family)) })),
  }
}

/** Makes the whole list from the installed package. Throws if its version has no date above. */
export function makePriceList(): PriceList {
  const released = RELEASED[manifest.version]
  if (released === undefined) throw new Error(`when was ${manifest.name} ${manifest.version} released?`)
  const made = vendors.map((vendor) => {
    const { preset, listed, current, upstreamPrefix, spelt } = vendor
    const models: Record<string, ListedModel> = {}
    const leftOut: Record<string, string> = {}
    for (const asListed of findProvider({ providerId: listed })?.models ?? []) {
      if (asListed.deprecated || !current.test(asListed.id)) continue
      const model = { ...asListed, id: spelt?.(asListed.id) ?? asListed.id }
      const rows = Array.isArray(model.prices) ? model.prices : [{ prices: model.prices }]
      const problem = problemOf(model, pricesAt(rows, released))
      const later = rows.flatMap(({ constraint }) =>
        constraint?.type === 'start_date' && constraint.start_date > released ? constraint.start_date : [],
      )
      if (problem !== undefined) leftOut[model.id] = problem
      else models[model.id] = modelOf(vendor, model, { dates: [released, ...later.toSorted()], rows })
    }
    return [preset, { ...(upstreamPrefix && { upstreamPrefix }), models, leftOut }] as const
  })
  const { name, version, license: licence } = manifest
  const source = { package: name, version, released, licence, home: 'https://github.com/pydantic/genai-prices' }
  const tokens = tokenLimits.sources
  return { source, tokens, unlisted, vendors: Object.fromEntries(made) }
}

/** JSON with one model a line, so that a new version shows as the models that changed. */
export function writePriceList({ source, tokens, unlisted: reasons, vendors: listed }: PriceList): string {
  const lines = (entries: object, indent: string): string =>
    Object.entries(entries)
      .map(([name, value]) => `${indent}${JSON.stringify(name)}: ${JSON.stringify(value)}`)
      .join(',\n')
  const blocks = Object.entries(listed).map(([preset, { models, leftOut, ...rest }]) => {
    const facts = Object.entries(rest).map(
      ([name, value]) => `      ${JSON.stringify(name)}: ${JSON.stringify(value)},\n`,
    )
    const left = Object.keys(leftOut).length === 0 ? '{}' : `{\n${lines(leftOut, '        ')}\n      }`
    return `    "${preset}": {\n${facts.join('')}      "models": {\n${lines(models, '        ')}\n      },\n      "leftOut": ${left}\n    }`
  })
  return `{\n  "source": {\n${lines(source, '    ')}\n  },\n  "tokens": {\n${lines(tokens, '    ')}\n  },\n  "unlisted": {\n${lines(reasons, '    ')}\n  },\n  "vendors": {\n${blocks.join(',\n')}\n  }\n}\n`
}

if (import.meta.main) await Bun.write(FILE, writePriceList(makePriceList()))
