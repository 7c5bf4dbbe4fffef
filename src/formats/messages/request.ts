/** Requests of the Messages format: validation, what the gateway needs to know of them, and its edits for upstreams. */
import { z } from 'zod'
import type { Failure } from '../../domain/failure.ts'
import type { Members } from '../../lib/json/json-members.ts'
import { editJson, type Edit } from '../../lib/json/json-edit.ts'
import { failureOfIssue } from '../core/issue.ts'
import { asFields, ownIn, type Fields } from '../core/fields.ts'
import { isBase64 } from '../core/media-data.ts'
import { scanRequest } from '../core/request-json.ts'
import type { RemoteMedium } from '../core/remote-media.ts'
import { addMedia, allBlocks, remoteMediaOfContent, type MessageMedia } from './content.ts'
import { lawfulEdits } from './lawful.ts'
import { safeParse } from '../../lib/json/safe-parse.ts'
import { namesOf, withoutVendorTools } from '../core/vendor-tools.ts'
import { refuseMessagesTools, splitMessagesTools } from './vendor-tools.ts'
import { limit } from '../../lib/primitives/limit.ts'
import type { Quirks } from '../../vendors/preset.ts'
import { isAtPublisher, PUBLISHER_VERSION } from './wire.ts'

/** SDKs and people write null for "not set". */
const optional = <T extends z.ZodType>(schema: T): z.ZodOptional<z.ZodNullable<T>> => schema.nullable().optional()

const block = z.looseObject({ type: z.string() })
const content = z.union([z.string(), z.array(block)])
const message = z.looseObject({ role: z.enum(['user', 'assistant', 'system']), content })
const tool = z.looseObject({
  type: optional(z.string()),
  name: optional(z.string().min(1)),
  description: optional(z.string()),
  input_schema: optional(z.looseObject({})),
})
const thinking = z.looseObject({ type: z.string(), budget_tokens: optional(z.int().min(0)) })
const format = z.looseObject({ type: z.string(), schema: optional(z.looseObject({})) })

/** A Messages request. The vendor judges ranges that differ by model, and fields that are not priced. */
export const messagesSchema = z.looseObject({
  model: z.string().min(1),
  messages: z.array(message).min(1),
  // 0 fills the prompt cache and generates nothing.
  max_tokens: z.int().min(0),
  system: optional(content),
  stream: optional(z.boolean()),
  stop_sequences: optional(z.array(z.string())),
  temperature: optional(z.number().min(0).max(1)),
  top_p: optional(z.number().min(0).max(1)),
  top_k: optional(z.int().min(0)),
  tools: optional(z.array(tool)),
  tool_choice: optional(
    z.looseObject({
      type: z.enum(['auto', 'any', 'tool', 'none']),
      name: optional(z.string()),
      disable_parallel_tool_use: optional(z.boolean()),
    }),
  ),
  thinking: optional(thinking),
  output_config: optional(z.looseObject({ effort: optional(z.string()), format: optional(format) })),
  metadata: optional(z.looseObject({ user_id: optional(z.string()) })),
})

/** A request to count tokens. It is the same, without the output limit. */
export const countSchema = messagesSchema.extend({ max_tokens: optional(z.int().min(0)) })

export type MessagesBody = z.infer<typeof countSchema>

export type MessagesRequest = {
  readonly model: string
  readonly stream: boolean
  readonly outputTokensMax: number | undefined
  /** The size of the body without media. A tokenizer never makes more tokens than bytes. */
  readonly textBytes: number
  readonly imageParts: number
  /** The decoded bytes of documents. They have at most as many tokens. */
  readonly mediaBytes: number
  readonly remoteMedia: readonly RemoteMedium[]
  readonly body: MessagesBody
  readonly text: string
  readonly members: Members
}

export type ReadMessagesRequest =
  | { readonly kind: 'read'; readonly request: MessagesRequest }
  | { readonly kind: 'rejected'; readonly failure: Failure }

/** Reads a request's JSON text: structure, syntax, prices and schema, in this order. A failure names the field. */
export function readMessagesRequest(
  text: string,
  bytes: number,
  purpose: 'answer' | 'count',
  scan = scanRequest(text),
): ReadMessagesRequest {
  if (scan.kind === 'rejected') return scan
  const { value, members } = scan
  const unpriced = refuseUnpriced(asFields(value), members)
  if (unpriced) return { kind: 'rejected', failure: unpriced }
  const checked = safeParse(purpose === 'answer' ? messagesSchema : countSchema, value)
  if (!checked.success) return { kind: 'rejected', failure: failureOfIssue(checked.error.issues[0], value) }
  const described = describe(value as MessagesBody, { text, bytes, members })
  return 'kind' in described ? { kind: 'rejected', failure: described } : { kind: 'read', request: described }
}

const FIELDS_MAX = limit('messagesFieldsMax', 1_000, 'A Messages request with more fields is refused.')
/** Fields that the gateway prices or edits. They are also found in spellings that a lenient upstream would accept. */
const pricedFields = new Set(['model', 'max_tokens', 'stream', 'tools', 'speed', 'inference_geo', 'mcp_servers'])
/** Fields by which an answer would cost more than its model's price says, except with these values. */
const dearerFields: Readonly<Record<string, readonly unknown[]>> = {
  speed: ['standard'],
  inference_geo: ['global', 'not_available'],
  service_tier: ['auto', 'standard_only'],
  mcp_servers: [],
  fallbacks: [],
  fallback_credit_token: [],
  provider: [],
  models: [],
  route: [],
}
/**
 * State that is kept at the vendor, in an account that all clients of the gateway share. Its length is unknown, and it
 * has no owner. A thread is refused with the vendor's own code. The tool runner of its SDK requests a thread first and
 * continues with the whole conversation if it gets this code (`ThreadUnsupportedRequestError`, @anthropic-ai/sdk 1.8.0,
 * 2026-11).
 */
