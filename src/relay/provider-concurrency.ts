/**
 * Limits the concurrent requests at a provider. A request without a permit goes to another offer, or waits a moment.
 */
import type { Provider } from '../domain/catalog.ts'
import type { UpstreamFailure } from '../domain/failure.ts'
import { FairQueue } from '../lib/primitives/fair-queue.ts'
import type { Stoppable } from '../upstream/in-flight-attempt.ts'
import { limit } from '../lib/primitives/limit.ts'
import { ProviderKeys } from './provider-keys.ts'

export const concurrencyBounds = {
  /** For a provider without a limit of its own. */
  requestsMax: limit('providerRequestsMax', 4_096, 'A further request goes to the next offer, or waits.'),
  /** For a request without another offer. */
  waitMs: limit('providerWaitMs', 1_000, 'A request that waits longer for a permit counts as failed at this provider.'),
}

/** The failure of an attempt at a provider that has its maximum of concurrent requests. */
export const FULL: UpstreamFailure = {
  kind: 'overload',
  message: 'the provider already has its maximum of concurrent requests',
  retryAfterMs: 1_000,
}

type LimitedProvider = Pick<Provider, 'id' | 'concurrentRequests' | 'keys'>

/** The right to have one request in flight, until `leave`. */
export class Permit {
  private queue: ProviderQueue | undefined
  /** The use of one of the provider's keys. */
  private lease: { leave(): void } | undefined

  constructor(queue: ProviderQueue) {
    this.queue = queue
  }

  /** From now on the request uses this key. */
  uses(lease: { leave(): void }): void {
    this.lease = lease
  }

  /** Gives the permit back. A second call is safe. */
  leave(): void {
    const { queue } = this
    this.queue = undefined
    this.lease?.leave()
    queue?.left()
  }
}

/** Takes a permit from a queue that has one now. */
type PermitTaker = (queue: ProviderQueue) => void

/** The permits of one provider, and the requests that wait for one. */
class ProviderQueue {
  private taken = 0
  private max = 0
  /** How many requests the provider's keys take at the moment, if it has several. */
  private roomOfKeys: (() => number) | undefined
  /** Waiting requests by account. */
  private readonly waiting = new FairQueue<PermitTaker>()

  /** Sets the limit, which an operator or the number of instances may have changed. */
  limitTo(max: number, roomOfKeys: (() => number) | undefined): this {
    const isMore = max > this.max
    this.max = max
    this.roomOfKeys = roomOfKeys
    // A key may have ended its rest.
    if (isMore || roomOfKeys) this.serve()
    return this
  }

  private get most(): number {
    return this.roomOfKeys ? Math.min(this.max, this.roomOfKeys()) : this.max
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

  /** Whether an account may wait. It may have as many waiting as there are permits, and all accounts twice as many. */
  mayWait(account: string): boolean {
    const own = this.waiting.sizeOf(account)
    // The first request of each account may always wait, so that two busy accounts do not exclude the others.
    const { most } = this
    return own === 0 || (own < most && this.waiting.size < 2 * most)
  }

  get hasRoom(): boolean {
    return this.taken < this.most && this.waiting.size === 0
  }

  /** Adds a waiting request. Returns false if too many wait. */
  await(account: string, taker: PermitTaker): boolean {
    if (!this.mayWait(account)) return false
    this.waiting.add(account, taker)
    return true
  }

  /** Removes a waiting request. It is safe to call if it does not wait. */
  forget(account: string, taker: PermitTaker): void {
    this.waiting.remove(account, taker)
  }

  /** Accounts take turns. The requests of one account are served in the order of their arrival. */
  private serve(): void {
    while (this.taken < this.most) {
      const [, taker] = this.waiting.next() ?? []
      if (!taker) return
      taker(this)
    }
  }
}

export class ProviderConcurrency {
  private readonly queues = new Map<string, ProviderQueue>()
  private readonly keys: ProviderKeys
  private instances = 1

  constructor(keys = new ProviderKeys()) {
    this.keys = keys
  }

  /** Divides the limits of providers among instances. Each instance may have one request at least. */
  shareAmong(instances: number): void {
    this.instances = instances
  }

  /** Whether an account can have a permit, now or by waiting. */
  isOpenTo(provider: LimitedProvider, account: string): boolean {
    const queue = this.queueOf(provider)
    return queue.hasRoom || queue.mayWait(account)
  }

  /** A permit, if one is free and no other request waits for it. */
  take(provider: LimitedProvider): Permit | undefined {
    return this.queueOf(provider).take()
  }

  /** The first permit at one of several providers, now or soon, for a call without another offer. */
  async wait<Any extends LimitedProvider>(
    providers: readonly Any[],
    account: string,
    call: Stoppable,
  ): Promise<[Any, Permit] | undefined> {
    // A permit may have become free since the last check. Waiting requests only get permits that are freed from now on.
    for (const provider of providers) {
      const permit = this.take(provider)
      if (permit) return [provider, permit]
    }
    const { promise, resolve } = Promise.withResolvers<[Any, Permit] | undefined>()
    const queues = new Map(providers.map((provider) => [this.queueOf(provider), provider]))
    const end = (got?: [Any, Permit]): void => {
      for (const queue of queues.keys()) queue.forget(account, taker)
      resolve(got)
    }
    const taker: PermitTaker = (queue) => end([queues.get(queue) as Any, queue.permit()])
    let isWaiting = false
    for (const queue of queues.keys()) isWaiting = queue.await(account, taker) || isWaiting
    if (!isWaiting) return undefined
    const timer = setTimeout(end, concurrencyBounds.waitMs)
    const waiting = { abort: () => end() }
    call.took(waiting)
    if (call.upstreamStopped) end()
    const got = await promise
    call.landed(waiting)
    clearTimeout(timer)
    return got
  }

  /** A provider without a limit has the bound of this process, which is not shared. */
  private shareOf(limited: number | undefined): number {
    if (limited === undefined) return concurrencyBounds.requestsMax
    return this.instances === 1 ? limited : Math.max(1, Math.floor(limited / this.instances))
  }

  private queueOf({ id, concurrentRequests, keys }: LimitedProvider): ProviderQueue {
    let queue = this.queues.get(id)
    if (!queue) this.queues.set(id, (queue = new ProviderQueue()))
    // No more requests get a permit than the ready keys take. The others wait for one.
    return queue.limitTo(this.shareOf(concurrentRequests), keys && (() => this.keys.roomOf(keys)))
  }
}
