/** The sandbox's own thread: whatever a request has it do, nobody's call waits for it but the sandbox's. */
import type { Sandbox } from './listen.ts'
import { startOnDemand } from './on-demand.ts'
import type { FromThread, ToThread } from './thread.ts'

declare const self: Worker

/** What answers leave behind is given back so soon: this thread's collector would wait for more of it. */
const COLLECT_MS = 5_000

let requests = 0
const onRequest = (): void => void (requests += 1)

/** At the port of the thread before it, unless that one is stuck and still has it. */
function listen(port: number): Sandbox {
  try {
    return startOnDemand({ port }, onRequest)
  } catch (error) {
    if (port === 0) throw error
    return startOnDemand({ port: 0 }, onRequest)
  }
}

const say = (message: FromThread): void => self.postMessage(message)

self.onmessage = ({ data }: MessageEvent<ToThread>) =>
  say(data.kind === 'ping' ? { kind: 'pong' } : { kind: 'listening', url: listen(data.port).url })

setInterval(() => {
  if (requests === 0) return
  requests = 0
  Bun.gc(true)
}, COLLECT_MS)
