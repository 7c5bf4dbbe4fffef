/**
 * Gemini's API takes every field in two spellings, `maxOutputTokens` and `max_output_tokens`, and its own examples use
 * both. The functions here make them one. They change fields of the API only. What belongs to the user (arguments,
 * results, schemas, labels) stays unchanged.
 */
import { asFields, type Fields } from './fields.ts'

/** Fields that hold more fields of the API. `lists` may also come as a single object. */
type Shape = {
  readonly objects?: Readonly<Record<string, Shape>>
  readonly lists?: Readonly<Record<string, Shape>>
  /** Numbers. The JSON of protocol buffers takes them as strings, too. */
  readonly numbers?: ReadonlySet<string>
}

const LEAF: Shape = {}
const result: Shape = { lists: { parts: { objects: { inlineData: LEAF, fileData: LEAF } } } }
const part: Shape = { objects: { inlineData: LEAF, fileData: LEAF, functionCall: LEAF, functionResponse: result } }
const content: Shape = { lists: { parts: part } }
const thinking: Shape = { numbers: new Set(['thinkingBudget']) }
const config: Shape = {
  objects: { thinkingConfig: thinking, imageConfig: LEAF },
  numbers: new Set(
    'maxOutputTokens candidateCount temperature topP topK seed frequencyPenalty presencePenalty logprobs'.split(' '),
  ),
}
const request: Shape = {
  objects: {
    systemInstruction: content,
    generationConfig: config,
    toolConfig: { objects: { functionCallingConfig: LEAF } },
  },
  lists: { contents: content, tools: { lists: { functionDeclarations: LEAF } } },
}

const embedding: Shape = { objects: { content }, numbers: new Set(['outputDimensionality']) }
const embeddings: Shape = { ...embedding, lists: { requests: embedding } }

/** A field came in both spellings. Some readers take the first, others the last. */
export class SpeltTwice extends Error {
  override readonly name = 'SpeltTwice'
}

export const camelOf = (key: string): string => key.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const NUMBER = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/
const NONE: ReadonlySet<string> = new Set()

function respell(value: unknown, { objects = {}, lists = {}, numbers = NONE }: Shape): unknown {
  if (!isFields(value)) return value
  const entries = new Map<string, unknown>()
  for (const [key, given] of Object.entries(value)) {
    const name = camelOf(key)
    if (entries.has(name)) throw new SpeltTwice(key)
    const object = Object.hasOwn(objects, name) ? objects[name] : undefined
    const list = Object.hasOwn(lists, name) ? lists[name] : undefined
    if (object) entries.set(name, respell(given, object))
    else if (list && isFields(given)) entries.set(name, [respell(given, list)])
    else if (list && Array.isArray(given)) {
      entries.set(
        name,
        given.map((one) => respell(one, list)),
      )
    } else if (numbers.has(name) && typeof given === 'string' && NUMBER.test(given)) entries.set(name, Number(given))
    else entries.set(name, given)
  }
  return Object.fromEntries(entries)
}

/** A request's fields in camel case. Throws SpeltTwice. */
export const requestInCamelCase = (body: unknown): Fields => asFields(respell(body, request))

/** The fields of an embeddings request in camel case. Throws SpeltTwice. */
export const embeddingInCamelCase = (body: unknown): Fields => asFields(respell(body, embeddings))
