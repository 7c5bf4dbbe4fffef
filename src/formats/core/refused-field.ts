/** A field that a vendor refuses and no rule lists. The request is sent again without it. */
import type { UpstreamFailure } from '../../domain/failure.ts'
import { parseExact } from '../../lib/json/exact-json.ts'
import { requestScanLimits, scanJson } from '../../lib/json/json-scan.ts'
import { editJson, type Edit } from '../../lib/json/json-edit.ts'
import { fieldsIn, type Fields } from './fields.ts'
import { MIB } from '../../lib/primitives/units.ts'

/**
 * Fields that a client can do without, because they change how it is answered, not what. Without `tools`,
 * `response_format` or a limit the answer would be a different one.
 */
const WISHES = new Set(
  (
    'temperature top_p top_k topP topK min_p presence_penalty frequency_penalty presencePenalty frequencyPenalty ' +
    'repetition_penalty logit_bias logprobs top_logprobs responseLogprobs seed stop stop_sequences stopSequences user ' +
    'safety_identifier prompt_cache_key prompt_cache_retention prompt_cache_options metadata labels store service_tier ' +
    'verbosity reasoning_effort reasoning thinking thinkingConfig reasoningConfig output_config parallel_tool_calls ' +
    'stream_options ' +
    'prediction include truncation context_management mediaResolution safetySettings'
  ).split(' '),
)
/** The objects in which Gemini's API and Amazon's have most of them. */
const INNERS = ['generationConfig', 'inferenceConfig', 'additionalModelRequestFields'] as const

/** How vendors say that they do not know or accept a field. A complaint about a wrong value goes to the client. */
const COMPLAINT =
  /unsupported|not supported|does not support|doesn't support|unrecogni[sz]ed|unknown|unexpected|extra|not permitted|not allowed|not available|cannot find field/i

/** Longer bodies are not searched. */
const BODY_CHARS_MAX = 4 * MIB

/** The optional field in a request's body that the vendor refused. Undefined if it refused something else. */
export function refusedField({ kind, isQuoted, message, param }: UpstreamFailure, body: string): string | undefined {
  if (kind !== 'bad_request' || !isQuoted || body.length > BODY_CHARS_MAX || !COMPLAINT.test(message)) return undefined
  const sent = wishesIn(body)
  const named = sent.find((field) => param !== undefined && spelt(lastOf(param)) === spelt(field))
  if (named !== undefined) return named
  // The field must stand as a word of its own. The first one named is taken.
  const words = [...message.matchAll(/[\w.]+/g)].map(([word]) => spelt(lastOf(word)))
  return words.map((word) => sent.find((field) => spelt(field) === word)).find((field) => field !== undefined)
}

/** Google writes `top_k` for `topK`. */
const spelt = (name: string): string => name.replaceAll('_', '').toLowerCase()
const lastOf = (path: string): string => path.slice(path.lastIndexOf('.') + 1)

function wishesIn(body: string): readonly string[] {
  const fields = fieldsOf(body) ?? {}
  const all = [fields, ...INNERS.map((inner) => fieldsIn(fields[inner]) ?? {})]
  return all.flatMap((one) => Object.keys(one)).filter((field) => WISHES.has(field))
}

function fieldsOf(body: string): Fields | undefined {
  const scan = scanJson(body, requestScanLimits)
  if (scan.kind !== 'scanned') return undefined
  // Only names are needed, so no value is parsed but the inner objects.
  const names = Object.fromEntries([...scan.members.names()].map((name) => [name, null]))
  const inner = INNERS.flatMap((name) => {
    const span = scan.members.get(name)
    return span ? [[name, parseExact(body.slice(span.start, span.end))] as const] : []
  })
  return { ...names, ...Object.fromEntries(inner) }
}

/** The body without these fields. Its other bytes stay. */
export function bodyWithout(body: string, fields: readonly string[]): string {
  const scan = scanJson(body, requestScanLimits)
  if (scan.kind !== 'scanned') return body
  const { members } = scan
  const edits: Edit[] = fields.filter((field) => members.has(field)).map((key) => ({ key, value: undefined }))
  for (const key of INNERS) {
    const span = members.get(key)
    const inner = span && fieldsIn(parseExact(body.slice(span.start, span.end)))
    if (!inner || !fields.some((field) => field in inner)) continue
    const kept = Object.fromEntries(Object.entries(inner).filter(([name]) => !fields.includes(name)))
    edits.push({ key, value: JSON.stringify(kept) })
  }
  return editJson(body, members, edits)
}
