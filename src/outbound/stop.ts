/**
 * A cancel handle: what an AbortController does, without its native objects and events. It has one target, because
 * one request is under way at a time.
 */
export class Stop {
  /** Cancelled once when it is stopped. */
  target: { cancel(): void } | undefined
  private stopped = false

  get isStopped(): boolean {
    return this.stopped
  }

  stop(): void {
    if (this.stopped) return
    this.stopped = true
    this.target?.cancel()
  }
}
