/**
 * A cancel handle: what an AbortController does, without its native objects and events. It has one listener, because
 * one request is under way at a time.
 */
export class Stop {
  /** Called once when it is stopped. */
  onStop: (() => void) | undefined
  private stopped = false

  get isStopped(): boolean {
    return this.stopped
  }

  stop(): void {
    if (this.stopped) return
    this.stopped = true
    this.onStop?.()
  }
}
