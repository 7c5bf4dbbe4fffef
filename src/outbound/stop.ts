/**
 * A cancel handle like an AbortController, without native objects and events. It has one target, because it serves one
 * request at a time.
 */
export class Stop {
  /** The target that `stop` cancels, once. */
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
