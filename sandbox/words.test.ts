import { expect, test } from 'bun:test'
import { countTokens } from './tokens.ts'
import { namesIn, SHORT_WORDS, tellingWords } from './words.ts'

test('every short word is one token, also after a space', () => {
  for (const word of SHORT_WORDS) expect(countTokens(`${word} ${word}`)).toBe(2)
  expect(new Set(SHORT_WORDS).size).toBe(SHORT_WORDS.length)
})

test('names are runs of capitalised words; the first word of a sentence comes last', () => {
  expect(namesIn('Weather in New York, and what about Oslo? Compare them.')).toEqual([
    'New York',
    'Oslo',
    'Weather',
    'Compare',
  ])
  expect(namesIn('What Ada said')).toEqual(['Ada'])
  expect(namesIn('Paris please')).toEqual(['Paris'])
})

test('telling words leave out the filler', () => {
  expect(tellingWords('Please tell me what the weather is like in Oslo')).toEqual(['weather', 'Oslo'])
})
