/** Requests of the chat format: validation, what the gateway has to know of them, and the edits it makes upstream. */
import { z } from 'zod'
import type { Failure } from '../../domain/failure.ts'
import type { Members } from '../../lib/json-members.ts'
import { editJson, type Edit } from '../../lib/json-scan.ts'
import { scanRequest } from '../request-json.ts'
import { asFields } from '../fields.ts'
import { failureOfIssue } from './issue.ts'
import { isOrdinary } from './ordinary.ts'
import { refuseUnpriced } from './unpriced.ts'

/** SDKs and people write null for "not set". */
const optional = <T extends z.ZodType>(schema: T): z.ZodOptional<z.ZodNullable<T>> => schema.nullable().optional()

const roles = ['system', 'user', 'assistant', 'developer', 'tool', 'function'] as const
const contentPart = z.looseObject({ type: z.string() })
const toolCall = z.looseObject({ id: z.string(), type: z.string() })

const message = z
  .looseObject({
    role: z.enum(roles),
    content: optional(z.union([z.string(), z.array(contentPart).min(1)])),
    tool_calls: optional(z.array(toolCall)),
    tool_call_id: optional(z.string()),
  })
  .superRefine((value, context) => {
    const silent = value.role === 'assistant' // An assistant turn may consist of tool calls, audio or a refusal.
    if (!silent && (value.content === undefined || value.content === null)) {
      context.addIssue({ code: 'custom', path: ['content'], message: 'content is required', params: { missing: true } })
    }
    if (value.role === 'tool' && !value.tool_call_id) {
      const issue = {
        path: ['tool_call_id'],
        message: 'a tool message needs its tool_call_id',
        params: { missing: true },
      }
      context.addIssue({ code: 'custom', ...issue })
    }
  })

const functionTool = z.looseObject({
  name: z.string().min(1),
  description: optional(z.string()),
  parameters: optional(z.looseObject({})),
})

const tool = z.looseObject({ type: z.string(), function: optional(functionTool) }).superRefine((value, context) => {
  if (value.type !== 'function' || value.function) return
  context.addIssue({ code: 'custom', path: ['function'], message: 'function is required', params: { missing: true } })
})

const toolChoice = z.union([z.enum(['none', 'auto', 'required']), z.looseObject({ type: z.string() })])

/** A chat completion request. Ranges that the contract does not name differ by vendor: they and unknown fields pass. */
export const chatRequestSchema = z.looseObject({
  model: z.string().min(1),
  messages: z.array(message).min(1),
  max_tokens: optional(z.int().min(1)),
  max_completion_tokens: optional(z.int().min(1)),
  temperature: optional(z.number().min(0).max(2)),
  top_p: optional(z.number().min(0).max(1)),
  n: optional(z.int().min(1)),
  stream: optional(z.boolean()),
  stream_options: optional(z.looseObject({ include_usage: optional(z.boolean()) })),
  stop: optional(z.union([z.string(), z.array(z.string())])),
  tools: optional(z.array(tool)),
  tool_choice: optional(toolChoice),
  frequency_penalty: optional(z.number()),
  presence_penalty: optional(z.number()),
  logprobs: optional(z.boolean()),
  top_logprobs: optional(z.int().min(0)),
  parallel_tool_calls: optional(z.boolean()),
  response_format: optional(z.looseObject({ type: z.string() })),
  reasoning_effort: optional(z.string()),
})

export type ChatBody = z.infer<typeof chatRequestSchema>

export type ChatRequest = {
  readonly model: string
  readonly stream: boolean
  /** The client asked for the usage chunk of a stream. */
  readonly usageAsked: boolean
  readonly choices: number
  /** The client's own output limit, under whichever name. */
  readonly outputTokensMax: number | undefined
  /** Size of the body without media payloads: no tokenizer makes more tokens than bytes of it. */
  readonly textBytes: number
  readonly imageParts: number
  /** Decoded bytes of audio and file payloads, whose tokens cannot exceed them. */
  readonly mediaBytes: number
  readonly body: ChatBody
  readonly text: string
  readonly members: Members
}

type Rejected = { readonly kind: 'rejected'; readonly failure: Failure }
export type ReadRequest = { readonly kind: 'read'; readonly request: ChatRequest } | Rejected

const reject = (failure: Failure): Rejected => ({ kind: 'rejected', failure })

