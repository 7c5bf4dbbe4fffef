import { expect, test } from 'bun:test'
import { NAMES_MAX, MemoryThrottle } from './throttle.ts'

const rule = { burst: 2, refillMs: 1_000 }

/** Tries once under each of this many names. */
function fill(throttle: MemoryThrottle, names: number, nowMs: number): void {
  for (let i = 0; i < names; i++) throttle.take(`other ${i}`, nowMs)
}

test('allows a burst, and then one try per interval', () => {
  const throttle = new MemoryThrottle(rule)
  expect([1, 2, 3].map(() => throttle.take('kim', 0))).toEqual([0, 0, 1_000])
  expect(throttle.take('kim', 400)).toBe(600)
  expect([throttle.take('kim', 1_000), throttle.take('kim', 1_000)]).toEqual([0, 1_000])
})

test('a name without tries left is not forgotten because of tries under other names', () => {
  const throttle = new MemoryThrottle(rule)
  for (let i = 0; i < 3; i++) throttle.take('kim', 0)
  fill(throttle, NAMES_MAX + 500, 0)
  expect(throttle.take('kim', 0)).toBe(1_000)
})

test('a new name waits while every known name has no tries left, and refused names are not remembered', () => {
  const throttle = new MemoryThrottle({ burst: 1, refillMs: 1_000 })
  fill(throttle, NAMES_MAX, 0)
  expect(throttle.take('kim', 0)).toBe(1_000)
  expect(throttle.take('other 0', 500)).toBe(500)
  expect(throttle.take('kim', 1_000)).toBe(0)
})

test('giving back an untaken try remembers no name, and a try that is given back frees its room', () => {
  const throttle = new MemoryThrottle({ burst: 1, refillMs: 1_000 })
  for (let i = 0; i < 2 * NAMES_MAX; i++) throttle.giveBack(`nobody ${i}`, 0)
  fill(throttle, NAMES_MAX, 0)
  expect(throttle.take('kim', 0)).toBe(1_000)
  throttle.giveBack('other 7', 0)
  expect(throttle.take('kim', 0)).toBe(0)
  expect(throttle.take('lee', 0)).toBe(1_000)
})

test('guesses are slowed down by name, and a successful one is given back', () => {
  const throttle = new MemoryThrottle({ burst: 3, refillMs: 1_000 })
  for (let i = 0; i < 3; i++) expect(throttle.take('a', 0)).toBe(0)
  expect(throttle.take('a', 0)).toBe(1_000)
  expect(throttle.take('b', 0)).toBe(0)
  throttle.giveBack('a', 0)
  expect(throttle.take('a', 0)).toBe(0)
  expect(throttle.take('a', 1_000)).toBe(0)
  expect(throttle.take('a', 1_000)).toBe(1_000)
})
