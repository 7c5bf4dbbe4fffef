import type { ServerExchange } from '../inbound/exchange.ts'
import type { ReplyHeaders } from '../inbound/reply-head.ts'
import type { RelayedRequest } from '../relay/port.ts'

/** A comment with a single newline: clients that choke on an empty event survive it (openai-python, openai-go). */
const PING = ': ping\n'
/** How long a call that was cut from our side has to tell its client so. */
const FAREWELL_MS = 500

/** Where the text of a stream comes from: complete events, then undefined. `close` is for leaving early; it settles. */
export type ReplyEvents = {
  next(): Promise<string | undefined>
  /** The client is behind: nothing more is to be fetched for it before the next `next`. */
  rest?(): void
  close(): Promise<void>
  /** Whether what `next` gave was the last. */
  readonly isEnded: boolean
}

export type StreamOptions = {
  readonly events: ReplyEvents
  readonly headers: ReplyHeaders
  readonly heartbeatMs: number
  /** The comment that fills silence, where the client's dialect has one of its own. */
  readonly heartbeat?: string | undefined
  /** Whether an upstream has begun to answer, or is still being waited for. */
  readonly begun: 'waiting' | 'answering'
  readonly onError: (error: unknown) => void
}

/** Says when a client has left, or its request has been cut. */
export type StreamClient = Pick<RelayedRequest, 'whenCancelled'>

/** The client of an answer that is made without it, for as long as it is there. */
export const presenceOf = (exchange: ServerExchange): StreamClient => ({
  whenCancelled(tell) {
    if (exchange.isGone) tell('client_closed')
    else exchange.onClosed = () => tell('client_closed')
  },
})

/**
 * Passes a stream's events on. Nothing is queued: the next event is asked for when the client has taken the last.
 * Silence longer than `heartbeatMs` is filled with comments, so that proxies in between keep the connection. However
 * the client leaves, or only stops reading, the answer is closed, and closing it settles.
 */
export async function replyWithStream(
  exchange: ServerExchange,
  call: StreamClient,
  { events, ...options }: StreamOptions,
): Promise<void> {
  const { headers, heartbeatMs, heartbeat = PING, begun, onError } = options
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
  let timer = setTimeout(heart, heartbeatMs)
  // A client that does not read on must not keep the hold open: it has a moment to hear why, then it is cut off. While
  // the last text is still being made, which takes a settlement, nobody is waiting for the client.
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
      const text = await events.next()
      isAsking = false
      lastSentMs = performance.now()
      if (text === undefined || events.isEnded) return exchange.end(text)
      if (exchange.send(text)) continue
      events.rest?.()
      await exchange.drained()
    }
    await events.close()
  } catch (error) {
    onError(error)
    exchange.destroy()
    // Whatever went wrong on this side, what the upstream has done is settled.
    await events.close()
  } finally {
    clearTimeout(timer)
    clearTimeout(farewell)
  }
}
