/**
 * The HTTP/1.1 server, on sockets. The runtime's own costs more than twice as much a request (docs/performance.md),
 * answers what it cannot parse without our envelope, and knows no limit for slow heads and stalled readers.
 */
import { connectionLimits, type ConnectionLimits } from './connection-limits.ts'
import { ServerConnection, type Host } from './connection.ts'
import { ConnectionLimiter, type ConnectionCountLimits, type ConnectionLimiterStats } from './connection-limiter.ts'

export type ServerOptions = Pick<Host, 'handle' | 'refuse'> & {
  readonly hostname: string
  readonly port: number
  readonly limits?: Partial<ConnectionLimits & ConnectionCountLimits>
  /** Where an address belongs, as far as strangers are counted by it; undefined: they are not. */
  readonly originOf?: (remoteAddress: string) => string | undefined
  /** Told when there were too many connections, and now and then while it goes on. */
  readonly onConnectionLimit?: (crowding: ConnectionLimiterStats) => void
  /** Keeps what clients send until `begin` is called. */
  readonly isHeld?: boolean
  /** A programmer's error in a handler: its connection is broken off. */
  readonly onError: (error: Error) => void
}

export type Server = {
  readonly port: number
  /** Reads what has come while the server was held, and from now on at once. */
  begin(): void
  /** Takes no new connection or request; answers under way go on. */
  stop(): void
  /** Ends what is left: answers that are complete still reach their clients, others are broken off. */
  close(): void
  readonly connections: number
  /** How many connections were too many so far. */
  readonly dropped: Pick<ConnectionLimiterStats, 'dismissed' | 'turnedAway'>
}

const unbounded: ConnectionCountLimits = { connectionsMax: Infinity, strangersPerAddressMax: Infinity }
const SWEEP_MS = 250

/** Listens. Throws where the address cannot be had. */
export const listen = (options: ServerOptions): Server => new SocketServer(options)

class SocketServer implements Server, Host {
  readonly limits: ConnectionLimits
  readonly handle: Host['handle']
  readonly refuse: Host['refuse']
  readonly onError: Host['onError']
  isStopping = false
  isHeld: boolean
  private readonly limiter: ConnectionLimiter<ServerConnection>
  private readonly onConnectionLimit: ServerOptions['onConnectionLimit']
  private readonly listener: Bun.TCPSocketListener<ServerConnection>
  private readonly sweeper: Timer

  constructor(options: ServerOptions) {
    const { hostname, port, limits, originOf = () => undefined } = options
    this.limits = { ...connectionLimits, ...limits }
    this.handle = options.handle
    this.refuse = options.refuse
    this.onError = options.onError
    this.onConnectionLimit = options.onConnectionLimit
    this.isHeld = options.isHeld ?? false
    this.limiter = new ConnectionLimiter({ ...unbounded, ...limits }, originOf)
    this.listener = Bun.listen<ServerConnection>({
      hostname,
      port,
      socket: {
        open: (socket) => this.open(socket),
        data: (socket, bytes) => socket.data.data(bytes),
        drain: (socket) => socket.data.drain(),
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

  stop(): void {
    this.isStopping = true
    this.listener.stop(false)
    for (const connection of this.limiter) if (connection.isIdle) connection.close()
  }

  close(): void {
    this.stop()
    clearInterval(this.sweeper)
    for (const connection of this.limiter) connection.leave()
  }

  private open(socket: Bun.Socket<ServerConnection>): void {
    socket.data = new ServerConnection(socket, this)
    // Reset while it waited to be taken in: it has no address, and its request would be carried out for nobody.
    if (!socket.remoteAddress) socket.terminate()
    else if (!this.limiter.admit(socket.data, socket.data.openedMs)) socket.terminate()
  }

  private sweep(): void {
    const nowMs = performance.now()
    this.withEach((connection) => connection.sweep(nowMs))
    this.limiter.thin(nowMs)
    const crowding = this.limiter.crowding(nowMs)
    if (crowding) this.onConnectionLimit?.(crowding)
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

/** Often enough that no time limit is overrun by more than a quarter. */
const sweepMsOf = ({ headTimeoutMs, idleTimeoutMs, stallTimeoutMs, lingerTimeoutMs }: ConnectionLimits): number =>
  Math.min(SWEEP_MS, headTimeoutMs / 4, idleTimeoutMs / 4, stallTimeoutMs / 4, lingerTimeoutMs / 4)
