/** The connections to one origin. One is opened if none is idle, and kept for a while after its answer. */
import { ClientConnection, type Home } from './connection.ts'
import { beginToDial, codeOf, unreachable, type DialOptions, type PoolOrigin, type Way } from './dial.ts'
import type { ClientExchange, ConnectionSource } from './exchange.ts'
import { vet, type AddressReach } from './guard.ts'
import { limit } from '../lib/primitives/limit.ts'

export type PoolOptions = DialOptions & {
  /** DNS, TCP and TLS together. */
  readonly connectTimeoutMs: number
  /** The addresses of a host. The pool connects only to those that the guard admits. */
  addressesOf(hostname: string): Promise<readonly string[]>
}

/** Vendors close idle connections after a minute or more. Closing first avoids a race. */
const IDLE_MS = limit('upstreamIdleMs', 30_000, 'A connection to an upstream that is idle for this time is closed.')
/** The upstream counts its limit from when its last byte left, which is earlier than its arrival here. */
const KEEP_ALIVE_MARGIN_MS = 1_000
const IDLE_MAX = limit('upstreamIdleConnectionsMax', 256, 'Further idle connections to one origin are closed.')
const LINGER_MS = 2_000
const SWEEP_MS = 1_000
/** The shortest idle time, and the part that is used of the time after which the upstream closed a connection. */
const IDLE_MS_MIN = 1_000
const IDLE_SHARE = 0.8
/**
 * How long a name is looked up that a proxy resolves anyway. Behind many proxies, this machine has no names at all. The
 * look-up is then spared for a while.
 */
const PROXIED_LOOKUP_MS = 1_000
const NAMELESS_MS = 300_000
/** How long an observed idle time is believed. A restart of the upstream also closes connections, but says nothing. */
const HABIT_MS = 300_000

export class Pool implements Home, ConnectionSource {
  readonly isForwarded: boolean
  private readonly origin: PoolOrigin
  private readonly options: PoolOptions
  /** The last was used last. Connections at the front are superfluous and expire. */
  private idle: ClientConnection[] = []
  private readonly lingering = new Set<ClientConnection>()
  private timer: Timer | undefined
  private isClosed = false
  /** How long the upstream has been observed to keep idle connections. */
  private habit = { idleMs: IDLE_MS, untilMs: 0 }
  /** Until when names that a proxy resolves are not looked up here. */
  private namelessUntilMs = 0

  constructor(origin: PoolOrigin, options: PoolOptions) {
    this.origin = origin
    this.isForwarded = origin.proxy?.use === 'forwards'
    this.options = options
  }

  get idleCount(): number {
    return this.idle.length
  }

  /** Gives an exchange a connection. */
  serve(exchange: ClientExchange): void {
    const nowMs = performance.now()
    for (let connection = this.idle.pop(); connection; connection = this.idle.pop()) {
      if (nowMs < connection.untilMs) {
        connection.socket.ref()
        return exchange.start(connection)
      }
      connection.destroy()
    }
    this.connectFor(exchange)
  }

  /** Opens a connection for an exchange. If the exchange is cancelled meanwhile, the next one gets the connection. */
  connectFor(exchange: ClientExchange): void {
    const deadlineMs = performance.now() + this.options.connectTimeoutMs
    this.connect(deadlineMs)
      .then((connected) => {
        if (typeof connected === 'string') exchange.fail(connected)
        else if (exchange.isWaiting) exchange.start(connected)
        else connected.idle(Number.POSITIVE_INFINITY)
      })
      .catch((error: unknown) => exchange.fail((error as Error).name))
  }

  put(connection: ClientConnection, keepAliveMs: number): void {
    this.lingering.delete(connection)
    const nowMs = performance.now()
    const usualMs = nowMs < this.habit.untilMs ? this.habit.idleMs : IDLE_MS
    const idleMs = Math.min(usualMs, keepAliveMs - KEEP_ALIVE_MARGIN_MS)
    if (this.isClosed || this.idle.length >= IDLE_MAX || idleMs <= 0) return connection.destroy()
    connection.untilMs = nowMs + idleMs
    connection.idleSinceMs = nowMs
    // An idle connection does not keep the process alive.
    connection.socket.unref()
    this.idle.push(connection)
    this.sweepLater()
  }

  watch(connection: ClientConnection): void {
    connection.untilMs = performance.now() + LINGER_MS
    this.lingering.add(connection)
    this.sweepLater()
  }

  forget(connection: ClientConnection): void {
    this.lingering.delete(connection)
    const at = this.idle.lastIndexOf(connection)
    if (at === -1) return
    this.idle.splice(at, 1)
    const nowMs = performance.now()
    const idleMs = Math.max(IDLE_MS_MIN, (nowMs - connection.idleSinceMs) * IDLE_SHARE)
    if (nowMs > this.habit.untilMs || idleMs < this.habit.idleMs) this.habit = { idleMs, untilMs: nowMs + HABIT_MS }
  }

