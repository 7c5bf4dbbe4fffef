import { expect, test } from 'bun:test'
import { dateOf, dayOf, hourOfDay, isTimeZone, shiftsOf, utc } from './time-zone.ts'
import { HOUR_MS } from './units.ts'

const hourOf = (time: string): number => Date.parse(time) / HOUR_MS
const timeOf = (hour: number): string => new Date(hour * HOUR_MS).toISOString().replace(':00.000Z', 'Z')
const year = [hourOf('2026-01-01T00:00:00Z'), hourOf('2027-01-01T00:00:00Z')] as const

test.each([
  ['UTC', true],
  ['Europe/Berlin', true],
  ['Asia/Kolkata', true],
  ['', false],
  ['Mars/Olympus', false],
  ['Europe/Berlin; DROP TABLE usage_hour', false],
])('a zone must exist: %p is %p', (name, isOne) => {
  expect(isTimeZone(name)).toBe(isOne)
})

test.each([
  ['UTC', []],
  ['Asia/Shanghai', []],
  ['Europe/Berlin', ['2026-03-29T01:00Z +2', '2026-10-25T01:00Z +1']],
  ['America/New_York', ['2026-03-08T07:00Z -4', '2026-11-01T06:00Z -5']],
  ['Africa/Casablanca', ['2026-02-15T02:00Z +0', '2026-03-22T02:00Z +1']],
])('the shifts of %s are at the right times', (zone, changes) => {
  const [, ...later] = shiftsOf(zone, ...year)
  const said = later.map(({ fromHour, hours }) => `${timeOf(fromHour)} ${hours < 0 ? '' : '+'}${hours}`)
  expect(said).toEqual(changes)
})

/** Computed by the zone's own calendar, hour by hour. */
function calendarOf(zone: string): (hour: number) => string {
  const calendar = new Intl.DateTimeFormat('en-CA', { timeZone: zone })
  return (hour) => calendar.format(hour * HOUR_MS)
}

test.each(['UTC', 'Europe/Berlin', 'Asia/Shanghai', 'America/New_York', 'Pacific/Kiritimati', 'Africa/Cairo'])(
  'every hour of a year is in its day of %s, and the first hour of a day is the first',
  (zone) => {
    const shifts = shiftsOf(zone, ...year)
    const dateAt = calendarOf(zone)
    const wrong: string[] = []
    for (let hour = year[0] + 24; hour < year[1]; hour++) {
      const day = dayOf(hour, shifts)
      if (dateOf(day) !== dateAt(hour)) wrong.push(`${timeOf(hour)} is ${dateOf(day)}`)
      const isFirst = dateAt(hour - 1) !== dateAt(hour)
      if (isFirst !== (hourOfDay(day, shifts) === hour))
        wrong.push(`${timeOf(hour)} is ${isFirst ? 'the' : 'no'} first`)
    }
    expect(wrong).toEqual([])
  },
)

test.each(['Asia/Kolkata', 'America/St_Johns', 'Asia/Kathmandu', 'Australia/Lord_Howe'])(
  'a day of %s begins in it: with the first whole hour after midnight',
  (zone) => {
    const shifts = shiftsOf(zone, ...year)
    const dateAt = calendarOf(zone)
    for (let day = Math.ceil(year[0] / 24) + 1; day < year[1] / 24; day++) {
      const hour = hourOfDay(day, shifts)
      expect(dateAt(hour)).toBe(dateOf(day))
      expect(dateAt(hour - 1)).toBe(dateOf(day - 1))
    }
  },
)

test('in UTC a day is a day', () => {
  expect([hourOfDay(20_000, utc), dayOf(480_023, utc), dateOf(20_000)]).toEqual([480_000, 20_000, '2024-10-04'])
})
