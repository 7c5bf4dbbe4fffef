/** A body as text. */
import type { Incoming, Sink } from './exchange.ts'

/** UTF-8, lenient as `fetch` is: a byte that is none becomes a replacement character, a byte order mark goes. */
function decode(bytes: Buffer): string {
  const text = bytes.toString()
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text
}

/** Collects a body. One that comes in a single read is decoded where it lies. */
class TextSink implements Sink {
  private readonly response: Incoming
  private readonly bytesMax: number
  private readonly onText: (text: string | undefined) => void
  private parts: Buffer[] | undefined
  private bytes = 0

  constructor(response: Incoming, bytesMax: number, onText: (text: string | undefined) => void) {
    this.response = response
    this.bytesMax = bytesMax
    this.onText = onText
  }

  part(bytes: Buffer): void {
    this.bytes += bytes.length
    if (this.bytes > this.bytesMax) return this.response.cancel()
    ;(this.parts ??= []).push(Buffer.from(bytes))
  }

  end(last: Buffer): void {
    if (this.bytes + last.length > this.bytesMax) return this.onText(undefined)
    this.onText(decode(this.parts ? Buffer.concat([...this.parts, last]) : last))
  }

  broken(): void {
    this.onText(undefined)
  }
}

/** Reads a body up to `bytesMax`; `onText` gets undefined when it is larger, or breaks off. */
export function collectText(response: Incoming, bytesMax: number, onText: (text: string | undefined) => void): void {
  if (Number(response.headers.get('content-length') ?? 0) > bytesMax) {
    response.cancel()
    return onText(undefined)
  }
  response.deliver(new TextSink(response, bytesMax, onText))
}

/** The same as a promise. */
export const readText = (response: Incoming, bytesMax: number): Promise<string | undefined> =>
  new Promise((resolve) => collectText(response, bytesMax, resolve))
