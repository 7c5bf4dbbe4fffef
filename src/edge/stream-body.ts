import type { CancelReason, Call } from '../relay/call.ts'

const encoder = new TextEncoder()
/** A comment with a single newline: clients that choke on an empty event survive it (openai-python, openai-go). */
const PING = encoder.encode(': ping\n')
/** A client that has not taken what it was given for so long has gone in all but name. */
const READER_STALL_MS = 60_000
/** How long a call that was cut from our side has to tell its client so. */
const FAREWELL_MS = 500

/** Where the text of a stream comes from: complete events, then undefined. `close` is for leaving early; it settles. */
export type EventSource = { next(): Promise<string | undefined>; close(): Promise<void> }

export type BodyOptions = {
  readonly heartbeatMs: number
  /** Whether an upstream has begun to answer, or is still being waited for. */
  readonly begun: 'waiting' | 'answering'
  readonly onError: (error: unknown) => void
}

/**
 * Turns a stream's events into a response body. Nothing is queued: the next event is asked for when the socket has
 * taken the last. Silence longer than `heartbeatMs` is filled with comments, so that proxies in between keep the
 * connection. However the client leaves, or only stops reading, the answer is closed, and closing it settles.
 */
export function streamBody(call: Call, events: EventSource, options: BodyOptions): ReadableStream<Uint8Array> {
  const { heartbeatMs, begun, onError } = options
  let lastSentMs = performance.now()
  let lastAskedMs = lastSentMs
  let asking = false
  let timer: Timer | undefined
  const leave = (): Promise<void> => {
    clearTimeout(timer)
    return events.close().catch(onError)
  }
  const watch = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
    const nowMs = performance.now()
    if (!asking && nowMs - lastAskedMs >= READER_STALL_MS) return void leave()
    if (asking && nowMs - lastSentMs >= heartbeatMs - 1) {
      lastSentMs = nowMs
      if ((controller.desiredSize ?? -1) >= 0) controller.enqueue(PING)
    }
    timer = setTimeout(() => watch(controller), Math.max(lastSentMs + heartbeatMs - nowMs, heartbeatMs / 4))
  }
  const onCancelled = (reason: CancelReason): void => {
    // A client that reads on is told why; one that does not must not keep the hold open.
    if (reason === 'client_closed') void leave()
    else setTimeout(() => void leave(), FAREWELL_MS)
  }
  const body = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        // The runtime sends headers together with the first bytes of a body: silence so far has to be broken at once.
        if (begun === 'waiting') controller.enqueue(PING)
        watch(controller)
      },
      async pull(controller) {
        asking = true
        const text = await events.next().catch((error: unknown) => {
          clearTimeout(timer)
          throw error
        })
        asking = false
        lastSentMs = lastAskedMs = performance.now()
        if (text !== undefined) return controller.enqueue(encoder.encode(text))
        clearTimeout(timer)
        controller.close()
      },
      cancel: leave,
    },
    { highWaterMark: 0 },
  )
  // A client that is gone before the body is first pulled is never reported to the stream, only to the request.
  call.whenCancelled(onCancelled)
  return body
}
