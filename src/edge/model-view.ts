/** Writes models in the shapes of OpenAI, Anthropic and Google, as their SDKs define them (2026-11). */
import { paintsInTurn, type Model } from '../domain/catalog.ts'
import type { Failure } from '../domain/failure.ts'
import type { PriceCard } from '../domain/price.ts'
import { modalityOf } from '../modalities/modalities.ts'
import { limit } from '../lib/primitives/limit.ts'

/** Decodes a path segment. A segment that cannot be decoded is no model id. */
export function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment // An id with a stray percent sign. The answer repeats it unchanged.
  }
}

export type EnvelopeDialect = 'chat' | 'messages' | 'gemini'

/**
 * Dollars for one token, and for one piece, in OpenRouter's words (2026-11,
 * https://openrouter.ai/docs/client-sdks/python/components/pricing.md). Exact decimals: a nano-USD per million tokens
 * has fifteen places.
 */
function pricingOf({ nanoPerMillion }: PriceCard): object {
  const { inputFresh, outputText, inputCached, cacheWrite5m, outputReasoning } = nanoPerMillion
  const pieces = Object.entries(nanoPerMillion).filter(([unit]) => unit.startsWith('piece:'))
  return {
    prompt: dollarsEach(inputFresh),
    completion: dollarsEach(outputText),
    input_cache_read: dollarsEach(inputCached),
    input_cache_write: dollarsEach(cacheWrite5m),
    internal_reasoning: dollarsEach(outputReasoning),
    ...(pieces.length > 0 && {
      each: Object.fromEntries(pieces.map(([unit, price]) => [unit.slice('piece:'.length), dollarsEach(price)])),
    }),
  }
}

const PLACES = 15
function dollarsEach(nanoPerMillion: bigint): string {
  const digits = nanoPerMillion.toString().padStart(PLACES + 1, '0')
  const fraction = digits.slice(-PLACES).replace(/0+$/, '')
  return fraction === '' ? digits.slice(0, -PLACES) : `${digits.slice(0, -PLACES)}.${fraction}`
}

/** A model under its id or an alias. `aliasOf` is the id of the model that the alias stands for. */
export type NamedModel = Model & { readonly aliasOf?: string }

/**
 * Writes one model. The fields `endpoints`, `pricing` and `alias_of` are additions, which clients of OpenAI and
 * Anthropic ignore.
 */
export const modelObject: Readonly<Record<EnvelopeDialect, (model: NamedModel) => object>> = {
  chat: (model) => ({
    id: model.id,
    object: 'model',
    created: Math.floor(model.createdAtMs / 1000),
    owned_by: model.ownedBy,
    endpoints: modalityOf(model).endpoints(model),
    alias_of: model.aliasOf,
    pricing: pricingOf(model.sale),
  }),
  messages: (model) => ({
    type: 'model',
    id: model.id,
    display_name: model.id,
    created_at: new Date(model.createdAtMs).toISOString().replace(/\.\d+Z$/, 'Z'),
    max_input_tokens: contextOf(model) ?? null,
    max_tokens: model.limits.outputTokensMax ?? null,
    capabilities: null,
    lifecycle: 'active',
    deprecated_at: null,
    line: null,
    endpoints: modalityOf(model).endpoints(model),
    alias_of: model.aliasOf,
  }),
  gemini: (model) => ({
    name: `models/${model.id}`,
    baseModelId: model.aliasOf ?? model.id,
    version: new Date(model.createdAtMs).toISOString().slice(0, 10),
    displayName: model.id,
    inputTokenLimit: contextOf(model),
    outputTokenLimit: model.limits.outputTokensMax,
    supportedGenerationMethods: methodsOf(model),
  }),
}

export type ModelList =
  | { readonly kind: 'list'; readonly list: object }
  | { readonly kind: 'refused'; failure: Failure }

/** Writes a list of models. OpenAI's list has no pages, the other two have. */
export const modelList: Readonly<
  Record<EnvelopeDialect, (models: readonly NamedModel[], query: URLSearchParams) => ModelList>
> = {
  chat: (models) => ({ kind: 'list', list: { object: 'list', data: models.map(modelObject.chat) } }),
  messages: messagesPage,
  gemini: geminiPage,
}

/** The methods of Google's API that the model supports here. */
function methodsOf(model: Model): readonly string[] {
  if (model.kind === 'text') return ['generateContent', 'countTokens']
  if (model.kind === 'embedding') return ['embedContent']
  return paintsInTurn(model) ? ['generateContent', 'countTokens'] : []
}

function contextOf({ limits, offers }: Model): number | undefined {
  const known = offers.flatMap(({ contextTokens }) => contextTokens ?? [])
  return limits.contextTokens ?? (known.length === 0 ? undefined : Math.max(...known))
}

const refused = (param: string, message: string): ModelList => ({
  kind: 'refused',
  failure: { kind: 'invalid_value', message: `Invalid '${param}': ${message}`, param },
})

/** Reads a whole number from the query. Undefined: the parameter is absent. NaN: it is not a whole number. */
function wholeIn(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name) ?? ''
  return text === '' ? undefined : /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN
}

const PAGE_MAX = limit('modelPageMax', 1_000, 'A page of models never has more entries.')

/** A page in Anthropic's format, newest first. The default size is 20. `before_id` and `after_id` are model ids. */
function messagesPage(models: readonly NamedModel[], query: URLSearchParams): ModelList {
  const limit = wholeIn(query, 'limit') ?? 20
  if (!(limit >= 1 && limit <= PAGE_MAX)) return refused('limit', `a whole number from 1 to ${PAGE_MAX}.`)
  const [after, before] = [query.get('after_id') ?? '', query.get('before_id') ?? '']
  if (after !== '' && before !== '') return refused('before_id', 'either after_id or before_id.')
  const newest = models.toSorted((a, b) => b.createdAtMs - a.createdAtMs || (a.id < b.id ? -1 : 1))
  const at = newest.findIndex(({ id }) => id === (after || before))
  if (at === -1 && after + before !== '')
    return refused(after === '' ? 'before_id' : 'after_id', 'no model has this id.')
  const rest = before === '' ? newest.slice(at + 1) : newest.slice(0, at)
  const page = before === '' ? rest.slice(0, limit) : rest.slice(-limit)
  const list = {
    data: page.map(modelObject.messages),
    has_more: rest.length > page.length,
    first_id: page[0]?.id ?? null,
    last_id: page.at(-1)?.id ?? null,
  }
  return { kind: 'list', list }
}

const PAGE_USUAL = 50
const tokenOf = (id: string): string => Buffer.from(id).toString('base64url')

/** A page in Google's format. `pageToken` is the last id of the previous page, so the list may change in between. */
function geminiPage(models: readonly NamedModel[], query: URLSearchParams): ModelList {
  const size = wholeIn(query, 'pageSize') ?? wholeIn(query, 'page_size') ?? PAGE_USUAL
  if (Number.isNaN(size)) return refused('pageSize', 'a whole number.')
  const token = query.get('pageToken') ?? query.get('page_token') ?? ''
  const at = models.findIndex(({ id }) => tokenOf(id) === token)
  if (token !== '' && at === -1) return refused('pageToken', 'no page of this list has this token.')
  const rest = models.slice(at + 1)
  const page = rest.slice(0, size === 0 ? PAGE_USUAL : Math.min(size, PAGE_MAX))
  const last = rest.length > page.length ? page.at(-1) : undefined
  const list = { models: page.map(modelObject.gemini), ...(last && { nextPageToken: tokenOf(last.id) }) }
  return { kind: 'list', list }
}
