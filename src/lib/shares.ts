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
      share = new Share((bytes, own) => this.take(bytes, own))
      this.shares.set(name, share)
    }
    return share
  }

  private take(bytes: number, own: number): Taken {
    if (own + bytes > this.shareMax) return 'share_full'
    if (this.taken + bytes > this.max) return 'full'
    this.taken += bytes
    return 'taken'
  }
}

export type Taken = 'taken' | 'share_full' | 'full'

export class Share {
  private readonly from: (bytes: number, own: number) => Taken
  private own = 0

  constructor(from: (bytes: number, own: number) => Taken) {
    this.from = from
  }

  take(bytes: number): Taken {
    const taken = this.from(bytes, this.own)
    if (taken === 'taken') this.own += bytes
    return taken
  }

  /** Gives back what was taken. */
  give(bytes: number): void {
    this.own -= bytes
    this.from(-bytes, 0)
  }
}
