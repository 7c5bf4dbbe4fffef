/** A client that speaks Messages. */
import type { Failure } from '../../domain/failure.ts'
import type { Dialect } from '../../domain/turn.ts'
import { namedEvent } from '../../lib/http/sse.ts'
import { exactBody } from '../core/exact-body.ts'
import type { AnswerFacts, ClientRequest, Adapter } from '../core/contract.ts'
import { afterScan } from '../core/request-json.ts'
import { translated } from '../core/translated.ts'
import { upstreamSideOf } from '../upstream-sides.ts'
import { messagesClientSide } from './client-side.ts'
import { allBlocks, blocksOf, wordsOfBlock } from './content.ts'
import { DirectMessages } from './direct.ts'
import { messagesFailureWriter, writeMessagesFailure } from './failure.ts'
import { readMessagesRequest, type MessagesRequest, type ReadMessagesRequest } from './request.ts'
import { messagesTurn, wantsThoughts } from './turn.ts'

type ReadClient = { kind: 'read'; request: ClientRequest } | { kind: 'rejected'; failure: Failure }

/** Reads a Messages request. `betas` is its `anthropic-beta` header. */
export const readMessagesClient = (
  text: string,
  bytes: number,
  betas: string | undefined,
): ReadClient | Promise<ReadClient> =>
  afterScan(text, bytes, (scan) => made(readMessagesRequest(text, bytes, 'answer', scan), betas))

/** Reads a request to count tokens: a Messages request without an answer. */
export const readMessagesCount = (text: string, bytes: number): ReadClient | Promise<ReadClient> =>
  afterScan(text, bytes, (scan) => made(readMessagesRequest(text, bytes, 'count', scan), undefined))

const made = (read: ReadMessagesRequest, betas: string | undefined): ReadClient =>
  read.kind === 'rejected' ? read : { kind: 'read', request: new MessagesClient(read.request, betas) }

/** English text has about four bytes a token. An image has pixels / 750 tokens, at most 1.6k (Anthropic, 2026-08). */
const BYTES_PER_TOKEN = 4
const IMAGE_TOKENS = 1_000

class MessagesClient implements ClientRequest {
  readonly endpoint = 'messages'
  readonly failures = messagesFailureWriter
  readonly choices = 1
  readonly model: string
  readonly stream: boolean
  readonly outputTokensMax: number | undefined
  readonly textBytes: number
  readonly imageParts: number
  readonly mediaBytes: number
  readonly remoteMedia: MessagesRequest['remoteMedia']
  readonly messages: number
  readonly endUser: string | undefined
  private readonly request: MessagesRequest
  private readonly betas: string | undefined

  constructor(request: MessagesRequest, betas: string | undefined) {
    this.request = request
    this.betas = betas
    this.model = request.model
    this.stream = request.stream
    this.outputTokensMax = request.outputTokensMax
    this.textBytes = request.textBytes
    this.imageParts = request.imageParts
    this.mediaBytes = request.mediaBytes
    this.remoteMedia = request.remoteMedia
    this.messages = request.body.messages.length
    this.endUser = request.body.metadata?.user_id ?? undefined
  }

  wholeText(): string {
    return this.request.text
  }

  promptText(): string {
    const { system, messages, tools } = this.request.body
    const texts: string[] = []
    for (const content of [system, ...messages.map((message) => message.content)]) {
      for (const block of allBlocks(content)) texts.push(wordsOfBlock(block))
    }
    if (tools) texts.push(JSON.stringify(tools))
    return texts.filter((text) => text !== '').join('\n')
  }

  opening(): readonly string[] {
    const { system, messages } = this.request.body
    const first = messages.find(({ role }) => role === 'user')
    return [system, first?.content].flatMap((content) => blocksOf(content).map(wordsOfBlock))
  }

  failStream(failure: Failure, { requestId }: AnswerFacts): string {
    return namedEvent('error', writeMessagesFailure(failure, requestId).body)
  }

  adapter(offered: readonly Dialect[]): Adapter {
    const { body, stream, textBytes, imageParts } = this.request
    if (offered.includes('messages')) return new DirectMessages(this.request, this.betas)
    const inputTokens = Math.ceil(textBytes / BYTES_PER_TOKEN) + imageParts * IMAGE_TOKENS
    const client = messagesClientSide({ inputTokens, showThoughts: wantsThoughts(body) })
    const turn = messagesTurn(exactBody(body, this.request.text))
    return translated(turn, stream, client, upstreamSideOf(offered))
  }
}
