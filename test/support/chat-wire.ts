/** A chat client on a raw socket. It sees each event when it arrives, every byte of the end, and leaves on command. */
import type { Socket } from 'bun'

export type HangUp =
  /** Closes politely. */
  | 'fin'
  | 'rst'
  /** Says that it sends no more, and would go on reading. */
  | 'half'

export type WireRequest = {
  readonly port: number
  readonly key: string
  readonly body: object
  readonly headers?: Readonly<Record<string, string>>
  /** Sends only so many bytes of the request. */
  readonly bytesMax?: number
}

export type WireAnswer = {
  readonly status: number
  readonly requestId: string
  readonly body: string
  /** Whether the framing says that nothing is missing. */
  readonly isWhole: boolean
}

const TIMEOUT_MS = 20_000

export class ChatWire {
  /** What has arrived, a byte a character. */
  text = ''
  ending: 'open' | 'fin' | 'reset' = 'open'
  /** Events, comments not counted. */
  events = 0
  private readAt = 0
  private socket: Socket | undefined
  private waiting: { readonly holds: () => boolean; readonly resolve: () => void } | undefined

  /** Connects and sends. */
  static async send({ port, key, body, headers = {}, bytesMax }: WireRequest): Promise<ChatWire> {
    const wire = new ChatWire()
    const json = Buffer.from(JSON.stringify(body))
    const fields = {
      host: 'gateway',
      connection: 'close',
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'content-length': String(json.length),
      ...headers,
    }
    const head = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`)
    const bytes = Buffer.concat([
      Buffer.from(`POST /v1/chat/completions HTTP/1.1\r\n${head.join('')}\r\n`, 'latin1'),
      json,
    ])
    wire.socket = await Bun.connect({
      hostname: '127.0.0.1',
      port,
      allowHalfOpen: true,
      socket: {
        data: (_, part) => wire.take(part),
        end: (socket) => {
          if (wire.ending === 'open') wire.ending = 'fin'
          socket.end()
          wire.wake()
        },
        close: () => {
          if (wire.ending === 'open') wire.ending = 'reset'
          wire.wake()
        },
        error: () => undefined,
      },
    })
    wire.socket.write(bytes.subarray(0, bytesMax))
    return wire
  }

  hangUp(how: HangUp): void {
    if (how === 'rst') this.socket?.terminate()
    else if (how === 'fin') this.socket?.end()
    else this.socket?.shutdown()
  }

  /** Waits until so many events have come, or the end. */
  async untilEvents(count: number): Promise<void> {
    await this.until(() => this.events >= count || this.ending !== 'open')
  }

  /** Waits until everything has come that will. */
  async whole(): Promise<WireAnswer> {
    await this.until(() => this.ending !== 'open')
    return readAnswer(this.text)
  }

  /** The value of a header of the answer, once its head is there. */
  header(name: string): string | undefined {
    return new RegExp(`\\r\\n${name}: ([^\\r]*)\\r\\n`, 'i').exec(
      this.text.slice(0, this.text.indexOf('\r\n\r\n') + 2),
    )?.[1]
  }

  private until(holds: () => boolean): Promise<void> {
    if (holds()) return Promise.resolve()
    return new Promise((resolve, reject) => {
      const late = (): void => reject(new Error(`nothing came of it; ${this.ending}: ${this.text.slice(-500)}`))
      const timer = setTimeout(late, TIMEOUT_MS)
      this.waiting = {
        holds,
        resolve: () => {
          clearTimeout(timer)
          resolve()
        },
      }
    })
  }

  private take(part: Buffer): void {
    this.text += part.toString('latin1')
    for (let at = this.text.indexOf('\n\n', this.readAt); at !== -1; at = this.text.indexOf('\n\n', this.readAt)) {
      this.events++
      this.readAt = at + 2
    }
    this.wake()
  }

  private wake(): void {
    const { waiting } = this
    if (!waiting?.holds()) return
    this.waiting = undefined
    waiting.resolve()
  }
}

/** Takes an answer apart, by no code of the gateway's. */
export function readAnswer(text: string): WireAnswer {
  const blank = text.indexOf('\r\n\r\n')
  const head = text.slice(0, blank)
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1] ?? 0)
  const requestId = /\r\nx-request-id: (\S+)/i.exec(head)?.[1] ?? ''
  const rest = blank === -1 ? '' : text.slice(blank + 4)
  const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1]
  const { body, isWhole } =
    length === undefined ? unchunk(rest) : { body: rest, isWhole: blank !== -1 && rest.length === Number(length) }
  return { status, requestId, body: Buffer.from(body, 'latin1').toString(), isWhole }
}

function unchunk(text: string): { body: string; isWhole: boolean } {
  let body = ''
  for (let at = 0; at < text.length;) {
    const lineEnd = text.indexOf('\r\n', at)
    if (lineEnd === -1) break
    const size = Number.parseInt(text.slice(at, lineEnd), 16)
    if (size === 0) return { body, isWhole: text.slice(lineEnd) === '\r\n\r\n' }
    body += text.slice(lineEnd + 2, lineEnd + 2 + size)
    at = lineEnd + 2 + size + 2
  }
  return { body, isWhole: false }
}

/** The data of the events of a body, comments left out. */
export const dataOf = (body: string): string[] =>
  body
    .split('\n')
    .filter((line) => line.startsWith('data: '))
    .map((line) => line.slice('data: '.length))
