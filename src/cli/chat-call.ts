/** One chat request to the public API, as any client makes it. */
import { SseDecoder } from '../lib/http/sse.ts'
import type { IncomingResponse, OutboundResult } from '../outbound/exchange.ts'
import { outbound } from '../outbound/send.ts'
import type { Stop } from '../outbound/stop.ts'
import { readText } from '../outbound/text.ts'
import { MIB } from '../lib/primitives/units.ts'

export type ChatCall = {
  /** Without a slash at the end. */
  readonly baseUrl: string
  readonly key: string
  readonly body: object
  readonly stop: Stop
}

type Usage = { readonly prompt_tokens: number; readonly completion_tokens: number; readonly total_tokens: number }

/** How a request ended. `text` is what had arrived by then. */
export type ChatEnd =
  | {
      readonly kind: 'answered'
      readonly text: string
      readonly usage: Usage | null
      readonly finishReason: string | null
      readonly requestId: string | null
      /** Known at once only for an answer in one piece. */
      readonly costUsd: string | null
      readonly tookMs: number
    }
  /** With the code and the message of the error envelope. */
  | {
      readonly kind: 'refused'
      readonly text: string
      readonly code: string
      readonly message: string
      readonly requestId?: string | null
    }
  | { readonly kind: 'interrupted'; readonly text: string }
  | { readonly kind: 'unreachable'; readonly message: string }

/** The fields of a completion, or of one chunk of a stream, that are read. */
type Reply = {
  readonly choices?: readonly {
    readonly delta?: { readonly content?: string | null }
    readonly message?: { readonly content?: string | null; readonly refusal?: string | null }
    readonly finish_reason?: string | null
  }[]
  readonly usage?: Usage | null
  readonly error?: { readonly message?: string; readonly code?: string | null }
}

const EVENT_CHARS_MAX = 4 * MIB
const REPLY_BYTES_MAX = 64 * MIB

/** Sends the request. `onText` receives the answer as it arrives. */
export async function callChat(call: ChatCall, onText: (piece: string) => void): Promise<ChatEnd> {
  const startedMs = performance.now()
  const answer = new Answer(onText)
  try {
    const sent = await send(call)
    if (sent.kind === 'network') throw new Error(sent.message)
    const { headers, status } = sent.response
    const streams = headers.get('content-type')?.startsWith('text/event-stream') ?? false
    if (streams) await followStream(sent.response, answer)
    else answer.take(readReply(await readText(sent.response, REPLY_BYTES_MAX), status))
    const { text, usage, finishReason, error } = answer
    const requestId = headers.get('x-request-id') ?? null
    if (error) return { kind: 'refused', text, ...error, requestId }
    const known = {
      requestId,
      costUsd: headers.get('x-tollgate-cost-usd') ?? null,
    }
    return { kind: 'answered', text, usage, finishReason, ...known, tookMs: performance.now() - startedMs }
  } catch (error) {
    if (call.stop.isStopped) return { kind: 'interrupted', text: answer.text }
    const message = error instanceof Error ? error.message : String(error)
    if (answer.text === '') return { kind: 'unreachable', message }
    return { kind: 'refused', text: answer.text, code: 'connection_lost', message: `the answer broke off: ${message}` }
  }
}

/** There is no timeout: the server has its own. Private addresses are allowed, since the user names the server. */
function send({ baseUrl, key, body, stop }: ChatCall): Promise<OutboundResult> {
  return outbound.send({
    url: `${baseUrl}/chat/completions`,
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    stop,
    reach: 'private',
  })
}

/** Collects an answer from its pieces. */
class Answer {
  text = ''
  usage: Usage | null = null
  finishReason: string | null = null
  error: { readonly code: string; readonly message: string } | undefined
  private readonly onText: (piece: string) => void

  constructor(onText: (piece: string) => void) {
    this.onText = onText
  }

  take({ choices, usage, error }: Reply): void {
    if (error) this.error = { code: error.code ?? 'unknown', message: error.message ?? 'no reason given' }
    const [choice] = choices ?? []
    const piece = choice?.delta?.content ?? choice?.message?.content ?? choice?.message?.refusal ?? ''
    if (piece !== '') {
      this.text += piece
      this.onText(piece)
    }
    this.finishReason = choice?.finish_reason ?? this.finishReason
    this.usage = usage ?? this.usage
  }
}

function readReply(text: string | undefined, status: number): Reply {
  if (text === undefined) return { error: { code: 'connection_lost', message: 'the answer broke off' } }
  try {
    const reply = JSON.parse(text) as Reply
    return status < 400 || reply.error ? reply : { error: { code: String(status), message: `status ${status}` } }
  } catch {
    // The reply is a proxy's page, or comes from another kind of server.
    return {
      error: { code: 'not_an_answer', message: `status ${status} and no JSON: is this the base URL, with its /v1?` },
    }
  }
}

/** Rejects if the stream breaks off. */
async function followStream(response: IncomingResponse, answer: Answer): Promise<void> {
  const decoder = new SseDecoder(EVENT_CHARS_MAX)
  let isDone = false
  const take = (events: readonly { readonly data: string }[]): void => {
    for (const { data } of events) {
      if (data === '[DONE]') isDone = true
      else answer.take(readReply(data, response.status))
    }
  }
  const { promise: ended, resolve, reject } = Promise.withResolvers<void>()
  response.deliver({
    part: (bytes) => take(decoder.push(bytes)),
    end(last) {
      take(decoder.push(last))
      take(decoder.end())
      resolve()
    },
    broken: (message) => reject(new Error(message)),
  })
  await ended
  if (!isDone && !answer.error)
    answer.error = { code: 'connection_lost', message: 'the answer broke off before its end' }
}
