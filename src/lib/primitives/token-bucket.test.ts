import { expect, test } from 'bun:test'
import { TokenBucket } from './token-bucket.ts'

test('begins full, refills evenly, and holds no more than its capacity', () => {
  const bucket = new TokenBucket()
  bucket.take(60, 5_000, 60)
  expect(bucket.level(60, 5_000)).toBe(0)
  expect(bucket.level(60, 15_000)).toBe(10)
  expect(bucket.level(60, 1_000_000)).toBe(60)
})

test('gives the time until an amount, which is infinite if the capacity is too small', () => {
  const bucket = new TokenBucket(10_000)
  expect(bucket.waitMs(100, 0, 100)).toBe(0)
  bucket.take(100, 0, 120)
  expect(bucket.waitMs(100, 0, 1)).toBe(2_100)
  expect(bucket.fullInMs(100, 0)).toBe(12_000)
  expect(bucket.waitMs(100, 0, 101)).toBe(Number.POSITIVE_INFINITY)
})

test('an amount that is given back between two readings of the clock counts fully', () => {
  const [early, late] = [new TokenBucket(10_000), new TokenBucket(10_000)]
  for (const bucket of [early, late]) bucket.take(100, 0, 100)
  early.give(100, 5)
  expect(late.level(100, 1_000)).toBe(10)
  late.give(100, 5)
  expect([early.level(100, 2_000), late.level(100, 2_000)]).toEqual([25, 25])
})

test('a lower limit cuts off what is above it, and a higher one does not bring it back', () => {
  const bucket = new TokenBucket()
  expect([bucket.level(60, 0), bucket.level(10, 0), bucket.level(60, 0)]).toEqual([60, 10, 10])
})

test('a clock that goes back refills nothing', () => {
  const bucket = new TokenBucket()
  bucket.take(60, 60_000, 60)
  expect(bucket.level(60, 0)).toBe(0)
  expect(bucket.level(60, 1_000)).toBe(1)
})
