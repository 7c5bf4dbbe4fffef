/**
 * Buffers that are used again: new ones for every piece of a large body would be garbage faster than it is collected.
 */
const SMALLEST_BYTES = 64 * 1024
/** Buffers of a size that are kept for later. */
const KEPT_MAX = 32

export class BufferPool {
  private readonly kept = new Map<number, Buffer[]>()

  /** One that holds so many bytes, of what it held before. */
  out(bytes: number): Buffer {
    let size = SMALLEST_BYTES
    while (size < bytes) size *= 2
    return this.kept.get(size)?.pop() ?? Buffer.allocUnsafeSlow(size)
  }

  /** Gives one back that nobody looks at any more. */
  back(buffer: Buffer): void {
    if (buffer.length < SMALLEST_BYTES) return
    const kept = this.kept.get(buffer.length) ?? []
    this.kept.set(buffer.length, kept)
    if (kept.length < KEPT_MAX) kept.push(buffer)
  }
}
