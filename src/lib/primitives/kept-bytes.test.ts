import { expect, test } from 'bun:test'
import { KeptBytes } from './kept-bytes.ts'

test('what is kept and what is reserved have one bound for each owner', () => {
  const kept = new KeptBytes({ max: 100 })
  expect([kept.take('a', 60), kept.reserve('a', 41), kept.reserve('a', 40), kept.take('a', 1)]).toEqual([
    true,
    false,
    true,
    false,
  ])
  expect([kept.takenBy('a'), kept.takenBy('b'), kept.take('a', 0), kept.take('b', 100)]).toEqual([100, 0, true, true])
  kept.unreserve('a', 40)
  kept.give('a', 500)
  expect(kept.takenBy('a')).toBe(0)
  kept.count('a', 300)
  expect([kept.takenBy('a'), kept.take('a', 0), kept.take('a', 1)]).toEqual([300, true, false])
})

test('an owner without room is counted again, and what changes meanwhile is not lost', async () => {
  const { now } = performance
  try {
    const counts: PromiseWithResolvers<number>[] = []
    const recount = (owner: string): Promise<number> => {
      expect(owner).toBe('a')
      counts.push(Promise.withResolvers())
      return (counts.at(-1) as PromiseWithResolvers<number>).promise
    }
    const kept = new KeptBytes({ max: 100, recount })
    kept.count('a', 100)
    expect([kept.take('a', 1), counts.length]).toEqual([false, 0])
    performance.now = () => now.call(performance) + 6_000
    expect([kept.take('a', 1), kept.take('a', 1), counts.length]).toEqual([false, false, 1])
    kept.count('a', 7)
    counts[0]?.resolve(20)
    await Promise.resolve()
    await Promise.resolve()
    expect(kept.takenBy('a')).toBe(27)
    expect([kept.take('a', 73), counts.length]).toEqual([true, 1])
    // A count that fails changes nothing.
    performance.now = () => now.call(performance) + 12_000
    expect([kept.take('a', 1), counts.length]).toEqual([false, 2])
    counts[1]?.reject(new Error('no database'))
    await Promise.resolve()
    await Promise.resolve()
    expect(kept.takenBy('a')).toBe(100)
  } finally {
    performance.now = now
  }
})
