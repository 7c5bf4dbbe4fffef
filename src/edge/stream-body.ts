import type { Call } from '../relay/call.ts'

const encoder = new TextEncoder()
/** A comment with a single newline: clients that choke on an empty event survive it (openai-python, openai-go). */
const PING = encoder.encode(': ping\n')

/**
 * Turns the relay's events into a response body. Nothing is queued: the next event is asked for when the socket has
 * taken the last. Silence longer than `heartbeatMs` is filled with comments, so that proxies in between keep the
 * connection. However the client leaves, the generator is closed, and closing it settles.
 */
export function streamBody(
  call: Call,
  events: AsyncGenerator<string, void>,
  heartbeatMs: number,
): ReadableStream<Uint8Array> {
  // Begun at once: a generator that was never started would end without running the `finally` that settles.
  let next: Promise<IteratorResult<string, void>> | undefined = events.next()
  let lastMs = performance.now()
  let heartbeat: Timer | undefined
  const leave = async (): Promise<void> => {
    clearInterval(heartbeat)
    call.cancel('client_closed')
    await events.return()
  }
  // A client that is gone before the body is first pulled is never reported to the stream, only to the request.
  const onAbort = (): void => void (call.cancelled === 'client_closed' && leave())
  if (call.signal.aborted) onAbort()
  else call.signal.addEventListener('abort', onAbort, { once: true })

  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        heartbeat = setInterval(() => {
          const silent = performance.now() - lastMs >= heartbeatMs
          if (silent && (controller.desiredSize ?? 0) >= 0) controller.enqueue(PING)
        }, heartbeatMs)
      },
      async pull(controller) {
        const result = await (next ?? events.next())
        next = undefined
        lastMs = performance.now()
        if (!result.done) return controller.enqueue(encoder.encode(result.value))
        clearInterval(heartbeat)
        controller.close()
      },
      cancel: leave,
    },
    { highWaterMark: 0 },
  )
}
