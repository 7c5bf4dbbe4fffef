import type { ServerExchange } from '../inbound/exchange.ts'
import type { ReplyHeaders } from '../inbound/reply-head.ts'
import type { MessageContent } from '../lib/http/message-content.ts'
import type { RelayedRequest } from '../relay/port.ts'

/** A comment with a single newline. Clients that fail on an empty event accept it (openai-python, openai-go). */
const PING = ': ping\n'
/** How long a client may take to read the reason after the gateway has cut its request. */
const FAREWELL_MS = 500

/** The source of a stream: complete events or bytes, then undefined. `close` ends it early and settles. */
export type ReplyEvents = {
  next(): Promise<MessageContent | undefined>
  /** The client is behind. The source fetches nothing more until `next` is called again. */
  rest?(): void
  close(): Promise<void>
  /** Whether the last call of `next` returned the last content. */
  readonly isEnded: boolean
  /** Whether it ended early, and nothing in its content says so. */
  readonly isBroken?: boolean
}

export type StreamOptions = {
  readonly events: ReplyEvents
  readonly headers: ReplyHeaders
  /** Set for bytes. They have no place for a comment. */
  readonly contentType?: string | undefined
  readonly heartbeatMs: number
  /** The comment that fills silence, if the client's dialect has its own. */
  readonly heartbeat?: string | undefined
  /** Whether an upstream has begun to answer. */
  readonly begun: 'waiting' | 'answering'
  readonly onError: (error: unknown) => void
}

/** Reports when a client has left or its request was cut. */
export type StreamClient = Pick<RelayedRequest, 'whenCancelled'>

/** The client of an answer that does not depend on it. It counts as present until its connection closes. */
export const presenceOf = (exchange: ServerExchange): StreamClient => ({
  whenCancelled(tell) {
    if (exchange.isGone) tell('client_closed')
    else exchange.onClosed = () => tell('client_closed')
  },
})

/**
 * Sends the events of a stream to the client. Nothing is queued: the next event is requested when the client has taken
 * the last one. Comments between events fill silence longer than `heartbeatMs`, so that proxies keep the connection.
 * When the client leaves or stops reading, the source is closed, and closing it settles.
 */
export async function replyWithStream(
  exchange: ServerExchange,
  call: StreamClient,
  { events, ...options }: StreamOptions,
): Promise<void> {
  const { headers, contentType, heartbeatMs, heartbeat = PING, begun, onError } = options
  let lastSentMs = performance.now()
  let isAsking = false
  let farewell: Timer | undefined
  const heart = (): void => {
    const nowMs = performance.now()
    if (isAsking && nowMs - lastSentMs >= heartbeatMs - 1) {
      lastSentMs = nowMs
      exchange.send(heartbeat)
    }
    timer = setTimeout(heart, Math.max(lastSentMs + heartbeatMs - nowMs, heartbeatMs / 4))
  }
  let timer = contentType === undefined ? setTimeout(heart, heartbeatMs) : undefined
  // A client that stops reading must not keep the hold open. It gets a moment to read the reason, then it is cut off.
  // The cut waits while the last text is being made: that takes a settlement, and nothing waits for the client then.
  const onCancelled: Parameters<StreamClient['whenCancelled']>[0] = (reason) => {
    if (reason === 'client_closed') events.close().catch(onError)
    else farewell = setTimeout(() => !isAsking && exchange.destroy(), FAREWELL_MS)
  }
  try {
    exchange.begin(200, headers)
    if (begun === 'waiting') exchange.send(heartbeat)
    call.whenCancelled(onCancelled)
    while (!exchange.isGone) {
      isAsking = true
      const content = await events.next()
      isAsking = false
      lastSentMs = performance.now()
      if (events.isBroken) return breakOff(exchange, content)
      if (content === undefined || events.isEnded) return exchange.end(content)
      if (exchange.send(content)) continue
      events.rest?.()
      await exchange.flushed()
    }
    await events.close()
  } catch (error) {
    onError(error)
    exchange.destroy()
    // The work of the upstream is settled, whatever failed on this side.
    await events.close()
  } finally {
    clearTimeout(timer)
    clearTimeout(farewell)
  }
}

/** Ends an answer whose content cannot say that it is incomplete. The client sees a message that breaks off. */
function breakOff(exchange: ServerExchange, last: MessageContent | undefined): void {
  if (last !== undefined) exchange.send(last)
  exchange.destroy()
}