/** Reads a request's JSON text: structure, syntax, schema, in this order. Fails with the field named. */
export function readChatRequest(text: string, bytes: number, scan = scanRequest(text)): ReadRequest {
  if (scan.kind === 'rejected') return scan
  const early = refuseEarly(scan.value, scan.members)
  if (early) return reject(early)
  if (!isOrdinary(scan.value)) {
    const checked = chatRequestSchema.safeParse(scan.value)
    if (!checked.success) return reject(failureOfIssue(checked.error.issues[0], scan.value))
  }
  return { kind: 'read', request: describe(scan.value as ChatBody, { text, bytes, members: scan.members }) }
}

const FIELDS_MAX = 1_000

const isNoObject = (one: unknown): boolean => typeof one !== 'object' || one === null

/** What is refused before the schema looks: cheap tests for what would be dear to check, or to serve. */
function refuseEarly(body: unknown, members: Members): Failure | undefined {
  if (members.size > FIELDS_MAX) return { kind: 'invalid_value', message: 'The body has too many fields.' }
  const fields = asFields(body)
  const unpriced = refuseUnpriced(fields)
  if (unpriced) return unpriced
  const { messages } = fields
  const odd = Array.isArray(messages) ? messages.findIndex(isNoObject) : -1
  if (odd === -1) return undefined
  return { kind: 'invalid_type', message: `Invalid 'messages[${odd}]': expected an object.`, param: `messages[${odd}]` }
}

type Source = Pick<ChatRequest, 'text' | 'members'> & { readonly bytes: number }

function describe(body: ChatBody, { text, bytes, members }: Source): ChatRequest {
  const media = mediaOf(body.messages)
  return {
    model: body.model,
    stream: body.stream ?? false,
    usageAsked: body.stream_options?.include_usage ?? false,
    choices: body.n ?? 1,
    outputTokensMax: smallest(body.max_completion_tokens, body.max_tokens),
    textBytes: bytes - media.payloadChars,
    imageParts: media.images,
    mediaBytes: media.bytes,
    body,
    text,
    members,
  }
}

/** Of two limits the smaller one is quoted, and the only one sent. */
function smallest(a: number | null | undefined, b: number | null | undefined): number | undefined {
  if (typeof a !== 'number') return typeof b === 'number' ? b : undefined
  return typeof b === 'number' ? Math.min(a, b) : a
}

type Media = { images: number; bytes: number; payloadChars: number }

/** Finds the media payloads of the messages: they count by their own rule, not by the length of their base64. */
function mediaOf(messages: ChatBody['messages']): Media {
  const media: Media = { images: 0, bytes: 0, payloadChars: 0 }
  for (const { content } of messages) {
    if (!Array.isArray(content)) continue
    for (const part of content) {
      if (part.type === 'image_url') {
        media.images++
        const url = (part['image_url'] as { url?: unknown } | undefined)?.url
        if (typeof url === 'string' && url.startsWith('data:')) media.payloadChars += url.length
      } else {
        const data =
          (part['input_audio'] as { data?: unknown })?.data ?? (part['file'] as { file_data?: unknown })?.file_data
        if (typeof data !== 'string') continue
        media.payloadChars += data.length
        media.bytes += Math.ceil((data.length * 3) / 4)
      }
    }
  }
  return media
}

export type UpstreamEdits = {
  readonly upstreamModel: string
  /** The output cap the gateway set, or undefined where the client's own stands. */
  readonly outputTokensMax: number | undefined
  /** The field this vendor takes the cap in. */
  readonly outputMaxField: 'max_tokens' | 'max_completion_tokens'
  readonly askForUsage: boolean
}

/** The body for an upstream: the client's own bytes, but for the model's name, the output cap and the usage option. */
export function writeUpstreamRequest(request: ChatRequest, edits: UpstreamEdits): string {
  const { body, text, members } = request
  const changes: Edit[] = []
  if (edits.upstreamModel !== request.model) changes.push({ key: 'model', value: JSON.stringify(edits.upstreamModel) })
  const limit = edits.outputTokensMax ?? request.outputTokensMax
  if (limit !== undefined) {
    // One field, the one this vendor knows, and the number that was quoted: a second one could ask for more.
    const { outputMaxField: known } = edits
    const other = known === 'max_tokens' ? 'max_completion_tokens' : 'max_tokens'
    if (body[known] !== limit) changes.push({ key: known, value: String(limit) })
    if (members.has(other)) changes.push({ key: other, value: undefined })
  }
  if (request.stream && edits.askForUsage && !request.usageAsked) {
    changes.push({ key: 'stream_options', value: JSON.stringify({ ...body.stream_options, include_usage: true }) })
  }
  return changes.length === 0 ? text : editJson(text, members, changes)
}
