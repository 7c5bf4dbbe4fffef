/**
 * Limits requests that generate, by the address of their client, if the operator wishes. Requests a minute are counted
 * for all instances together, and requests at once by each instance.
 */
import type { Throttle, ThrottleRule } from '../accounts/throttle.ts'
import { networkOf } from '../lib/primitives/network.ts'
import { MINUTE_MS } from '../lib/primitives/units.ts'
import { IpRateLimiter } from './ip-rate-limiter.ts'

/** 0 means no limit. */
type AddressLimits = { readonly addressPerMinute: number; readonly addressConcurrent: number }

type AddressPermit = {
  /** Resolves to the time to wait, or 0. Undefined: this process alone counts, and has admitted the request. */
  readonly waitMs: Promise<number> | undefined
  readonly leave: () => void
}

/** More than any client sends. */
const UNLIMITED = Number.MAX_SAFE_INTEGER

export class AddressLimiter {
  private readonly local: IpRateLimiter
  private readonly shared: Throttle | undefined

  /** `shared`: counts the requests of all instances. */
  constructor({ addressPerMinute, addressConcurrent }: AddressLimits, shared: Throttle | undefined) {
    this.local = new IpRateLimiter({
      perMinute: addressPerMinute || UNLIMITED,
      concurrent: addressConcurrent || UNLIMITED,
    })
    this.shared = shared
  }

  /** Admits a request, or returns the milliseconds to wait. */
  enter(address: string): AddressPermit | number {
    const left = this.local.enter(address)
    if (typeof left === 'number') return left
    // A request that cannot be counted is decided by its hold, which needs the same database.
    const waitMs = this.shared && Promise.resolve(this.shared.take(networkOf(address))).catch(() => 0)
    return { waitMs, leave: left }
  }
}

/**
 * The limiter that the settings ask for, or undefined. `open` opens a throttle for all instances. Undefined: there is
 * one instance.
 */
export function addressLimiter(
  limits: AddressLimits,
  open: ((kind: string, rule: ThrottleRule) => Throttle) | undefined,
): AddressLimiter | undefined {
  const { addressPerMinute: burst, addressConcurrent } = limits
  if (burst === 0 && addressConcurrent === 0) return undefined
  const shared = burst === 0 ? undefined : open?.('clients', { burst, refillMs: MINUTE_MS / burst })
  return new AddressLimiter(limits, shared)
}
