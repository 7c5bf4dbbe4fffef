import { expect, test } from 'bun:test'
import { HOUR_MS } from '../lib/primitives/units.ts'
import { monthStartHour } from './calendar.ts'
import { describeLimiterContract } from './limiter-contract.ts'
import { openMemoryLimiter } from './memory-limiter.ts'

describeLimiterContract('MemoryLimiter', openMemoryLimiter)

test('the month begins at midnight of its first day in UTC', () => {
  expect(monthStartHour(Date.UTC(2026, 10, 21, 12)) * HOUR_MS).toBe(Date.UTC(2026, 10, 1))
})
