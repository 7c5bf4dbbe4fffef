import type { Call } from '../relay/call.ts'

const encoder = new TextEncoder()
/** A comment with a single newline: clients that choke on an empty event survive it (openai-python, openai-go). */
const PING = encoder.encode(': ping\n')

/** Where the text of a stream comes from: complete events, then undefined. `close` is for leaving early. */
export type EventSource = { next(): Promise<string | undefined>; close(): Promise<void> }

export type BodyOptions = {
  readonly heartbeatMs: number
  /** Whether an upstream has begun to answer, or is still being waited for. */
  readonly begun: 'waiting' | 'answering'
}

/**
 * Turns a stream's events into a response body. Nothing is queued: the next event is asked for when the socket has
 * taken the last. Silence longer than `heartbeatMs` is filled with comments, so that proxies in between keep the
 * connection. However the client leaves, the answer is closed, and closing it settles.
 */
export function streamBody(call: Call, events: EventSource, options: BodyOptions): ReadableStream<Uint8Array> {
  const { heartbeatMs, begun } = options
  let lastMs = performance.now()
  let heartbeat: Timer | undefined
  const leave = (): Promise<void> => {
    clearTimeout(heartbeat)
    return events.close()
  }
  const beat = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
    const leftMs = heartbeatMs - (performance.now() - lastMs)
    heartbeat = setTimeout(() => beat(controller), leftMs > 1 ? leftMs : heartbeatMs)
    if (leftMs > 1) return
    lastMs = performance.now()
    if ((controller.desiredSize ?? 0) >= 0) controller.enqueue(PING)
  }
  // A client that is gone before the body is first pulled is never reported to the stream, only to the request.
  call.whenClientGone(() => void leave())
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        // The runtime sends headers together with the first bytes of a body: silence so far has to be broken at once.
        if (begun === 'waiting') controller.enqueue(PING)
        beat(controller)
      },
      async pull(controller) {
        const text = await events.next()
        lastMs = performance.now()
        if (text !== undefined) return controller.enqueue(encoder.encode(text))
        clearTimeout(heartbeat)
        controller.close()
      },
      cancel: leave,
    },
    { highWaterMark: 0 },
  )
}
