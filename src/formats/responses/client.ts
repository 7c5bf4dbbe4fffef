/** A client that speaks responses. The gateway keeps the state, so every request is put together from stored turns. */
import type { Failure } from '../../domain/failure.ts'
import { wordsOfParts, type Dialect, type Turn } from '../../domain/turn.ts'
import { writeFailure } from '../core/openai-failure.ts'
import { isTaken } from '../../vendors/fit.ts'
import { exactBody } from '../core/exact-body.ts'
import type { AnswerFacts, ClientRequest, Adapter, WriterQuirks } from '../core/contract.ts'
import { responsesWords } from '../core/request-words.ts'
import { afterScan, type ScannedRequest } from '../core/request-json.ts'
import { translated } from '../core/translated.ts'
import { upstreamSideOf } from '../upstream-sides.ts'
import { ResponsesConversation, type Compaction } from './conversation.ts'
import { writeNative } from './native.ts'
import {
  readCompactionRequest,
  readCountRequest,
  readResponsesRequest,
  type ReadResponses,
  type ResponsesRequest,
} from './request.ts'

type ReadClient = ReadResponses<ClientRequest & { readonly conversation: ResponsesConversation }>

/** Reads a request of `/v1/responses`. */
export const readResponsesClient = (text: string, bytes: number): ReadClient | Promise<ReadClient> =>
  afterScan(text, bytes, (scan) => made(readResponsesRequest(text, bytes, exactScan(scan, text))))

/** Reads a request of `/v1/responses/input_tokens`. */
export const readCountedClient = (text: string, bytes: number): ReadClient | Promise<ReadClient> =>
  afterScan(text, bytes, (scan) => made(readCountRequest(scan, bytes)))

/** Reads a request of `/v1/responses/compact`. */
export const readCompactionClient = (text: string, bytes: number): ReadClient | Promise<ReadClient> =>
  afterScan(text, bytes, (scan) => made(readCompactionRequest(exactScan(scan, text), bytes)))

/** The gateway stores the conversation, so values that only pass through are kept exactly as they came. */
const exactScan = (scan: ScannedRequest, text: string): ScannedRequest =>
  scan.kind === 'rejected' ? scan : { ...scan, value: exactBody(scan.value, text) }

const made = (read: ReadResponses<ResponsesRequest>): ReadClient =>
  read.kind === 'rejected' ? read : { kind: 'read', request: new ResponsesClient(read.request) }

class ResponsesClient implements ClientRequest {
  readonly endpoint = 'responses'
  readonly failures = { write: writeFailure }
  readonly words = responsesWords
  readonly choices = 1
  readonly model: string
  readonly stream: boolean
  readonly outputTokensMax: number | undefined
  readonly remoteMedia: ResponsesRequest['remoteMedia']
  readonly conversation: ResponsesConversation
  private readonly bytes: number
  private readonly body: ResponsesRequest['body']

  constructor(request: ResponsesRequest) {
    const { body, bytes, remoteMedia } = request
    this.model = body.model
    this.body = body
    this.remoteMedia = remoteMedia
    // Nobody waits for a background answer. It is streamed, so that it can be read while it is made.
    this.stream = (body.stream ?? false) || (body.background ?? false)
    this.outputTokensMax = body.max_output_tokens ?? undefined
    this.bytes = bytes
    this.conversation = new ResponsesConversation(request)
  }

  get textBytes(): number {
    const { earlierBytes, media } = this.conversation
    return Math.max(0, this.bytes + earlierBytes - media.payloadChars)
  }

  get imageParts(): number {
    return this.conversation.media.images
  }

  get mediaBytes(): number {
    return this.conversation.media.bytes
  }

  get messages(): number {
    return this.turn.messages.length
  }

  get cacheKey(): string | undefined {
    return this.body.prompt_cache_key ?? undefined
  }

  opening(): readonly string[] {
    const { messages } = this.turn
    const first = messages.findIndex(({ role }) => role === 'user')
    return messages.slice(0, first + 1).map(({ parts }) => wordsOfParts(parts))
  }

  wholeText(): string {
    return JSON.stringify(this.body)
  }

  promptText(): string {
    const { messages, tools } = this.turn
    const texts = messages.map(({ parts }) => wordsOfParts(parts))
    if (tools.length > 0) texts.push(JSON.stringify(tools))
    return texts.join('\n')
  }

  failStream(failure: Failure, answer: AnswerFacts): string {
    return this.conversation.failed(failure, answer)
  }

  adapter(offered: readonly Dialect[]): Adapter {
    const upstream = upstreamSideOf(offered.includes('responses') ? ['responses'] : offered)
    const way = (compaction: Compaction): Adapter =>
      translated({ kind: 'turn', turn: this.turn }, this.stream, this.conversation.side(compaction), upstream)
    return upstream.dialect === 'responses' ? this.withNative(way) : way('ours')
  }

  /** The adapter for vendors of this format. Some accept more of it than the neutral turn can carry. */
  private withNative(way: (compaction: Compaction) => Adapter): Adapter {
    const [viaTurn, native] = [way('ours'), way('theirs')]
    const { body, stream } = this
    const { said: items, read } = this.conversation
    // Compaction came with groups of tools, so a vendor that takes the one takes the other.
    const what = read?.compacts === true ? 'agent_items' : 'custom_tools'
    const isNative = ({ rules }: WriterQuirks): boolean => read !== undefined && isTaken(what, rules)
    return {
      ...viaTurn,
      request(to) {
        if (!read || !isNative(to.quirks)) return viaTurn.request(to)
        return writeNative({ body, items, read, stream: stream || to.collected === true }, to)
      },
      readReply: (text, quirks) => (isNative(quirks) ? native : viaTurn).readReply(text, quirks),
      openStream: (answer, quirks) => (isNative(quirks) ? native : viaTurn).openStream(answer, quirks),
    }
  }

  private get turn(): Turn {
    const { turn } = this.conversation
    if (!turn) throw new Error('the earlier turns have not been recalled')
    return turn
  }
}
