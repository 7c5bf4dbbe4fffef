/** A client that speaks chat. */
import type { Failure } from '../../domain/failure.ts'
import type { Dialect } from '../../domain/turn.ts'
import { late } from '../../lib/primitives/lazy.ts'
import { dataEvent } from '../../lib/http/sse.ts'
import { exactBody } from '../core/exact-body.ts'
import { isTaken } from '../../vendors/fit.ts'
import type { ClientRequest, Adapter, WriterQuirks } from '../core/contract.ts'
import { translated } from '../core/translated.ts'
import { afterScan, type ScannedRequest } from '../core/request-json.ts'
import { upstreamSideOf } from '../upstream-sides.ts'
import { chatClientSide } from './client-side.ts'
import { DirectChat } from './direct.ts'
import { writeFailure } from '../core/openai-failure.ts'
import { readOrdinaryRequest, type ChatRequest, type ReadChatRequest } from './request.ts'
import type { ChatBody } from './schema.ts'
import { chatTurn } from './turn.ts'

type ReadClient = { kind: 'read'; request: ClientRequest } | { kind: 'rejected'; failure: Failure }

/** Loaded for requests that are not ordinary. It brings the schema and the schema library. */
export const chatBySchema = late(() => import('./by-schema.ts'))

/** Reads a chat completion request. */
export const readChatClient = (text: string, bytes: number): ReadClient | Promise<ReadClient> =>
  afterScan(text, bytes, readScanned)

function readScanned(scan: ScannedRequest, text: string, bytes: number): ReadClient | Promise<ReadClient> {
  if (scan.kind === 'rejected') return scan
  const sent = { text, bytes }
  const read = readOrdinaryRequest(scan, sent)
  return read ? clientOf(read) : chatBySchema(({ readBySchema }) => clientOf(readBySchema(scan, sent)))
}

const clientOf = (read: ReadChatRequest): ReadClient =>
  read.kind === 'rejected' ? read : { kind: 'read', request: new ChatClient(read.request) }

const failures = { write: writeFailure }

/** Whether the request has tools with free-text input, or calls of such tools. */
const hasFreeText = ({ tools, messages }: ChatBody): boolean =>
  tools?.some(({ type }) => type === 'custom') === true ||
  messages.some(({ tool_calls: calls }) => calls?.some(({ type }) => type === 'custom') === true)

class ChatClient implements ClientRequest {
  readonly endpoint = 'chat.completions'
  readonly failures = failures
  readonly model: string
  readonly stream: boolean
  readonly choices: number
  readonly outputTokensMax: number | undefined
  readonly textBytes: number
  readonly imageParts: number
  readonly mediaBytes: number
  readonly remoteMedia: ChatRequest['remoteMedia']
  readonly messages: number
  readonly hasTools: boolean
  readonly cacheKey: string | undefined
  private readonly request: ChatRequest

  constructor(request: ChatRequest) {
    this.request = request
    this.model = request.model
    this.stream = request.stream
    this.choices = request.choices
    this.outputTokensMax = request.outputTokensMax
    this.textBytes = request.textBytes
    this.imageParts = request.imageParts
    this.mediaBytes = request.mediaBytes
    this.remoteMedia = request.remoteMedia
    this.messages = request.body.messages.length
    const { tools, reasoning_effort: effort, prompt_cache_key: cacheKey } = request.body
    this.cacheKey = typeof cacheKey === 'string' ? cacheKey : undefined
    this.hasTools = (tools?.length ?? 0) > 0 && effort !== 'none'
  }

  promptText(): string {
    const { messages, tools } = this.request.body
    const texts: string[] = []
    for (const { content } of messages) {
      if (typeof content === 'string') texts.push(content)
      else for (const part of content ?? []) if (typeof part['text'] === 'string') texts.push(part['text'])
    }
    if (tools) texts.push(JSON.stringify(tools))
    return texts.join('\n')
  }

  opening(): readonly string[] {
    const texts: string[] = []
    for (const { role, content } of this.request.body.messages) {
      if (typeof content === 'string') texts.push(content)
      else for (const part of content ?? []) if (typeof part['text'] === 'string') texts.push(part['text'])
      if (role === 'user') break
    }
    return texts
  }

  failStream(failure: Failure): string {
    return dataEvent(writeFailure(failure).body)
  }

  wholeText(): string {
    return this.request.text
  }

  adapter(offered: readonly Dialect[]): Adapter {
    if (!offered.includes('chat')) return this.translated(offered)
    const direct = new DirectChat(this.request)
    return hasFreeText(this.request.body) ? this.orByFunctions(direct) : direct
  }

  private translated(offered: readonly Dialect[]): Adapter {
    const { body, stream, usageAsked, text } = this.request
    return translated(chatTurn(exactBody(body, text)), stream, chatClientSide(usageAsked), upstreamSideOf(offered))
  }

  /** If a vendor of the format has no custom tools, they become functions, as for vendors of other formats. */
  private orByFunctions(direct: DirectChat): Adapter {
    const byFunctions = this.translated(['chat'])
    if (byFunctions.obstacle) return direct
    const adapterFor = ({ rules }: WriterQuirks): Adapter => (isTaken('custom_tools', rules) ? direct : byFunctions)
    return {
      ...byFunctions,
      request: (to) => adapterFor(to.quirks).request(to),
      readReply: (text, quirks) => adapterFor(quirks).readReply(text, quirks),
      openStream: (answer, quirks) => adapterFor(quirks).openStream(answer, quirks),
    }
  }
}