  /** Keeps no idle connection from now on. Running exchanges end normally. */
  retire(): void {
    this.isClosed = true
    const { idle } = this
    this.idle = []
    for (const connection of idle) connection.destroy()
  }

  close(): void {
    this.retire()
    clearTimeout(this.timer)
    for (const connection of this.lingering) connection.exchange?.cancel()
  }

  /** One timer serves all connections. There is none while there is nothing to watch. */
  private sweepLater(): void {
    this.timer ??= setTimeout(() => this.sweep(), SWEEP_MS).unref()
  }

  private sweep(): void {
    this.timer = undefined
    const nowMs = performance.now()
    const late = this.idle.filter(({ untilMs }) => untilMs <= nowMs)
    for (const connection of late) connection.destroy()
    for (const connection of this.lingering) if (connection.untilMs <= nowMs) connection.exchange?.cancel()
    if (this.idle.length > 0 || this.lingering.size > 0) this.sweepLater()
  }

  /** A connection, or the reason why there is none. Ways are tried in turn, each with a share of the time left. */
  private async connect(deadlineMs: number): Promise<ClientConnection | string> {
    const ways = await this.ways(deadlineMs)
    if (typeof ways === 'string') return ways
    let problem = 'connect timeout'
    for (const [i, way] of ways.entries()) {
      const shareMs = (deadlineMs - performance.now()) / (ways.length - i)
      const connected = await this.dial(way, shareMs)
      if (typeof connected !== 'string') return connected
      problem = connected
    }
    return problem
  }

  private async ways(deadlineMs: number): Promise<readonly Way[] | string> {
    const { hostname, reach, proxy } = this.origin
    const isNamed = proxy?.host === 'named'
    const hosts = isNamed ? await this.judgeNamed(deadlineMs) : await this.resolve(hostname, reach, deadlineMs)
    if (typeof hosts === 'string') return hosts
    if (!proxy) return hosts.map((address) => ({ address, host: address }))
    // Whoever names a proxy allows a connection to it, also in a private network.
    const proxies = await this.resolve(proxy.address.hostname, 'private', deadlineMs)
    if (typeof proxies === 'string') return unreachable(proxies)
    return hosts.flatMap((host) => proxies.map((address) => ({ address, host })))
  }

  /**
   * The name of the host, or the reason why it may not be called. A proxy that resolves names decides where they lead.
   * If this machine knows the name, too, its addresses are judged as well.
   */
  private async judgeNamed(deadlineMs: number): Promise<readonly string[] | string> {
    const { hostname, reach } = this.origin
    const nowMs = performance.now()
    if (nowMs < this.namelessUntilMs) return [hostname]
    const found = await this.lookUp(hostname, Math.min(deadlineMs, nowMs + PROXIED_LOOKUP_MS))
    if (typeof found === 'string') {
      this.namelessUntilMs = nowMs + NAMELESS_MS
      return [hostname]
    }
    const vetted = vet(found, reach)
    return vetted.kind === 'some' ? [hostname] : vetted.message
  }

  /** The allowed addresses, or the reason why there are none. Cached addresses are judged again for each connection. */
  private async resolve(
    hostname: string,
    reach: AddressReach,
    deadlineMs: number,
  ): Promise<readonly string[] | string> {
    const resolved = await this.lookUp(hostname, deadlineMs)
    if (typeof resolved === 'string') return resolved
    const vetted = vet(resolved, reach)
    return vetted.kind === 'some' ? vetted.addresses : vetted.message
  }

  private async lookUp(hostname: string, deadlineMs: number): Promise<readonly string[] | string> {
    const { promise: late, resolve: giveUp } = Promise.withResolvers<string>()
    const timer = setTimeout(giveUp, deadlineMs - performance.now(), 'DNS timeout')
    const found = this.options.addressesOf(hostname).catch((error: unknown) => codeOf(error))
    const resolved = await Promise.race([found, late])
    clearTimeout(timer)
    return resolved
  }

  private dial(way: Way, timeoutMs: number): Promise<ClientConnection | string> {
    return new Promise((resolve) => {
      const connection = new ClientConnection({
        home: this,
        security: this.origin.security,
        onReady: (problem) => {
          clearTimeout(timer)
          resolve(problem ?? connection)
        },
      })
      const giveUp = beginToDial(way, connection, { ...this.options, origin: this.origin })
      const timer = setTimeout(giveUp, Math.max(1, timeoutMs))
    })
  }
}
