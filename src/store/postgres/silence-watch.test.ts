import { afterEach, expect, test } from 'bun:test'
import type { Row } from '../statement.ts'
import { SilenceWatch } from './silence-watch.ts'

let watch: SilenceWatch | undefined
afterEach(() => watch?.close())

/** Watches a table that a test changes. Resolves when a condition is met. */
function watching(table: Map<string, string>, query = async (): Promise<readonly Row[]> => rowsOf(table)) {
  const silent: string[] = []
  const counts: number[] = []
  let polls = 0
  const store = {
    instance: 'own',
    query: () => {
      polls++
      return query()
    },
    write: async () => ({ kind: 'written' }) as const,
  }
  const onSilent = async ({ id, beat }: { id: string; beat: string }): Promise<void> =>
    void silent.push(`${id} ${beat}`)
  watch = new SilenceWatch(store, { onSilent, onCount: (count) => counts.push(count), silentMs: 60, pollMs: 10 })
  const polled = async (count: number): Promise<void> => {
    const until = polls + count
    while (polls < until) await Bun.sleep(1)
  }
  return { silent, counts, polled }
}

const rowsOf = (table: Map<string, string>): Row[] => [...table].map(([id, beat]) => ({ id, beat }))

test('an instance whose sign of life stays the same is silent, and one that renews it is not', async () => {
  const table = new Map([
    ['dead', 'b0'],
    ['alive', 'b0'],
  ])
  const { silent, polled } = watching(table)
  for (let i = 1; i <= 30; i++) {
    table.set('alive', `b${i}`)
    await polled(1)
  }
  expect(silent.length).toBeGreaterThan(0)
  expect(new Set(silent)).toEqual(new Set(['dead b0']))
})

test('an instance that is silent is watched anew once it gives a sign of life', async () => {
  const table = new Map([['frozen', 'b0']])
  const { silent, polled } = watching(table)
  while (silent.length === 0) await polled(1)
  table.set('frozen', 'b1')
  await polled(2)
  const count = silent.length
  await polled(2)
  expect(silent).toHaveLength(count)
})

test('polls that fail see nothing: after an outage everybody is watched anew', async () => {
  const table = new Map([['other', 'b0']])
  let polls = 0
  // One poll in three fails. The time between two failures is shorter than the time of silence.
  const { silent, polled } = watching(table, async () => {
    if (++polls % 3 === 0) throw new Error('the server does not answer')
    return rowsOf(table)
  })
  await polled(30)
  expect(silent).toEqual([])
})

test('instances are counted with this one, from the start on, and a poll that fails counts nobody', async () => {
  const table = new Map([['second', 'b0']])
  let isAway = false
  const { counts, polled } = watching(table, async () => {
    if (isAway) throw new Error('the server does not answer')
    return rowsOf(table)
  })
  await Bun.sleep(0)
  expect(counts[0]).toBe(2)
  table.set('third', 'b0')
  await polled(3)
  expect(counts.at(-1)).toBe(3)
  isAway = true
  table.clear()
  await polled(3)
  expect(counts.at(-1)).toBe(3)
  isAway = false
  await polled(3)
  expect(counts.at(-1)).toBe(1)
})
