import { expect, test } from 'bun:test'
import { Slots } from './slots.ts'

/** Work that ends when it is told to; what has begun is in `begun`, in order. */
function crowd(slots: Slots) {
  const begun: string[] = []
  const ends = new Map<string, () => void>()
  const enter = (title: string, name?: string): Promise<void> =>
    slots.run(() => {
      begun.push(title)
      return new Promise<void>((resolve) => void ends.set(title, resolve))
    }, name)
  const end = async (title: string): Promise<void> => {
    ends.get(title)?.()
    await Bun.sleep(0)
  }
  return { begun, enter, end }
}

test('only so much is done at once, and the rest in turn', async () => {
  const { begun, enter, end } = crowd(new Slots(2))
  for (const title of ['a', 'b', 'c', 'd']) void enter(title)
  expect(begun).toEqual(['a', 'b'])
  await end('b')
  expect(begun).toEqual(['a', 'b', 'c'])
  await end('a')
  expect(begun).toEqual(['a', 'b', 'c', 'd'])
})

test('nobody has more than a share, and nobody waits behind those who have theirs', async () => {
  const { begun, enter, end } = crowd(new Slots(3, 2))
  for (const title of ['a1', 'a2', 'a3', 'a4']) void enter(title, 'a')
  expect(begun).toEqual(['a1', 'a2'])
  void enter('b1', 'b')
  void enter('b2', 'b')
  expect(begun).toEqual(['a1', 'a2', 'b1'])
  // The slot is for whoever waits longest of those who have no share yet.
  await end('b1')
  expect(begun).toEqual(['a1', 'a2', 'b1', 'b2'])
  await end('a2')
  expect(begun).toEqual(['a1', 'a2', 'b1', 'b2', 'a3'])
})

test('work that fails leaves its slot', async () => {
  const slots = new Slots(1, 1)
  expect(slots.run(() => Promise.reject(new Error('no')), 'a')).rejects.toThrow('no')
  expect(await slots.run(() => Promise.resolve('yes'), 'a')).toBe('yes')
})
