/** Room that many draw on: so much in all, and for each no more than a share of it. */
export class Shares {
  private readonly max: number
  private readonly shareMax: number
  private readonly shares = new Map<string, Share>()
  private taken = 0

  constructor({ max, shareMax }: { readonly max: number; readonly shareMax: number }) {
    this.max = max
    this.shareMax = shareMax
  }

  of(name: string): Share {
    let share = this.shares.get(name)
    if (!share) {
      share = new Share((demand) => this.take(demand))
      this.shares.set(name, share)
    }
    return share
  }

  /** A demand below zero gives back. */
  private take({ bytes, held, own }: Demand): ShareOutcome {
    if (bytes > 0 && own > held && own + bytes > this.shareMax) return 'share_full'
    if (bytes > 0 && this.taken > held && this.taken + bytes > this.max) return 'full'
    this.taken += bytes
    return 'taken'
  }
}

export type ShareOutcome = 'taken' | 'share_full' | 'full'
type Demand = { readonly bytes: number; readonly held: number; readonly own: number }

export class Share {
  private readonly from: (demand: Demand) => ShareOutcome
  private own = 0

  constructor(from: (demand: Demand) => ShareOutcome) {
    this.from = from
  }

  /** `held` is what the one who asks has already: a single one that nobody is beside may have any amount. */
  take(bytes: number, held: number): ShareOutcome {
    const taken = this.from({ bytes, held, own: this.own })
    if (taken === 'taken') this.own += bytes
    return taken
  }

  /** Gives back what was taken. */
  give(bytes: number): void {
    this.own -= bytes
    this.from({ bytes: -bytes, held: 0, own: 0 })
  }
}
