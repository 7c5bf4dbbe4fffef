/**
 * Chooses among the keys of a provider that has several. Each has its own health and its own limit: a key that is
 * refused rests, and the provider goes on with the others.
 */
import type { KeyedProvider } from '../domain/catalog.ts'
import type { UpstreamFailure } from '../domain/failure.ts'
import { steadyNowMs } from '../lib/primitives/steady-clock.ts'
import { drawOf, type ConversationKey } from '../router/conversations.ts'
import { afterFailure, healthy } from '../router/health.ts'

/** The use of a key by one request, until `leave`. */
export type KeyLease = { readonly provider: KeyedProvider; leave(): void }

export type KeyStanding = {
  readonly inFlight: number
  /** The key is not tried before this time, unless no other is left. */
  readonly restUntilMs: number
  /** Why it rests: the kind of the last failure. */
  readonly reason: string | undefined
  /** Until when it is not tried for single offers, by their ids: vendors limit the rate of each model. */
  readonly offerRests: ReadonlyMap<string, number>
}

/** What a key is for. */
export type KeyUse = { readonly offerId?: string | undefined; readonly conversation?: ConversationKey | undefined }

type KeyState = { -readonly [Field in Exclude<keyof KeyStanding, 'offerRests'>]: KeyStanding[Field] } & {
  readonly offerRests: Map<string, number>
  /** Counts the uses of all keys. The key with the lowest number was used longest ago. */
  lastUse: number
}

/** Whether a failure says something about the key that was sent, and not about the vendor. */
export const isKeyFault = ({ kind, isDoubtful }: UpstreamFailure): boolean =>
  !isDoubtful && (kind === 'auth' || kind === 'funds' || kind === 'rate')

/** The key with the lowest rank is used. The second number decides between equal first ones. */
type KeyRank = readonly [number, number]

export class ProviderKeys {
  private readonly states = new Map<string, KeyState>()
  private uses = 0
  private instances = 1

  /** Divides the limits of keys among instances. Each instance may have one request at least. */
  shareAmong(instances: number): void {
    this.instances = instances
  }

  /**
   * The ready key with the fewest requests in flight, and of several the one that was used longest ago. The requests of
   * a conversation keep to one ready key, because a prompt cache belongs to the account of a key. If all keys rest, the
   * one that is back first. Undefined: every key that could be used has its maximum of requests.
   */
  take(keys: readonly KeyedProvider[], use: KeyUse = {}): KeyLease | undefined {
    const usable = this.usable(keys)
    let best: KeyedProvider | undefined
    let lowest: KeyRank = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]
    for (const key of usable) {
      if (!this.hasRoom(key)) continue
      const rank = this.rankOf(key, use)
      if (!best || rank[0] < lowest[0] || (rank[0] === lowest[0] && rank[1] < lowest[1])) [best, lowest] = [key, rank]
    }
    return best && this.lease(best)
  }

  /**
   * The key for work that outlives its request. It does not count against the limit of a key, as it does not count
   * against that of a provider.
   */
  next(keys: readonly KeyedProvider[], use?: KeyUse): KeyedProvider {
    const lease = this.take(keys, use)
    lease?.leave()
    return lease?.provider ?? (keys[0] as KeyedProvider)
  }

  /** How many requests a provider with these keys may have in flight here. */
  roomOf(keys: readonly KeyedProvider[]): number {
    const usable = new Set(this.usable(keys))
    let room = 0
    // What is still in flight with a resting key takes no room from the others.
    for (const key of keys) room += usable.has(key) ? this.shareOf(key) : this.stateOf(key).inFlight
    return room
  }

  /** A key was refused, for one offer alone if its id is given. */
  refused(key: KeyedProvider, failure: UpstreamFailure, offerId?: string): void {
    const state = this.stateOf(key)
    const before = offerId === undefined ? state.restUntilMs : (state.offerRests.get(offerId) ?? 0)
    const { restUntilMs } = afterFailure({ ...healthy, restUntilMs: before }, failure, steadyNowMs())
    if (offerId === undefined) Object.assign(state, { restUntilMs, reason: failure.kind })
    else state.offerRests.set(offerId, restUntilMs)
  }

  /** How long it takes until a key is ready for an offer. 0: one is now. */
  restMs(keys: readonly KeyedProvider[], offerId?: string): number {
    const backMs = Math.min(...keys.map((key) => restUntil(this.stateOf(key), offerId)))
    return Math.max(0, Math.ceil(backMs - steadyNowMs()))
  }

  standingOf(key: KeyedProvider): KeyStanding {
    return this.stateOf(key)
  }

  /** Ends the rests of keys. */
  resume(keys: readonly KeyedProvider[]): void {
    for (const key of keys) {
      const state = this.stateOf(key)
      Object.assign(state, { restUntilMs: 0, reason: undefined })
      state.offerRests.clear()
    }
  }

  /** The ready keys, or all if none is ready. */
  private usable(keys: readonly KeyedProvider[]): readonly KeyedProvider[] {
    const nowMs = steadyNowMs()
    const ready = keys.filter((key) => this.stateOf(key).restUntilMs <= nowMs)
    return ready.length > 0 ? ready : keys
  }

  private rankOf(keyed: KeyedProvider, { offerId, conversation }: KeyUse): KeyRank {
    const state = this.stateOf(keyed)
    const { inFlight, lastUse } = state
    const restUntilMs = restUntil(state, offerId)
    if (restUntilMs > steadyNowMs()) return [restUntilMs, lastUse]
    return conversation ? [drawOf(conversation, keyed.key), lastUse] : [inFlight, lastUse]
  }

  private hasRoom(keyed: KeyedProvider): boolean {
    return this.stateOf(keyed).inFlight < this.shareOf(keyed)
  }

  /** The part of the key's limit that is this instance's. */
  private shareOf({ key: { concurrentRequests: most } }: KeyedProvider): number {
    return most === undefined ? Number.POSITIVE_INFINITY : Math.max(1, Math.floor(most / this.instances))
  }

  private lease(provider: KeyedProvider): KeyLease {
    const state = this.stateOf(provider)
    state.inFlight++
    state.lastUse = ++this.uses
    let isLeft = false
    const leave = (): void => {
      if (!isLeft) state.inFlight--
      isLeft = true
    }
    return { provider, leave }
  }

  /** A removed key keeps a few bytes until the process ends. */
  private stateOf({ id, key }: KeyedProvider): KeyState {
    const name = `${id} ${key.id}`
    let state = this.states.get(name)
    if (!state) {
      state = { inFlight: 0, restUntilMs: 0, reason: undefined, offerRests: new Map(), lastUse: 0 }
      this.states.set(name, state)
    }
    return state
  }
}

const restUntil = ({ restUntilMs, offerRests }: KeyStanding, offerId: string | undefined): number =>
  offerId === undefined ? restUntilMs : Math.max(restUntilMs, offerRests.get(offerId) ?? 0)
