/** The end of a server: others take over its requests, running ones end or are settled, then everything is closed. */
import type { Gateway } from './gateway.ts'
import { decoders } from './lib/runtime/picture.ts'
import type { Log } from './lib/runtime/log.ts'
import type { Ports } from './ports.ts'
import type { ReadinessGate } from './readiness-gate.ts'
import type { Videos } from './video/videos.ts'

/**
 * `leaving`: `/readyz` is 503 and everything else goes on, so that a balancer sends its requests to other processes.
 * `draining`: running requests end. New work is refused while the port is open.
 */
export type DrainState = { phase: 'serving' | 'leaving' | 'draining'; port: 'open' | 'closed' }

export type DrainParts = {
  readonly gateway: Pick<Gateway, 'services' | 'answers' | 'live' | 'refused' | 'store'>
  readonly ports: Pick<Ports, 'server' | 'monitoring'>
  readonly videos: Pick<Videos, 'stop'>
  readonly sweeps: { stop(): void }
  readonly control: { stop(): Promise<unknown> }
  readonly sandbox: { stop(): void } | undefined
  readonly certificate: { stop(): void } | undefined
  readonly tokens: { stop(): void }
  readonly telemetry: { stop(): Promise<void> } | undefined
  readonly timers: { readonly watch: Timer; readonly ahead: Timer }
  /** How long, in milliseconds, running requests may continue before they are cancelled. */
  readonly drainMs: number
  readonly log: Log
}

/** `durationMs`: how long the process serves on. */
export type LameDuckParts = Pick<DrainParts, 'ports' | 'log'> & { readonly durationMs: number }

const SHUTTING_DOWN = 'shutting down'
const SOCKETS_CLOSE_MS = 1_000
/** A balancer that still sends uses each connection that it keeps within this time, and hears that it ends. */
const LAST_USE_MS = 1_000

/** Why new work is refused, and why a balancer must send none, as far as there is a reason. */
export const reasonsOf = (state: DrainState, readiness: Pick<ReadinessGate, 'reason'>) => ({
  forWork: () => (state.phase === 'draining' && state.port === 'open' ? SHUTTING_DOWN : readiness.reason()),
  forBalancers: () => (state.phase === 'serving' ? readiness.reason() : SHUTTING_DOWN),
})

/**
 * Serves on until balancers have noticed that the process leaves, or `skip` resolves. Then it answers what was sent to
 * the port, and closes it. With a duration of 0 it does nothing: without another process, the port stays open and
 * says when to come back.
 */
export async function lameDuck(
  state: DrainState,
  { ports: { server }, durationMs, log }: LameDuckParts,
  skip: Promise<void>,
): Promise<void> {
  if (state.phase !== 'serving' || durationMs === 0) return
  state.phase = 'leaving'
  log('info', 'lame_duck.start', { durationMs })
  // Balancers keep connections. They use each once more, and by the end of the wait have none that could break.
  server.endKeepAlive()
  await Promise.race([skip, Bun.sleep(durationMs)])
  await server.retire(LAST_USE_MS)
  state.port = 'closed'
  log('info', 'lame_duck.done')
}

/** Drains once. A second call does nothing. */
export async function drain(state: DrainState, parts: DrainParts): Promise<void> {
  if (state.phase === 'draining') return
  state.phase = 'draining'
  const { gateway, ports, log } = parts
  const { services, live, refused, store } = gateway
  services.feed.close()
  log('info', 'drain.start', { live: live.size })
  ports.server.endKeepAlive()
  parts.sweeps.stop()
  clearInterval(parts.timers.watch)
  clearTimeout(parts.timers.ahead)
  await lastRequests(state, parts)
  live.cancelAll('shutdown')
  await parts.videos.stop()
  await live.idle(SOCKETS_CLOSE_MS * 5)
  await closePorts(ports)
  await live.idle(SOCKETS_CLOSE_MS * 5)
  parts.certificate?.stop()
  parts.tokens.stop()
  decoders.stop()
  await Promise.all([parts.control.stop(), refused.flush(), parts.telemetry?.stop()])
  await gateway.answers.settled()
  parts.sandbox?.stop()
  await store.close()
  log('info', 'drain.done')
}

/**
 * Waits for running requests. With a closed port, a connection that was not told of the end may bring one more, such as
 * one whose stream began before the signal. Nothing is refused then, because each connection brings one at most.
 */
async function lastRequests({ port }: DrainState, { gateway: { live }, ports, drainMs }: DrainParts): Promise<void> {
  const endMs = performance.now() + drainMs
  if (port === 'closed') await ports.server.quiet(drainMs)
  await live.idle(Math.max(0, endMs - performance.now()))
}

/** Closes the ports. The last bytes of settled answers get one second to leave. */
async function closePorts({ server, monitoring }: DrainParts['ports']): Promise<void> {
  await server.retire()
  for (let i = 0; i < 20 && server.connections > 0; i++) await Bun.sleep(SOCKETS_CLOSE_MS / 20)
  server.close()
  monitoring?.close()
}
