/**
 * The HTTP/1.1 server, on sockets. The runtime's own server costs more than twice as much per request
 * (docs/performance.md), answers malformed requests without our envelope, and has no limits for slow heads and stalled
 * readers.
 */
import { nextTurn } from '../lib/runtime/end-of-tick.ts'
import { connectionLimits, type ConnectionLimits } from './connection-limits.ts'
import { ServerConnection } from './connection.ts'
import { ConnectionLimiter, type ConnectionCountLimits, type ConnectionLimiterStats } from './connection-limiter.ts'
import type { Host } from './host.ts'
import { refusePlainHttp } from './refusal.ts'
import { dropSyns } from './syn-filter.ts'

export type ServerOptions = Pick<Host, 'handle' | 'refuse' | 'waitFor'> & {
  readonly hostname: string
  readonly port: number
  /** With it, the server speaks TLS. */
  readonly tls?: TlsCredentials | undefined
  readonly limits?: Partial<ConnectionLimits & ConnectionCountLimits>
  /** The origin by which strangers of an address are counted. Undefined: they are not counted. */
  readonly originOf?: (remoteAddress: string) => string | undefined
  /** Called when there were too many connections, and repeatedly while that goes on. */
  readonly onConnectionLimit?: (report: ConnectionLimiterStats) => void
  /** Whether other processes listen on the same port too. The system then shares the connections among them. */
  readonly isShared?: boolean
  /** Whether requests wait until `begin` is called. */
  readonly isHeld?: boolean
  /** Called with a programming error in a handler. Its connection is broken off. */
  readonly onError: (error: Error) => void
}

/** A certificate with its chain and its key, as PEM and as a context of the TLS library. */
export type TlsCredentials = { readonly cert: string; readonly key: string; readonly context: object }

export type Server = {
  readonly port: number
  /** Processes requests that have waited, and from now on each request at once. */
  begin(): void
  /** From now on new connections get this certificate. */
  renew(credentials: TlsCredentials): void
  /** From now on each answer closes its connection, and says so. The port stays open. */
  endKeepAlive(): void
  /**
   * Accepts the connections in the backlog and then stops. An idle connection may bring a last request for so many
   * milliseconds. A proxy may send one on a connection that is being closed, and cannot send it again.
   */
  retire(lastRequestMs?: number): Promise<void>
  /** Closes the port. Running answers go on. A connection that waits for a request is closed after a moment. */
  stop(): void
  /** Called after `stop`. Resolves when no connection has or awaits a request, or else after `timeoutMs`. */
  quiet(timeoutMs: number): Promise<void>
  /** Closes all connections. Complete answers still reach their clients, and others are broken off. */
  close(): void
  readonly connections: number
  /** The numbers of closed and rejected connections since the start. */
  readonly dropped: Pick<ConnectionLimiterStats, 'dismissed' | 'turnedAway'>
}

/** The types of the runtime know this option only for outgoing connections. */
const sharing = (isShared: boolean): object => ({ reusePort: isShared })

const unbounded: ConnectionCountLimits = { connectionsMax: Infinity, strangersPerAddressMax: Infinity }
/** TLS 1.2 with forward secrecy and authenticated encryption. Of TLS 1.3, all ciphers have both. */
const TLS_CIPHERS = 'ECDHE+AESGCM:ECDHE+CHACHA20'
const SWEEP_MS = 250
/** A client that is sending a request on an open connection needs less time than this. */
const LAST_REQUEST_MS = 200
/** By then, the handshakes that had begun are complete, and the connections in the backlog are accepted. */
const BACKLOG_MS = 50
const POLL_MS = 20

/** Listens. Throws if the address is not available. */
export const listen = (options: ServerOptions): Server => new SocketServer(options)

class SocketServer implements Server, Host {
  limits: ConnectionLimits
  readonly handle: Host['handle']
  readonly waitFor: Host['waitFor']
  readonly refuse: Host['refuse']
  readonly onError: Host['onError']
  isRetiring = false
  isStopped = false
  isHeld: boolean
  private readonly isSecure: boolean
  private renewed: object | undefined
  private readonly limiter: ConnectionLimiter<ServerConnection>
  private readonly onConnectionLimit: ServerOptions['onConnectionLimit']
  private readonly listener: Bun.TCPSocketListener<ServerConnection>
  private sweeper: Timer
  private retiring: Promise<void> | undefined
  private lastRequestMs = LAST_REQUEST_MS

