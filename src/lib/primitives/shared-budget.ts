/**
 * Room that many owners draw on, in bytes or in places: so much in all, and for each owner no more than a share. What
 * does not fit is refused at once. Room for which its users wait is lib/runtime/reply-memory.ts.
 */
export class SharedBudget {
  private readonly max: number
  private readonly shareMax: number
  /** Never removed: a table whose entries come and go with every request is work for the collector. */
  private readonly shares = new Map<string, BudgetShare>()
  private taken = 0

  constructor({ max = Number.POSITIVE_INFINITY, shareMax }: BudgetBounds) {
    this.max = max
    this.shareMax = shareMax
  }

  of(owner: string): BudgetShare {
    let share = this.shares.get(owner)
    if (!share) {
      share = new BudgetShare((demand) => this.take(demand))
      this.shares.set(owner, share)
    }
    return share
  }

  /** What an owner has taken. */
  takenBy(owner: string): number {
    return this.shares.get(owner)?.taken ?? 0
  }

  private take({ bytes, held, own }: Demand): BudgetOutcome {
    if (bytes > 0 && own > held && own + bytes > this.shareMax) return 'share_full'
    if (bytes > 0 && this.taken > held && this.taken + bytes > this.max) return 'full'
    this.taken += bytes
    return 'taken'
  }
}

/** Without `max` only the shares are bounded. */
export type BudgetBounds = { readonly max?: number; readonly shareMax: number }
export type BudgetOutcome = 'taken' | 'share_full' | 'full'
type Demand = { readonly bytes: number; readonly held: number; readonly own: number }

/** For `held`: also an owner who has nothing is refused what is larger than a share. */
export const NO_EXCEPTION = -1
/** For `held`: what is taken is there already, so it is counted in any case. */
const IN_ANY_CASE = Number.POSITIVE_INFINITY

/** What one owner has of a budget. */
export class BudgetShare {
  private readonly from: (demand: Demand) => BudgetOutcome
  private own = 0

  constructor(from: (demand: Demand) => BudgetOutcome) {
    this.from = from
  }

  get taken(): number {
    return this.own
  }

  /** `held` is what the user has already: a single one that nobody is beside may have any amount. */
  take(bytes: number, held: number): BudgetOutcome {
    const taken = this.from({ bytes, held, own: this.own })
    if (taken === 'taken') this.own += bytes
    return taken
  }

  /** Takes what is there already, whether or not it fits. */
  count(bytes: number): void {
    this.take(bytes, IN_ANY_CASE)
  }

  /** Gives back what was taken. */
  give(bytes: number): void {
    const given = Math.min(bytes, this.own)
    this.own -= given
    this.from({ bytes: -given, held: 0, own: 0 })
  }
}
