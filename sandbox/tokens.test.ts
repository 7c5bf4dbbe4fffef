import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { countTokens, tokenize } from './tokens.ts'

test('words of up to five letters are one token with the space before them', () => {
  expect(tokenize('The quick brown fox.')).toEqual(['The', ' quick', ' brown', ' fox', '.'])
  expect(tokenize('tokenisation 12345')).toEqual(['token', 'isati', 'on', ' 123', '45'])
})

test('an empty text has no tokens', () => {
  expect(countTokens('')).toBe(0)
})

test('the joined tokens are the text, for any characters', () => {
  fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => tokenize(text).join('') === text))
})

test('cutting at a token boundary does not change the count of what is left', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.nat(20), (text, length) => {
      const kept = tokenize(text).slice(0, length)
      expect(tokenize(kept.join(''))).toEqual(kept)
    }),
  )
})