const sharedState: Readonly<Record<string, Pick<Failure, 'code' | 'unsupported'>>> = {
  thread: { code: 'thread_unsupported_request', unsupported: ['thread'] },
  container: {},
}
function refuseUnpriced(body: Fields, members: Members): Failure | undefined {
  if (members.size > FIELDS_MAX) return { kind: 'invalid_value', message: 'The body has too many fields.' }
  for (const key of members.names()) {
    const folded = key.normalize('NFKC').toLowerCase()
    if (folded !== key && pricedFields.has(folded)) {
      const hint = `Unknown parameter: '${key}'. Did you mean '${folded}'?`
      return { kind: 'unsupported_parameter', message: hint, param: key }
    }
    const shared = ownIn(sharedState, key)
    if (shared && (body[key] ?? null) !== null) {
      const message = `'${key}' is not supported: the vendor would keep it in an account that others use, too.`
      return { kind: 'unsupported_parameter', message, param: key, ...shared }
    }
    // Some upstreams match names without regard to case.
    const plain = Object.hasOwn(dearerFields, folded) ? dearerFields[folded] : undefined
    const value = body[key] ?? null
    if (plain === undefined || value === null || plain.includes(value)) continue
    const which = plain.length === 0 ? `'${key}' is` : `This '${key}' is`
    return { kind: 'unsupported_parameter', message: `${which} not supported: its cost has no price here.`, param: key }
  }
  return refuseMessagesTools(body)
}

type EditedRequest = Pick<MessagesRequest, 'text' | 'members'> & { readonly bytes: number }

function describe(body: MessagesBody, { text, bytes, members }: EditedRequest): MessagesRequest | Failure {
  const media: MessageMedia = { images: 0, bytes: 0, payloadChars: 0, hasRemote: false }
  for (const [i, { content: said }] of body.messages.entries()) {
    for (const one of allBlocks(said)) {
      const refused = refuseSource(one, `messages[${i}].content`)
      if (refused) return refused
      addMedia(media, one)
    }
  }
  return {
    model: body.model,
    stream: body.stream ?? false,
    outputTokensMax: body.max_tokens ?? undefined,
    textBytes: bytes - media.payloadChars,
    imageParts: media.images,
    mediaBytes: media.bytes,
    remoteMedia: [...remoteMediaOfContent(body.system, 'system'), ...(media.hasRemote ? remoteIn(body.messages) : [])],
    body,
    text,
    members,
  }
}

const remoteIn = (messages: MessagesBody['messages']): RemoteMedium[] =>
  messages.flatMap(({ content: said }, i) => remoteMediaOfContent(said, `messages[${i}].content`))

/**
 * Refuses sources outside the request. Files at the vendor belong to one account there, and the cost of a document
 * shows only in its bytes.
 */
function refuseSource({ type, source }: Fields, param: string): Failure | undefined {
  const kind = asFields(source)['type']
  if (kind === 'file') {
    return { kind: 'unsupported_parameter', message: 'Files stored at a vendor cannot be used; send the bytes.', param }
  }
  const data = asFields(source)['data']
  if (kind === 'base64' && typeof data === 'string' && !isBase64(data)) {
    return { kind: 'invalid_value', message: `Invalid '${param}': the data of a source must be base64.`, param }
  }
  if (type !== 'document' || kind !== 'url') return undefined
  const message = 'The cost of a document behind a URL cannot be bounded; send it as base64.'
  return { kind: 'unsupported_parameter', message, param }
}

export type MessagesEdits = {
  readonly upstreamModel: string
  /** The client's own limit, or a lower one. */
  readonly outputTokensMax: number | undefined
  readonly quirks: Quirks
}

/**
 * The body for an upstream: the client's own bytes, except for the model, a lowered limit, and what the vendor refuses.
 */
export function writeMessagesBody(
  request: MessagesRequest,
  edits: MessagesEdits,
): { readonly body: string; readonly dropped: readonly string[] } {
  const { body, text, members } = request
  const changes: Edit[] = []
  if (isAtPublisher(edits.quirks)) {
    changes.push({ key: 'model', value: undefined }, { key: 'anthropic_version', value: PUBLISHER_VERSION })
  } else if (edits.upstreamModel !== request.model) {
    changes.push({ key: 'model', value: JSON.stringify(edits.upstreamModel) })
  }
  if (edits.outputTokensMax !== undefined && body.max_tokens !== edits.outputTokensMax)
    changes.push({ key: 'max_tokens', value: String(edits.outputTokensMax) })
  const lawful = lawfulEdits(request, edits.upstreamModel)
  changes.push(...lawful.edits)
  const left = namesOf(splitMessagesTools(body.tools ?? []))
  if (left.length > 0) changes.push(...withoutVendorTools(request, 'tools', splitMessagesTools))
  return { body: changes.length === 0 ? text : editJson(text, members, changes), dropped: [...lawful.dropped, ...left] }
}
