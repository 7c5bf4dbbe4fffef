/**
 * Reads how a request wishes to be routed: from fields of its body, which are taken out of it, or from headers, for
 * clients that cannot send the fields.
 */
import { z } from 'zod'
import type { Failure } from '../../domain/failure.ts'
import { noProviderHints, type RoutingHints } from '../../domain/routing-hints.ts'
import { editJson, type Edit } from '../../lib/json/json-edit.ts'
import { limit } from '../../lib/primitives/limit.ts'
import { asFields, fieldsIn, wordFor, type Fields } from './fields.ts'
import type { HintField } from './hint-fields.ts'
import { providerSchema, readProvider, type ReadProvider } from './provider-hints.ts'
import { afterScan, scanRequest, type ScannedRequest } from './request-json.ts'

const FALLBACKS_MAX = limit('fallbackModelsMax', 3, 'A request with more fall-back models is refused.')

/** The fields as the documents describe them. */
export const documentedHints = {
  provider: providerSchema.nullish().meta({ description: 'How the provider is chosen.' }),
  models: z
    .array(z.string().min(1))
    .max(FALLBACKS_MAX + 1)
    .nullish()
    .meta({ description: 'The models to try, in this order, if `model` cannot serve the request.' }),
}

type Rejection = { readonly kind: 'rejected'; readonly failure: Failure }

const refuse = (kind: Failure['kind'], param: string, message: string): Rejection => ({
  kind: 'rejected',
  failure: { kind, message, param },
})

/** `none`: the body has none of the fields. */
export type TakenHints =
  | { readonly kind: 'none' }
  | { readonly kind: 'taken'; readonly text: string; readonly bytes: number; readonly hints: RoutingHints }
  | Rejection

/** Takes these fields out of a body. If the body names no model, it then names the first of `models`. */
export const takeHints = (
  text: string,
  bytes: number,
  fields: readonly HintField[],
): TakenHints | Promise<TakenHints> => afterScan(text, bytes, (scan) => takeScanned(scan, text, fields))

function takeScanned(scan: ScannedRequest, text: string, fields: readonly HintField[]): TakenHints {
  if (scan.kind === 'rejected') return scan
  const { members } = scan
  const present = fields.filter((field) => members.has(field))
  if (present.length === 0) return { kind: 'none' }
  const body = asFields(scan.value)
  if (present.includes('route') && isSet(body['route'])) return ROUTE
  const read = modelsIn(body, present)
  if (read.kind === 'rejected') return read
  const provider = readProvider(present.includes('provider') ? body['provider'] : undefined)
  if (provider.kind === 'rejected') return provider
  const { models } = read
  const edits: Edit[] = present.map((key) => ({ key, value: undefined }))
  const [first] = models
  if (!isSet(body['model']) && first !== undefined) edits.push({ key: 'model', value: JSON.stringify(first) })
  const fallbacks = fallbacksOf(models, isSet(body['model']) ? body['model'] : first)
  if (!fallbacks) return tooMany(isSet(body['models']) ? 'models' : 'fallbacks')
  const left = editJson(text, members, edits)
  return {
    kind: 'taken',
    text: left,
    bytes: Buffer.byteLength(left),
    hints: { fallbacks, provider: provider.provider },
  }
}

const isSet = (value: unknown): boolean => value !== undefined && value !== null

const ROUTE = refuse(
  'unsupported_parameter',
  'route',
  "'route' is not supported. Name the models in 'models': they are tried in their order.",
)
const tooMany = (field: string): Rejection =>
  refuse('invalid_value', field, `Invalid '${field}': at most ${FALLBACKS_MAX} fall-back models.`)

/** The names besides the request's own model, each once. Undefined if there are too many. */
function fallbacksOf(models: readonly string[], own: unknown): readonly string[] | undefined {
  const fallbacks = [...new Set(models)].filter((name) => name !== own)
  return fallbacks.length > FALLBACKS_MAX ? undefined : fallbacks
}

type ReadModels = { readonly kind: 'read'; readonly models: readonly string[] } | Rejection

/** `fallbacks: [{"model": "…"}]` says in the Messages format what `models: ["…"]` says elsewhere. */
function modelsIn(body: Fields, present: readonly HintField[]): ReadModels {
  const models = present.includes('models') ? (body['models'] ?? undefined) : undefined
  const fallbacks = present.includes('fallbacks') ? (body['fallbacks'] ?? undefined) : undefined
  if (fallbacks === undefined) return models === undefined ? NO_MODELS : readNames(models, 'models', (i) => `[${i}]`)
  if (models !== undefined) {
    return refuse('invalid_value', 'fallbacks', "'fallbacks' and 'models' say the same: send one of them.")
  }
  const entries = Array.isArray(fallbacks) ? fallbacks : [fallbacks]
  for (const [i, entry] of entries.entries()) {
    const stranger = Object.keys(fieldsIn(entry) ?? {}).find((key) => key !== 'model')
    if (stranger === undefined) continue
    const param = `fallbacks[${i}].${stranger.slice(0, 100)}`
    return refuse('unsupported_parameter', param, `'${param}' is not supported: an entry only names a model.`)
  }
  const named = Array.isArray(fallbacks) ? entries.map((entry) => asFields(entry)['model']) : fallbacks
  return readNames(named, 'fallbacks', (i) => `[${i}].model`)
}

const NO_MODELS: ReadModels = { kind: 'read', models: [] }

function readNames(value: unknown, field: string, placeOf: (i: number) => string): ReadModels {
  if (!Array.isArray(value)) return refuse('invalid_type', field, `Invalid '${field}': expected an array.`)
  const at = value.findIndex((name) => typeof name !== 'string' || name === '')
  if (at < 0) return { kind: 'read', models: value as readonly string[] }
  const param = `${field}${placeOf(at)}`
  const found: unknown = value[at]
  const what = found === '' ? 'an empty text' : wordFor(found)
  return refuse('invalid_type', param, `Invalid '${param}': expected the name of a model, not ${what}.`)
}

/** The headers that stand for the fields. */
export type HintHeaders = { readonly provider: string | undefined; readonly models: string | undefined }

export type ReadHints = { readonly kind: 'read'; readonly hints: RoutingHints } | Rejection

/** Reads the headers. A field of the body overrules the header that stands for it. */
export function readHintHeaders(
  { provider, models }: HintHeaders,
  { hints, model }: { readonly hints: RoutingHints | undefined; readonly model: string },
): ReadHints {
  const read = provider === undefined ? undefined : readProviderText(provider)
  if (read?.kind === 'rejected') return read
  const named = (models ?? '').split(',').map((name) => name.trim())
  const listed = fallbacksOf(
    named.filter((name) => name !== ''),
    model,
  )
  if (!listed) return tooMany('x-tollgate-models')
  const { fallbacks = [], provider: stated = noProviderHints } = hints ?? {}
  return {
    kind: 'read',
    hints: {
      fallbacks: fallbacks.length > 0 ? fallbacks : listed,
      provider: stated === noProviderHints && read ? read.provider : stated,
    },
  }
}

const NO_JSON = refuse(
  'invalid_value',
  'x-tollgate-provider',
  "Invalid header 'x-tollgate-provider': expected a JSON object with the members of the field 'provider'.",
)

function readProviderText(text: string): ReadProvider {
  const scan = scanRequest(text)
  return scan.kind === 'scanned' ? readProvider(scan.value) : NO_JSON
}
