import { estimatedUsage } from './usage-estimate.ts'
import { expect, test } from 'bun:test'
import { runningUsage } from './running-usage.ts'

test('a later report overwrites an earlier one, except for a side that it leaves out', () => {
  const real = estimatedUsage(1000, 50)
  expect(runningUsage(undefined, real)).toBe(real)
  expect(runningUsage(real, undefined)).toBe(real)
  expect(runningUsage(estimatedUsage(1000, 20), real)).toBe(real)
  expect(runningUsage(real, estimatedUsage(0, 0))).toBe(real)
  expect(runningUsage(estimatedUsage(0, 0), real)).toBe(real)
  expect(runningUsage(estimatedUsage(1000, 0), estimatedUsage(0, 50))).toEqual(real)
  expect(runningUsage(estimatedUsage(0, 50), estimatedUsage(1000, 0))).toEqual(real)
})
