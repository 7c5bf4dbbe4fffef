import { expect, test } from 'bun:test'
import { isKeyShaped, makeKey } from './key-format.ts'

test('a made key has the documented shape and passes its own check', () => {
  for (let i = 0; i < 200; i++) {
    const key = makeKey()
    expect(key).toMatch(/^sk-tg-[0-9A-Za-z]{49}$/)
    expect(isKeyShaped(key)).toBe(true)
  }
})

test('any changed character is caught by the checksum', () => {
  const key = makeKey()
  for (let i = 0; i < key.length; i++) {
    const other = key[i] === 'A' ? 'B' : 'A'
    expect(isKeyShaped(key.slice(0, i) + other + key.slice(i + 1))).toBe(false)
  }
  expect(isKeyShaped(`${key} `)).toBe(false)
  expect(isKeyShaped(key.toLowerCase())).toBe(false)
  expect(isKeyShaped('')).toBe(false)
})
