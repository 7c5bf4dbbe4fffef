/**
 * Limits what clients may fetch without a key, by address and by file. It also limits free requests, by account. If the
 * operator wishes, it limits requests that generate, by address.
 */
import { networkOf } from '../lib/primitives/network.ts'
import { TokenBucket } from '../lib/primitives/token-bucket.ts'
import { limit } from '../lib/primitives/limit.ts'

export type VisitorLimits = { readonly perMinute: number; readonly concurrent: number }

type Visitor = { readonly bucket: TokenBucket; active: number }

/** The number of addresses that are remembered. */
const VISITORS_MAX = limit('visitorsMax', 10_000, 'The address that has been silent longest is forgotten.')

export class IpRateLimiter {
  private readonly limits: VisitorLimits
  private readonly visitors = new Map<string, Visitor>()

  constructor(limits: VisitorLimits) {
    this.limits = limits
  }

  /** Admits a request. It returns the function that ends the request, or the milliseconds to wait. */
  enter(address: string, nowMs = performance.now()): (() => void) | number {
    const { perMinute, concurrent } = this.limits
    const name = networkOf(address)
    const visitor = this.visitors.get(name) ?? { bucket: new TokenBucket(), active: 0 }
    // The entry moves to the end, so the map is in the order of the last requests.
    this.visitors.delete(name)
    this.visitors.set(name, visitor)
    if (this.visitors.size > VISITORS_MAX) this.forgetOne()
    if (visitor.active >= concurrent) return 1_000
    const waitMs = visitor.bucket.waitMs(perMinute, nowMs, 1)
    if (waitMs > 0) return waitMs
    visitor.bucket.take(perMinute, nowMs, 1)
    visitor.active++
    return () => void visitor.active--
  }

  private forgetOne(): void {
    for (const [name, { active }] of this.visitors) {
      if (active > 0) continue
      this.visitors.delete(name)
      return
    }
  }
}
