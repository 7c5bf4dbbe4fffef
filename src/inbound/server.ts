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
export function listen(options: ServerOptions): Server {
  const { hostname, port, handle, refuse, limits, originOf, onConnectionLimit, onError } = options
  const connections = new ConnectionLimiter<ServerConnection>(
    { ...unbounded, ...limits },
    originOf ?? (() => undefined),
  )
  let isStopping = false
  let isHeld = options.isHeld ?? false
  const host: Host = {
    limits: { ...connectionLimits, ...limits },
    handle,
    refuse,
    onError,
    get isStopping() {
      return isStopping
    },
    get isHeld() {
      return isHeld
    },
  }
  const listener = Bun.listen<ServerConnection>({
    hostname,
    port,
    socket: {
      open(socket) {
        socket.data = new ServerConnection(socket, host)
        // Reset while it waited to be taken in: it has no address, and its request would be carried out for nobody.
        if (!socket.remoteAddress) return socket.terminate()
        if (!connections.admit(socket.data, socket.data.openedMs)) socket.terminate()
      },
      data: (socket, bytes) => socket.data.data(bytes),
      drain: (socket) => socket.data.drain(),
      close(socket) {
        connections.leave(socket.data)
        socket.data.closed()
      },
      error(socket, error) {
        onError(error)
        socket.terminate()
      },
    },
  })
  const { headTimeoutMs, idleTimeoutMs, stallTimeoutMs, lingerTimeoutMs } = host.limits
  const sweepMs = Math.min(SWEEP_MS, headTimeoutMs / 4, idleTimeoutMs / 4, stallTimeoutMs / 4, lingerTimeoutMs / 4)
  const withEach = (work: (connection: ServerConnection) => void): void => {
    for (const connection of connections) {
      try {
        work(connection)
      } catch (error) {
        onError(error as Error)
        connection.destroy()
      }
    }
  }
  const sweeper = setInterval(() => {
    const nowMs = performance.now()
    withEach((connection) => connection.sweep(nowMs))
    connections.thin(nowMs)
    const crowding = connections.crowding(nowMs)
    if (crowding) onConnectionLimit?.(crowding)
  }, sweepMs)
  const stop = (): void => {
    isStopping = true
    listener.stop(false)
    for (const connection of connections) if (connection.isIdle) connection.close()
  }
  return {
    port: listener.port,
    begin() {
      isHeld = false
      withEach((connection) => connection.readOn())
    },
    stop,
    close() {
      stop()
      clearInterval(sweeper)
      for (const connection of connections) connection.leave()
    },
    get connections() {
      return connections.size
    },
    get dropped() {
      return connections
    },
  }
}
