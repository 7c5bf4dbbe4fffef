import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { isRawNumber, parseExact } from './exact-json.ts'

const again = (text: string): string => JSON.stringify(parseExact(text))

test.each(['1.0', '1e3', '-0', '12345678901234567890', '0.10', '-0.0', '1E+2', '0.1234567890123456789', '0.0000001'])(
  '%s keeps its source text, wherever it stands',
  (number) => {
    for (const text of [number, `[${number}]`, `{"a":${number},"b":[1,${number}]}`]) expect(again(text)).toBe(text)
    expect(again(` { "a" : ${number} } `)).toBe(`{"a":${number}}`)
  },
)

test('a number that JSON writes unchanged is a plain number', () => {
  expect(parseExact('{"a":[1,2.5,-3],"b":"1.0"}')).toEqual({ a: [1, 2.5, -3], b: '1.0' })
  expect(isRawNumber(parseExact('1.0'))).toBe(true)
  expect(isRawNumber({ rawJSON: '1.0' })).toBe(false)
  expect(() => parseExact('{"a":1.0')).toThrow(SyntaxError)
})

const aNumber = fc.stringMatching(/^-?(?:0|[1-9]\d{0,25})(?:\.\d{1,25})?(?:[eE][+-]?\d{1,3})?$/)

test('any number keeps its source text', () => {
  fc.assert(fc.property(fc.array(aNumber), (all) => expect(again(`[${all.join(',')}]`)).toBe(`[${all.join(',')}]`)))
})

test('also in a long text that is not all numbers', () => {
  const text = `{"a":"${'Some words, and more. '.repeat(100_000)}","b":[12345678901234567890,1.0]}`
  expect(again(text)).toBe(text)
})

test('a text of many numbers is read in bounded time', () => {
  const text = `[${'1.0,'.repeat(500_000)}1]`
  const before = process.threadCpuUsage()
  parseExact(text)
  const { user, system } = process.threadCpuUsage(before)
  expect((user + system) / 1000).toBeLessThan(100)
})
