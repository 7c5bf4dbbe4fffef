import type { Caller } from '../domain/account.ts'
import type { Failure } from '../domain/failure.ts'
import type { RoutingHints } from '../domain/routing-hints.ts'
import type { LimiterPermit } from '../accounts/limiter.ts'
import type { MemoryShare, ReplyMemory } from '../lib/runtime/reply-memory.ts'
import { NOWHERE, type RosterMember } from '../lib/primitives/roster.ts'
import type { ClientRequest } from '../formats/core/contract.ts'
import type { IdempotencyKey } from '../records/idempotency.ts'
import type { RequestTrace } from '../telemetry/request-trace.ts'
import type { ConversationKey } from '../router/conversations.ts'
import type { Abortable, Stoppable } from '../upstream/in-flight-attempt.ts'
import type { CacheAsk, CacheUse } from './cache-use.ts'
import { RequestLife } from './lifecycle.ts'

/** The reason for ending a call from outside before its answer is complete. */
export type CancelReason = 'client_closed' | 'revoked' | 'suspended' | 'shutdown' | 'overdue'

/** The failure of a call whose client has left. It is only recorded, because nobody receives it. */
export const CLIENT_CLOSED: Failure = { kind: 'unavailable', message: 'The client closed the connection.' }

export type CallStart = Pick<
  GatewayRequest,
  'id' | 'caller' | 'request' | 'limiterPermit' | 'clientAddress' | 'once' | 'cacheAsk'
> & {
  /** The memory in which long replies are read. */
  readonly replies?: ReplyMemory | undefined
  /** When the request arrived, as a time of `performance.now()`. */
  readonly startedMs: number
  readonly linkBase?: string | undefined
  readonly trace?: RequestTrace | undefined
  readonly hints?: RoutingHints | undefined
  readonly headers?: ReadonlyMap<string, string> | undefined
}

/** One client request in the relay: the caller, the request, and how it is cancelled. */
export class GatewayRequest implements Stoppable, RosterMember {
  place = NOWHERE
  readonly id: string
  readonly caller: Caller
  readonly request: ClientRequest
  /** The permit of the limits of its key and account. */
  readonly limiterPermit: LimiterPermit
  /** The address of the client, for the log. */
  readonly clientAddress: string
  /** The address of this gateway as its client can reach it, or undefined if it is not known. */
  readonly linkBase: string | undefined
  /** The headers of the request, by their names in lower case. */
  readonly headers: ReadonlyMap<string, string> | undefined
  /** The idempotency key and the fingerprint, if the client sent a key. */
  readonly once: IdempotencyKey | undefined
  /** The trace that it belongs to, if traces are sent. */
  readonly trace: RequestTrace | undefined
  /** What it asks of the answer cache. Undefined if no model has one. */
  readonly cacheAsk: CacheAsk | undefined
  /** What came of that. */
  cacheUse: CacheUse | undefined
  /** How the request wishes to be routed, if it says so. */
  readonly hints: RoutingHints | undefined
  readonly life = new RequestLife(this)
  cancelled: CancelReason | undefined
  upstreamStopped = false
  /** Its conversation, if that keeps to one offer. Set at its admission. */
  conversationKey: ConversationKey | undefined
  /** How often its admission was decided again. */
  decisions = 0
  /** Whether its hold was refused. Nobody waits for its answer. */
  isDropped = false
  /** The memory of its long replies, if there are any. */
  replyMemory: MemoryShare | undefined
  private readonly replies: ReplyMemory | undefined
  private readonly startedMs: number
  private onCancelled: ((reason: CancelReason) => void) | undefined
  /** What is stopped with the call: the attempt, and a fetch of something in its stream. */
  private flights: readonly Abortable[] = []

  constructor(start: CallStart) {
    const {
      id,
      caller,
      request,
      limiterPermit,
      startedMs,
      clientAddress,
      once,
      cacheAsk,
      linkBase,
      replies,
      trace,
      hints,
    } = start
    this.headers = start.headers
    this.id = id
    this.caller = caller
    this.request = request
    this.limiterPermit = limiterPermit
    this.clientAddress = clientAddress
    this.once = once
    this.cacheAsk = cacheAsk
    this.linkBase = linkBase
    this.hints = hints
    this.replies = replies
    this.trace = trace
    this.startedMs = startedMs
  }

  /** Ends the call. The first reason stands. A later call can still stop an upstream that outlived its client. */
  cancel(reason: CancelReason): void {
    if (reason !== 'client_closed' || !this.life.outlivesClient) this.stopUpstream()
    if (this.cancelled) return
    this.cancelled = reason
    this.onCancelled?.(reason)
  }

  /** Its hold was refused, so its attempts end. */
  drop(): void {
    this.isDropped = true
    this.stopUpstream()
  }

  stopUpstream(): void {
    this.upstreamStopped = true
    for (const flight of this.flights) flight.abort()
  }

  took(flight: Abortable): void {
    this.flights = [...this.flights, flight]
  }

  landed(flight: Abortable): void {
    this.flights = this.flights.filter((one) => one !== flight)
  }

  heard(requestId: string | undefined): void {
    this.life.heard(requestId)
  }

  /** Calls `tell` when the call is cancelled, or at once if it already is. */
  whenCancelled(tell: (reason: CancelReason) => void): void {
    if (this.cancelled) tell(this.cancelled)
    else this.onCancelled = tell
  }

  /** Whether the answer is made in the background. */
  get isBackground(): boolean {
    const { conversation } = this.request
    return conversation !== undefined && conversation.mode !== 'attached'
  }

  elapsedMs(): number {
    return performance.now() - this.startedMs
  }

  memoryShare(): MemoryShare | undefined {
    return (this.replyMemory ??= this.newMemoryShare())
  }

  newMemoryShare(): MemoryShare | undefined {
    return this.replies?.share(this.caller.account.id)
  }

  /** The answer is in this memory. */
  takeMemory(share: MemoryShare): void {
    this.replyMemory?.release()
    this.replyMemory = share
  }

  /** Releases the memory of a long answer once its client has taken it. */
  async forgetReplies(isTaken: Promise<void>): Promise<void> {
    await isTaken
    this.replyMemory?.release()
  }
}
