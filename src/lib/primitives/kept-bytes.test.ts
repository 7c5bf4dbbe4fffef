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

test('an owner without room is counted again, and a count that crosses a change is dropped', async () => {
  const now = performance.now.bind(performance)
  const shift = (ms: number): void => {
    performance.now = () => now() + ms
  }
  try {
    const counts: PromiseWithResolvers<number>[] = []
    const recount = (owner: string): Promise<number> => {
      expect(owner).toBe('a')
      counts.push(Promise.withResolvers())
      return (counts.at(-1) as PromiseWithResolvers<number>).promise
    }
    const answer = async (bytes: number): Promise<void> => {
      counts.at(-1)?.resolve(bytes)
      for (let i = 0; i < 5; i++) await Promise.resolve()
    }
    const kept = new KeptBytes({ max: 100, recount })
    kept.count('a', 100)
    await Bun.sleep(2)
    expect([kept.take('a', 1), kept.take('a', 1), counts.length]).toEqual([false, false, 1])
    await answer(90)
    expect([kept.takenBy('a'), kept.take('a', 10), kept.take('a', 1), counts.length]).toEqual([90, true, false, 1])
    shift(6_000)
    expect([kept.take('a', 1), counts.length]).toEqual([false, 2])
    kept.give('a', 7)
    await answer(50)
    expect(kept.takenBy('a')).toBe(93)
    shift(12_000)
    expect([kept.take('a', 8), counts.length]).toEqual([false, 3])
    counts.at(-1)?.reject(new Error('no database'))
    await Promise.resolve()
    expect(kept.takenBy('a')).toBe(93)
  } finally {
    performance.now = now
  }
})

test('an owner with room is counted in a quiet moment', async () => {
  let reads = 0
  const kept = new KeptBytes({ max: 100, recount: async () => (reads++, 40) })
  for (let i = 0; i < 12; i++) {
    expect(kept.take('a', 1)).toBe(true)
    await Bun.sleep(100)
  }
  expect([reads, kept.takenBy('a')]).toEqual([0, 12])
  await Bun.sleep(2_200)
  expect([reads, kept.takenBy('a')]).toEqual([1, 40])
})
