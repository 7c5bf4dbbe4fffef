import { expect, test } from 'bun:test'
import { GeneratedTextBuffer, scaledTokens } from './generated-text.ts'

test('a usual answer is kept whole, however small its pieces', () => {
  const produced = new GeneratedTextBuffer()
  const words = Array.from({ length: 1_000 }, (_, i) => ` word${i}`)
  for (const word of words) produced.add(word)
  expect(produced).toMatchObject({ text: words.join(''), moreChars: 0 })
})

test('an endless answer is kept as its beginning and the length of the rest', () => {
  const produced = new GeneratedTextBuffer()
  for (let i = 0; i < 10_000; i++) produced.add('x'.repeat(1_000))
  expect(produced.text.length).toBeWithin(64 * 1024, 66 * 1024)
  expect(produced.text.length + produced.moreChars).toBe(10_000_000)
})

test('tokens of the rest are scaled by bytes, because other scripts have more bytes a character', () => {
  const produced = new GeneratedTextBuffer()
  produced.add('x'.repeat(64 * 1024))
  produced.add('က'.repeat(64 * 1024))
  expect(produced).toMatchObject({ moreChars: 64 * 1024, bytes: 4 * 64 * 1024 })
  expect(scaledTokens(16 * 1024, produced)).toBe(64 * 1024)
  expect(scaledTokens(7, { text: 'few', moreChars: 0, bytes: 3 })).toBe(7)
})
