import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { stepAt, stepsOf } from './usage.ts'

const now = Date.parse('2026-03-10T13:20:00Z')
const iso = (ms: number | undefined): string => new Date(ms ?? Number.NaN).toISOString().replace(':00.000Z', 'Z')

test('hours end with the running one', () => {
  const { times, toMs } = stepsOf('24h', 'hour', 'utc', now)
  expect([iso(times[0]), iso(toMs)]).toEqual(['2026-03-09T14:00Z', '2026-03-10T14:00Z'])
  expect(times).toHaveLength(24)
})

test('at the stroke of an hour the new one is the running one', () => {
  expect(iso(stepsOf('24h', 'hour', 'utc', Date.parse('2026-03-10T13:00:00Z')).toMs)).toBe('2026-03-10T14:00Z')
})

test('days in UTC are those of UTC, wherever the browser is', () => {
  const { times, toMs } = stepsOf('30d', 'day', 'utc', now)
  expect([iso(times[0]), iso(times.at(-1)), iso(toMs)]).toEqual([
    '2026-02-09T00:00Z',
    '2026-03-10T00:00Z',
    '2026-03-11T00:00Z',
  ])
})

describe.each([
  // In India the first whole hour of UTC in a day begins half an hour after midnight.
  ['Asia/Kolkata', '2026-03-10T13:20:00Z', '2025-12-10T19:00Z', '2026-03-09T19:00Z', '2026-03-10T19:00Z'],
  ['Asia/Shanghai', '2026-03-10T13:20:00Z', '2025-12-10T16:00Z', '2026-03-09T16:00Z', '2026-03-10T16:00Z'],
  ['America/Los_Angeles', '2026-03-10T13:20:00Z', '2025-12-11T08:00Z', '2026-03-10T07:00Z', '2026-03-11T07:00Z'],
  ['Europe/Berlin', '2026-11-25T23:30:00Z', '2026-08-28T22:00Z', '2026-11-25T23:00Z', '2026-11-26T23:00Z'],
])('days of %s', (zone, at, first, last, end) => {
  const before = new Intl.DateTimeFormat().resolvedOptions().timeZone
  beforeEach(() => void (process.env['TZ'] = zone))
  afterEach(() => void (process.env['TZ'] = before))
  test('begin at midnight there, before and after its clocks are changed', () => {
    const steps = stepsOf('90d', 'day', 'local', Date.parse(at))
    expect(steps.times).toHaveLength(90)
    expect([iso(steps.times[0]), iso(steps.times.at(-1)), iso(steps.toMs)]).toEqual([first, last, end])
    const dates = steps.times.map((time) => new Date(time).getDate())
    expect(dates.filter((date, i) => date === dates[i - 1])).toEqual([])
    expect(stepAt(steps, 89)).toEqual({ from: new Date(last).toISOString(), to: new Date(end).toISOString() })
  })
})
