/** The end of a server: running requests end or are settled, then everything is closed. */
import type { Gateway } from './gateway.ts'
import { decoders } from './lib/runtime/picture.ts'
import type { Log } from './lib/runtime/log.ts'
import type { Ports } from './ports.ts'
import type { Videos } from './video/videos.ts'

/** Once `isDraining` is set, new work is refused. */
export type DrainState = { isDraining: boolean }

export type DrainParts = {
  readonly gateway: Pick<Gateway, 'services' | 'live' | 'refused' | 'store'>
  readonly ports: Pick<Ports, 'server' | 'monitoring'>
  readonly videos: Pick<Videos, 'stop'>
  readonly sweeps: { stop(): void }
  readonly control: { stop(): Promise<unknown> }
  readonly sandbox: { stop(): void } | undefined
  readonly tokens: { stop(): void }
  readonly timers: { readonly watch: Timer; readonly ahead: Timer }
  /** How long, in milliseconds, running requests may continue before they are cancelled. */
  readonly drainMs: number
  readonly log: Log
}

const SOCKETS_CLOSE_MS = 1_000

/** Drains once. A second call does nothing. */
export async function drain(state: DrainState, parts: DrainParts): Promise<void> {
  if (state.isDraining) return
  state.isDraining = true
  const { gateway, ports, log } = parts
  const { services, live, refused, store } = gateway
  services.feed.close()
  log('info', 'drain.start', { live: live.size })
  parts.sweeps.stop()
  clearInterval(parts.timers.watch)
  clearTimeout(parts.timers.ahead)
  await live.idle(parts.drainMs)
  live.cancelAll('shutdown')
  await parts.videos.stop()
  await live.idle(SOCKETS_CLOSE_MS * 5)
  await closePorts(ports)
  await live.idle(SOCKETS_CLOSE_MS * 5)
  parts.tokens.stop()
  decoders.stop()
  await Promise.all([parts.control.stop(), refused.flush()])
  parts.sandbox?.stop()
  await store.close()
  log('info', 'drain.done')
}

/** Closes the ports. The last bytes of settled answers get one second to leave. */
async function closePorts({ server, monitoring }: DrainParts['ports']): Promise<void> {
  server.stop()
  for (let i = 0; i < 20 && server.connections > 0; i++) await Bun.sleep(SOCKETS_CLOSE_MS / 20)
  server.close()
  monitoring?.close()
}
