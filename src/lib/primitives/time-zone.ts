import { HOUR_MS } from './units.ts'

/**
 * Days of a time zone in whole hours of UTC, because sums are kept by these hours. A day begins with its first whole
 * hour of UTC. If the zone is half an hour off, that is half past midnight, so a day contains no hour of the day
 * before.
 */
const DAY_HOURS = 24
/** A change of the clock lasts for weeks at least: summer time, or its pause in Ramadan. */
const STEP_HOURS = 7 * DAY_HOURS

/** From an hour (Unix hours) on, the clock is `hours` whole hours ahead of UTC. */
export type OffsetChange = { readonly fromHour: number; readonly hours: number }
/** In the order of time. The first one begins before everything. */
export type Shifts = readonly [OffsetChange, ...(readonly OffsetChange[])]

export const utc: Shifts = [{ fromHour: Number.MIN_SAFE_INTEGER, hours: 0 }]

/** Whether a time zone has this name: `Europe/Berlin`, `UTC`, `+05:30`. */
export function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).format(0) !== ''
  } catch {
    return false
  }
}

/** The shifts of a zone's clock between two hours. It takes about 20 µs per week. */
export function shiftsOf(zone: string, fromHour: number, toHour: number): Shifts {
  const parts = new Intl.DateTimeFormat('en-u-hc-h23', {
    timeZone: zone,
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
  })
  const hoursAt = (hour: number): number => {
    const at = Object.fromEntries(parts.formatToParts(hour * HOUR_MS).map(({ type, value }) => [type, Number(value)]))
    const { year = 0, month = 1, day = 1, hour: clock = 0, minute = 0 } = at
    return Math.floor((Date.UTC(year, month - 1, day, clock, minute) - hour * HOUR_MS) / HOUR_MS)
  }
  const first = { fromHour: Number.MIN_SAFE_INTEGER, hours: hoursAt(fromHour) }
  const later: OffsetChange[] = []
  for (let [hour, hours] = [fromHour, first.hours]; hour < toHour; hour += STEP_HOURS) {
    const next = hoursAt(hour + STEP_HOURS)
    if (next === hours) continue
    let [before, after] = [hour, hour + STEP_HOURS]
    while (after - before > 1) {
      const middle = Math.floor((before + after) / 2)
      if (hoursAt(middle) === hours) before = middle
      else after = middle
    }
    later.push({ fromHour: after, hours: next })
    hours = next
  }
  return [first, ...later]
}

/** The day that an hour belongs to, as a number of Unix days as if it were a day of UTC. */
export const dayOf = (hour: number, shifts: Shifts): number =>
  Math.floor((hour + (shifts.findLast(({ fromHour }) => fromHour <= hour) ?? shifts[0]).hours) / DAY_HOURS)

/** The first hour of such a day. If the clock skips midnight, it is the first existing hour. */
export function hourOfDay(day: number, shifts: Shifts): number {
  const starts = shifts.map(({ fromHour, hours }) => Math.max(day * DAY_HOURS - hours, fromHour))
  return Math.min(...starts.filter((hour) => dayOf(hour, shifts) === day))
}

/** `2026-11-25` */
export const dateOf = (day: number): string => new Date(day * DAY_HOURS * HOUR_MS).toISOString().slice(0, 10)
