import { DAY_MS, HOUR_MS, MINUTE_MS } from './units.ts'

/** Times in UTC or local time. The API sends ISO 8601 in UTC. */
export type Zone = 'utc' | 'local'

const zoneOf = (zone: Zone): string | undefined => (zone === 'utc' ? 'UTC' : undefined)

/** The IANA name of the time zone, for the API. */
export const zoneName = (zone: Zone): string =>
  zone === 'utc' ? 'UTC' : new Intl.DateTimeFormat().resolvedOptions().timeZone

/** Formatters are kept: creating one takes longer than using it a hundred times. */
const formats = new Map<string, Intl.DateTimeFormat>()
function format(language: string, zone: Zone, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const name = `${language} ${zone} ${JSON.stringify(options)}`
  const known = formats.get(name)
  if (known) return known
  const timeZone = zoneOf(zone)
  const made = new Intl.DateTimeFormat(language, { ...options, hourCycle: 'h23', ...(timeZone && { timeZone }) })
  formats.set(name, made)
  return made
}

const long = { year: 'numeric', month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit' } as const
const withSeconds = { ...long, second: '2-digit', timeZoneName: 'short' } as const
const dayOnly = { year: 'numeric', month: 'short', day: 'numeric' } as const
const shortDay = { month: 'short', day: 'numeric' } as const
const clock = { hour: '2-digit', minute: '2-digit', second: '2-digit' } as const
const hourOnly = { hour: '2-digit', minute: '2-digit' } as const
const monthOnly = { year: 'numeric', month: 'long' } as const

const shapes = { long, withSeconds, dayOnly, shortDay, clock, hourOnly, monthOnly }

/** A time in one of the console's formats. */
export const showTime = (
  at: string | number | Date,
  shape: keyof typeof shapes,
  { language, zone }: { readonly language: string; readonly zone: Zone },
): string => format(language, zone, shapes[shape]).format(new Date(at))

/** The last second of a day such as `2026-11-25`, in the zone. */
export const endOfDay = (day: string, zone: Zone): string =>
  new Date(`${day}T23:59:59${zone === 'utc' ? 'Z' : ''}`).toISOString()

const steps = [
  ['second', 1_000, MINUTE_MS],
  ['minute', MINUTE_MS, HOUR_MS],
  ['hour', HOUR_MS, DAY_MS],
  ['day', DAY_MS, 30 * DAY_MS],
  ['month', 30 * DAY_MS, 365 * DAY_MS],
] as const

/** `3 minutes ago`, `in 2 days`. */
export function relativeTime(at: string | number, language: string, nowMs: number = Date.now()): string {
  const agoMs = new Date(at).getTime() - nowMs
  const [unit, size] = steps.find(([, , below]) => Math.abs(agoMs) < below) ?? ['year', 365 * DAY_MS]
  // A day ago is not always yesterday, and `last mo.` is less clear than `1 mo. ago`. Only `now` is used as a word.
  const numeric = unit === 'second' ? 'auto' : 'always'
  return new Intl.RelativeTimeFormat(language, { numeric, style: 'short' }).format(Math.trunc(agoMs / size), unit)
}

/** A past time that is known by the hour only. Undefined: the current hour. */
export function relativeHour(at: string, language: string, nowMs: number = Date.now()): string | undefined {
  const hourOf = (ms: number): number => Math.floor(ms / HOUR_MS) * HOUR_MS
  const [then, now] = [hourOf(Date.parse(at)), hourOf(nowMs)]
  return then >= now ? undefined : relativeTime(then, language, now)
}

/** The exact value of a setting: `300 ms`, `1.5 s`, `1 m 15 s`, `24 h`. */
export function period(ms: number): string {
  if (ms > 0 && ms < 1_000) return `${ms} ms`
  const parts = [
    [Math.floor(ms / HOUR_MS), 'h'],
    [Math.floor(ms / MINUTE_MS) % 60, 'm'],
    [(ms % MINUTE_MS) / 1_000, 's'],
  ] as const
  const said = parts.flatMap(([size, unit]) => (size === 0 ? [] : [`${size} ${unit}`]))
  return said.join(' ') || '0 s'
}

/** `241 ms`, `1.28 s`, `3 m 05 s`. */
export function duration(ms: number | null | undefined): string {
  if (ms === null || ms === undefined) return '—'
  if (ms < 999.5) return `${Math.round(ms)} ms`
  if (ms < 59_950) return `${(ms / 1_000).toFixed(ms < 9_995 ? 2 : 1)} s`
  const seconds = Math.round(ms / 1_000)
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} m ${String(seconds % 60).padStart(2, '0')} s`
  return `${Math.floor(seconds / 3_600)} h ${String(Math.floor((seconds % 3_600) / 60)).padStart(2, '0')} m`
}
