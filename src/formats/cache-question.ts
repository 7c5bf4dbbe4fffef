/**
 * The question of a request: everything that its answer depends on, in one canonical form. Requests of an account with
 * the same question may get the same answer. A difference that means nothing may make two questions of one. That costs
 * an answer. The reverse must not happen.
 */
import type { ClientDialect } from '../domain/turn.ts'
import { isRawNumber, parseExact } from '../lib/json/exact-json.ts'
import { KIB } from '../lib/primitives/units.ts'
import { limit } from '../lib/primitives/limit.ts'
import { asFields, fieldsIn, numberIn, type Fields } from './core/fields.ts'

export type CacheQuestion = {
  readonly text: string
  /** Undefined: the vendor's default, which is above zero. */
  readonly temperature: number | undefined
  /** Whether the model may call tools, of the client or of the vendor. */
  readonly hasTools: boolean
}

/** Reading one takes the thread 50 ms at most, whatever is in it. */
const QUESTION_CHARS_MAX = limit(
  'cachedQuestionCharsMax',
  128 * KIB,
  'A request with a longer body is not served from the answer cache.',
)

/** Reading and writing one takes the thread 50 ms at most, as a stream of `/v1/responses`. */
export const CACHED_ANSWER_CHARS_MAX = limit(
  'cachedAnswerCharsMax',
  256 * KIB,
  'A longer answer is not kept in the answer cache.',
)

/** The format of the answers of each endpoint. Other endpoints have no answers that are kept. */
export const cachedDialects: Readonly<Record<string, ClientDialect>> = {
  'chat.completions': 'chat',
  responses: 'responses',
  messages: 'messages',
  gemini: 'gemini',
  embeddings: 'chat',
}

export const isCachedEndpoint = (endpoint: string): boolean => Object.hasOwn(cachedDialects, endpoint)

/** Fields that say who asks, how the answer is sent, or what is kept of it. The model is named by its id instead. */
const beside = new Set(
  'model stream stream_options user metadata store safety_identifier prompt_cache_key prompt_cache_retention'.split(
    ' ',
  ),
)

/** Fields of the formats by which an answer may come from more than the model. */
const toolFields = ['tools', 'functions', 'web_search_options', 'plugins', 'mcp_servers', 'container']

/** The question in a body. Undefined for a body that is no JSON object or is too long. */
export function questionOf(body: string): CacheQuestion | undefined {
  const fields = body.length <= QUESTION_CHARS_MAX ? parsed(body) : undefined
  if (!fields) return undefined
  const config = asFields(fields['generationConfig'] ?? fields['generation_config'])
  const asked = Object.keys(fields).filter((name) => !beside.has(name))
  return {
    text: canonical(Object.fromEntries(asked.map((name) => [name, fields[name]]))),
    temperature: numberIn(fields['temperature'] ?? config['temperature']),
    hasTools: toolFields.some((name) => !isEmpty(fields[name])),
  }
}

function parsed(body: string): Fields | undefined {
  try {
    return fieldsIn(parseExact(body))
  } catch {
    return undefined // A form with files is no JSON.
  }
}

const isEmpty = (value: unknown): boolean => value === undefined || value === null || (value as unknown[]).length === 0

/** JSON with sorted names. Numbers are as they were sent: two that a parser takes for one may differ for a vendor. */
function canonical(value: unknown, order: 'sorted' | 'sent' = 'sorted'): string {
  if (isRawNumber(value)) return value.rawJSON
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map((one) => canonical(one)).join(',')}]`
  const names = Object.keys(value)
  if (order === 'sorted') names.sort()
  const members = names.map((name) => {
    // A model writes the members of an object in the order in which its schema lists them.
    const within = canonical((value as Fields)[name], name === 'properties' ? 'sent' : 'sorted')
    return `${JSON.stringify(name)}:${within}`
  })
  return `{${members.join(',')}}`
}
