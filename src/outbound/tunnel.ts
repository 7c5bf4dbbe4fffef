/** A connection to a proxy until it leads to the host of the request. Then it becomes the connection to that host. */
import type { Socket, SocketHandler, TLSOptions } from 'bun'
import { handlers, type ClientConnection } from './connection.ts'
import type { Handshake } from './proxy-handshake.ts'

export type TunnelOptions = {
  readonly handshake: Handshake
  /** What the tunnel becomes. It learns of a failure, too. */
  readonly connection: ClientConnection
  /** How the host is verified. Undefined: it is spoken to without TLS. */
  readonly tls: TLSOptions | undefined
}

export class Tunnel {
  private socket: Socket<Tunnel> | undefined
  private readonly options: TunnelOptions
  private isOver = false

  constructor(options: TunnelOptions) {
    this.options = options
  }

  opened(socket: Socket<Tunnel>): void {
    this.socket = socket
    if (this.isOver) socket.terminate()
    else this.send(this.options.handshake.first)
  }

  data(bytes: Buffer): void {
    if (this.isOver) return
    const step = this.options.handshake.take(bytes)
    if (step.kind === 'failed') this.fail(step.message)
    else if (step.kind === 'send') this.send(step.bytes)
    else if (step.kind === 'open') this.lead()
  }

  closed(): void {
    this.fail('the proxy closed the connection')
  }

  /** Ends it, unless it leads to the host already. */
  fail(message: string): void {
    if (this.isOver) return
    this.isOver = true
    this.socket?.terminate()
    this.options.connection.ready(message)
  }

  /** A few hundred bytes always fit into a socket that nothing was written to. */
  private send(bytes: Uint8Array): void {
    if (this.socket?.write(bytes) !== bytes.length) this.fail('the proxy takes no bytes')
  }

  /** The proxy has connected to the host. */
  private lead(): void {
    const { connection, tls } = this.options
    const socket = this.socket as unknown as Socket<ClientConnection>
    this.isOver = true
    if (tls) {
      const [, secured] = socket.upgradeTLS<ClientConnection>({ data: connection, tls, socket: handlers })
      if (!connection.isUp) connection.opened(secured)
      return
    }
    socket.data = connection
    socket.reload({ socket: handlers })
    connection.opened(socket)
  }
}

export const tunnelHandlers: SocketHandler<Tunnel> = {
  open: (socket) => socket.data.opened(socket),
  data: (socket, bytes) => socket.data.data(bytes),
  close: (socket) => socket.data.closed(),
  error: (socket) => socket.data.closed(),
  // Bun.connect also rejects, and the rejection is handled.
  connectError: () => undefined,
}
