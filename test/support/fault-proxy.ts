/**
 * A TCP proxy that causes network faults on purpose. It stands between two programs on loopback. Faults can be planned
 * before a connection opens and changed while it runs, for each direction separately.
 */
import type { Socket, TCPSocketListener } from 'bun'

export type Toxics = {
  /** Each byte comes so much later, give or take the jitter; the order stays. */
  readonly latencyMs?: number
  readonly jitterMs?: number
  readonly bytesPerSecond?: number
  /** Pieces of so many bytes, with a pause after each. */
  readonly slice?: { readonly bytes: number; readonly pauseMs: number }
  /** The connection ends for both sides after so many more bytes: politely, or by a reset. */
  readonly cut?: { readonly afterBytes: number; readonly by: 'fin' | 'rst'; readonly pauseMs?: number }
  /** After so many more bytes nothing passes any more, and nobody is told. */
  readonly holeAfterBytes?: number
  /** A polite end is passed on so much later. */
  readonly slowCloseMs?: number
}
/** Up is from the client to the server. */
export type LinkToxics = { readonly up?: Toxics; readonly down?: Toxics }

type Item = { readonly bytes: Buffer; readonly dueMs: number } | 'end'

const QUEUED_BYTES_MAX = 256 * 1024
const NONE = Number.POSITIVE_INFINITY
const until = (dueMs: number): Promise<void> => Bun.sleep(Math.max(0, dueMs - performance.now()))

/** One direction of one connection. */
class Pipe {
  passedBytes = 0
  from: Socket<Side> | undefined
  to: Socket<Side> | undefined
  /** Its sender has said that nothing more comes. */
  hasEnded = false
  private readonly link: FaultLink
  private toxics: Toxics = {}
  private sinceSetBytes = 0
  private readonly queue: Item[] = []
  private queuedBytes = 0
  private isPumping = false
  private onDrain: (() => void) | undefined

  constructor(link: FaultLink) {
    this.link = link
  }

  set(toxics: Toxics): void {
    this.toxics = toxics
    this.sinceSetBytes = 0
  }

  push(bytes: Buffer): void {
    const { latencyMs = 0, jitterMs = 0 } = this.toxics
    const delayMs = latencyMs + (Math.random() * 2 - 1) * jitterMs
    this.queue.push({ bytes: Buffer.from(bytes), dueMs: performance.now() + delayMs })
    this.queuedBytes += bytes.length
    if (this.queuedBytes > QUEUED_BYTES_MAX) this.from?.pause()
    this.pump()
  }

  end(): void {
    this.hasEnded = true
    this.queue.push('end')
    this.pump()
  }

  drain(): void {
    this.onDrain?.()
  }

  /** Runs until the queue is empty. The connection may be gone at any await: writing to what is gone does nothing. */
  pump(): void {
    if (this.isPumping || !this.to) return
    this.isPumping = true
    this.empty().catch(() => this.link.reset())
  }

  private async empty(): Promise<void> {
    for (let item = this.queue.shift(); item && !this.link.isOver; item = this.queue.shift()) {
      if (item === 'end') await this.passEnd()
      else {
        if (item.dueMs > performance.now()) await until(item.dueMs)
        await this.pass(item.bytes)
        this.queuedBytes -= item.bytes.length
        if (this.queuedBytes <= QUEUED_BYTES_MAX) this.from?.resume()
      }
    }
    this.isPumping = false
  }

  private async passEnd(): Promise<void> {
    const { slowCloseMs, holeAfterBytes = NONE } = this.toxics
    if (slowCloseMs) await Bun.sleep(slowCloseMs)
    if (this.sinceSetBytes < holeAfterBytes) this.to?.shutdown()
  }

  private async pass(bytes: Buffer): Promise<void> {
    for (let at = 0; at < bytes.length && !this.link.isOver;) {
      const { slice, cut, holeAfterBytes: hole, bytesPerSecond } = this.toxics
      const left = Math.max(0, Math.min(cut?.afterBytes ?? NONE, hole ?? NONE) - this.sinceSetBytes)
      // A slow line passes a hundredth of a second at once.
      const paced = bytesPerSecond ? Math.ceil(bytesPerSecond / 100) : NONE
      const piece = bytes.subarray(at, at + Math.min(left, paced, slice?.bytes ?? NONE))
      await this.write(piece)
      at += piece.length
      this.sinceSetBytes += piece.length
      this.passedBytes += piece.length
      if (cut && this.sinceSetBytes >= cut.afterBytes) return this.cut(cut)
      if (hole !== undefined && this.sinceSetBytes >= hole) return
      if (bytesPerSecond) await Bun.sleep((piece.length / bytesPerSecond) * 1000)
      if (slice) await Bun.sleep(slice.pauseMs)
    }
  }

