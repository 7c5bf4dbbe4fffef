import type { UpstreamFailure } from '../domain/failure.ts'
import type { MemoryShare } from '../lib/runtime/reply-memory.ts'
import { Stop } from '../outbound/stop.ts'
import type { LongBodyReader } from '../outbound/text.ts'
import { Watchdog } from './watchdog.ts'

/** What can be told to stop: a request, as far as its upstream is concerned. */
export type Stoppable = {
  readonly upstreamStopped: boolean
  /** An attempt began. It must be aborted when its result is no longer wanted. */
  took(flight: Abortable): void
  landed(flight: Abortable): void
  /** The head of an answer arrived, with the vendor's id of the request, if there is one. */
  heard?(requestId: string | undefined): void
  /** The memory for long whole replies. If left out, memory is not bounded. */
  memoryShare?(): MemoryShare | undefined
}

export type Abortable = { abort(): void }

/** How a connection failed, and whether the upstream can have seen the request. */
type ConnectionError = { readonly message: string; readonly reached: boolean }

/** An attempt in flight. Its owner and its watchdog can abort it. */
export class InFlightAttempt implements Abortable, LongBodyReader {
  readonly watchdog: Watchdog
  readonly stop = new Stop()
  private readonly owner: Stoppable
  /** The time that was left when its answer began to wait for memory. */
  private leftMs: number | undefined
  private timedOut = false

  constructor(owner: Stoppable, firstLimitMs: number) {
    this.owner = owner
    this.watchdog = new Watchdog(firstLimitMs, this)
    owner.took(this)
    if (owner.upstreamStopped) this.abort()
  }

  memoryShare(): MemoryShare | undefined {
    return this.owner.memoryShare?.()
  }

  waits(isWaiting: boolean): void {
    if (isWaiting) {
      // This may be called more than once, because data that was on its way still arrives.
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

  /** Ends the attempt. No limit and no stop reaches it after that. */
  land(): void {
    this.watchdog.stop()
    this.owner.landed(this)
  }

  /** Names what ended the attempt: no connection, a limit of the gateway, or a broken connection. */
  failure({ message, reached }: ConnectionError): UpstreamFailure {
    if (!reached) return { kind: 'unreachable', message: this.timedOut ? 'no connection in time' : message }
    // The upstream made the answer and gave up while it waited for memory here. Another attempt would be paid twice.
    const isLost = this.leftMs !== undefined && !this.owner.upstreamStopped
    if (isLost) return { kind: 'unread', message: 'the answer waited for memory for too long' }
    if (this.timedOut) return { kind: 'timeout', message: 'the upstream was silent for too long' }
    return { kind: 'network', message }
  }
}
