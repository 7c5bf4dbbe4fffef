import { expect, test } from 'bun:test'
import { statement, type SqlValue } from './statement.ts'
import { bindOf, decodeBatch, encodeBatch, encodeStep } from './wire.ts'

test('every value arrives as it was sent, also beyond 2^53', () => {
  const values: SqlValue[] = [
    'ü"\\',
    0,
    1.5,
    null,
    7n,
    -(2n ** 53n),
    2n ** 53n + 1n,
    2n ** 63n - 1n,
    Uint8Array.of(0, 255),
  ]
  const run = statement('SELECT 1')
  const [tx] = decodeBatch(encodeBatch({ define: [], txs: [[encodeStep({ run, bind: [...values], changes: 1 })]] })).txs
  const step = tx?.[0]
  if (!step) throw new Error('nothing arrived')
  expect([step[0], step[1]]).toEqual([run.slot, 1])
  bindOf(step).forEach((value, i) => {
    const sent = values[i] ?? null
    // Integers may come as number or bigint: SQLite binds both as INTEGER.
    if (typeof sent === 'bigint') expect(BigInt(value as bigint)).toBe(sent)
    else expect(value instanceof Uint8Array ? [...value] : value).toEqual(sent instanceof Uint8Array ? [...sent] : sent)
  })
})
