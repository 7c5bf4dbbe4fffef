/**
 * Answers that the answer cache keeps: whole, and in the format of their client. A later client with the same question
 * gets such an answer as if a vendor of its own format had sent it, whole or as a stream.
 */
import type { Model } from '../domain/catalog.ts'
import type { ClientDialect, Turn } from '../domain/turn.ts'
import type { Usage } from '../domain/usage.ts'
import { SseDecoder, type SseEvent } from '../lib/http/sse.ts'
import { KIB, MIB } from '../lib/primitives/units.ts'
import { nextTurn } from '../lib/runtime/end-of-tick.ts'
import { cachedDialects } from './cache-question.ts'
import { eventsOfReply } from './chat/reply-events.ts'
import type { AdapterContext, AnswerFacts, ClientRequest, WriterQuirks } from './core/contract.ts'
import { parseExactFields, type Fields } from './core/fields.ts'
import { eventsOfMessage } from './messages/reply-events.ts'
import { upstreamSideOf } from './upstream-sides.ts'

const dialectOf = ({ endpoint }: ClientRequest): ClientDialect => {
  const dialect = cachedDialects[endpoint]
  if (!dialect) throw new Error(`answers of ${endpoint} are not kept`)
  return dialect
}

/** The gateway writes every format as its vendor does. */
const PLAIN: WriterQuirks = { outputMaxField: 'max_tokens', usageInStream: 'on_request', usageDialect: 'inclusive' }

const none = (): Promise<undefined> => Promise.resolve(undefined)
/** An answer of text needs no images. */
const NO_IMAGES: AdapterContext['imageService'] = { fetch: none, inspect: none, canHost: false, host: none }

export type CacheWriting = {
  readonly model: Model
  readonly answer: AnswerFacts
  readonly billed: Usage
}

/** The cached answer for this request, whole or as a stream. Undefined if it cannot be read. */
export async function writeCachedAnswer(
  request: ClientRequest,
  kept: string,
  { model, answer, billed }: CacheWriting,
): Promise<string | undefined> {
  const dialect = dialectOf(request)
  const adapter = request.adapter([dialect], { model, imageService: NO_IMAGES })
  if (!request.stream) {
    const read = await (adapter.join?.([kept]) ?? adapter.readReply(kept, PLAIN))
    return read.kind === 'reply' ? read.reply.write(answer, billed) : undefined
  }
  const fields = parseExactFields(kept)
  if (!fields) return undefined
  const stream = adapter.openStream(answer, PLAIN)
  let text = ''
  for (const event of eventsOf[dialect](fields)) {
    const read = stream.read(event)
    if (read.kind === 'failed') return undefined
    if (read.kind === 'done') break
    text += read.text
  }
  return stream.finished ? text + stream.end(billed) : undefined
}

const event = (body: object): SseEvent => ({ name: undefined, data: JSON.stringify(body) })

/** The events of a whole answer. They state no usage, because the end states the billed one. */
const eventsOf: Readonly<Record<ClientDialect, (answer: Fields) => readonly SseEvent[]>> = {
  chat: (answer) => eventsOfReply(JSON.stringify({ ...answer, usage: undefined })),
  messages: eventsOfMessage,
  gemini: (answer) => [event({ ...answer, usageMetadata: undefined })],
  responses: (response) => [event({ type: 'response.completed', response: { ...response, usage: undefined } })],
}

/** A long stream is put together in several turns of the event loop. */
const SLICE_BYTES = 64 * KIB

/** The whole answer whose stream the client got. */
export async function wholeOfStream(request: ClientRequest, sent: string): Promise<string> {
  const collector = upstreamSideOf([dialectOf(request)]).collector()
  const decoder = new SseDecoder(MIB)
  const bytes = Buffer.from(sent)
  for (let at = 0; at < bytes.length; at += SLICE_BYTES) {
    await nextTurn()
    for (const one of decoder.push(bytes.subarray(at, at + SLICE_BYTES))) collector.add(one)
  }
  return collector.text()
}

const NO_TURN: Turn = { messages: [], tools: [], choices: 1, foreign: [] }

/**
 * Whether an answer may serve again: text alone, which its model has ended. A length limit of the client's own is such
 * an end. Sealed reasoning belongs to one account at one vendor.
 */
export async function isLasting(request: ClientRequest, whole: string, model: Model): Promise<boolean> {
  if (request.kind === 'embedding') {
    const read = await request.adapter([dialectOf(request)], { model, imageService: NO_IMAGES }).join?.([whole])
    return read?.kind === 'reply'
  }
  const read = upstreamSideOf([dialectOf(request)]).readReply(whole, PLAIN, NO_TURN)
  if (read.kind === 'failed') return false
  const { outputTokensMax } = request
  return read.reply.choices.every(
    ({ finish, parts }) =>
      (finish === 'stop' || (finish === 'length' && outputTokensMax !== undefined)) &&
      parts.some(({ kind }) => kind === 'text') &&
      parts.every((part) => part.kind === 'text' || (part.kind === 'reasoning' && !part.sealed)),
  )
}
