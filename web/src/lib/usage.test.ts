import { expect, test } from 'bun:test'
import { boundsOf, timesOf } from './usage.ts'

const now = Date.parse('2026-03-10T13:20:00Z')
const iso = (ms: number): string => new Date(ms).toISOString()

test('hours end with the running one', () => {
  const bounds = boundsOf('24h', 'hour', 0, now)
  expect([iso(bounds.fromMs), iso(bounds.toMs)]).toEqual(['2026-03-09T14:00:00.000Z', '2026-03-10T14:00:00.000Z'])
  expect(timesOf(bounds)).toHaveLength(24)
})

test('days are those of the zone', () => {
  expect(iso(boundsOf('30d', 'day', 0, now).toMs)).toBe('2026-03-11T00:00:00.000Z')
  expect(iso(boundsOf('30d', 'day', 8, now).toMs)).toBe('2026-03-10T16:00:00.000Z')
  expect(iso(boundsOf('30d', 'day', -8, now).toMs)).toBe('2026-03-11T08:00:00.000Z')
  expect(timesOf(boundsOf('90d', 'day', 8, now))).toHaveLength(90)
})

test('at the stroke of an hour the new one is the running one', () => {
  expect(iso(boundsOf('24h', 'hour', 0, Date.parse('2026-03-10T13:00:00Z')).toMs)).toBe('2026-03-10T14:00:00.000Z')
})
