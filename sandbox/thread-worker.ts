/** The sandbox's own thread, so that its work delays only requests to the sandbox. */
import type { Sandbox } from './listen.ts'
import { startOnDemand } from './on-demand.ts'
import type { FromThread, ToThread } from './thread.ts'

declare const self: Worker

/**
 * Collects the garbage of answers early, because this thread's collector would wait for more. The processor time since
 * the last collection shows the amount. A collection of a heap full of streams takes longer, and comes less often.
 */
const LOOK_MS = 50
const BUSY_MS = 20
const BUSY_PER_COLLECTION = 8

let looking: Timer | undefined
let busyMsMax = BUSY_MS
let sinceMs = 0

/** Processor time of this thread. */
function cpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}

function onRequest(): void {
  looking ??= setTimeout(collect, LOOK_MS)
}

function collect(): void {
  looking = undefined
  const startedMs = cpuMs()
  if (startedMs - sinceMs < busyMsMax) return
  Bun.gc(true)
  sinceMs = cpuMs()
  busyMsMax = Math.max(BUSY_MS, BUSY_PER_COLLECTION * (sinceMs - startedMs))
  // Answers on their way survive this collection, and are garbage by the next.
  looking = setTimeout(collect, LOOK_MS)
}

/** A busy machine does not free the port of an ended thread at once. */
const PORT_TRIES = 50
const PORT_PAUSE_MS = 20

/** Listens at the port of the earlier thread, unless another process has taken it. */
function listen(port: number): Sandbox {
  for (let tries = 1; ; tries++) {
    try {
      return startOnDemand({ port: tries > PORT_TRIES ? 0 : port }, onRequest)
    } catch (error) {
      if (port === 0 || tries > PORT_TRIES) throw error
      Bun.sleepSync(PORT_PAUSE_MS)
    }
  }
}

const say = (message: FromThread): void => self.postMessage(message)

self.onmessage = ({ data }: MessageEvent<ToThread>) =>
  say(data.kind === 'ping' ? { kind: 'pong' } : { kind: 'listening', url: listen(data.port).url })
