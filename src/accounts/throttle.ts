/** How often something may go wrong, by name: whoever guesses has to wait. */

export type ThrottleRule = {
  /** So many at once, */ readonly burst: number
  /** and then one in so long. */ readonly refillMs: number
}

type Mark = { tokens: number; atMs: number }

/** Names remembered. */
export const NAMES_MAX = 10_000

export class Throttle {
  private readonly rule: ThrottleRule
  /** Of whom something is missing; in the order of the last tries that were let through. */
  private readonly marks = new Map<string, Mark>()

  constructor(rule: ThrottleRule) {
    this.rule = rule
  }

  /**
   * Takes a try; 0 when it may be made, else how long to wait. To be given back when it went well. One that is refused
   * leaves no trace: nobody gets more room, or loses any, by being refused.
   */
  take(name: string, nowMs = Date.now()): number {
    const known = this.marks.get(name)
    const tokens = known ? this.tokensOf(known, nowMs) : this.rule.burst
    if (tokens < 1) return Math.ceil((1 - tokens) * this.rule.refillMs)
    if (!known && this.marks.size >= NAMES_MAX && !this.makeRoom(nowMs)) return this.rule.refillMs
    this.marks.delete(name)
    this.marks.set(name, { tokens: tokens - 1, atMs: nowMs })
    return 0
  }

  /** Names that are remembered. */
  get size(): number {
    return this.marks.size
  }

  giveBack(name: string, nowMs = Date.now()): void {
    const mark = this.marks.get(name)
    if (!mark) return
    mark.tokens = Math.min(this.rule.burst, this.tokensOf(mark, nowMs) + 1)
    mark.atMs = nowMs
    if (mark.tokens === this.rule.burst) this.marks.delete(name)
  }

  private tokensOf({ tokens, atMs }: Mark, nowMs: number): number {
    return Math.min(this.rule.burst, tokens + Math.max(0, nowMs - atMs) / this.rule.refillMs)
  }

  /**
   * Forgets all that are full again, else the fullest, the longest silent first. Never one with nothing left: else
   * tries under many names would give it another burst. False when there are only such.
   */
  private makeRoom(nowMs: number): boolean {
    let fullest = { name: '', tokens: 0 }
    for (const [name, mark] of this.marks) {
      const tokens = this.tokensOf(mark, nowMs)
      if (tokens === this.rule.burst) this.marks.delete(name)
      else if (tokens > fullest.tokens) fullest = { name, tokens }
    }
    if (this.marks.size < NAMES_MAX) return true
    return fullest.tokens >= 1 && this.marks.delete(fullest.name)
  }
}
