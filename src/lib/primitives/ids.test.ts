import { expect, test } from 'bun:test'
import { idBound, idTimeMs, randomId, timeOrderedId } from './ids.ts'

test('an id has 128 random bits and more, and none is made twice', () => {
  const ids = Array.from({ length: 20_000 }, () => timeOrderedId('resp_', 1_000))
  for (const id of ids) expect(id).toMatch(/^resp_[0-9a-hjkmnp-tv-z]{36}$/)
  const random = ids.map((id) => id.slice('resp_'.length + 10))
  expect((random[0]?.length ?? 0) * 5).toBeGreaterThanOrEqual(128)
  expect(new Set(random).size).toBe(ids.length)
  // Each letter occurs in each place, so no character is fixed.
  for (let at = 0; at < 26; at++) expect(new Set(random.map((text) => text[at])).size).toBe(32)
})

test('ids sort by their time, with old ones of 26 characters among them', () => {
  const old = (ms: number): string => `${idBound('req_', ms)}${'z'.repeat(16)}`
  const made = [timeOrderedId('req_', 5), old(6), timeOrderedId('req_', 7), old(8), timeOrderedId('req_', 9)]
  expect(made.toSorted()).toEqual(made)
  expect(made.map((id) => idTimeMs('req_', id))).toEqual([5, 6, 7, 8, 9])
  for (const id of [timeOrderedId('req_', 7), old(7)]) {
    expect(id >= idBound('req_', 7) && id < idBound('req_', 8)).toBe(true)
  }
})

test('every vendor accepts the id of a tool call', () => {
  expect(randomId('call_')).toMatch(/^call_[0-9a-z]{26}$/)
})
