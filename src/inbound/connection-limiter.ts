/** The connections of a server: how many there may be, and which of them give way to others. */

export type ConnectionCountLimits = {
  /** Of all connections together. */
  readonly connectionsMax: number
  /** Of one origin's strangers, after their time of grace. */
  readonly strangersPerAddressMax: number
}

/** A connection, as far as it may have to give way. */
export type LimitedConnection = {
  readonly remoteAddress: string
  readonly openedMs: number
  /** Whether a request is on its way on it, or an answer to one: waited for, or not yet taken. */
  readonly work: 'none' | 'arriving' | 'answering'
  /** What whoever handles requests has noted of it: nothing of strangers. */
  readonly notes: { readonly size: number }
  /** Ends it, for others' sake. */
  dismiss(): void
}

/** What became of connections that were too many. */
export type ConnectionLimiterStats = {
  readonly connections: number
  /** Ended, for others' sake. */
  readonly dismissed: number
  /** Not taken in, as nobody could be dismissed. */
  readonly turnedAway: number
}

/** Whoever has something to ask has asked it by then. */
const GRACE_MS = 2_000
/** Where there is no room, so great a part gives way at once: one each time would cost a look at all each time. */
const PART = 32
/** Where fewer than that could give way, nobody is looked for again for a while. */
const PAUSE_MS = 250
const TELL_MS = 10_000

/** Where a connection comes from, for counting; undefined: it is not counted. */
type OriginOf = (remoteAddress: string) => string | undefined

export class ConnectionLimiter<Member extends LimitedConnection> {
  /** So far. */
  dismissed = 0
  turnedAway = 0
  private readonly origins = new Map<Member, string | undefined>()
  private readonly limits: ConnectionCountLimits
  private readonly originOf: OriginOf
  private pausedUntilMs = Number.NEGATIVE_INFINITY
  private told = { dismissed: 0, turnedAway: 0, atMs: Number.NEGATIVE_INFINITY }

  constructor(limits: ConnectionCountLimits, originOf: OriginOf) {
    this.limits = limits
    this.originOf = originOf
  }

  get size(): number {
    return this.origins.size
  }

  [Symbol.iterator](): Iterator<Member> {
    return this.origins.keys()
  }

  /** Takes a connection in. False where it is full and nobody gives way. */
  admit(guest: Member, nowMs: number): boolean {
    if (this.size >= this.limits.connectionsMax && !this.makeRoom(nowMs)) {
      this.turnedAway++
      return false
    }
    this.origins.set(guest, this.originOf(guest.remoteAddress))
    return true
  }

  leave(guest: Member): void {
    this.origins.delete(guest)
  }

  /** Strangers beyond what one origin may have go: the oldest first, those that are being answered last. */
  thin(nowMs: number): void {
    const { strangersPerAddressMax } = this.limits
    if (this.size <= strangersPerAddressMax) return
    const counts = new Map<string, number>()
    for (const [guest, origin] of this.origins) {
      if (origin !== undefined && isOldStranger(guest, nowMs)) counts.set(origin, (counts.get(origin) ?? 0) + 1)
    }
    for (const [origin, count] of counts) if (count <= strangersPerAddressMax) counts.delete(origin)
    if (counts.size === 0) return
    for (const isToGo of [isUnanswered, isStranger]) {
      for (const [guest, origin] of this.origins) {
        const count = origin === undefined ? undefined : counts.get(origin)
        if (origin === undefined || count === undefined || !isOldStranger(guest, nowMs) || !isToGo(guest)) continue
        if (count === strangersPerAddressMax + 1) counts.delete(origin)
        else counts.set(origin, count - 1)
        this.dismiss(guest)
      }
    }
  }

  /** What has happened since this told of it last, where anything has; not more often than every ten seconds. */
  crowding(nowMs: number): ConnectionLimiterStats | undefined {
    const dismissed = this.dismissed - this.told.dismissed
    const turnedAway = this.turnedAway - this.told.turnedAway
    if (dismissed + turnedAway === 0 || nowMs - this.told.atMs < TELL_MS) return undefined
    this.told = { dismissed: this.dismissed, turnedAway: this.turnedAway, atMs: nowMs }
    return { connections: this.size, dismissed, turnedAway }
  }

  /**
   * Strangers give way to everybody, the old before the young, who may be about to show a key; then those who are known
   * and ask for nothing, then those whose requests have not come. Nobody who is known and being answered does.
   */
  private makeRoom(nowMs: number): boolean {
    if (nowMs < this.pausedUntilMs) return false
    const wanted = Math.ceil(this.limits.connectionsMax / PART)
    let found = 0
    for (const isToGo of [
      (guest: LimitedConnection) => isOldStranger(guest, nowMs) && isUnanswered(guest),
      (guest: LimitedConnection) => isOldStranger(guest, nowMs),
      (guest: LimitedConnection) => isStranger(guest) && isUnanswered(guest),
      ({ work }: LimitedConnection) => work === 'none',
      isStranger,
      isUnanswered,
    ]) {
      found = this.dismissSome(isToGo, wanted)
      if (found > 0) break
    }
    if (found < wanted) this.pausedUntilMs = nowMs + PAUSE_MS
    return found > 0
  }

  private dismissSome(isToGo: (guest: LimitedConnection) => boolean, most: number): number {
    let count = 0
    for (const guest of this.origins.keys()) {
      if (!isToGo(guest)) continue
      this.dismiss(guest)
      if (++count === most) break
    }
    return count
  }

  private dismiss(guest: Member): void {
    this.dismissed++
    this.leave(guest)
    guest.dismiss()
  }
}

const isUnanswered = ({ work }: LimitedConnection): boolean => work !== 'answering'
const isStranger = ({ notes }: LimitedConnection): boolean => notes.size === 0
const isOldStranger = (guest: LimitedConnection, nowMs: number): boolean =>
  isStranger(guest) && nowMs - guest.openedMs >= GRACE_MS
