/** How many requests may be under way at a provider at once. Who finds no seat asks elsewhere, or waits a moment. */
import type { Provider } from '../domain/catalog.ts'
import type { UpstreamFailure } from '../domain/failure.ts'
import { FairQueue } from '../lib/primitives/fair-queue.ts'
import type { Stoppable } from '../upstream/in-flight-attempt.ts'
import { limit } from '../lib/primitives/limit.ts'

export const seatBounds = {
  /** Of a provider that says nothing of its own. */
  requestsMax: limit('providerRequestsMax', 4_096, 'A further request goes to the next offer, or waits.'),
  /** Where there is nobody else to ask. */
  waitMs: limit('providerWaitMs', 1_000, 'A request that waits longer for a permit counts as failed at this provider.'),
}

/** Of an upstream where as many requests are under way as there may be. */
export const FULL: UpstreamFailure = {
  kind: 'overload',
  message: 'as many requests are under way there as there may be',
  retryAfterMs: 1_000,
}

type LimitedProvider = Pick<Provider, 'id' | 'concurrentRequests'>

/** The right to have one request under way, until `leave`. */
export class Permit {
  private row: ProviderQueue | undefined

  constructor(row: ProviderQueue) {
    this.row = row
  }

  /** Safe to call again. */
  leave(): void {
    const { row } = this
    this.row = undefined
    row?.left()
  }
}

/** Takes a seat of a row that has one now. */
type PermitTaker = (row: ProviderQueue) => void

/** The seats of one provider, and who waits for one. */
class ProviderQueue {
  private taken = 0
  private max = 0
  /** By account. */
  private readonly waiting = new FairQueue<PermitTaker>()

  /** An operator may have changed the limit. */
  limitTo(max: number): this {
    const isMore = max > this.max
    this.max = max
    if (isMore) this.serve()
    return this
  }

  take(): Permit | undefined {
    return this.hasRoom ? this.permit() : undefined
  }

  permit(): Permit {
    this.taken++
    return new Permit(this)
  }

  left(): void {
    this.taken--
    this.serve()
  }

  /** Whether an account may wait: with as many as there are seats, while all are no more than twice as many. */
  mayWait(account: string): boolean {
    const own = this.waiting.sizeOf(account)
    // The first of each account may: two that ask for much must not keep all others out.
    return own === 0 || (own < this.max && this.waiting.size < 2 * this.max)
  }

  get hasRoom(): boolean {
    return this.taken < this.max && this.waiting.size === 0
  }

  /** False where too many wait. */
  await(account: string, sit: PermitTaker): boolean {
    if (!this.mayWait(account)) return false
    this.waiting.add(account, sit)
    return true
  }

  /** Safe to call where it does not wait. */
  forget(account: string, sit: PermitTaker): void {
    this.waiting.remove(account, sit)
  }

  /** Accounts take turns, and the requests of one come in the order in which they came. */
  private serve(): void {
    while (this.taken < this.max) {
      const [, sit] = this.waiting.next() ?? []
      if (!sit) return
      sit(this)
    }
  }
}

export class ProviderConcurrency {
  private readonly rows = new Map<string, ProviderQueue>()

  /** Whether an account can have a seat, now or by waiting. */
  isOpenTo(provider: LimitedProvider, account: string): boolean {
    const row = this.rowOf(provider)
    return row.hasRoom || row.mayWait(account)
  }

  /** A seat, where one is free and nobody waits for it. */
  take(provider: LimitedProvider): Permit | undefined {
    return this.rowOf(provider).take()
  }

  /** The first seat at one of several providers, now or soon, for a call that has nobody else to ask. */
  async wait<Any extends LimitedProvider>(
    providers: readonly Any[],
    account: string,
    call: Stoppable,
  ): Promise<[Any, Permit] | undefined> {
    // One may have become free since it was asked for: who waits is told of those only that become free from now on.
    for (const provider of providers) {
      const permit = this.take(provider)
      if (permit) return [provider, permit]
    }
    const { promise, resolve } = Promise.withResolvers<[Any, Permit] | undefined>()
    const rows = new Map(providers.map((provider) => [this.rowOf(provider), provider]))
    const end = (got?: [Any, Permit]): void => {
      for (const row of rows.keys()) row.forget(account, sit)
      resolve(got)
    }
    const sit: PermitTaker = (row) => end([rows.get(row) as Any, row.permit()])
    let isWaiting = false
    for (const row of rows.keys()) isWaiting = row.await(account, sit) || isWaiting
    if (!isWaiting) return undefined
    const timer = setTimeout(end, seatBounds.waitMs)
    const waiting = { abort: () => end() }
    call.took(waiting)
    if (call.upstreamStopped) end()
    const got = await promise
    call.landed(waiting)
    clearTimeout(timer)
    return got
  }

  private rowOf({ id, concurrentRequests = seatBounds.requestsMax }: LimitedProvider): ProviderQueue {
    let row = this.rows.get(id)
    if (!row) this.rows.set(id, (row = new ProviderQueue()))
    return row.limitTo(concurrentRequests)
  }
}
