import { expect, test } from 'bun:test'
import { Budget } from '../budget.ts'
import { randomFrom, type Random } from '../random.ts'
import { readPattern } from './pattern.ts'

function exampleMatch(pattern: string, random: Random): string {
  const budget = new Budget()
  return readPattern(pattern, budget).example({ random, budget, charsMax: 100_000 })
}

test.each([
  '^[A-Z]{3}$',
  '^\\d{4}-\\d{2}-\\d{2}$',
  '^(red|green|blue)-(?:[0-9a-f]{2}){3,5}$',
  '^\\+?[1-9]\\d{1,14}$',
  '^[^\\s@]+@[^\\s@]+\\.[a-z]{2,}$',
  '^(?<year>\\d{4})/\\p{Lu}?x*$',
  '^[\\w.-]{8,}$',
  '^a\\u0062\\x63$',
  '^#(?:[0-9a-fA-F]{3}){1,2}$',
  '',
])('a text made for /%s/ matches it', (pattern) => {
  for (let seed = 0; seed < 50; seed += 1) {
    expect(exampleMatch(pattern, randomFrom(seed))).toMatch(new RegExp(pattern, 'iu'))
  }
})

test('nested quantifiers stay within bounds', () => {
  expect(exampleMatch('((((a{1000}){1000}){1000}){1000})', randomFrom(1)).length).toBeLessThanOrEqual(10_000)
})

test.each(['(', '[', '\\', 'a{2', '(?<x', '[z-a]', ')', '\\u{110000}'])(
  '%p is no pattern, and does no harm',
  (pattern) => {
    expect(exampleMatch(pattern, randomFrom(1))).toBeString()
  },
)
