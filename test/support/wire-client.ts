/**
 * A client of exact bytes on many connections. It sends bytes unchanged, and accepts only whole HTTP/1.1 answers. Its
 * reader shares no code with the gateway's, so that they do not have the same bug.
 */
import type { Socket } from 'bun'
import { NO_BYTES } from '../../src/lib/http/wire-buffer.ts'

export type WireAnswer = {
  readonly status: number
  /** By lower-case name. */
  readonly headers: ReadonlyMap<string, string>
  readonly body: string
}

const STATUS_LINE = /^HTTP\/1\.1 (\d{3}) [ -~]*$/
const HEADER_LINE = /^([a-z0-9-]+): ([\t -~]*)$/

/** Reads one answer from the front. Undefined while it is incomplete; throws on what is no answer. */
function readAnswer(bytes: Buffer): { answer: WireAnswer; end: number } | undefined {
  const headEnd = bytes.indexOf('\r\n\r\n')
  if (headEnd === -1) return undefined
  const [start = '', ...lines] = bytes.toString('latin1', 0, headEnd).split('\r\n')
  const status = Number(STATUS_LINE.exec(start)?.[1])
  if (!status) throw new Error(`no status line: ${JSON.stringify(start.slice(0, 200))}`)
  const headers = new Map<string, string>()
  for (const line of lines) {
    const [, name = '', value = ''] = HEADER_LINE.exec(line) ?? []
    if (name === '' || headers.has(name)) throw new Error(`no header line: ${JSON.stringify(line.slice(0, 200))}`)
    headers.set(name, value)
  }
  const from = headEnd + 4
  if (status < 200) return { answer: { status, headers, body: '' }, end: from }
  if (headers.get('transfer-encoding') === 'chunked') {
    const read = readChunks(bytes, from)
    return read && { answer: { status, headers, body: read.text }, end: read.end }
  }
  const length = Number(headers.get('content-length'))
  if (!Number.isInteger(length)) throw new Error(`an answer without a length: ${start}`)
  const end = from + length
  return end > bytes.length ? undefined : { answer: { status, headers, body: bytes.toString('utf8', from, end) }, end }
}

function readChunks(bytes: Buffer, from: number): { text: string; end: number } | undefined {
  const parts: Buffer[] = []
  for (let at = from; ;) {
    const lineEnd = bytes.indexOf('\r\n', at)
    if (lineEnd === -1) return undefined
    const digits = bytes.toString('latin1', at, lineEnd)
    if (!/^[0-9a-f]{1,8}$/.test(digits)) throw new Error(`no chunk size: ${JSON.stringify(digits.slice(0, 50))}`)
    const size = Number.parseInt(digits, 16)
    const end = lineEnd + 2 + size
    if (end + 2 > bytes.length) return undefined
    if (bytes.toString('latin1', end, end + 2) !== '\r\n') throw new Error('a chunk without its end')
    if (size === 0) return { text: Buffer.concat(parts).toString(), end: end + 2 }
    parts.push(bytes.subarray(lineEnd + 2, end))
    at = end + 2
  }
}

export class WireClient {
  /** What was answered and not yet taken by `ask`, interim answers left out. */
  readonly answers: WireAnswer[] = []
  /** Bytes that are no whole answer. */
  left: Buffer = NO_BYTES
  /** Set when what came was no HTTP. */
  broken: Error | undefined
  isClosed = false
  private socket!: Socket<WireClient>
  private unsent: Uint8Array = NO_BYTES
  private waiters: (() => void)[] = []

  /** Connects. Only this side decides when its own half ends. */
  static async open(port: number): Promise<WireClient> {
    const client = new WireClient()
    client.socket = await Bun.connect<WireClient>({
      hostname: '127.0.0.1',
      port,
      allowHalfOpen: true,
      data: client,
      socket: {
        data: ({ data }, bytes) => data.take(bytes),
        drain: ({ data }) => data.flush(),
        end: (socket) => {
          socket.data.closed()
          socket.end()
        },
        close: ({ data }) => data.closed(),
        error: ({ data }) => data.closed(),
      },
    })
    return client
  }

  send(bytes: string | Uint8Array): this {
    const data = typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes
    this.unsent = this.unsent.length === 0 ? data : Buffer.concat([this.unsent, data])
    this.flush()
    return this
  }

  /** Sends a request and resolves to its answer; undefined when the connection closed, or time ran out, without one. */
  async ask(bytes: string | Uint8Array, waitMs = 30_000): Promise<WireAnswer | undefined> {
    this.send(bytes)
    await this.until(() => this.answers.length > 0, waitMs)
    return this.answers.shift()
  }

  /** Waits until something holds, the connection is closed, or time runs out. */
  async until(holds: () => boolean, waitMs = 30_000): Promise<boolean> {
    let isLate = false
    const timer = setTimeout(() => {
      isLate = true
      this.wake()
    }, waitMs)
    while (!holds() && !this.isClosed && !isLate) {
      const { promise, resolve } = Promise.withResolvers<void>()
      this.waiters.push(resolve)
      await promise
    }
    clearTimeout(timer)
    return holds()
  }

  /** Ends this side. */
  end(): void {
    this.socket.shutdown()
  }

  close(): void {
    this.socket.terminate()
  }

  private flush(): void {
    if (this.unsent.length === 0 || this.isClosed) return
    const taken = Math.max(0, this.socket.write(this.unsent))
    this.unsent = taken < this.unsent.length ? this.unsent.subarray(taken) : NO_BYTES
  }

  private take(bytes: Buffer): void {
    this.left = this.left.length === 0 ? Buffer.from(bytes) : Buffer.concat([this.left, bytes])
    try {
      for (let read = readAnswer(this.left); read; read = readAnswer(this.left)) {
        if (read.answer.status >= 200) this.answers.push(read.answer)
        this.left = this.left.subarray(read.end)
      }
    } catch (error) {
      this.broken = error as Error
    }
    this.wake()
  }

  private closed(): void {
    this.isClosed = true
    this.wake()
  }

  private wake(): void {
    const { waiters } = this
    this.waiters = []
    for (const wake of waiters) wake()
  }
}

/** A request as one text. */
export function requestText(method: string, path: string, headers: Record<string, string>, body = ''): string {
  const lines = Object.entries({ host: 'gateway', ...headers }).map(([name, value]) => `${name}: ${value}\r\n`)
  const length = body === '' ? '' : `content-length: ${Buffer.byteLength(body)}\r\n`
  // As bytes a character, which is how a client sends text.
  return Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join('')}${length}\r\n${body}`).toString('latin1')
}
