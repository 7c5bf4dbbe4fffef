/** A client of raw bytes. It sends what no HTTP library would, and sees every byte of the answer. */
import { connect, type Socket } from 'node:net'

export class RawClient {
  readonly socket: Socket
  /** What has arrived, as latin1. */
  text = ''
  /** How the other side ended it: `fin` politely, `reset` or another error not. */
  ending: 'open' | 'fin' | 'reset' = 'open'
  /** Why it broke, where it did. */
  error: Error | undefined
  private waiters: (() => void)[] = []

  constructor(socket: Socket) {
    this.socket = socket
    socket.on('data', (bytes) => {
      this.text += bytes.toString('latin1')
      this.wake()
    })
    socket.on('end', () => {
      if (this.ending === 'open') this.ending = 'fin'
      this.wake()
    })
    socket.on('error', (error) => {
      this.error = error
      if (this.ending === 'open') this.ending = 'reset'
      this.wake()
    })
  }

  send(data: string | Uint8Array): this {
    this.socket.write(typeof data === 'string' ? Buffer.from(data, 'latin1') : data)
    return this
  }

  /** Waits until something holds, at most ten seconds: other jobs share the machine. */
  async until(holds: (client: this) => boolean): Promise<string> {
    const giveUpMs = performance.now() + 10_000
    while (!holds(this)) {
      if (performance.now() > giveUpMs)
        throw new Error(`nothing came of it; ${this.ending}: ${this.text.slice(0, 500)}`)
      const { promise, resolve } = Promise.withResolvers<void>()
      this.waiters.push(resolve)
      const timer = setTimeout(resolve, 20)
      await promise
      clearTimeout(timer)
    }
    return this.text
  }

  /** Waits for a text in what has arrived. */
  has(text: string): Promise<string> {
    return this.until(() => this.text.includes(text))
  }

  /** Waits for the end; gives everything. */
  ended(): Promise<string> {
    return this.until(() => this.ending !== 'open')
  }

  /** The status codes of the answers so far, in order. */
  get statuses(): number[] {
    return [...this.text.matchAll(/(?<=^|\n|[^\r])HTTP\/1\.1 (\d{3}) /g)].map(([, code]) => Number(code))
  }

  close(): void {
    this.socket.destroy()
  }

  private wake(): void {
    const { waiters } = this
    this.waiters = []
    for (const wake of waiters) wake()
  }
}

/** Connects; half open, so that the test decides when its own side ends. */
export function rawClient(port: number): Promise<RawClient> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true })
    const client = new RawClient(socket)
    socket.once('connect', () => resolve(client))
    socket.once('error', reject)
  })
}
