import { afterEach, beforeEach, expect, test } from 'bun:test'
import { makePostgresDatabase, type SharedDatabase } from '../store/postgres-contract.ts'
import type { Store } from '../store/store.ts'
import { SharedThrottle } from './shared-throttle.ts'

let database: SharedDatabase
let stores: readonly Store[]

beforeEach(async () => {
  database = await makePostgresDatabase()
  stores = [await database.open(), await database.open()]
})
afterEach(async () => {
  await Promise.all(stores.map((store) => store.close()))
  await database.remove()
})

/** A throttle at each instance. */
const throttles = (kind: string, burst: number, refillMs: number): SharedThrottle[] =>
  stores.map((store) => new SharedThrottle(store, kind, { burst, refillMs }))

const tries = (of: readonly SharedThrottle[], name: string, count: number): Promise<number[]> =>
  Promise.all(Array.from({ length: count }, (_, i) => (of[i % of.length] as SharedThrottle).take(name)))

test('instances allow a burst together, whatever the order of their tries', async () => {
  const all = throttles('pairs', 7, 60_000)
  const waits = await tries(all, 'kim', 40)
  expect(waits.filter((waitMs) => waitMs === 0)).toHaveLength(7)
  for (const waitMs of waits.filter((one) => one > 0)) {
    expect(waitMs).toBeGreaterThan(50_000)
    expect(waitMs).toBeLessThanOrEqual(60_000)
  }
  // Another name, and the same name of another kind, have tries of their own.
  expect(await all[0]?.take('lee')).toBe(0)
  expect(await throttles('names', 1, 60_000)[1]?.take('kim')).toBe(0)
})

test('there is one more try after each interval, and never more than the burst', async () => {
  const all = throttles('intervals', 3, 1_000)
  expect((await tries(all, 'kim', 6)).filter((waitMs) => waitMs === 0)).toHaveLength(3)
  const waitMs = (await all[0]?.take('kim')) ?? 0
  expect(waitMs).toBeGreaterThan(0)
  await Bun.sleep(waitMs + 20)
  expect(await all[1]?.take('kim')).toBe(0)
  await Bun.sleep(3_100)
  expect((await tries(all, 'kim', 6)).filter((one) => one === 0)).toHaveLength(3)
})

test('a try that is given back at one instance can be taken at the other', async () => {
  const all = throttles('back', 2, 60_000)
  expect((await tries(all, 'kim', 3)).filter((waitMs) => waitMs === 0)).toHaveLength(2)
  await all[0]?.giveBack('kim')
  expect(await all[1]?.take('kim')).toBe(0)
  expect(await all[0]?.take('kim')).toBeGreaterThan(0)
  await all[0]?.giveBack('nobody')
})

test('names without tries to wait for are forgotten', async () => {
  const all = throttles('many', 2, 5)
  await Promise.all(Array.from({ length: 100 }, async (_, i) => all[i % 2]?.take(`name ${i}`)))
  await Bun.sleep(50)
  for (let i = 0; i < 12; i++) await all[0]?.take('last')
  const [row] = (await stores[0]?.query("SELECT count(*) AS n FROM throttle WHERE name LIKE 'many %'")) ?? []
  expect(Number(row?.['n'])).toBeLessThan(20)
})
