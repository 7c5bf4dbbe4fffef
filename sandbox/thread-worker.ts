/** The sandbox's own thread: whatever a request has it do, nobody's call waits for it but the sandbox's. */
import type { Sandbox } from './listen.ts'
import { startOnDemand } from './on-demand.ts'
import type { FromThread, ToThread } from './thread.ts'

declare const self: Worker

/**
 * What answers leave behind is given back at once: this thread's collector would wait for more of it. How much it is
 * shows in the time it took to make. A collection of a heap full of streams takes longer, and comes less often.
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
  // What this one still held, an answer on its way, is garbage by the next.
  looking = setTimeout(collect, LOOK_MS)
}

/** A thread that was ended gives its port back, on a busy machine not at once. */
const PORT_TRIES = 50
const PORT_PAUSE_MS = 20

/** At the port of the thread before it, unless somebody else has taken that. */
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
