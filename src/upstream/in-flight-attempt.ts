import type { UpstreamFailure } from '../domain/failure.ts'
import type { ReplyClaim } from '../lib/runtime/reply-memory.ts'
import { Stop } from '../outbound/stop.ts'
import type { TextReader } from '../outbound/text.ts'
import { Watchdog } from './watchdog.ts'

/** What can be told to stop: a call, as far as its upstream is concerned. */
export type Stoppable = {
  readonly upstreamStopped: boolean
  /** An attempt began: it is to be aborted when the upstream's work is no longer wanted. */
  took(flight: Abortable): void
  landed(flight: Abortable): void
  /** The head of an answer arrived, with the vendor's id of the request, where it has one. */
  heard?(requestId: string | undefined): void
  /** What long whole replies take their memory from; without it they take what they need. */
  claimMemory?(): ReplyClaim | undefined
}

export type Abortable = { abort(): void }

/** How a connection failed, and whether the upstream can have seen the request by then. */
type ConnectionError = { readonly message: string; readonly reached: boolean }

/** An attempt under way: its abort, fed by whoever stops it and by the watchdog. */
export class InFlightAttempt implements Abortable, TextReader {
  readonly watchdog: Watchdog
  readonly stop = new Stop()
  private readonly owner: Stoppable
  /** While its answer waits for memory of ours: what was left of its time. */
  private leftMs: number | undefined
  private timedOut = false

  constructor(owner: Stoppable, firstLimitMs: number) {
    this.owner = owner
    this.watchdog = new Watchdog(firstLimitMs, this)
    owner.took(this)
    if (owner.upstreamStopped) this.abort()
  }

  claimMemory(): ReplyClaim | undefined {
    return this.owner.claimMemory?.()
  }

  waits(isWaiting: boolean): void {
    if (isWaiting) {
      // It may be told so more than once: what was on its way still comes.
      this.leftMs ??= this.watchdog.leftMs
      this.watchdog.rest()
    } else if (this.leftMs !== undefined) {
      this.watchdog.beat(Math.max(1, this.leftMs))
      this.leftMs = undefined
    }
  }

  expired(): void {
    this.timedOut = true
    this.abort()
  }

  abort(): void {
    this.stop.stop()
  }

  /** Ends the attempt: no limit and nobody's stop reaches it any more. */
  land(): void {
    this.watchdog.stop()
    this.owner.landed(this)
  }

  /** Names what ended it: a connection that never was, our own limit, or a connection that broke. */
  failure({ message, reached }: ConnectionError): UpstreamFailure {
    if (!reached) return { kind: 'unreachable', message: this.timedOut ? 'no connection in time' : message }
    // Made, and given up by whoever waited for us to read it: to ask another would pay for it twice.
    const isLost = this.leftMs !== undefined && !this.owner.upstreamStopped
    if (isLost) return { kind: 'unread', message: 'the answer waited for memory for too long' }
    if (this.timedOut) return { kind: 'timeout', message: 'the upstream was silent for too long' }
    return { kind: 'network', message }
  }
}
