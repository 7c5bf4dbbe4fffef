import type { UpstreamFailure } from '../domain/failure.ts'
import { Watchdog } from './watchdog.ts'

/** What can be told to stop: a call, as far as its upstream is concerned. */
export type Stoppable = {
  readonly upstreamStopped: boolean
  /** Calls `stop` once, when the upstream's work is no longer wanted. Returns how to take it back. */
  onUpstreamStop(stop: () => void): () => void
}

/** An attempt under way: its abort, fed by whoever stops it and by the watchdog. */
export class Flight {
  readonly watchdog: Watchdog
  private readonly controller = new AbortController()
  private readonly unsubscribe: () => void
  private timedOut = false

  constructor(owner: Stoppable, firstLimitMs: number) {
    this.watchdog = new Watchdog(firstLimitMs, () => {
      this.timedOut = true
      this.abort()
    })
    this.unsubscribe = owner.onUpstreamStop(() => this.abort())
    if (owner.upstreamStopped) this.abort()
  }

  get signal(): AbortSignal {
    return this.controller.signal
  }

  get aborted(): boolean {
    return this.controller.signal.aborted
  }

  abort(): void {
    this.controller.abort()
  }

  /** Ends the attempt: no limit and nobody's stop reaches it any more. */
  land(): void {
    this.watchdog.stop()
    this.unsubscribe()
  }

  /** Names a broken connection: silence is our own doing. */
  failure(message: string): UpstreamFailure {
    return this.timedOut
      ? { kind: 'timeout', message: 'the upstream was silent for too long' }
      : { kind: 'network', message }
  }
}
