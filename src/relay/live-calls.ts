/** The running requests, so that a revoked key's streams can be cut and a shutdown can wait for the rest. */
import type { Caller } from '../domain/account.ts'
import { limit } from '../lib/primitives/limit.ts'
import { NOWHERE, Roster } from '../lib/primitives/roster.ts'
import type { CancelReason, GatewayRequest } from './call.ts'

type RevokedSubject = { readonly keyId: string } | { readonly accountId: string }

const isBarred = ({ key, account }: Caller, barred: RevokedSubject): boolean =>
  'keyId' in barred ? key.id === barred.keyId : account.id === barred.accountId

const isLapsed = ({ stands }: Caller): boolean => stands?.() === false

/** The bounds of calls that continue without their client. Each has a connection, and nobody waits for it. */
export type DetachedBounds = { readonly callsMax: number; readonly callsPerAccountMax: number }
export const detachedBounds: DetachedBounds = {
  callsMax: limit('detachedCallsMax', 256, 'A further call ends when its client leaves.'),
  callsPerAccountMax: limit(
    'detachedCallsPerAccountMax',
    64,
    'A further call of the account ends when its client leaves.',
  ),
}

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
    call.life.leavePermit()
    this.calls.delete(call)
    this.detached.delete(call)
    if (this.calls.size === 0) this.onEmpty?.()
  }

  /** The client of a call has left. A call that would continue without its client ends if too many already do. */
  left(call: GatewayRequest): void {
    call.cancel('client_closed')
    if (call.upstreamStopped) return
    let own = 0
    for (const { caller } of this.detached) if (caller.account.id === call.caller.account.id) own++
    const { callsMax, callsPerAccountMax } = this.bounds
    if (own >= callsPerAccountMax || this.detached.size >= callsMax) call.stopUpstream()
    else if (call.place !== NOWHERE) this.detached.add(call)
  }

  /** Calls `cut` when a listener of the caller loses its permission. The returned function ends the watch. */
  watch(caller: Caller, cut: () => void): () => void {
    const listener = { caller, cut }
    this.listeners.add(listener)
    return () => void this.listeners.delete(listener)
  }

  /** Cuts the calls of a key or an account that is no longer valid. */
  bar(barred: RevokedSubject): void {
    const reason = 'keyId' in barred ? 'revoked' : 'suspended'
    for (const call of this.calls) if (isBarred(call.caller, barred)) call.cancel(reason)
    for (const { caller, cut } of this.listeners) if (isBarred(caller, barred)) cut()
  }

  /** Cuts the calls whose borrowed permission has ended, for example with a console session. */
  cutLapsed(): void {
    for (const call of this.calls) if (isLapsed(call.caller)) call.cancel('revoked')
    for (const { caller, cut } of this.listeners) if (isLapsed(caller)) cut()
  }

  /** Ends the calls that exceed the maximum duration of a request, all attempts together. */
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
