/** The connections to one origin. One is opened if none is idle, and kept for a while after its answer. */
import { bareHost } from './address.ts'
import { ClientConnection, handlers, type Home } from './connection.ts'
import type { ClientExchange } from './exchange.ts'
import { vet, type AddressReach } from './guard.ts'
import { limit } from '../lib/primitives/limit.ts'

export type PoolOrigin = {
  readonly security: 'plain' | 'tls'
  /** As in a URL, so an IPv6 address has brackets. */
  readonly hostname: string
  readonly port: number
  /** A connection of one reach never serves another reach. */
  readonly reach: AddressReach
}

type ConnectOptions = Bun.TCPSocketConnectOptions<ClientConnection>

export type PoolOptions = {
  /** DNS, TCP and TLS together. */
  readonly connectTimeoutMs: number
  /** The addresses of a host. The pool connects only to those that the guard admits. */
  addressesOf(hostname: string): Promise<readonly string[]>
  /** Opens a socket to an address that the guard has admitted. Tests replace it. */
  connect(options: ConnectOptions): Promise<unknown>
  /** Certificates to trust instead of the system's; `NODE_EXTRA_CA_CERTS` adds to those. */
  readonly ca?: string
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
/** How long an observed idle time is believed. A restart of the upstream also closes connections, but says nothing. */
const HABIT_MS = 300_000

export class Pool implements Home {
  private readonly origin: PoolOrigin
  private readonly options: PoolOptions
  /** The last was used last. Connections at the front are superfluous and expire. */
  private idle: ClientConnection[] = []
  private readonly lingering = new Set<ClientConnection>()
  private timer: Timer | undefined
  private isClosed = false
  /** How long the upstream has been observed to keep idle connections. */
  private habit = { idleMs: IDLE_MS, untilMs: 0 }

  constructor(origin: PoolOrigin, options: PoolOptions) {
    this.origin = origin
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

  /** A connection, or the reason why there is none. Addresses are tried in turn, each with a share of the time left. */
  private async connect(deadlineMs: number): Promise<ClientConnection | string> {
    const addresses = await this.resolve(deadlineMs)
    if (typeof addresses === 'string') return addresses
    let problem = 'connect timeout'
    for (const [i, address] of addresses.entries()) {
      const shareMs = (deadlineMs - performance.now()) / (addresses.length - i)
      const connected = await this.dial(address, shareMs)
      if (typeof connected !== 'string') return connected
      problem = connected
    }
    return problem
  }

  /** The allowed addresses, or the reason why there are none. Cached addresses are judged again for each connection. */
  private async resolve(deadlineMs: number): Promise<readonly string[] | string> {
    const { promise: late, resolve: giveUp } = Promise.withResolvers<string>()
    const timer = setTimeout(giveUp, deadlineMs - performance.now(), 'DNS timeout')
    const found = this.options.addressesOf(this.origin.hostname).catch((error: unknown) => codeOf(error))
    const resolved = await Promise.race([found, late])
    clearTimeout(timer)
    if (typeof resolved === 'string') return resolved
    const vetted = vet(resolved, this.origin.reach)
    return vetted.kind === 'some' ? vetted.addresses : vetted.message
  }

  private dial(address: string, timeoutMs: number): Promise<ClientConnection | string> {
    const { security, hostname, port } = this.origin
    const { ca } = this.options
    return new Promise((resolve) => {
      const connection = new ClientConnection({
        home: this,
        security,
        onReady: (problem) => {
          clearTimeout(timer)
          resolve(problem ?? connection)
        },
      })
      const timer = setTimeout(() => connection.ready('connect timeout'), Math.max(1, timeoutMs))
      const tls = { serverName: bareHost(hostname), ...(ca === undefined ? {} : { ca }) }
      this.options
        .connect({
          hostname: address,
          port,
          data: connection,
          socket: handlers,
          ...(security === 'tls' ? { tls } : {}),
        })
        .catch((error: unknown) => connection.ready(codeOf(error)))
    })
  }
}

/** Names an error without the address that its message holds. */
function codeOf(error: unknown): string {
  const { code, name } = error as { code?: unknown; name?: string }
  return typeof code === 'string' ? code : (name ?? 'network error')
}
