/** A body as text. */
import type { Incoming, Sink } from './exchange.ts'

/** UTF-8, lenient as `fetch` is: a byte that is none becomes a replacement character, a byte order mark goes. */
function decode(bytes: Buffer, from: number, to: number): string {
  const text = bytes.toString('utf8', from, to)
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text
}

/** Who wants a body as text. It gets one: undefined when it is larger than may be, or breaks off. */
export type TextTaker = { text(text: string | undefined): void }

/** Collects a body. One that comes in a single read is decoded where it lies. */
class TextSink implements Sink {
  private readonly response: Incoming
  private readonly bytesMax: number
  private readonly taker: TextTaker
  private parts: Buffer[] | undefined
  private bytes = 0

  constructor(response: Incoming, bytesMax: number, taker: TextTaker) {
    this.response = response
    this.bytesMax = bytesMax
    this.taker = taker
  }

  part(bytes: Buffer): void {
    this.bytes += bytes.length
    if (this.bytes > this.bytesMax) return this.response.cancel()
    ;(this.parts ??= []).push(Buffer.from(bytes))
  }

  end(last: Buffer): void {
    this.endIn(last, 0, last.length)
  }

  endIn(bytes: Buffer, from: number, to: number): void {
    if (this.bytes + to - from > this.bytesMax) return this.taker.text(undefined)
    if (!this.parts) return this.taker.text(decode(bytes, from, to))
    const whole = Buffer.concat([...this.parts, bytes.subarray(from, to)])
    this.taker.text(decode(whole, 0, whole.length))
  }

  broken(): void {
    this.taker.text(undefined)
  }
}

/** Reads a body up to `bytesMax`. */
export function collectText(response: Incoming, bytesMax: number, taker: TextTaker): void {
  if (response.declaredBytes > bytesMax) {
    response.cancel()
    return taker.text(undefined)
  }
  response.deliver(new TextSink(response, bytesMax, taker))
}

/** The same as a promise. */
export const readText = (response: Incoming, bytesMax: number): Promise<string | undefined> =>
  new Promise((resolve) => collectText(response, bytesMax, { text: resolve }))
