import type { Call } from '../relay/call.ts'

const encoder = new TextEncoder()
/** A comment with a single newline: clients that choke on an empty event survive it (openai-python, openai-go). */
const PING = encoder.encode(': ping\n')

/**
 * Turns the relay's events into a response body. Nothing is queued: the next event is asked for when the socket has
 * taken the last. A client that goes away cancels the call and closes the generator, which settles. Silence longer than
 * `heartbeatMs` is filled with comments, so that proxies in between keep the connection.
 */
export function streamBody(
  call: Call,
  events: AsyncGenerator<string, void>,
  heartbeatMs: number,
): ReadableStream<Uint8Array> {
  let lastMs = performance.now()
  let heartbeat: Timer | undefined
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        heartbeat = setInterval(() => {
          const silent = performance.now() - lastMs >= heartbeatMs
          if (silent && (controller.desiredSize ?? 0) >= 0) controller.enqueue(PING)
        }, heartbeatMs)
      },
      async pull(controller) {
        const next = await events.next()
        lastMs = performance.now()
        if (!next.done) return controller.enqueue(encoder.encode(next.value))
        clearInterval(heartbeat)
        controller.close()
      },
      async cancel() {
        clearInterval(heartbeat)
        call.cancel('client_closed')
        await events.return()
      },
    },
    { highWaterMark: 0 },
  )
}
