import { expect, test } from 'bun:test'
import { late } from './lazy.ts'

test('a module is loaded once at its first use, and used at once from then on', async () => {
  let loads = 0
  const sum = late(() => Promise.resolve({ of: (a: number, b: number) => a + b, loads: ++loads }))
  expect(loads).toBe(0)
  const [first, beside] = [sum(({ of }) => of(1, 2)), sum.load()]
  expect(first).toBeInstanceOf(Promise)
  expect(await first).toBe(3)
  expect((await beside).of(2, 2)).toBe(4)
  expect(sum(({ of }) => of(3, 4))).toBe(7)
  await sum.load()
  expect(loads).toBe(1)
})

test('a module that could not be loaded is tried again', async () => {
  let loads = 0
  const one = late(() => (++loads === 1 ? Promise.reject(new Error('no file')) : Promise.resolve({ value: 1 })))
  expect(await one.load().catch((error: Error) => error.message)).toBe('no file')
  expect(await one(({ value }) => value)).toBe(1)
})

test('the use of a module may throw, at once or later', async () => {
  const one = late(() => Promise.resolve({ value: 1 }))
  const fail = (): never => {
    throw new Error('no use')
  }
  const early = one(fail) as Promise<unknown>
  expect(await early.catch((error: Error) => error.message)).toBe('no use')
  expect(() => one(fail)).toThrow('no use')
})
