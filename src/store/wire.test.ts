import { expect, test } from 'bun:test'
import { statement, type SqlValue } from './statement.ts'
import { bindOf, decodeBatch, encodeBatch, encodeTx, stepEnd } from './wire.ts'

test('every value arrives as it was sent, even beyond 2^53', () => {
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
  const steps = [
    { run, bind: ['before'] },
    { run, bind: values, changes: 1 },
  ]
  const [tx] = decodeBatch(encodeBatch({ define: [], txs: [encodeTx(steps)] })).txs
  if (!tx) throw new Error('nothing arrived')
  expect(bindOf(tx, 0)).toEqual(['before'])
  const at = stepEnd(tx, 0)
  expect(tx.slice(at, at + 2)).toEqual([run.slot, 1])
  expect(stepEnd(tx, at)).toBe(tx.length)
  bindOf(tx, at).forEach((value, i) => {
    const sent = values[i] ?? null
    // Integers may arrive as number or bigint. SQLite binds both as INTEGER.
    if (typeof sent === 'bigint') expect(BigInt(value as bigint)).toBe(sent)
    else expect(value instanceof Uint8Array ? [...value] : value).toEqual(sent instanceof Uint8Array ? [...sent] : sent)
  })
})
