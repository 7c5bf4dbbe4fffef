import { expect, test } from 'bun:test'
import { duration, period, relativeHour, relativeTime, showTime } from './time.ts'

const at = '2026-03-01T23:05:09Z'
const now = Date.parse('2026-03-02T00:00:00Z')

test('a time is shown in the zone that is asked for, and names it where seconds matter', () => {
  expect(showTime(at, 'withSeconds', { language: 'en', zone: 'utc' })).toBe('Mar 1, 2026, 23:05:09 UTC')
  expect(showTime(at, 'dayOnly', { language: 'zh-CN', zone: 'utc' })).toBe('2026年3月1日')
  expect(showTime(at, 'clock', { language: 'en', zone: 'utc' })).toBe('23:05:09')
})

test.each([
  [now - 5_000, '5 sec. ago'],
  [now - 54 * 60_000, '54 min. ago'],
  [now - 23 * 3_600_000, '23 hr. ago'],
  [now - 24 * 3_600_000, '1 day ago'],
  [now + 3 * 86_400_000, 'in 3 days'],
  [now - 40 * 86_400_000, '1 mo. ago'],
  [now - 400 * 86_400_000, '1 yr. ago'],
])('%d is %s', (time, text) => {
  expect(relativeTime(time, 'en', now)).toBe(text)
})

test.each([
  ['2026-03-02T13:00:00Z', '2026-03-02T13:59:59Z', undefined],
  ['2026-03-02T12:00:00Z', '2026-03-02T13:00:01Z', '1 hr. ago'],
  ['2026-03-02T12:00:00Z', '2026-03-02T13:59:59Z', '1 hr. ago'],
  ['2026-03-01T12:00:00Z', '2026-03-02T11:59:59Z', '23 hr. ago'],
  ['2026-03-01T12:00:00Z', '2026-03-02T12:00:01Z', '1 day ago'],
])('what was in the hour of %s is, at %s, %p', (at, now, text) => {
  expect(relativeHour(at, 'en', Date.parse(now))).toBe(text)
})

test.each([
  [null, '—'],
  [0, '0 ms'],
  [241.4, '241 ms'],
  [999.6, '1.00 s'],
  [59_960, '1 m 00 s'],
  [3_599_700, '1 h 00 m'],
  [1_284, '1.28 s'],
  [12_840, '12.8 s'],
  [65_000, '1 m 05 s'],
  [7_260_000, '2 h 01 m'],
])('%p ms are %s', (ms, text) => {
  expect(duration(ms)).toBe(text)
})

test.each([
  [0, '0 s'],
  [300, '300 ms'],
  [5_000, '5 s'],
  [1_500, '1.5 s'],
  [75_000, '1 m 15 s'],
  [600_000, '10 m'],
  [3_600_000, '1 h'],
  [90_500, '1 m 30.5 s'],
  [3_605_000, '1 h 5 s'],
  [5_430_000, '1 h 30 m 30 s'],
  [86_400_000, '24 h'],
])('%d ms, as somebody has set them, are %s', (ms, text) => {
  expect(period(ms)).toBe(text)
})
