/**
 * A proxy that sends the requests of each connection to its targets in turn. Bytes pass unchanged. What follows a
 * request that it cannot read goes to the target of that request.
 */
import type { Socket } from 'bun'

export type AlternatingProxy = { readonly port: number; stop(): void }

const CRLF = '\r\n'
const HEAD_END = `${CRLF}${CRLF}`

type Peer = Socket<PeerState>
type PeerState = {
  /** What could not be written yet. */
  waiting: Uint8Array[]
  /** The socket whose bytes wait. It is not read meanwhile, so that a slow reader slows its server down. */
  source: Peer | undefined
  isEnded: boolean
  received(bytes: Uint8Array, from: Peer): void
  closed(): void
}

/** Finds where requests of one connection begin. */
class RequestBoundaries {
  private state: 'head' | 'body' | 'size' | 'chunk' | 'trailer' | 'unknown' = 'head'
  private line = ''
  private left = 0

  /** Returns how many bytes from `from` on belong to the current request, and whether the next byte begins another. */
  take(bytes: Uint8Array, from: number): { readonly end: number; readonly isComplete: boolean } {
    let at = from
    while (at < bytes.length) {
      if (this.state === 'unknown') return { end: bytes.length, isComplete: false }
      if (this.state === 'body' || this.state === 'chunk') {
        const taken = Math.min(this.left, bytes.length - at)
        this.left -= taken
        at += taken
        if (this.left > 0) return { end: at, isComplete: false }
        if (this.state === 'body') return this.done(at)
        this.state = 'size'
        continue
      }
      this.line += String.fromCharCode(bytes[at++] as number)
      if (this.lineEnded()) return this.done(at)
    }
    return { end: at, isComplete: false }
  }

  private done(end: number): { readonly end: number; readonly isComplete: boolean } {
    this.state = 'head'
    this.line = ''
    return { end, isComplete: true }
  }

  /** Whether the line that has just ended is the last of the request. */
  private lineEnded(): boolean {
    if (this.state === 'head') return this.line.endsWith(HEAD_END) && this.headEnded()
    if (!this.line.endsWith(CRLF)) return false
    const line = this.line.trim()
    this.line = ''
    if (this.state === 'trailer') return line === ''
    const size = Number.parseInt(line, 16)
    if (Number.isNaN(size)) this.state = 'unknown'
    else if (size === 0) this.state = 'trailer'
    else {
      this.state = 'chunk'
      this.left = size + CRLF.length
    }
    return false
  }

  private headEnded(): boolean {
    const head = this.line
    this.line = ''
    if (/^transfer-encoding: *chunked *\r$/im.test(head)) this.state = 'size'
    else {
      const length = /^content-length: *(\d+) *\r$/im.exec(head)?.[1]
      if (/^(?:transfer-encoding|upgrade|content-length):/im.test(head) && length === undefined) this.state = 'unknown'
      else if (Number(length ?? 0) === 0) return true
      else {
        this.state = 'body'
        this.left = Number(length)
      }
    }
    return false
  }
}

/** Listens on a port of loopback, which is a free one unless it is given. */
export function startAlternatingProxy(ports: readonly number[], port = 0): AlternatingProxy {
  let turn = 0
  const listener = Bun.listen<PeerState>({
    hostname: '127.0.0.1',
    port,
    allowHalfOpen: true,
    socket: {
      open: (client) => accept(client, () => ports[turn++ % ports.length] as number),
      ...handlers,
    },
  })
  return { port: listener.port, stop: () => listener.stop(true) }
}

const handlers = {
  data: (socket: Peer, bytes: Uint8Array) => socket.data.received(Uint8Array.from(bytes), socket),
  drain: (socket: Peer) => flush(socket),
  end: (socket: Peer) => socket.data.closed(),
  close: (socket: Peer) => {
    socket.data.closed()
    resume(socket.data)
  },
  error: (socket: Peer) => socket.data.closed(),
}

function accept(client: Peer, nextPort: () => number): void {
  const boundaries = new RequestBoundaries()
  let target: Promise<Peer> | undefined
  /** Chunks are sent in their order, although connecting takes time. */
  let sent = Promise.resolve()
  let isClosed = false
  const connect = (): Promise<Peer> => {
    const own: Promise<Peer> = Bun.connect<PeerState>({
      hostname: '127.0.0.1',
      port: nextPort(),
      data: stateOf(
        (bytes, from) => write(client, bytes, from),
        // A target that closes while it is the current one closes the client, as the only server would.
        () => {
          if (target === own) finish(client)
        },
      ),
      socket: handlers,
    })
    return own
  }
  let isBetween = true
  const forward = (bytes: Uint8Array): void => {
    for (let at = 0; at < bytes.length;) {
      if (isBetween) {
        const former = target
        target = connect()
        void former?.then(finish, () => undefined)
        isBetween = false
      }
      const { end, isComplete } = boundaries.take(bytes, at)
      const [part, to] = [bytes.subarray(at, end), target]
      sent = sent.then(async () => write((await to) as Peer, part, client)).catch(() => finish(client))
      isBetween = isComplete
      at = end
    }
  }
  client.data = stateOf(forward, () => {
    if (isClosed) return
    isClosed = true
    void sent.then(async () => finish((await target) as Peer)).catch(() => undefined)
  })
}

const stateOf = (received: PeerState['received'], closed: PeerState['closed']): PeerState => ({
  waiting: [],
  source: undefined,
  isEnded: false,
  received,
  closed,
})

function write(to: Peer, bytes: Uint8Array, from: Peer): void {
  to.data.waiting.push(bytes)
  flush(to)
  if (to.data.waiting.length === 0) return
  to.data.source = from
  from.pause()
}

/** Ends a connection once everything is written. */
function finish(socket: Peer | undefined): void {
  if (!socket) return
  socket.data.isEnded = true
  flush(socket)
}

function flush(socket: Peer): void {
  const { data } = socket
  for (let next = data.waiting[0]; next; next = data.waiting[0]) {
    const written = socket.write(next)
    if (written < 0) return resume(data)
    if (written < next.length) {
      data.waiting[0] = next.subarray(Math.max(written, 0))
      return
    }
    data.waiting.shift()
  }
  resume(data)
  if (data.isEnded) socket.end()
}

/** A source that is not read would not notice that its peer has left. */
function resume(data: PeerState): void {
  data.source?.resume()
  data.source = undefined
}
