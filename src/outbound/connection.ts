/** One connection to an upstream: a socket, and the exchange it is at. */
import type { Socket, SocketHandler } from 'bun'
import { flushAtEndOfTick } from '../lib/runtime/end-of-tick.ts'
import type { UploadBody } from '../lib/http/form.ts'
import { fillWireBuffer, WIRE_CHARS_MAX, wireBuffer } from '../lib/http/wire-buffer.ts'
import type { Carrier, ClientExchange } from './exchange.ts'

/** Where a connection belongs between exchanges. */
export type Home = {
  /** Takes it back for the next exchange. `keepAliveMs`: how long the upstream says it keeps it. */
  put(connection: ClientConnection, keepAliveMs: number): void
  /** Closes it if its exchange has not ended soon. */
  watch(connection: ClientConnection): void
  forget(connection: ClientConnection): void
}

export type ConnectionOptions = {
  readonly home: Home
  readonly security: 'plain' | 'tls'
  /** Told once: it is ready for a request, or why it never will be. */
  readonly onReady: (problem: string | undefined) => void
}

export class ClientConnection implements Carrier {
  socket!: Socket<ClientConnection>
  exchange: ClientExchange | undefined
  /** Open, and not given up. */
  isUp = false
  /** It has waited idle: the upstream may have closed it in the meantime. */
  isReused = false
  /** Until when it may be idle, or linger. */
  untilMs = 0
  idleSinceMs = 0
  private readonly home: Home
  private readonly security: ConnectionOptions['security']
  private onReady: ConnectionOptions['onReady'] | undefined
  private unsent: Buffer | undefined
  /** The body that is being sent, and who waits to send on. */
  private upload: UploadBody | undefined
  private onDrained: (() => void) | undefined
  /** Leaves at the end of the tick. */
  private readonly held: string[] = []
  private heldBytes = 0

  constructor({ home, security, onReady }: ConnectionOptions) {
    this.home = home
    this.security = security
    this.onReady = onReady
  }

  opened(socket: Socket<ClientConnection>): void {
    this.socket = socket
    this.isUp = true
    if (!this.onReady) this.destroy()
    else if (this.security === 'plain') this.ready(undefined)
  }

  /** Nothing is written before the certificate has been found good. */
  shaken(ok: boolean, error: Error | null): void {
    if (ok && !error) return this.ready(undefined)
    this.ready((error as { code?: string } | null)?.code ?? 'TLS handshake failed')
    this.destroy()
  }

  /** Ends the connecting. A socket that opens after that is closed. */
  ready(problem: string | undefined): void {
    const { onReady } = this
    this.onReady = undefined
    onReady?.(problem)
    if (problem !== undefined) this.destroy()
  }

  /** Writes a request at the end of the tick; what the socket does not take then follows when it can. */
  write(head: string, body: string, bytes: number, upload: UploadBody | undefined): void {
    this.held.push(head, body)
    this.heldBytes = bytes
    this.upload = upload
    flushAtEndOfTick(this)
  }

  flush(): void {
    if (this.isUp && this.held.length > 0) this.sendHeld(this.heldBytes)
    this.held.length = 0
  }

  private sendHeld(bytes: number): void {
    const { held, socket } = this
    // A text of so few bytes has no more characters.
    const buffer = bytes > WIRE_CHARS_MAX ? Buffer.from(held.join('')) : wireBuffer
    if (buffer === wireBuffer) fillWireBuffer(held)
    const taken = Math.max(0, socket.write(buffer, 0, bytes))
    if (taken > 0) this.exchange?.handedOver()
    if (taken < bytes) this.unsent = Buffer.from(buffer.subarray(taken, bytes))
    if (this.upload) this.send(this.upload).catch((error: unknown) => this.uploadFailed(error))
  }

  /** Sends a body that is read while it is sent, as fast as the upstream takes it. */
  private async send(upload: UploadBody): Promise<void> {
    const { exchange } = this
    // The head goes first, and each piece before the next is made.
    await this.drained()
    for await (const piece of upload.pieces()) {
      if (!this.isUp || this.exchange !== exchange) return
      const taken = Math.max(0, this.socket.write(piece))
      if (taken < piece.length) this.unsent = Buffer.from(piece.buffer, piece.byteOffset + taken, piece.length - taken)
      await this.drained()
    }
    this.upload = undefined
  }

  private async drained(): Promise<void> {
    while (this.unsent && this.isUp) await new Promise<void>((resolve) => (this.onDrained = resolve))
  }

  private uploadFailed(error: unknown): void {
    this.exchange?.fail((error as Error).name)
    this.destroy()
  }

  drain(): void {
    if (!this.unsent) return
    const taken = Math.max(0, this.socket.write(this.unsent))
    this.unsent = taken < this.unsent.length ? this.unsent.subarray(taken) : undefined
    if (!this.unsent) this.onDrained?.()
  }

  data(bytes: Buffer): void {
    // Nobody asked: the next answer would begin with it. Nor did a request that has yet to leave.
    if (!this.exchange || this.held.length > 0) return this.refuseUnasked()
    try {
      this.exchange.data(bytes)
    } catch (error) {
      // A sink's mistake must not end the process, nor leave its request hanging.
      this.exchange?.fail((error as Error).name)
      this.destroy()
    }
  }

  private refuseUnasked(): void {
    const { exchange } = this
    this.destroy()
    exchange?.closed(undefined)
  }

  closed(error: Error | undefined): void {
    const { exchange } = this
    this.isUp = false
    this.exchange = undefined
    this.unsent = undefined
    this.onDrained?.()
    this.home.forget(this)
    const code = error && ((error as { code?: string }).code ?? error.name)
    this.ready(code ?? 'closed while connecting')
    exchange?.closed(code)
  }

  /** Its exchange is over: it waits for the next one. */
  idle(keepAliveMs: number): void {
    this.exchange = undefined
    if (!this.isUp) return
    // An answer that came before the request was out: the upstream would read the rest as another request.
    if (this.held.length > 0 || this.unsent || this.upload) return this.destroy()
    this.isReused = true
    this.home.put(this, keepAliveMs)
  }

  linger(): void {
    this.home.watch(this)
  }

  destroy(): void {
    this.exchange = undefined
    if (!this.isUp) return
    this.isUp = false
    this.onDrained?.()
    this.socket.terminate()
  }
}

/** Shared by all sockets: what happens to one is told to the connection it carries. */
export const handlers: SocketHandler<ClientConnection> = {
  open: (socket) => socket.data.opened(socket),
  handshake: (socket, ok, error) => socket.data.shaken(ok, error),
  data: (socket, bytes) => socket.data.data(bytes),
  drain: (socket) => socket.data.drain(),
  close: (socket, error) => socket.data.closed(error),
  error: (socket) => socket.data.destroy(),
  // Bun.connect rejects as well, and that is where it is handled.
  connectError: () => undefined,
}
