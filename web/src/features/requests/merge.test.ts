import { expect, test } from 'bun:test'
import type { RequestRow } from '../../lib/api-types.gen.ts'
import { HELD_MAX, LISTED_MAX, merged, nothing, together, type ArrivedRequests, type RequestList } from './merge.ts'

const row = (n: number): RequestRow => ({ id: `req_${String(n).padStart(6, '0')}` }) as RequestRow
/** Newest first, from the first number to the last. */
const rows = (first: number, last: number): RequestRow[] =>
  Array.from({ length: first - last + 1 }, (_, i) => row(first - i))
const ids = ({ rows: all }: Pick<RequestList, 'rows'>): number[] => all.map(({ id }) => Number(id.slice(4)))
const came = (all: readonly RequestRow[], floor: string | null = null): ArrivedRequests => ({
  rows: all,
  floor,
  count: all.length,
})

test('what ended late takes its place by when it began, once', () => {
  const list = { rows: [row(9), row(5)], floor: null }
  expect(ids(merged(list, came([row(10), row(9), row(7)])))).toEqual([10, 9, 7, 5])
})

test('a row below what is read so far comes when somebody gets there', () => {
  const list = { rows: rows(20, 11), floor: row(11).id }
  expect(merged(list, came([row(21), row(3)]))).toEqual({ rows: rows(21, 11), floor: row(11).id })
})

test('after a hole the list goes down to it, and is read on from there', () => {
  const list = { rows: rows(20, 11), floor: null }
  expect(merged(list, came(rows(40, 31), row(31).id))).toEqual({ rows: rows(40, 31), floor: row(31).id })
})

test('rows that are held back are bounded, and all are counted', () => {
  let held = nothing
  for (let at = 100; at < 5_000; at += 100) held = together(held, came(rows(at + 99, at)))
  expect([held.rows.length, held.count]).toEqual([HELD_MAX, 4_900])
  expect(held.floor).toBe(held.rows.at(-1)?.id ?? '')
  expect(ids(held)[0]).toBe(4_999)
})

test('a list that is watched for a day does not grow without end', () => {
  let list: RequestList = { rows: [], floor: null }
  for (let at = 100; at < 5_000; at += 100) list = merged(list, came(rows(at + 99, at)))
  expect(list.rows).toHaveLength(LISTED_MAX)
  expect(list.floor).toBe(row(4_000).id)
})