  private async cut(cut: NonNullable<Toxics['cut']>): Promise<void> {
    const { by, pauseMs = 0 } = cut
    // A reset overtakes what its receiver has not read: the pause makes the last byte count.
    if (pauseMs > 0) await Bun.sleep(pauseMs)
    // An answer that was complete leaves its connection to the next, which has a plan of its own.
    if (this.toxics.cut !== cut) return
    if (by === 'rst') this.link.reset()
    else this.link.finish()
  }

  private async write(bytes: Buffer): Promise<void> {
    for (let rest = bytes; rest.length > 0 && this.to && !this.link.isOver;) {
      rest = rest.subarray(Math.max(0, this.to.write(rest)))
      if (rest.length > 0) await new Promise<void>((resolve) => (this.onDrain = resolve))
    }
  }
}

type Side = { readonly link: FaultLink; readonly sends: Pipe; readonly receives: Pipe }

/** One connection through the proxy. */
export class FaultLink {
  readonly up = new Pipe(this)
  readonly down = new Pipe(this)
  isOver = false
  private readonly onOver: (how: 'cut' | 'closed') => void

  constructor(onOver: (how: 'cut' | 'closed') => void) {
    this.onOver = onOver
  }

  /** From now on; bytes are counted from here. */
  set({ up = {}, down = {} }: LinkToxics): void {
    this.up.set(up)
    this.down.set(down)
  }

  /** Ends it for both sides by a reset. */
  reset(): void {
    this.over('cut', (socket) => socket.terminate())
  }

  /** Ends it for both sides politely. */
  finish(): void {
    this.over('cut', (socket) => socket.end())
  }

  /** A side is gone. Without an announcement that was a reset, and the other side gets one too. */
  closed({ sends, receives }: Side): void {
    sends.from = receives.to = undefined
    if (!sends.hasEnded) this.over('closed', (socket) => socket.terminate())
    else if (!receives.from) this.over('closed', () => undefined)
    receives.drain()
  }

  private over(how: 'cut' | 'closed', close: (socket: Socket<Side>) => void): void {
    if (this.isOver) return
    this.isOver = true
    for (const { from } of [this.up, this.down]) if (from) close(from)
    for (const pipe of [this.up, this.down]) pipe.drain()
    this.onOver(how)
  }
}

const handlers = {
  data: (socket: Socket<Side>, bytes: Buffer) => socket.data.sends.push(bytes),
  end: (socket: Socket<Side>) => socket.data.sends.end(),
  drain: (socket: Socket<Side>) => socket.data.receives.drain(),
  close: (socket: Socket<Side>) => socket.data.link.closed(socket.data),
  error: () => undefined,
}

export type FaultProxyOptions = {
  /** Where the server listens, on loopback. */
  readonly port: number
  /** The toxics of a new connection, counted from 0; it may be changed while the proxy runs. */
  plan?: (index: number) => LinkToxics
}

export class FaultProxy {
  readonly counters = { accepted: 0, cuts: 0, closed: 0 }
  /** The connections that are open, by the port they come to the server from. */
  readonly links = new Map<number, FaultLink>()
  plan: (index: number) => LinkToxics
  private readonly listener: TCPSocketListener<Side>
  private serverPort: number

  constructor({ port, plan = () => ({}) }: FaultProxyOptions) {
    this.serverPort = port
    this.plan = plan
    this.listener = Bun.listen<Side>({
      hostname: '127.0.0.1',
      port: 0,
      allowHalfOpen: true,
      socket: { ...handlers, open: (socket) => this.accept(socket) },
    })
  }

  get port(): number {
    return this.listener.port
  }

  get origin(): string {
    return `http://127.0.0.1:${this.port}`
  }

  /** From now on another server answers. The connections to the one before are cut. */
  redirect(port: number): void {
    this.serverPort = port
    for (const link of this.links.values()) link.reset()
  }

  stop(): void {
    this.listener.stop(true)
    for (const link of this.links.values()) link.reset()
  }

  private accept(socket: Socket<Side>): void {
    let serverSide = 0
    const link = new FaultLink((how) => {
      this.counters[how === 'cut' ? 'cuts' : 'closed']++
      this.links.delete(serverSide)
    })
    link.set(this.plan(this.counters.accepted++))
    const { up, down } = link
    up.from = down.to = socket
    socket.data = { link, sends: up, receives: down }
    const open = (server: Socket<Side>): void => {
      if (link.isOver) return server.terminate()
      serverSide = server.localPort
      this.links.set(serverSide, link)
      down.from = up.to = server
      up.pump()
    }
    const data: Side = { link, sends: down, receives: up }
    const socketHandlers = { ...handlers, open, connectError: () => link.reset() }
    Bun.connect<Side>({
      hostname: '127.0.0.1',
      port: this.serverPort,
      allowHalfOpen: true,
      data,
      socket: socketHandlers,
    }).catch(() => link.reset())
  }
}
