import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { boundaryOf, MultipartReader } from './multipart.ts'

const limits = { partsMax: 4, headBytesMax: 200 }

type Part = { name: string; filename: string | undefined; text: string }

/** Reads a form in pieces of given lengths. */
function read(form: string, cuts: readonly number[] = [form.length]): Part[] {
  const reader = new MultipartReader('b', limits)
  const parts: Part[] = []
  const bytes = Buffer.from(form, 'latin1')
  let at = 0
  for (let i = 0; at < bytes.length; i++) {
    const length = Math.max(1, cuts[i % cuts.length] ?? 1)
    for (const event of reader.push(Buffer.from(bytes.subarray(at, at + length)))) {
      if (event.kind === 'part') parts.push({ name: event.name, filename: event.filename, text: '' })
      const last = parts.at(-1)
      if (event.kind === 'data' && last) last.text += event.bytes.toString('latin1')
    }
    at += length
  }
  expect(reader.isEnded).toBe(true)
  return parts
}

const part = (head: string, body: string): string => `--b\r\nContent-Disposition: form-data; ${head}\r\n\r\n${body}\r\n`
const form = `preamble\r\n${part('name="a"', 'one')}${part('name="f"; filename="x\\"y.png"', 'tw\r\n--o\r\n--')}${part('name=e', '')}--b--\r\nepilogue --b`
const expected = [
  { name: 'a', filename: undefined, text: 'one' },
  { name: 'f', filename: 'x"y.png', text: 'tw\r\n--o\r\n--' },
  { name: 'e', filename: undefined, text: '' },
]

test('parts and their contents are read however the bytes are cut', () => {
  expect(read(form)).toEqual(expected)
  for (let length = 1; length < form.length; length++) expect(read(form, [length])).toEqual(expected)
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1 }), (cuts) => {
      expect(read(form, cuts)).toEqual(expected)
    }),
  )
})

test('an invalid or too large form is refused', () => {
  const refused = [
    `--b\r\n\r\nno head\r\n--b--`,
    `--bx\r\n`,
    part('nome="a"', ''),
    part(`name="a"; x="${'y'.repeat(300)}"`, ''),
    part('name="a"', '').repeat(5),
  ]
  for (const text of refused) expect(() => read(text)).toThrow()
})

test('boundaries of Content-Type', () => {
  expect(boundaryOf('multipart/form-data; boundary=----abc')).toBe('----abc')
  expect(boundaryOf('multipart/form-data; charset=utf-8; boundary="a b"')).toBe('a b')
  expect(boundaryOf(`multipart/form-data; boundary=${'a'.repeat(70)}`)).toHaveLength(70)
  for (const text of [
    'multipart/form-data',
    `multipart/form-data; boundary=${'a'.repeat(71)}`,
    'text/plain; boundary=a',
  ]) {
    expect(boundaryOf(text)).toBeUndefined()
  }
})