  constructor(options: ServerOptions) {
    const { hostname, port, tls, limits, originOf = () => undefined } = options
    this.limits = { ...connectionLimits, ...limits }
    this.handle = options.handle
    this.waitFor = options.waitFor
    this.refuse = options.refuse
    this.onError = options.onError
    this.onConnectionLimit = options.onConnectionLimit
    this.isHeld = options.isHeld ?? false
    this.isSecure = tls !== undefined
    this.limiter = new ConnectionLimiter({ ...unbounded, ...limits }, originOf)
    this.listener = Bun.listen<ServerConnection>({
      hostname,
      port,
      ...sharing(options.isShared ?? false),
      ...(tls ? { tls: { cert: tls.cert, key: tls.key, ciphers: TLS_CIPHERS } } : {}),
      socket: {
        open: (socket) => this.open(socket),
        handshake: (socket, isDone, error) => this.shaken(socket, isDone ? null : error),
        data: (socket, bytes) => socket.data.data(bytes),
        drain: (socket) => socket.data.sendRest(),
        close: ({ data }) => {
          this.limiter.leave(data)
          data.closed()
        },
        error: (socket, error) => {
          this.onError(error)
          socket.terminate()
        },
      },
    })
    this.sweeper = setInterval(() => this.sweep(), sweepMsOf(this.limits))
  }

  get port(): number {
    return this.listener.port
  }

  get connections(): number {
    return this.limiter.size
  }

  get dropped(): Server['dropped'] {
    return this.limiter
  }

  begin(): void {
    this.isHeld = false
    this.withEach((connection) => connection.readOn())
  }

  renew({ context }: TlsCredentials): void {
    this.renewed = context
  }

  endKeepAlive(): void {
    this.isRetiring = true
  }

  retire(lastRequestMs = LAST_REQUEST_MS): Promise<void> {
    this.endKeepAlive()
    this.lastRequestMs = lastRequestMs
    this.retiring ??= this.closePort()
    return this.retiring
  }

  private async closePort(): Promise<void> {
    // Bun 1.4.5 has the descriptor of a listener, although its types do not.
    await dropSyns((this.listener as unknown as { readonly fd: number }).fd)
    await Bun.sleep(BACKLOG_MS)
    // A busy loop comes to its timers late, and then has to accept before it closes.
    await nextTurn()
    this.stop()
  }

  async quiet(timeoutMs: number): Promise<void> {
    const endMs = performance.now() + timeoutMs
    while (this.isBusy() && performance.now() < endMs) await Bun.sleep(POLL_MS)
  }

  private isBusy(): boolean {
    for (const { isIdle, work } of this.limiter) if (isIdle || work !== 'none') return true
    return false
  }

  stop(): void {
    if (this.isStopped) return
    this.isRetiring = this.isStopped = true
    this.listener.stop(false)
    this.limits = { ...this.limits, idleTimeoutMs: Math.min(this.limits.idleTimeoutMs, this.lastRequestMs) }
    const deadlineMs = performance.now() + this.lastRequestMs
    for (const connection of this.limiter) connection.awaitLast(deadlineMs)
    clearInterval(this.sweeper)
    this.sweeper = setInterval(() => this.sweep(), POLL_MS)
  }

  close(): void {
    this.stop()
    clearInterval(this.sweeper)
    for (const connection of this.limiter) connection.leave()
  }

  private open(socket: Bun.Socket<ServerConnection>): void {
    // Bun 1.4.5 has this method of Node's TLSSocket, although its types do not. The chain comes with the context.
    if (this.renewed) (socket as unknown as { setKeyCert(context: object): void }).setKeyCert(this.renewed)
    socket.data = new ServerConnection(socket, this)
    socket.data.isShaking = this.isSecure
    // A connection that was reset before it was accepted has no address. Its request would run for nobody.
    if (!socket.remoteAddress) socket.terminate()
    else if (!this.limiter.admit(socket.data, socket.data.openedMs)) socket.terminate()
  }

  /** The TLS handshake is over. After a failure, the runtime closes the socket. */
  private shaken(socket: Bun.Socket<ServerConnection>, error: Error | null): void {
    socket.data.isShaking = false
    if (error) refusePlainHttp(socket, this, error)
  }

  private sweep(): void {
    const nowMs = performance.now()
    this.withEach((connection) => connection.sweep(nowMs))
    this.limiter.thin(nowMs)
    const report = this.limiter.report(nowMs)
    if (report) this.onConnectionLimit?.(report)
  }

  private withEach(work: (connection: ServerConnection) => void): void {
    for (const connection of this.limiter) {
      try {
        work(connection)
      } catch (error) {
        this.onError(error as Error)
        connection.destroy()
      }
    }
  }
}

/** The sweep runs often enough that no time limit is exceeded by more than a quarter. */
const sweepMsOf = ({ headTimeoutMs, idleTimeoutMs, stallTimeoutMs, lingerTimeoutMs }: ConnectionLimits): number =>
  Math.min(SWEEP_MS, headTimeoutMs / 4, idleTimeoutMs / 4, stallTimeoutMs / 4, lingerTimeoutMs / 4)
