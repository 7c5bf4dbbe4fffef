/** One connection to an upstream: a socket and its current exchange. */
import type { Socket, SocketHandler } from 'bun'
import { flushAtEndOfTick } from '../lib/runtime/end-of-tick.ts'
import type { UploadBody } from '../lib/http/form.ts'
import { fillWireBuffer, WIRE_CHARS_MAX, wireBuffer } from '../lib/http/wire-buffer.ts'
import type { Carrier, ClientExchange } from './exchange.ts'

/** The owner of a connection between exchanges. */
export type Home = {
  /** Takes it back for the next exchange. `keepAliveMs`: how long the upstream says that it keeps it. */
  put(connection: ClientConnection, keepAliveMs: number): void
  /** Closes it if its exchange has not ended soon. */
  watch(connection: ClientConnection): void
  forget(connection: ClientConnection): void
}

export type ConnectionOptions = {
  readonly home: Home
  readonly security: 'plain' | 'tls'
  /** Called once, when the connection is ready, or with the reason why it cannot be. */
  readonly onReady: (problem: string | undefined) => void
}

export class ClientConnection implements Carrier {
  socket!: Socket<ClientConnection>
  exchange: ClientExchange | undefined
  /** Whether it is open and usable. */
  isUp = false
  /** Whether it has been idle. The upstream may have closed it in the meantime. */
  isReused = false
  /** The time until which it may stay idle or linger. */
  untilMs = 0
  idleSinceMs = 0
  private readonly home: Home
  private readonly security: ConnectionOptions['security']
  private onReady: ConnectionOptions['onReady'] | undefined
  private unsent: Buffer | undefined
  /** The body that is being sent, and the callback that continues sending. */
  private upload: UploadBody | undefined
  private onFlushed: (() => void) | undefined
  /** Text that is written at the end of the tick. */
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

  /** The end of the TLS handshake. Nothing is written before the certificate is verified. */
  shaken(ok: boolean, error: Error | null): void {
    if (ok && !error) return this.ready(undefined)
    this.ready((error as { code?: string } | null)?.code ?? 'TLS handshake failed')
    this.destroy()
  }

  /** Ends the connecting. A socket that opens later is closed. */
  ready(problem: string | undefined): void {
    const { onReady } = this
    this.onReady = undefined
    onReady?.(problem)
    if (problem !== undefined) this.destroy()
  }

  /** Writes a request at the end of the tick. Bytes that the socket does not take then follow later. */
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
    // The number of characters is at most the number of bytes, so the text fits.
    const buffer = bytes > WIRE_CHARS_MAX ? Buffer.from(held.join('')) : wireBuffer
    if (buffer === wireBuffer) fillWireBuffer(held)
    const taken = Math.max(0, socket.write(buffer, 0, bytes))
    if (taken > 0) this.exchange?.handedOver()
    if (taken < bytes) this.unsent = Buffer.from(buffer.subarray(taken, bytes))
    if (this.upload) this.send(this.upload).catch((error: unknown) => this.uploadFailed(error))
  }

  /** Sends a body that is read while it is sent, at the pace of the upstream. */
  private async send(upload: UploadBody): Promise<void> {
    const { exchange } = this
    // The head is sent first, and each piece is sent before the next is made.
    await this.flushed()
    for await (const piece of upload.pieces()) {
      if (!this.isUp || this.exchange !== exchange) return
      const taken = Math.max(0, this.socket.write(piece))
      if (taken < piece.length) this.unsent = Buffer.from(piece.buffer, piece.byteOffset + taken, piece.length - taken)
      await this.flushed()
    }
    this.upload = undefined
  }

  private async flushed(): Promise<void> {
    while (this.unsent && this.isUp) await new Promise<void>((resolve) => (this.onFlushed = resolve))
  }

  private uploadFailed(error: unknown): void {
    this.exchange?.fail((error as Error).name)
    this.destroy()
  }

  /** The socket takes bytes again. */
  sendRest(): void {
    if (!this.unsent) return
    const taken = Math.max(0, this.socket.write(this.unsent))
    this.unsent = taken < this.unsent.length ? this.unsent.subarray(taken) : undefined
    if (!this.unsent) this.onFlushed?.()
  }

  data(bytes: Buffer): void {
    // No request was sent, so these bytes would become the start of the next answer. A held request is not sent yet.
    if (!this.exchange || this.held.length > 0) return this.refuseUnasked()
    try {
      this.exchange.data(bytes)
    } catch (error) {
      // A programming error in a sink must neither end the process nor leave its request without an end.
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
    this.onFlushed?.()
    this.home.forget(this)
    const code = error && ((error as { code?: string }).code ?? error.name)
    this.ready(code ?? 'closed while connecting')
    exchange?.closed(code)
  }

  /** Ends the exchange and waits for the next one. */
  idle(keepAliveMs: number): void {
    this.exchange = undefined
    if (!this.isUp) return
    // The answer came before the request was fully sent. The upstream would read the rest as another request.
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
    this.onFlushed?.()
    this.socket.terminate()
  }
}

/** The handlers of all sockets. Each event goes to the connection in `socket.data`. */
export const handlers: SocketHandler<ClientConnection> = {
  open: (socket) => socket.data.opened(socket),
  handshake: (socket, ok, error) => socket.data.shaken(ok, error),
  data: (socket, bytes) => socket.data.data(bytes),
  drain: (socket) => socket.data.sendRest(),
  close: (socket, error) => socket.data.closed(error),
  error: (socket) => socket.data.destroy(),
  // Bun.connect also rejects, and the rejection is handled.
  connectError: () => undefined,
}
