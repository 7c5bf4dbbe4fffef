/**
 * A budget that many owners share, in bytes or in places. It has a total bound, and a bound for each owner. A demand
 * that does not fit is refused at once. For a budget whose users wait, see lib/runtime/reply-memory.ts.
 */
export class SharedBudget {
  private readonly max: number
  private readonly shareMax: number
  /** Entries are never removed. Entries that come and go with every request would be work for the collector. */
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

  /** The amount that an owner has taken. */
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

/** Without `max`, only the shares are bounded. */
export type BudgetBounds = { readonly max?: number; readonly shareMax: number }
export type BudgetOutcome = 'taken' | 'share_full' | 'full'
type Demand = { readonly bytes: number; readonly held: number; readonly own: number }

/** For `held`: a demand larger than a share is refused even if the owner has taken nothing. */
export const NO_EXCEPTION = -1
/** For `held`: the demand is counted in any case, because the room is in use already. */
const IN_ANY_CASE = Number.POSITIVE_INFINITY

/** One owner's part of a budget. */
export class BudgetShare {
  private readonly from: (demand: Demand) => BudgetOutcome
  private own = 0

  constructor(from: (demand: Demand) => BudgetOutcome) {
    this.from = from
  }

  get taken(): number {
    return this.own
  }

  /** `held` is what the user has taken already. The only user of a share may take any amount. */
  take(bytes: number, held: number): BudgetOutcome {
    const taken = this.from({ bytes, held, own: this.own })
    if (taken === 'taken') this.own += bytes
    return taken
  }

  /** Counts room that is in use already, whether or not it fits. */
  count(bytes: number): void {
    this.take(bytes, IN_ANY_CASE)
  }

  /** Gives taken room back. */
  give(bytes: number): void {
    const given = Math.min(bytes, this.own)
    this.own -= given
    this.from({ bytes: -given, held: 0, own: 0 })
  }
}
