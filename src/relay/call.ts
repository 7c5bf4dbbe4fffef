import type { Caller } from '../domain/account.ts'
import type { Failure } from '../domain/failure.ts'
import type { LimiterPermit } from '../accounts/limiter.ts'
import type { ReplyClaim, ReplyMemory } from '../lib/runtime/reply-memory.ts'
import { NOWHERE, Roster, type RosterMember } from '../lib/primitives/roster.ts'
import type { ClientRequest } from '../formats/core/contract.ts'
import type { IdempotencyLock, IdempotencyKey } from '../records/idempotency.ts'
import type { AttemptNote, SettledRecord } from '../records/records.ts'
import type { Abortable, Stoppable } from '../upstream/in-flight-attempt.ts'
import type { OutputCap } from '../modalities/modality.ts'
import type { Permit } from './provider-concurrency.ts'
import { limit } from '../lib/primitives/limit.ts'

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

/** One client request on its way through the relay. */
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
  /** Held from before the admission until the end is on disk. */
  claim: IdempotencyLock | undefined
  readonly attempts: AttemptNote[] = []
  /** The vendor's id of the request, of the attempt that is under way. */
  upstreamRequestId: string | undefined
  firstEventMs: number | undefined
  /** The output limit that its upstream was sent, or its answer was ended at, without the client having set it. */
  outputCap: OutputCap | undefined
  /** Of a failure that costs something. */
  paid: SettledRecord | undefined
  /** Whether its client has been told 200, before any output it may be: what goes wrong is said inside the stream. */
  isBegun = false
  cancelled: CancelReason | undefined
  /**
   * When the client leaves, the upstream is read on: it bills to the end whatever we do, or the client has said with an
   * idempotency key that it will ask again.
   */
  outlivesClient = false
  upstreamStopped = false
  /** At the provider that was asked last; given back when the call is over, where not before. */
  permit: Permit | undefined
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
    if (reason !== 'client_closed' || !this.outlivesClient) this.stopUpstream()
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
    this.upstreamRequestId = requestId
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

type RevokedSubject = { readonly keyId: string } | { readonly accountId: string }

const isBarred = ({ key, account }: Caller, barred: RevokedSubject): boolean =>
  'keyId' in barred ? key.id === barred.keyId : account.id === barred.accountId

const isLapsed = ({ stands }: Caller): boolean => stands?.() === false

/** Of calls that go on without their client: they hold a connection each, and nobody waits. */
export type DetachedBounds = { readonly callsMax: number; readonly callsPerAccountMax: number }
export const detachedBounds: DetachedBounds = {
  callsMax: limit('detachedCallsMax', 256, 'A further call ends when its client leaves.'),
  callsPerAccountMax: limit(
    'detachedCallsPerAccountMax',
    64,
    'A further call of the account ends when its client leaves.',
  ),
}

/** The calls under way, so that a revoked key's streams can be cut and a shutdown can wait for the rest. */
export class LiveCalls {
  private readonly calls = new Roster<GatewayRequest>()
  private readonly listeners = new Set<{ readonly caller: Caller; readonly cut: () => void }>()
  private readonly detached = new Set<GatewayRequest>()
  private readonly bounds: DetachedBounds
  private onEmpty: (() => void) | undefined

  constructor(bounds: DetachedBounds) {
    this.bounds = bounds
  }

  get size(): number {
    return this.calls.size
  }

  add(call: GatewayRequest): void {
    this.calls.add(call)
  }

  delete(call: GatewayRequest): void {
    call.permit?.leave()
    this.calls.delete(call)
    this.detached.delete(call)
    if (this.calls.size === 0) this.onEmpty?.()
  }

  /** The client of a call has left. Where the call would go on without, and too many do already, it ends. */
  left(call: GatewayRequest): void {
    call.cancel('client_closed')
    if (call.upstreamStopped) return
    let own = 0
    for (const { caller } of this.detached) if (caller.account.id === call.caller.account.id) own++
    const { callsMax, callsPerAccountMax } = this.bounds
    if (own >= callsPerAccountMax || this.detached.size >= callsMax) call.stopUpstream()
    else if (call.place !== NOWHERE) this.detached.add(call)
  }

  /** Has `cut` called when somebody who only listens loses the right to. What comes back ends that. */
  watch(caller: Caller, cut: () => void): () => void {
    const listener = { caller, cut }
    this.listeners.add(listener)
    return () => void this.listeners.delete(listener)
  }

  /** Cuts the calls of a key or an account that lost its right. */
  bar(barred: RevokedSubject): void {
    const reason = 'keyId' in barred ? 'revoked' : 'suspended'
    for (const call of this.calls) if (isBarred(call.caller, barred)) call.cancel(reason)
    for (const { caller, cut } of this.listeners) if (isBarred(caller, barred)) cut()
  }

  /** Cuts the calls of whoever was lent the right to call, and has it no more: their session ended, say. */
  cutLapsed(): void {
    for (const call of this.calls) if (isLapsed(call.caller)) call.cancel('revoked')
    for (const { caller, cut } of this.listeners) if (isLapsed(caller)) cut()
  }

  /** Ends the calls that have taken longer than a request may, all attempts together. */
  endOverdue(timeoutMs: number): void {
    for (const call of this.calls) if (call.elapsedMs() > timeoutMs) call.cancel('overdue')
  }

  cancelAll(reason: CancelReason): void {
    for (const call of this.calls) call.cancel(reason)
  }

  /** Resolves when no call is left, or after `timeoutMs`. */
  async idle(timeoutMs: number): Promise<void> {
    if (this.calls.size === 0) return
    const { promise, resolve } = Promise.withResolvers<void>()
    this.onEmpty = resolve
    const timer = setTimeout(resolve, timeoutMs)
    await promise
    clearTimeout(timer)
    this.onEmpty = undefined
  }
}
