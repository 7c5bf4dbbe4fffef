/**
 * Chooses among the keys of a provider that has several. Each has its own health and its own limit: a key that is
 * refused rests, and the provider goes on with the others.
 */
import type { KeyedProvider } from '../domain/catalog.ts'
import type { UpstreamFailure } from '../domain/failure.ts'
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

export class ProviderKeys {
  private readonly states = new Map<string, KeyState>()
  private uses = 0
  private instances = 1

  /** Divides the limits of keys among instances. Each instance may have one request at least. */
  shareAmong(instances: number): void {
    this.instances = instances
  }

  /**
   * The ready key with the fewest requests in flight, and of several the one that was used longest ago. If all rest,
   * the one that is back first. Undefined: every key has its maximum of requests.
   */
  take(keys: readonly KeyedProvider[]): KeyLease | undefined {
    const open = keys.filter((key) => this.hasRoom(key))
    const ready = this.leastBusy(open)
    if (ready) return this.lease(ready)
    const soonest = open.toSorted((a, b) => this.stateOf(a).restUntilMs - this.stateOf(b).restUntilMs)[0]
    return soonest && this.lease(soonest)
  }

  /** A key was refused. */
  refused(key: KeyedProvider, failure: UpstreamFailure): void {
    const state = this.stateOf(key)
    const { restUntilMs } = afterFailure({ ...healthy, restUntilMs: state.restUntilMs }, failure, Date.now())
    state.restUntilMs = restUntilMs
    state.reason = failure.kind
  }

  /** How long it takes until a key is ready. 0: one is now. */
  restMs(keys: readonly KeyedProvider[]): number {
    return Math.max(0, Math.min(...keys.map((key) => this.stateOf(key).restUntilMs)) - Date.now())
  }

  standingOf(key: KeyedProvider): KeyStanding {
    return this.stateOf(key)
  }

  /** Ends the rests of keys. */
  resume(keys: readonly KeyedProvider[]): void {
    for (const key of keys) Object.assign(this.stateOf(key), { restUntilMs: 0, reason: undefined })
  }

  private leastBusy(open: readonly KeyedProvider[]): KeyedProvider | undefined {
    const nowMs = Date.now()
    let best: KeyedProvider | undefined
    let least: KeyState | undefined
    for (const key of open) {
      const state = this.stateOf(key)
      if (state.restUntilMs > nowMs) continue
      const isBetter =
        !least ||
        state.inFlight < least.inFlight ||
        (state.inFlight === least.inFlight && state.lastUse < least.lastUse)
      if (isBetter) [best, least] = [key, state]
    }
    return best
  }

  private hasRoom(keyed: KeyedProvider): boolean {
    const { concurrentRequests: most } = keyed.key
    if (most === undefined) return true
    return this.stateOf(keyed).inFlight < Math.max(1, Math.floor(most / this.instances))
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
