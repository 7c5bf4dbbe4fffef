/** How much anybody without a key may fetch, by address; and what costs nothing, by account. */

export type VisitorLimits = { readonly perMinute: number; readonly concurrent: number }

type Visitor = { tokens: number; atMs: number; active: number }

/** Addresses remembered: the longest silent are forgotten first. */
const VISITORS_MAX = 10_000
const MINUTE_MS = 60_000

/** Whoever has an IPv6 address has a whole network of them: it counts as one. */
export function networkOf(address: string): string {
  if (!address.includes(':')) return address
  const [head = '', tail] = address.split('::')
  const left = head === '' ? [] : head.split(':')
  const right = tail === undefined || tail === '' ? [] : tail.split(':')
  const missing = tail === undefined ? 0 : Math.max(0, 8 - left.length - right.length)
  const groups = [...left, ...Array.from({ length: missing }, () => '0'), ...right]
  return `${groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`
}

export class Visitors {
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
