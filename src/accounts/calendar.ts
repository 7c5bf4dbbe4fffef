import { DAY_MS, HOUR_MS } from '../lib/primitives/units.ts'

/** A time, its UTC day and month, and their ends. */
export class Calendar {
  nowMs = 0
  day = 0
  dayEndsMs = 0
  month = 0
  monthEndsMs = 0

  at(nowMs: number): this {
    this.nowMs = nowMs
    if (nowMs < this.dayEndsMs && nowMs >= this.dayEndsMs - DAY_MS) return this
    const date = new Date(nowMs)
    this.day = Math.floor(nowMs / DAY_MS)
    this.dayEndsMs = (this.day + 1) * DAY_MS
    this.month = date.getUTCFullYear() * 12 + date.getUTCMonth()
    this.monthEndsMs = Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1)
    return this
  }
}

/** The first hour of the month, in Unix hours. A `Limiter` needs the charges since then. */
export function monthStartHour(nowMs: number): number {
  const date = new Date(nowMs)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth()) / HOUR_MS
}
