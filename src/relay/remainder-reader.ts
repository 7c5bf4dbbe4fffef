import { limit } from '../lib/primitives/limit.ts'

export const remainderBounds = {
  streamsMax: limit('drainStreamsMax', 64, 'A further stream is cut when its client leaves.'),
  timeoutMs: limit('drainTimeoutMs', 120_000, 'A stream without a client is cut after this time.'),
}

/** Reads the rest of upstream streams after their clients left, because the vendors bill them to the end anyway. */
export class RemainderReader {
  private running = 0
  private readonly streamsMax: number
  private readonly timeoutMs: number

  constructor({ streamsMax, timeoutMs }: { streamsMax: number; timeoutMs: number }) {
    this.streamsMax = streamsMax
    this.timeoutMs = timeoutMs
  }

  /** Runs `read`, and calls `stop` if it takes too long. If too many already run, calls `stop` at once. */
  async run(read: () => Promise<void>, stop: () => void): Promise<void> {
    if (this.running >= this.streamsMax) return stop()
    this.running++
    const timer = setTimeout(stop, this.timeoutMs)
    try {
      await read()
    } finally {
      clearTimeout(timer)
      this.running--
    }
  }
}
