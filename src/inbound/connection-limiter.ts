/**
 * Bounds the connections of a server, and decides which are closed to make room for others. A stranger is a connection
 * that has authenticated no request.
 */

export type ConnectionCountLimits = {
  /** The limit of all connections together. */
  readonly connectionsMax: number
  /** The limit of strangers from one origin, after their time of grace. */
  readonly strangersPerAddressMax: number
}

/** The part of a connection that the limiter needs. */
export type LimitedConnection = {
  readonly remoteAddress: string
  readonly openedMs: number
  /** Whether a request is arriving, or an answer is awaited or not yet taken by the client. */
  readonly work: 'none' | 'arriving' | 'answering'
  /** What the request handler has noted about it. A stranger has no notes. */
  readonly notes: { readonly size: number }
  /** Closes it to make room for others. */
  dismiss(): void
}

/** What the limiter did about too many connections. */
export type ConnectionLimiterStats = {
  readonly connections: number
  /** Closed to make room for others. */
  readonly dismissed: number
  /** Not admitted, because no other connection could be closed. */
  readonly turnedAway: number
}

/** An honest client has sent its request by then. */
const GRACE_MS = 2_000
/** A full server closes this part of all connections at once. Closing one each time would search all each time. */
const PART = 32
/** After a search that found fewer, the limiter does not search again for this time. */
const PAUSE_MS = 250
const TELL_MS = 10_000

/** The origin of a connection, for counting. Undefined: it is not counted. */
type OriginOf = (remoteAddress: string) => string | undefined

export class ConnectionLimiter<Member extends LimitedConnection> {
  /** Totals since the start. */
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

  /** Admits a connection. False if the server is full and no other connection can be closed. */
  admit(connection: Member, nowMs: number): boolean {
    if (this.size >= this.limits.connectionsMax && !this.makeRoom(nowMs)) {
      this.turnedAway++
      return false
    }
    this.origins.set(connection, this.originOf(connection.remoteAddress))
    return true
  }

  leave(connection: Member): void {
    this.origins.delete(connection)
  }

  /** Closes strangers beyond the limit of their origin: the oldest first, and those that are being answered last. */
  thin(nowMs: number): void {
    const { strangersPerAddressMax } = this.limits
    if (this.size <= strangersPerAddressMax) return
    const counts = new Map<string, number>()
    for (const [connection, origin] of this.origins) {
      if (origin !== undefined && isOldStranger(connection, nowMs)) counts.set(origin, (counts.get(origin) ?? 0) + 1)
    }
    for (const [origin, count] of counts) if (count <= strangersPerAddressMax) counts.delete(origin)
    if (counts.size === 0) return
    for (const isToGo of [isUnanswered, isStranger]) {
      for (const [connection, origin] of this.origins) {
        const count = origin === undefined ? undefined : counts.get(origin)
        if (origin === undefined || count === undefined || !isOldStranger(connection, nowMs) || !isToGo(connection))
          continue
        if (count === strangersPerAddressMax + 1) counts.delete(origin)
        else counts.set(origin, count - 1)
        this.dismiss(connection)
      }
    }
  }

  /** Returns what has happened since the last report, if anything has, at most every ten seconds. */
  report(nowMs: number): ConnectionLimiterStats | undefined {
    const dismissed = this.dismissed - this.told.dismissed
    const turnedAway = this.turnedAway - this.told.turnedAway
    if (dismissed + turnedAway === 0 || nowMs - this.told.atMs < TELL_MS) return undefined
    this.told = { dismissed: this.dismissed, turnedAway: this.turnedAway, atMs: nowMs }
    return { connections: this.size, dismissed, turnedAway }
  }

  /**
   * Strangers are closed first: old ones before young ones, which may be about to send a key. Then authenticated
   * connections without a request are closed, then those whose request is still arriving. An authenticated connection
   * that is being answered is never closed.
   */
  private makeRoom(nowMs: number): boolean {
    if (nowMs < this.pausedUntilMs) return false
    const wanted = Math.ceil(this.limits.connectionsMax / PART)
    let found = 0
    for (const isToGo of [
      (connection: LimitedConnection) => isOldStranger(connection, nowMs) && isUnanswered(connection),
      (connection: LimitedConnection) => isOldStranger(connection, nowMs),
      (connection: LimitedConnection) => isStranger(connection) && isUnanswered(connection),
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

  private dismissSome(isToGo: (connection: LimitedConnection) => boolean, most: number): number {
    let count = 0
    for (const connection of this.origins.keys()) {
      if (!isToGo(connection)) continue
      this.dismiss(connection)
      if (++count === most) break
    }
    return count
  }

  private dismiss(connection: Member): void {
    this.dismissed++
    this.leave(connection)
    connection.dismiss()
  }
}

const isUnanswered = ({ work }: LimitedConnection): boolean => work !== 'answering'
const isStranger = ({ notes }: LimitedConnection): boolean => notes.size === 0
const isOldStranger = (connection: LimitedConnection, nowMs: number): boolean =>
  isStranger(connection) && nowMs - connection.openedMs >= GRACE_MS
