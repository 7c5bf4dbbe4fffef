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
}

type KeyState = { -readonly [Field in keyof KeyStanding]: KeyStanding[Field] } & {
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
  take(keys: readonly KeyedProvider[], conversation?: ConversationKey): KeyLease | undefined {
    const usable = this.usable(keys)
    let best: KeyedProvider | undefined
    let lowest: KeyRank = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]
    for (const key of usable) {
      if (!this.hasRoom(key)) continue
      const rank = this.rankOf(key, conversation)
      if (!best || rank[0] < lowest[0] || (rank[0] === lowest[0] && rank[1] < lowest[1])) [best, lowest] = [key, rank]
    }
    return best && this.lease(best)
  }

  /**
   * The key for work that outlives its request. It does not count against the limit of a key, as it does not count
   * against that of a provider.
   */
  next(keys: readonly KeyedProvider[]): KeyedProvider {
    const lease = this.take(keys)
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

  /** A key was refused. */
  refused(key: KeyedProvider, failure: UpstreamFailure): void {
    const state = this.stateOf(key)
    const { restUntilMs } = afterFailure({ ...healthy, restUntilMs: state.restUntilMs }, failure, steadyNowMs())
    state.restUntilMs = restUntilMs
    state.reason = failure.kind
  }

  /** How long it takes until a key is ready. 0: one is now. */
  restMs(keys: readonly KeyedProvider[]): number {
    return Math.max(0, Math.ceil(Math.min(...keys.map((key) => this.stateOf(key).restUntilMs)) - steadyNowMs()))
  }

  standingOf(key: KeyedProvider): KeyStanding {
    return this.stateOf(key)
  }

  /** Ends the rests of keys. */
  resume(keys: readonly KeyedProvider[]): void {
    for (const key of keys) Object.assign(this.stateOf(key), { restUntilMs: 0, reason: undefined })
  }

  /** The ready keys, or all if none is ready. */
  private usable(keys: readonly KeyedProvider[]): readonly KeyedProvider[] {
    const nowMs = steadyNowMs()
    const ready = keys.filter((key) => this.stateOf(key).restUntilMs <= nowMs)
    return ready.length > 0 ? ready : keys
  }

  private rankOf(keyed: KeyedProvider, conversation: ConversationKey | undefined): KeyRank {
    const { inFlight, lastUse, restUntilMs } = this.stateOf(keyed)
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
    if (!state) this.states.set(name, (state = { inFlight: 0, restUntilMs: 0, reason: undefined, lastUse: 0 }))
    return state
  }
}
