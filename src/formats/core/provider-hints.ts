/** The object `provider`: its schema, and what of it the gateway can do. A hint that it cannot follow is refused. */
import { z } from 'zod'
import type { Failure } from '../../domain/failure.ts'
import { parseUsd, type NanoUsd } from '../../domain/money.ts'
import { noProviderHints, providerSorts, type MaxPrice, type ProviderHints } from '../../domain/routing-hints.ts'
import { limit } from '../../lib/primitives/limit.ts'
import { safeParse } from '../../lib/json/safe-parse.ts'
import { failureOfIssue } from './issue.ts'

const NAMED_MAX = limit('namedProvidersMax', 32, 'A request that names more providers in one list is refused.')

const names = z.array(z.string().min(1).max(128)).max(NAMED_MAX).nullish()
const flag = z.boolean().nullish()
/** OpenRouter's SDKs send prices as text. */
const price = z.union([z.number().min(0).max(1_000_000), z.string().max(20)]).nullish()
const sort = z.enum(providerSorts)

/** Unknown members pass the schema, and are then refused by name. */
export const providerSchema = z.looseObject({
  order: names,
  only: names,
  ignore: names,
  sort: z
    .union([sort, z.looseObject({ by: sort.nullish(), partition: z.enum(['model', 'none']).nullish() })])
    .nullish(),
  max_price: z.looseObject({ prompt: price, completion: price, image: price, request: price, audio: price }).nullish(),
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
  const sorting = typeof provider.sort === 'string' ? { by: provider.sort } : provider.sort
  return {
    kind: 'read',
    provider: {
      order: idsIn(provider.order),
      only: provider.only ? idsIn(provider.only) : undefined,
      ignore: idsIn(provider.ignore),
      sort: sorting?.by ?? undefined,
      sortsModels: sorting?.partition === 'none',
      maxPrice: maxPrice?.prices,
      allowsFallbacks: provider.allow_fallbacks ?? true,
      requiresParameters: provider.require_parameters ?? false,
    },
  }
}

const idsIn = (list: readonly string[] | null | undefined): readonly string[] =>
  (list ?? []).map((name) => name.toLowerCase())

function unknownHint({ sort: sorting, max_price: prices, ...provider }: Provider): Rejection | undefined {
  const { sort: _, max_price: __, ...known } = providerSchema.shape
  const parts: readonly (readonly [at: string, value: object, known: object])[] = [
    ['provider', provider, known],
    ['provider.sort', typeof sorting === 'object' ? (sorting ?? {}) : {}, { by: 0, partition: 0 }],
    ['provider.max_price', prices ?? {}, { prompt: 0, completion: 0, image: 0, request: 0, audio: 0 }],
  ]
  for (const [at, value, named] of parts) {
    const stranger = Object.keys(value).find((name) => !Object.hasOwn(named, name))
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
