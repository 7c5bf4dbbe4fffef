import type { Call } from '../relay/call.ts'

const encoder = new TextEncoder()
/** A comment with a single newline: clients that choke on an empty event survive it (openai-python, openai-go). */
const PING = encoder.encode(': ping\n')

/** Where the text of a stream comes from: complete events, then undefined. `close` is for leaving early. */
export type EventSource = { next(): Promise<string | undefined>; close(): Promise<void> }

/**
 * Turns a stream's events into a response body. Nothing is queued: the next event is asked for when the socket has
 * taken the last. Silence longer than `heartbeatMs` is filled with comments, so that proxies in between keep the
 * connection. However the client leaves, the answer is closed, and closing it settles.
 */
export function streamBody(call: Call, events: EventSource, heartbeatMs: number): ReadableStream<Uint8Array> {
  let lastMs = performance.now()
  let heartbeat: Timer | undefined
  const leave = (): Promise<void> => {
    clearInterval(heartbeat)
    return events.close()
  }
  // A client that is gone before the body is first pulled is never reported to the stream, only to the request.
  call.whenClientGone(() => void leave())
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        heartbeat = setInterval(() => {
          const silent = performance.now() - lastMs >= heartbeatMs
          if (silent && (controller.desiredSize ?? 0) >= 0) controller.enqueue(PING)
        }, heartbeatMs)
      },
      async pull(controller) {
        const text = await events.next()
        lastMs = performance.now()
        if (text !== undefined) return controller.enqueue(encoder.encode(text))
        clearInterval(heartbeat)
        controller.close()
      },
      cancel: leave,
    },
    { highWaterMark: 0 },
  )
}
