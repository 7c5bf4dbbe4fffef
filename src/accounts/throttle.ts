/** How often something may go wrong, by name: whoever guesses has to wait. */

export type ThrottleRule = {
  /** So many at once, */ readonly burst: number
  /** and then one in so long. */ readonly refillMs: number
}

type Mark = { tokens: number; atMs: number }

/** Names remembered: the longest silent are forgotten first. */
const NAMES_MAX = 10_000

export class Throttle {
  private readonly rule: ThrottleRule
  private readonly marks = new Map<string, Mark>()

  constructor(rule: ThrottleRule) {
    this.rule = rule
  }

  /** Takes a try; 0 when it may be made, else how long to wait. To be given back when it went well. */
  take(name: string, nowMs = Date.now()): number {
    const mark = this.at(name, nowMs)
    if (mark.tokens < 1) return Math.ceil((1 - mark.tokens) * this.rule.refillMs)
    mark.tokens--
    return 0
  }

  giveBack(name: string, nowMs = Date.now()): void {
    const mark = this.at(name, nowMs)
    mark.tokens = Math.min(this.rule.burst, mark.tokens + 1)
  }

  private at(name: string, nowMs: number): Mark {
    const { burst, refillMs } = this.rule
    const mark = this.marks.get(name) ?? { tokens: burst, atMs: nowMs }
    // Put at the end: the map's order is that of the last tries.
    this.marks.delete(name)
    this.marks.set(name, mark)
    mark.tokens = Math.min(burst, mark.tokens + Math.max(0, nowMs - mark.atMs) / refillMs)
    mark.atMs = nowMs
    if (this.marks.size > NAMES_MAX) this.marks.delete(this.marks.keys().next().value ?? '')
    return mark
  }
}
