import { expect, test } from 'bun:test'
import { TooLate, Turns } from './turns.ts'

/** Work that ends when it is told to, and notes its beginnings. */
function bench(max: number) {
  const turns = new Turns(max)
  const begun: string[] = []
  const ends: (() => void)[] = []
  const start = (name: string, share: string, untilMs?: number): Promise<void> =>
    turns.run(
      () => {
        begun.push(name)
        return new Promise((resolve) => void ends.push(resolve))
      },
      { share, untilMs },
    )
  const endOne = async (): Promise<void> => {
    ends.shift()?.()
    await Bun.sleep(0)
  }
  return { begun, start, endOne }
}
const later = (): number => performance.now() + 60_000

test('so much at once, one place less for a single share; shares take turns, and each keeps its order', async () => {
  const { begun, start, endOne } = bench(2)
  for (let i = 1; i <= 5; i++) void start(`a${i}`, 'a', later())
  for (let i = 1; i <= 2; i++) void start(`b${i}`, 'b', later())
  void start('c1', 'c', later())
  await Bun.sleep(0)
  expect(begun).toEqual(['a1', 'b1'])
  for (let i = 0; i < 8; i++) await endOne()
  expect(begun).toEqual(['a1', 'b1', 'a2', 'b2', 'c1', 'a3', 'a4', 'a5'])
})

test('what nobody may give up goes first, its shares in turns as well', async () => {
  const { begun, start, endOne } = bench(1)
  void start('a1', 'a', later())
  void start('a2', 'a', later())
  for (const name of ['paid a1', 'paid a2']) void start(name, 'a')
  void start('paid b1', 'b')
  for (let i = 0; i < 5; i++) await endOne()
  expect(begun).toEqual(['a1', 'paid a1', 'paid b1', 'paid a2', 'a2'])
})

test('who waits for too long is told, and not begun any more; a turn that nobody took is not lost', async () => {
  const { begun, start, endOne } = bench(1)
  const slow = start('slow', 'a', performance.now() + 20)
  const waiting = start('waiting', 'a', performance.now() + 20)
  // One in the middle of its work keeps its place until it has ended.
  const late = (await Promise.allSettled([slow, waiting])).map((one) => one.status === 'rejected' && one.reason)
  expect(late).toEqual([expect.any(TooLate), expect.any(TooLate)])
  const next = start('next', 'b', later())
  await Bun.sleep(0)
  expect(begun).toEqual(['slow'])
  await endOne()
  expect(begun).toEqual(['slow', 'next'])
  await endOne()
  await next
  void start('last', 'c', later())
  await Bun.sleep(0)
  expect(begun).toEqual(['slow', 'next', 'last'])
})
