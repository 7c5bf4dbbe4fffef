/** The connections of a server: how many there may be, and which of them give way to others. */
import type { Connection } from './connection.ts'

export type CrowdLimits = {
  /** Of all connections together. */
  readonly connectionsMax: number
  /** Of one origin's strangers, after their time of grace. */
  readonly strangersPerAddressMax: number
}

/** What became of connections that were too many, since it was told last. */
export type Crowding = {
  readonly connections: number
  /** Broken off, to make room. */
  readonly dismissed: number
  /** Not taken in, as nobody could be dismissed. */
  readonly turnedAway: number
}

/** Whoever has something to ask has asked it by then. */
const GRACE_MS = 2_000
/** Where there is no room, so great a part gives way at once: one each time would cost a look at all each time. */
const PART = 32
/** Where nobody could give way, nobody is looked for again for a while. */
const FULL_MS = 250
const TELL_MS = 10_000

/** Where a connection comes from, for counting; undefined: it is not counted. */
type OriginOf = (remoteAddress: string) => string | undefined

export class Crowd {
  private readonly origins = new Map<Connection, string | undefined>()
  private readonly limits: CrowdLimits
  private readonly originOf: OriginOf
  private fullUntilMs = 0
  private dismissed = 0
  private turnedAway = 0
  private toldMs = Number.NEGATIVE_INFINITY

  constructor(limits: CrowdLimits, originOf: OriginOf) {
    this.limits = limits
    this.originOf = originOf
  }

  get size(): number {
    return this.origins.size
  }

  [Symbol.iterator](): Iterator<Connection> {
    return this.origins.keys()
  }

  /** Takes a connection in. False where it is full and all others are at work. */
  admit(connection: Connection, nowMs: number): boolean {
    if (this.size >= this.limits.connectionsMax && !this.makeRoom(nowMs)) {
      this.turnedAway++
      return false
    }
    this.origins.set(connection, this.originOf(connection.remoteAddress))
    return true
  }

  leave(connection: Connection): void {
    this.origins.delete(connection)
  }

  /** Strangers beyond what one origin may have go: the oldest first, those that are being answered last. */
  thin(nowMs: number): void {
    const { strangersPerAddressMax } = this.limits
    if (this.size <= strangersPerAddressMax) return
    const counts = new Map<string, number>()
    const counted: [Connection, string][] = []
    for (const [connection, origin] of this.origins) {
      if (origin === undefined || !isStranger(connection) || nowMs - connection.openedMs < GRACE_MS) continue
      counts.set(origin, (counts.get(origin) ?? 0) + 1)
      counted.push([connection, origin])
    }
    for (const isToGo of [isIdle, isStranger]) {
      for (const [connection, origin] of counted) {
        const count = counts.get(origin) ?? 0
        if (count <= strangersPerAddressMax || !this.origins.has(connection) || !isToGo(connection)) continue
        counts.set(origin, count - 1)
        this.dismiss(connection)
      }
    }
  }

  /** What has happened, where there is something to tell; not more often than every ten seconds. */
  crowding(nowMs: number): Crowding | undefined {
    const { dismissed, turnedAway } = this
    if (dismissed + turnedAway === 0 || nowMs - this.toldMs < TELL_MS) return undefined
    this.toldMs = nowMs
    this.dismissed = this.turnedAway = 0
    return { connections: this.size, dismissed, turnedAway }
  }

  /** Nobody who is known and being answered gives way. */
  private makeRoom(nowMs: number): boolean {
    if (nowMs < this.fullUntilMs) return false
    const isIdleStranger = (connection: Connection): boolean => isIdle(connection) && isStranger(connection)
    if ([isIdleStranger, isIdle, isStranger].some((isToGo) => this.dismissSome(isToGo))) return true
    this.fullUntilMs = nowMs + FULL_MS
    return false
  }

  private dismissSome(isToGo: (connection: Connection) => boolean): boolean {
    let left = Math.ceil(this.limits.connectionsMax / PART)
    const before = left
    for (const connection of this.origins.keys()) {
      if (!isToGo(connection)) continue
      this.dismiss(connection)
      if (--left === 0) break
    }
    return left < before
  }

  private dismiss(connection: Connection): void {
    this.dismissed++
    this.leave(connection)
    connection.destroy()
  }
}

const isIdle = ({ isAtWork }: Connection): boolean => !isAtWork
/** Nothing was noted of it: whoever handles requests has met nobody on it whom he knows. */
const isStranger = ({ notes }: Connection): boolean => notes.size === 0
