import type { Caller } from '../domain/account.ts'
import type { Failure } from '../domain/failure.ts'
import type { LimiterPermit } from '../accounts/limiter.ts'
import type { ReplyClaim, ReplyMemory } from '../lib/runtime/reply-memory.ts'
import { NOWHERE, type RosterMember } from '../lib/primitives/roster.ts'
import type { ClientRequest } from '../formats/core/contract.ts'
import type { IdempotencyKey } from '../records/idempotency.ts'
import type { Abortable, Stoppable } from '../upstream/in-flight-attempt.ts'
import { RequestLife } from './lifecycle.ts'

/** Why a call is ended from outside before its answer is complete. */
export type CancelReason = 'client_closed' | 'revoked' | 'suspended' | 'shutdown' | 'overdue'

/** What is told to a client that has left: nothing, the record of its call says it. */
export const CLIENT_CLOSED: Failure = { kind: 'unavailable', message: 'The client closed the connection.' }

export type CallStart = Pick<
  GatewayRequest,
  'id' | 'caller' | 'request' | 'limiterPermit' | 'clientAddress' | 'once'
> & {
  /** Where long replies to it are read. */
  readonly replies?: ReplyMemory | undefined
  /** When the request arrived, by `performance.now()`. */
  readonly startedMs: number
  readonly linkBase?: string | undefined
}

/** One client request on its way through the relay: who asks for what, and how it is called off. */
export class GatewayRequest implements Stoppable, RosterMember {
  place = NOWHERE
  readonly id: string
  readonly caller: Caller
  readonly request: ClientRequest
  /** Its stand with the limits of its key and account. */
  readonly limiterPermit: LimiterPermit
  /** For the log. */
  readonly clientAddress: string
  /** The address of this gateway as its client can reach it; undefined where that is not known. */
  readonly linkBase: string | undefined
  /** What makes this request and its repetitions one, where the client wishes so. */
  readonly once: IdempotencyKey | undefined
  readonly life = new RequestLife(this)
  cancelled: CancelReason | undefined
  upstreamStopped = false
  /** What long replies to it take, if there are any. */
  replyMemory: ReplyClaim | undefined
  private readonly replies: ReplyMemory | undefined
  private readonly startedMs: number
  private onCancelled: ((reason: CancelReason) => void) | undefined
  /** What is stopped with the call: the attempt, and a fetch for what is in its stream. */
  private flights: readonly Abortable[] = []

  constructor({ id, caller, request, limiterPermit, startedMs, clientAddress, once, linkBase, replies }: CallStart) {
    this.id = id
    this.caller = caller
    this.request = request
    this.limiterPermit = limiterPermit
    this.clientAddress = clientAddress
    this.once = once
    this.linkBase = linkBase
    this.replies = replies
    this.startedMs = startedMs
  }

  /** Ends the call. The first reason stands, but a later one can still stop an upstream that outlived its client. */
  cancel(reason: CancelReason): void {
    if (reason !== 'client_closed' || !this.life.outlivesClient) this.stopUpstream()
    if (this.cancelled) return
    this.cancelled = reason
    this.onCancelled?.(reason)
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

  /** Calls `tell` when the call is cancelled, at once if it has been already. */
  whenCancelled(tell: (reason: CancelReason) => void): void {
    if (this.cancelled) tell(this.cancelled)
    else this.onCancelled = tell
  }

  /** Whether the answer is made without its client. */
  get isBackground(): boolean {
    const { conversation } = this.request
    return conversation !== undefined && conversation.mode !== 'attached'
  }

  elapsedMs(): number {
    return performance.now() - this.startedMs
  }

  claimMemory(): ReplyClaim | undefined {
    return (this.replyMemory ??= this.replies?.claim(this.caller.account.id))
  }

  /** A long answer is in memory until its client has taken it. */
  async forgetReplies(isTaken: Promise<void>): Promise<void> {
    await isTaken
    this.replyMemory?.release()
  }
}
