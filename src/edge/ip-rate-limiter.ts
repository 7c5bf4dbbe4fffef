/** How much anybody without a key may fetch, by address and by file; and what costs nothing, by account. */
import { networkOf } from '../lib/primitives/network.ts'

export type VisitorLimits = { readonly perMinute: number; readonly concurrent: number }

type Visitor = { tokens: number; atMs: number; active: number }

/** Addresses remembered: the longest silent are forgotten first. */
const VISITORS_MAX = 10_000
const MINUTE_MS = 60_000

export class IpRateLimiter {
  private readonly limits: VisitorLimits
  private readonly visitors = new Map<string, Visitor>()

  constructor(limits: VisitorLimits) {
    this.limits = limits
  }

  /** Lets one request of an address in; its end is to be told by what comes back. A number: wait so long instead. */
  enter(address: string, nowMs = performance.now()): (() => void) | number {
    const { perMinute, concurrent } = this.limits
    const name = networkOf(address)
    const visitor = this.visitors.get(name) ?? { tokens: perMinute, atMs: nowMs, active: 0 }
    // Put at the end: the map's order is that of the last visits.
    this.visitors.delete(name)
    this.visitors.set(name, visitor)
    if (this.visitors.size > VISITORS_MAX) this.forgetOne()
    visitor.tokens = Math.min(perMinute, visitor.tokens + ((nowMs - visitor.atMs) / MINUTE_MS) * perMinute)
    visitor.atMs = nowMs
    if (visitor.active >= concurrent) return 1_000
    if (visitor.tokens < 1) return Math.ceil(((1 - visitor.tokens) / perMinute) * MINUTE_MS)
    visitor.tokens--
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
