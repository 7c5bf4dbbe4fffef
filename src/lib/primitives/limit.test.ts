import { expect, test } from 'bun:test'
import { declaredLimits, limit } from './limit.ts'

test('a limit is its value, listed by name, and has a name of its own', () => {
  expect(limit('zzTestMax', 7, 'The test ends.')).toBe(7)
  expect(limit('aaTestMax', 5, 'The test ends.')).toBe(5)
  const names = [...declaredLimits().keys()]
  expect(names).toEqual(names.toSorted())
  expect(declaredLimits().get('zzTestMax')).toEqual({ value: 7, effect: 'The test ends.' })
  expect(() => limit('zzTestMax', 8, 'The test ends.')).toThrow('two limits are called zzTestMax')
})
