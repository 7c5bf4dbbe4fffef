/** The object `provider`: its schema, and what of it the gateway can do. A hint that it cannot follow is refused. */
import { z } from 'zod'
import type { Failure } from '../../domain/failure.ts'
import { parseUsd, type NanoUsd } from '../../domain/money.ts'
import {
  noProviderHints,
  providerSorts,
  type MaxPrice,
  type ProviderHints,
  type ProviderSort,
} from '../../domain/routing-hints.ts'
import { limit } from '../../lib/primitives/limit.ts'
import { safeParse } from '../../lib/json/safe-parse.ts'
import { fieldsIn } from './fields.ts'
import { failureOfIssue } from './issue.ts'

const NAMED_MAX = limit('namedProvidersMax', 32, 'A request that names more providers in one list is refused.')

const names = z.array(z.string().min(1).max(128)).max(NAMED_MAX).nullish()
const flag = z.boolean().nullish()
/** OpenRouter's SDKs send prices as text. */
const price = z.union([z.number().min(0).max(1_000_000), z.string().max(20)]).nullish()
const sort = z.enum(providerSorts)
const sorting = { by: sort.nullish(), partition: z.enum(['model', 'none']).nullish() }
const prices = { prompt: price, completion: price, image: price, request: price, audio: price }
const figure = z.number().min(0)
const percentiles = { p50: figure.nullish(), p75: figure.nullish(), p90: figure.nullish(), p99: figure.nullish() }
/** For the median, or for several percentiles. */
const threshold = z.union([figure, z.looseObject(percentiles)]).nullish()

/** Unknown members pass the schema, and are then refused by name. */
export const providerSchema = z.looseObject({
  order: names,
  only: names,
  ignore: names,
  sort: z.union([sort, z.looseObject(sorting)]).nullish(),
  max_price: z.looseObject(prices).nullish(),
  preferred_min_throughput: threshold,
  preferred_max_latency: threshold,
  allow_fallbacks: flag,
  require_parameters: flag,
  data_collection: z.enum(['allow', 'deny']).nullish(),
  zdr: flag,
  enforce_distillable_text: flag,
  quantizations: z.array(z.string()).nullish(),
})
type Provider = z.infer<typeof providerSchema>

export type ReadProvider = { readonly kind: 'read'; readonly provider: ProviderHints } | Rejection
type Rejection = { readonly kind: 'rejected'; readonly failure: Failure }

const refuse = (kind: Failure['kind'], param: string, message: string): Rejection => ({
  kind: 'rejected',
  failure: { kind, message, param },
})

/** The whole, so that an issue has its place in it. */
const whole = z.object({ provider: providerSchema })

export function readProvider(value: unknown): ReadProvider {
  if (value === undefined || value === null) return { kind: 'read', provider: noProviderHints }
  const checked = safeParse(whole, { provider: value })
  if (!checked.success) {
    return { kind: 'rejected', failure: failureOfIssue(checked.error.issues[0], { provider: value }) }
  }
  const { provider } = checked.data
  const refused = unknownHint(provider) ?? unkeptPromise(provider)
  if (refused) return refused
  const maxPrice = maxPriceOf(provider)
  if (maxPrice?.kind === 'rejected') return maxPrice
  const asked = typeof provider.sort === 'string' ? { by: provider.sort } : provider.sort
  return {
    kind: 'read',
    provider: {
      order: idsIn(provider.order),
      only: provider.only ? idsIn(provider.only) : undefined,
      ignore: idsIn(provider.ignore),
      sort: asked?.by ?? wishedSpeed(provider),
      sortsModels: asked?.partition === 'none',
      maxPrice: maxPrice?.prices,
      allowsFallbacks: provider.allow_fallbacks ?? true,
      requiresParameters: provider.require_parameters ?? false,
    },
  }
}

/**
 * A threshold of speed is a wish, which never excludes an offer. The gateway has no percentiles of offers to compare it
 * to, so it tries the fastest ones first.
 */
const wishedSpeed = (wished: Provider): ProviderSort | undefined =>
  isGiven(wished.preferred_max_latency)
    ? 'latency'
    : isGiven(wished.preferred_min_throughput)
      ? 'throughput'
      : undefined

const isGiven = (value: unknown): boolean => value !== undefined && value !== null

const idsIn = (list: readonly string[] | null | undefined): readonly string[] =>
  (list ?? []).map((name) => name.toLowerCase())

/** The members of `provider` that are objects, with their own members. */
const inner: Readonly<Record<string, object>> = {
  sort: sorting,
  max_price: prices,
  preferred_min_throughput: percentiles,
  preferred_max_latency: percentiles,
}

function unknownHint(provider: Provider): Rejection | undefined {
  const parts: readonly (readonly [at: string, value: unknown, known: object])[] = [
    ['provider', provider, providerSchema.shape],
    ...Object.entries(inner).map(([name, known]) => [`provider.${name}`, provider[name], known] as const),
  ]
  for (const [at, value, known] of parts) {
    const stranger = Object.keys(fieldsIn(value) ?? {}).find((name) => !Object.hasOwn(known, name))
    if (stranger === undefined) continue
    const param = `${at}.${stranger.slice(0, 100)}`
    return refuse('unsupported_parameter', param, `Unknown parameter: '${param}'.`)
  }
  return undefined
}

/** Promises about the vendors behind providers. Nothing in the catalogue says whether they hold. */
function unkeptPromise(provider: Provider): Rejection | undefined {
  const { data_collection: collection, zdr, enforce_distillable_text: distillable, quantizations } = provider
  const asked =
    collection === 'deny'
      ? 'data_collection'
      : zdr
        ? 'zdr'
        : distillable
          ? 'enforce_distillable_text'
          : quantizations && quantizations.length > 0
            ? 'quantizations'
            : undefined
  if (asked === undefined) return undefined
  const param = `provider.${asked}`
  const message = `'${param}' is not supported: the gateway does not know this of its providers. Name them in 'provider.only'.`
  return refuse('unsupported_parameter', param, message)
}

type ReadPrices = { readonly kind: 'read'; readonly prices: MaxPrice } | Rejection

/** `request` and `audio` are read and have no effect: nothing is sold by the request, and audio by its tokens. */
function maxPriceOf({ max_price: stated }: Provider): ReadPrices | undefined {
  if (!stated) return undefined
  const amounts: { [name: string]: NanoUsd } = {}
  for (const name of ['prompt', 'completion', 'image', 'request', 'audio'] as const) {
    const value = stated[name] ?? undefined
    if (value === undefined) continue
    const amount = usdIn(value)
    if (amount === undefined || amount < 0n) {
      const param = `provider.max_price.${name}`
      return refuse('invalid_value', param, `Invalid '${param}': must be dollars with at most nine decimals.`)
    }
    amounts[name] = amount
  }
  const { prompt, completion, image } = amounts
  return { kind: 'read', prices: { prompt, completion, image } }
}

/** A number of JSON may have an exponent, which is rounded to the next nano-dollar. */
const usdIn = (value: number | string): NanoUsd | undefined =>
  typeof value === 'string' ? parseUsd(value) : BigInt(Math.round(value * 1e9))
