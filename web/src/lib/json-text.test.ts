import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { readJson } from './json-text.ts'

const placeOf = (text: string): string => {
  const read = readJson(text)
  return read.kind === 'broken' ? `${read.line}:${read.column}` : 'value'
}

test('what is JSON is its value', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = JSON.stringify(value, null, 2)
      expect(readJson(text)).toEqual({ kind: 'value', value: JSON.parse(text) })
    }),
  )
})

test('what is not says where it stops being it', () => {
  expect(placeOf('')).toBe('1:1')
  expect(placeOf('[1, 2')).toBe('1:6')
  expect(placeOf('[1, 2,]')).toBe('1:7')
  expect(placeOf('{"a": 1,\n  b: 2}')).toBe('2:3')
  expect(placeOf('{"a" 1}')).toBe('1:6')
  expect(placeOf('[\n  "open\n]')).toBe('2:3')
  expect(placeOf('{} x')).toBe('1:4')
  expect(placeOf('['.repeat(100_000))).toMatch(/^1:/)
})

test('whatever is cut off is broken where it ends, or earlier', () => {
  fc.assert(
    fc.property(fc.object(), fc.nat(), (value, seed) => {
      const whole = JSON.stringify(value)
      const cut = whole.slice(0, seed % whole.length)
      const read = readJson(cut)
      expect(read.kind).toBe('broken')
      if (read.kind === 'broken') expect(read.column).toBeLessThanOrEqual(cut.length + 1)
    }),
  )
})
