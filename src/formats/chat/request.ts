/** Requests of the chat format: what the gateway needs to know of them, and the edits it makes for upstreams. */
import type { Failure } from '../../domain/failure.ts'
import type { Members } from '../../lib/json/json-members.ts'
import { editJson, type Edit } from '../../lib/json/json-edit.ts'
import type { ScannedRequest } from '../core/request-json.ts'
import { asFields } from '../core/fields.ts'
import { isInline, type RemoteMedium } from '../core/remote-media.ts'
import { isOrdinary } from './fast-path.ts'
import type { ChatBody } from './schema.ts'
import { refuseChatFields } from './disallowed-fields.ts'
import { limit } from '../../lib/primitives/limit.ts'

export type ChatRequest = {
  readonly model: string
  readonly stream: boolean
  /** Whether the client requested the usage chunk of a stream. */
  readonly usageAsked: boolean
  readonly choices: number
  /** The client's own output limit, under either name. */
  readonly outputTokensMax: number | undefined
  /** The size of the body without media. A tokenizer never makes more tokens than bytes. */
  readonly textBytes: number
  readonly imageParts: number
  /** The decoded bytes of audio and files. They have at most as many tokens. */
  readonly mediaBytes: number
  readonly remoteMedia: readonly RemoteMedium[] | undefined
  readonly body: ChatBody
  readonly text: string
  readonly members: Members
}

export type ReadChatRequest =
  | { readonly kind: 'read'; readonly request: ChatRequest }
  | { readonly kind: 'rejected'; readonly failure: Failure }

export type ScannedBody = Extract<ScannedRequest, { kind: 'scanned' }>
export type RequestText = { readonly text: string; readonly bytes: number }

/** Reads a request that needs no schema: nearly every one, and those that are refused early. Undefined for the rest. */
export function readOrdinaryRequest({ value, members }: ScannedBody, sent: RequestText): ReadChatRequest | undefined {
  const early = refuseEarly(value, members)
  if (early) return { kind: 'rejected', failure: early }
  return isOrdinary(value) ? chatRequestOf(value, members, sent) : undefined
}

const FIELDS_MAX = limit('requestFieldsMax', 1_000, 'A request with more fields is refused.')

const isNoObject = (one: unknown): boolean => typeof one !== 'object' || one === null

/** Refuses before the schema is used: cheap tests for what is expensive to check or to serve. */
function refuseEarly(body: unknown, members: Members): Failure | undefined {
  if (members.size > FIELDS_MAX) return { kind: 'invalid_value', message: 'The body has too many fields.' }
  const fields = asFields(body)
  const unpriced = refuseChatFields(fields)
  if (unpriced) return unpriced
  const { messages } = fields
  const odd = Array.isArray(messages) ? messages.findIndex(isNoObject) : -1
  if (odd === -1) return undefined
  return { kind: 'invalid_type', message: `Invalid 'messages[${odd}]': expected an object.`, param: `messages[${odd}]` }
}

/** A request that fits the schema. */
export function chatRequestOf(value: unknown, members: Members, { text, bytes }: RequestText): ReadChatRequest {
  const body = value as ChatBody
  const media = mediaOf(body.messages)
  return {
    kind: 'read',
    request: {
      model: body.model,
      stream: body.stream ?? false,
      usageAsked: body.stream_options?.include_usage ?? false,
      choices: body.n ?? 1,
      outputTokensMax: smallest(body.max_completion_tokens, body.max_tokens),
      textBytes: bytes - media.payloadChars,
      imageParts: media.images,
      mediaBytes: media.bytes,
      remoteMedia: media.mayBeRemote ? remoteMediaOf(body.messages) : undefined,
      body,
      text,
      members,
    },
  }
}

/** The smaller of two limits is quoted, and it is the only one sent. */
function smallest(a: number | null | undefined, b: number | null | undefined): number | undefined {
  if (typeof a !== 'number') return typeof b === 'number' ? b : undefined
  return typeof b === 'number' ? Math.min(a, b) : a
}

type Media = { images: number; bytes: number; payloadChars: number; mayBeRemote: boolean }

/** Finds the media in the messages. They count by a rule of their own, not by the length of their base64. */
function mediaOf(messages: ChatBody['messages']): Media {
  const media: Media = { images: 0, bytes: 0, payloadChars: 0, mayBeRemote: false }
  for (const { content } of messages) {
    if (!Array.isArray(content)) continue
    for (const part of content) {
      for (const key in part) if (isSpelt(key, 'image_url')) media.mayBeRemote = true
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

/**
 * Servers written in Go match field names in any case. A field that they would read as an address is treated as one.
 */
const isSpelt = (key: string, name: string): boolean => key.length === name.length && key.toLowerCase() === name

/** Images by address, in a part of any type. Some vendors accept an address without the object around it. */
function remoteMediaOf(messages: ChatBody['messages']): RemoteMedium[] {
  const found: RemoteMedium[] = []
  const look = (url: unknown, param: string): void => {
    if (typeof url === 'string' && !isInline(url)) found.push({ url, param })
  }
  for (const [i, { content }] of messages.entries()) {
    if (!Array.isArray(content)) continue
    for (const [j, part] of content.entries()) {
      for (const key in part) {
        if (!isSpelt(key, 'image_url')) continue
        const image = part[key]
        const param = `messages[${i}].content[${j}].${key}`
        look(image, param)
        if (typeof image !== 'object') continue
        for (const inner in image) if (isSpelt(inner, 'url')) look(asFields(image)[inner], `${param}.${inner}`)
      }
    }
  }
  return found
}

export type ChatEdits = {
  readonly upstreamModel: string
  /** The output limit that the gateway set. Undefined if the client's own is kept. */
  readonly outputTokensMax: number | undefined
  /** The field in which this vendor accepts the limit. */
  readonly outputMaxField: 'max_tokens' | 'max_completion_tokens'
  readonly askForUsage: boolean
  /** Whether the reply is requested as a stream although its client wants it whole. */
  readonly collected: boolean
  /** Fields that are changed for this vendor. Undefined for those that are removed. */
  readonly fitted: Readonly<Record<string, unknown>>
}

/** The body for an upstream: the client's own bytes, except for model, output limit, usage option and fitted fields. */
export function writeUpstreamRequest(request: ChatRequest, edits: ChatEdits): string {
  const { body, text, members } = request
  const changes: Edit[] = []
  if (edits.upstreamModel !== request.model) changes.push({ key: 'model', value: JSON.stringify(edits.upstreamModel) })
  const limit = edits.outputTokensMax ?? request.outputTokensMax
  if (limit !== undefined) {
    // Only the field that this vendor knows is sent, with the quoted number. A second field could ask for more.
    const { outputMaxField: known } = edits
    const other = known === 'max_tokens' ? 'max_completion_tokens' : 'max_tokens'
    if (body[known] !== limit) changes.push({ key: known, value: String(limit) })
    if (members.has(other)) changes.push({ key: other, value: undefined })
  }
  if (edits.collected) changes.push({ key: 'stream', value: 'true' })
  if ((request.stream || edits.collected) && edits.askForUsage && !request.usageAsked) {
    changes.push({ key: 'stream_options', value: JSON.stringify({ ...body.stream_options, include_usage: true }) })
  }
  for (const key in edits.fitted) {
    const value = edits.fitted[key]
    changes.push({ key, value: value === undefined ? undefined : JSON.stringify(value) })
  }
  return changes.length === 0 ? text : editJson(text, members, changes)
}
