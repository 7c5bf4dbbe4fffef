/** Reads a body as bytes. */
import { nextTurn } from '../lib/runtime/end-of-tick.ts'
import type { MemoryShare } from '../lib/runtime/reply-memory.ts'
import { MIB } from '../lib/primitives/units.ts'
import type { IncomingResponse, Sink } from './exchange.ts'
import type { LongBodyReader } from './text.ts'

/** A long body takes memory in steps of this size. */
const BLOCK_BYTES = MIB

class BytesSink implements Sink {
  private readonly response: IncomingResponse
  private readonly bytesMax: number
  private readonly resolve: BytesTaker['resolve']
  private readonly reader: LongBodyReader | undefined
  /** The longest that the body can be. */
  private readonly most: number
  private memory: MemoryShare | undefined
  private bytes = 0
  private takenBytes = 0
  private readonly parts: Buffer[] = []

  constructor(response: IncomingResponse, bytesMax: number, { resolve, reader }: BytesTaker) {
    this.response = response
    this.bytesMax = bytesMax
    this.resolve = resolve
    this.reader = reader
    this.most = response.declaredBytes || bytesMax
  }

  part(bytes: Buffer): void {
    if (!this.add(bytes)) {
      // The wait for memory ends first, because it is not the cause.
      this.reader?.waits(false)
      return this.response.cancel()
    }
    this.memory?.moves()
    const more = this.bytes - this.takenBytes
    if (more < BLOCK_BYTES) return
    this.takenBytes = this.bytes
    this.memory ??= this.reader?.memoryShare()
    if (this.memory?.grow(more, this.most - this.bytes, () => this.setWaiting(false)) === false) this.setWaiting(true)
  }

  end(last: Buffer): void {
    const isWhole = this.add(last)
    this.memory?.settle(isWhole ? this.bytes - this.takenBytes : 0)
    this.resolve(isWhole ? this.parts : undefined)
  }

  broken(): void {
    this.memory?.settle()
    this.resolve(undefined)
  }

  /** False: the body is too long. */
  private add(bytes: Buffer): boolean {
    this.bytes += bytes.length
    if (this.bytes > this.bytesMax) return false
    this.parts.push(Buffer.from(bytes))
    return true
  }

  private setWaiting(isWaiting: boolean): void {
    if (isWaiting) this.response.pause()
    else this.response.resume()
    this.reader?.waits(isWaiting)
  }
}

type BytesTaker = {
  readonly resolve: (parts: Buffer[] | undefined) => void
  readonly reader: LongBodyReader | undefined
}

/** Reads a body up to `bytesMax`. Undefined if it is larger or breaks off. */
export async function readBytes(
  response: IncomingResponse,
  bytesMax: number,
  reader?: LongBodyReader,
): Promise<Buffer | undefined> {
  if (response.declaredBytes > bytesMax) {
    response.cancel()
    return undefined
  }
  const parts = await new Promise<Buffer[] | undefined>((resolve) =>
    response.deliver(new BytesSink(response, bytesMax, { resolve, reader })),
  )
  // Joining takes a millisecond for a few megabytes, so a long body is joined in its own turn.
  if (parts && parts.length > 1) await nextTurn()
  return parts && Buffer.concat(parts)
}
