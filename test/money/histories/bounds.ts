/**
 * What may be available on an account while several ledgers change it. What was acknowledged has happened. What is
 * under way may have happened or not. Each decision must be right for one of the amounts that were possible meanwhile.
 */

/** A change that is under way: the least and the most that it may add to what is available. */
export type Change = { readonly least: bigint; readonly most: bigint }

/** A decision that is under way, and what was possible since it began, apart from its own change. */
export type Decision = Change & { low: bigint; high: bigint }

/** For how long a ledger may refuse by what it has seen last. The rest of it is time for a busy machine. */
const REMEMBERED_MS = 2_000

export class Bounds {
  /** What is available by all that was acknowledged. */
  private acknowledged = 0n
  private readonly underWay = new Set<Decision>()
  private recentLows: { readonly untilMs: number; readonly low: bigint }[] = []

  /** With `remembered`, the ledger may decide by what it has seen last. */
  begin(change: Change, by: 'row' | 'remembered' = 'row'): Decision {
    const decision = { ...change, low: by === 'row' ? this.low : this.rememberedLow, high: this.high }
    this.underWay.add(decision)
    this.changed()
    return decision
  }

  /** A decision was acknowledged. `change` is what it has added to what is available. */
  end(decision: Decision, change: bigint): void {
    this.underWay.delete(decision)
    this.acknowledged += change
    this.changed()
  }

  /** The least that was possible now or a moment ago, for a ledger that has seen what others did only then. */
  get rememberedLow(): bigint {
    return this.recentLows.reduce((least, { low }) => (low < least ? low : least), this.low)
  }

  private get low(): bigint {
    let low = this.acknowledged
    for (const { least } of this.underWay) low += least
    return low
  }

  private get high(): bigint {
    let high = this.acknowledged
    for (const { most } of this.underWay) high += most
    return high
  }

  private changed(): void {
    const { low, high } = this
    for (const decision of this.underWay) {
      const [ownLow, ownHigh] = [low - decision.least, high - decision.most]
      if (ownLow < decision.low) decision.low = ownLow
      if (ownHigh > decision.high) decision.high = ownHigh
    }
    const nowMs = performance.now()
    this.recentLows = [
      ...this.recentLows.filter(({ untilMs, low: other }) => untilMs > nowMs && other < low),
      { untilMs: nowMs + REMEMBERED_MS, low },
    ]
  }
}
