import { expect, test } from 'bun:test'
import { seatBounds, Seats } from './seats.ts'

const one = { id: 'vendor', concurrentRequests: 1 }

test('there are so many seats, and each is given back once', () => {
  const seats = new Seats()
  const pair = { id: 'vendor', concurrentRequests: 2 }
  const [first, second] = [seats.take(pair), seats.take(pair)]
  expect(seats.take(pair)).toBeUndefined()
  expect(seats.take({ id: 'other', concurrentRequests: 1 })).toBeDefined()
  first?.leave()
  first?.leave()
  expect(seats.take(pair)).toBeDefined()
  expect(seats.take(pair)).toBeUndefined()
  second?.leave()
  expect(seats.take(pair)).toBeDefined()
})

test('who waits is served in the order of arrival, before whoever comes then', async () => {
  const seats = new Seats()
  const pair = { id: 'vendor', concurrentRequests: 2 }
  const taken = [seats.take(pair), seats.take(pair)]
  const order: string[] = []
  const waits = ['a', 'b'].map((name) => seats.wait(pair).then((seat) => (order.push(name), seat)))
  taken[0]?.leave()
  expect(seats.take(pair)).toBeUndefined()
  taken[1]?.leave()
  expect((await Promise.all(waits)).every(Boolean)).toBe(true)
  expect(order).toEqual(['a', 'b'])
})

test('who waits in vain is told so, and takes no seat later', async () => {
  const seats = new Seats()
  const taken = seats.take(one)
  const startedMs = performance.now()
  const waiting = seats.wait(one)
  // As many wait as may be served: the next one is told at once.
  expect(await seats.wait(one)).toBeUndefined()
  expect(performance.now() - startedMs).toBeLessThan(seatBounds.waitMs)
  expect(await waiting).toBeUndefined()
  taken?.leave()
  expect(seats.take(one)).toBeDefined()
})

test('a limit that is changed holds for who is there already', () => {
  const seats = new Seats()
  const taken = seats.take(one)
  expect(seats.take({ ...one, concurrentRequests: 2 })).toBeDefined()
  taken?.leave()
  expect(seats.take(one)).toBeUndefined()
})
