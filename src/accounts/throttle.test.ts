import { expect, test } from 'bun:test'
import { NAMES_MAX, Throttle } from './throttle.ts'

const rule = { burst: 2, refillMs: 1_000 }

/** Tries once under each of so many names. */
function fill(throttle: Throttle, names: number, nowMs: number): void {
  for (let i = 0; i < names; i++) throttle.take(`other ${i}`, nowMs)
}

test('lets through a burst, and then one in so long', () => {
  const throttle = new Throttle(rule)
  expect([1, 2, 3].map(() => throttle.take('kim', 0))).toEqual([0, 0, 1_000])
  expect(throttle.take('kim', 400)).toBe(600)
  expect([throttle.take('kim', 1_000), throttle.take('kim', 1_000)]).toEqual([0, 1_000])
})

test('whoever has nothing left is not forgotten for tries under other names', () => {
  const throttle = new Throttle(rule)
  for (let i = 0; i < 3; i++) throttle.take('kim', 0)
  fill(throttle, 3 * NAMES_MAX, 0)
  expect(throttle.take('kim', 0)).toBe(1_000)
})

test('a new name waits while all that are known have nothing left, and those that were refused are not among them', () => {
  const throttle = new Throttle({ burst: 1, refillMs: 1_000 })
  fill(throttle, NAMES_MAX, 0)
  expect(throttle.take('kim', 0)).toBe(1_000)
  expect(throttle.take('other 0', 500)).toBe(500)
  expect(throttle.take('kim', 1_000)).toBe(0)
})

test('giving back what was not taken remembers nobody, and what was given back makes room', () => {
  const throttle = new Throttle({ burst: 1, refillMs: 1_000 })
  for (let i = 0; i < 2 * NAMES_MAX; i++) throttle.giveBack(`nobody ${i}`, 0)
  fill(throttle, NAMES_MAX, 0)
  expect(throttle.take('kim', 0)).toBe(1_000)
  throttle.giveBack('other 7', 0)
  expect(throttle.take('kim', 0)).toBe(0)
  expect(throttle.take('lee', 0)).toBe(1_000)
})

test('guesses are slowed down, by name, and a good one is given back', () => {
  const throttle = new Throttle({ burst: 3, refillMs: 1_000 })
  for (let i = 0; i < 3; i++) expect(throttle.take('a', 0)).toBe(0)
  expect(throttle.take('a', 0)).toBe(1_000)
  expect(throttle.take('b', 0)).toBe(0)
  throttle.giveBack('a', 0)
  expect(throttle.take('a', 0)).toBe(0)
  expect(throttle.take('a', 1_000)).toBe(0)
  expect(throttle.take('a', 1_000)).toBe(1_000)
})
