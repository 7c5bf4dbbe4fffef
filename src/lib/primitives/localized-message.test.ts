import { expect, test } from 'bun:test'
import { fill, reasonOf, speakerOf } from './localized-message.ts'

const table = { taken: "'{name}' exists already", past: 'that is past' } as const
const say = speakerOf(table)

test('a sentence is said with its reason and its facts', () => {
  expect(say('taken', { name: 'acme' })).toEqual({
    reason: 'taken',
    facts: { name: 'acme' },
    message: "'acme' exists already",
  })
  expect(say('past')).toEqual({ reason: 'past', facts: {}, message: 'that is past' })
})

test('a fact is put in unchanged', () => {
  expect(fill('{a} and {b}', { a: '{b} $& $1', b: 2 })).toBe('{b} $& $1 and 2')
  expect(fill('{gone}', {})).toBe('')
})

test('the reason of a stored sentence is found', () => {
  expect(reasonOf(table, 'that is past')).toBe('past')
  expect(reasonOf(table, 'that was never said')).toBeUndefined()
})
