import { expect, test } from 'bun:test'
import { Slots, TooLate } from './slots.ts'

/** Work that ends on demand. `begun` has the begun work in order. */
function crowd(slots: Slots) {
  const begun: string[] = []
  const ends = new Map<string, () => void>()
  const enter = (title: string, share = ''): Promise<void> =>
    slots.run(
      () => {
        begun.push(title)
        return new Promise<void>((resolve) => void ends.set(title, resolve))
      },
      { share },
    )
  const end = async (title: string): Promise<void> => {
    ends.get(title)?.()
    await Bun.sleep(0)
  }
  return { begun, enter, end }
}

test('the work at once is bounded, and the rest runs in turn', async () => {
  const { begun, enter, end } = crowd(new Slots(2))
  for (const title of ['a', 'b', 'c', 'd']) void enter(title)
  expect(begun).toEqual(['a', 'b'])
  await end('b')
  expect(begun).toEqual(['a', 'b', 'c'])
  await end('a')
  expect(begun).toEqual(['a', 'b', 'c', 'd'])
})

test('no share exceeds its bound, and no other waits behind it', async () => {
  const { begun, enter, end } = crowd(new Slots(3, 2))
  for (const title of ['a1', 'a2', 'a3', 'a4']) void enter(title, 'a')
  expect(begun).toEqual(['a1', 'a2'])
  void enter('b1', 'b')
  void enter('b2', 'b')
  expect(begun).toEqual(['a1', 'a2', 'b1'])
  // The slot goes to the next share that may have one.
  await end('b1')
  expect(begun).toEqual(['a1', 'a2', 'b1', 'b2'])
  await end('a2')
  expect(begun).toEqual(['a1', 'a2', 'b1', 'b2', 'a3'])
})

test('work that fails leaves its slot', async () => {
  const slots = new Slots(1, 1)
  const fails = (): never => {
    throw new Error('no')
  }
  for (const work of [fails, () => Promise.reject(new Error('no'))]) {
    expect(await slots.run(work, { share: 'a' }).catch(String)).toBe('Error: no')
  }
  expect(await slots.run(() => Promise.resolve('yes'), { share: 'a' })).toBe('yes')
})

/** Work that ends on demand, and notes its starts. */
function bench(max: number) {
  const slots = new Slots(max)
  const begun: string[] = []
  const ends: (() => void)[] = []
  const start = (name: string, share: string, untilMs?: number): Promise<void> =>
    slots.run(
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

test('a single share has one place less, shares take turns, and each keeps its order', async () => {
  const { begun, start, endOne } = bench(2)
  for (let i = 1; i <= 5; i++) void start(`a${i}`, 'a', later())
  for (let i = 1; i <= 2; i++) void start(`b${i}`, 'b', later())
  void start('c1', 'c', later())
  await Bun.sleep(0)
  expect(begun).toEqual(['a1', 'b1'])
  for (let i = 0; i < 8; i++) await endOne()
  expect(begun).toEqual(['a1', 'b1', 'a2', 'b2', 'c1', 'a3', 'a4', 'a5'])
})

test('work without a deadline goes first, and its shares take turns, too', async () => {
  const { begun, start, endOne } = bench(1)
  void start('a1', 'a', later())
  void start('a2', 'a', later())
  for (const name of ['paid a1', 'paid a2']) void start(name, 'a')
  void start('paid b1', 'b')
  for (let i = 0; i < 5; i++) await endOne()
  expect(begun).toEqual(['a1', 'paid a1', 'paid b1', 'paid a2', 'a2'])
})

test('work that comes too late is not begun, even if there is room', async () => {
  const { begun, start } = bench(1)
  expect(await start('late', 'a', performance.now() - 1).catch((error: unknown) => error)).toBeInstanceOf(TooLate)
  void start('next', 'a', later())
  expect(begun).toEqual(['next'])
})

test('work that waits too long is rejected and not begun, and its turn is not lost', async () => {
  const { begun, start, endOne } = bench(1)
  const slow = start('slow', 'a', performance.now() + 20)
  const waiting = start('waiting', 'a', performance.now() + 20)
  // Running work keeps its place until it has ended.
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
