import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { BodyReader, framingOf, HeadReader, type Framing } from './http1.ts'
import { parseHead } from './message-head.ts'

const lines = (...all: string[]): string => all.join('\r\n')

test('reads the first line and the headers, with lower-case names and joined repetitions', () => {
  const head = parseHead(lines('GET / HTTP/1.1', 'Host: a', 'X-A:1', 'x-a: \t2 '))
  expect(head?.startEnd).toBe('GET / HTTP/1.1'.length)
  expect([...(head?.toMap() ?? [])]).toEqual([
    ['host', 'a'],
    ['x-a', '1, 2'],
  ])
  for (const [name, value] of [['host', 'a'] as const, ['x-a', '1, 2'] as const, ['x', undefined] as const]) {
    expect([head?.get(name), head?.has(name)]).toEqual([value, value !== undefined])
  }
})

test('a header is found among any others, in any spelling', () => {
  const name = fc.constantFrom('a', 'ab', 'A-b', 'B', 'x-request-id', 'X-Request-Id', '~')
  const header = fc.tuple(name, fc.stringMatching(/^[!-~]{0,5}$/))
  fc.assert(
    fc.property(fc.array(header, { maxLength: 20 }), (all) => {
      const head = parseHead(lines('GET / HTTP/1.1', ...all.map(([one, value]) => `${one}: ${value}`)))
      const named = Object.groupBy(all, ([one]) => one.toLowerCase())
      for (const wanted of ['a', 'ab', 'a-b', 'b', 'x-request-id', '~', 'missing']) {
        const value = named[wanted]?.map(([, one]) => one).join(', ')
        expect([head?.get(wanted), head?.toMap().get(wanted)]).toEqual([value, value])
      }
    }),
  )
})

test.each([
  ['a folded line', lines('GET / HTTP/1.1', 'a: b', ' c')],
  ['a space before the colon', lines('GET / HTTP/1.1', 'content-length : 3')],
  ['no colon', lines('GET / HTTP/1.1', 'nonsense')],
  ['no name', lines('GET / HTTP/1.1', ': b')],
  ['a bare line feed', 'GET / HTTP/1.1\nhost: a'],
  ['a bare carriage return', lines('GET / HTTP/1.1', 'a: b\rc')],
  ['a null character', lines('GET / HTTP/1.1', 'a: \0')],
  ['two lengths', lines('GET / HTTP/1.1', 'content-length: 1', 'content-length: 1')],
  ['two hosts', lines('GET / HTTP/1.1', 'host: a', 'Host: b')],
  ['more than 100 headers', lines('GET / HTTP/1.1', ...Array.from({ length: 101 }, (_, i) => `a${i}: b`))],
])('refuses %s', (_, text) => expect(parseHead(text)).toBeUndefined())

test.each<[Record<string, string>, Framing | undefined]>([
  [{}, { kind: 'close' }],
  [{ 'content-length': '12' }, { kind: 'length', bytes: 12 }],
  [{ 'transfer-encoding': 'Chunked' }, { kind: 'chunked' }],
  [{ 'transfer-encoding': 'chunked', 'content-length': '3' }, undefined],
  [{ 'transfer-encoding': 'gzip, chunked' }, undefined],
  [{ 'content-length': '-1' }, undefined],
  [{ 'content-length': '1, 1' }, undefined],
  [{ 'content-length': '0x10' }, undefined],
  [{ 'content-length': '9999999999999999' }, undefined],
])('frames by %o', (headers, framing) => {
  expect(framingOf(new Map(Object.entries(headers)), { kind: 'close' })).toEqual(framing)
})

test('a head may arrive in any pieces', () => {
  const message = lines('POST / HTTP/1.1', 'host: a', '', 'body')
  for (let cut = 1; cut < message.length; cut++) {
    const reader = new HeadReader(1_000)
    let found = reader.push(Buffer.from(message.slice(0, cut)), 0)
    let rest = message.slice(0, cut)
    if (found !== 'too_large' && found.end === -1) {
      rest = message.slice(cut)
      found = reader.push(Buffer.from(rest), 0)
    }
    if (found === 'too_large') throw new Error('too large')
    expect(found.text).toBe(lines('POST / HTTP/1.1', 'host: a'))
    expect('body'.startsWith(rest.slice(found.end))).toBe(true)
  }
})

test('a head is bounded, complete or not', () => {
  expect(new HeadReader(20).push(Buffer.from('x'.repeat(21)), 0)).toBe('too_large')
  expect(new HeadReader(20).push(Buffer.from(`${'x'.repeat(21)}\r\n\r\n`), 0)).toBe('too_large')
  expect(new HeadReader(20).push(Buffer.from(`${'x'.repeat(20)}\r\n\r\n`), 0)).toMatchObject({ end: 24 })
})

/** Feeds a message in pieces. Returns the payload, the state and the number of bytes taken. */
function read(framing: Framing, pieces: readonly string[]): { text: string; state: string; taken: number } {
  const reader = new BodyReader(framing)
  let text = ''
  let taken = 0
  for (const piece of pieces) {
    if (reader.state !== 'open') break
    const { part, end } = reader.push(Buffer.from(piece, 'latin1'), 0)
    text += part.toString('latin1')
    taken += end
  }
  return { text, state: reader.state, taken }
}

test('chunked bodies are read the same however they are cut, and bytes after them are not taken', () => {
  const chunk = fc.string({ minLength: 1, maxLength: 40 }).map((text) => Buffer.from(text).toString('latin1'))
  const cuts = fc.array(fc.integer({ min: 0, max: 400 }), { maxLength: 8 })
  const trailers = fc.constantFrom('', 'a: b\r\n', 'a: b\r\nc: d\r\n')
  const property = fc.property(fc.array(chunk), cuts, trailers, (chunks, cutAt, trailer) => {
    const message = `${chunks.map((text) => `${text.length.toString(16)};x=1\r\n${text}\r\n`).join('')}0\r\n${trailer}\r\n`
    const whole = `${message}GET /next`
    const marks = [0, ...cutAt.filter((cut) => cut < whole.length).toSorted((a, b) => a - b), whole.length]
    const pieces = marks.slice(1).map((end, i) => whole.slice(marks[i], end))
    expect(read({ kind: 'chunked' }, pieces)).toEqual({ text: chunks.join(''), state: 'ended', taken: message.length })
  })
  fc.assert(property, { numRuns: 500 })
})

test.each([
  'xyz\r\n',
  '5 \r\nabcde',
  '5\nabcde',
  '5\r\nabcdeXX',
  '\r\n',
  '-1\r\n',
  '123456789\r\n',
  `1;${'x'.repeat(300)}`,
  '5;\r\nabcde',
  '5; \r\nabcde',
  '5;=x\r\nabcde',
  '5;a=\r\nabcde',
  '5;a=b;\r\nabcde',
  '5;;a\r\nabcde',
  '5;a b\r\nabcde',
  '5;a="b\r\nabcde',
  '5;a=b \r\nabcde',
  '5;a\0\r\nabcde',
])('a chunked body broken by %j is broken', (text) => expect(read({ kind: 'chunked' }, [text]).state).toBe('broken'))

test.each(['5;a\r\n', '5;a=b\r\n', '5 ; a = "q; \\""\r\n', '5;a;b="";c\r\n', '5\t;a\r\n'])(
  'the extensions of a chunk are passed over: %j',
  (line) =>
    expect(read({ kind: 'chunked' }, [line.slice(0, 3), line.slice(3), 'abcde\r\n0\r\n\r\n'])).toMatchObject({
      text: 'abcde',
      state: 'ended',
    }),
)

test('endless trailers break the body', () => {
  expect(read({ kind: 'chunked' }, ['0\r\n', ...Array.from({ length: 20 }, () => 'a: b\r\n'.repeat(100))]).state).toBe(
    'broken',
  )
})

test('a body of known length ends at that length, and an earlier end breaks it', () => {
  expect(read({ kind: 'length', bytes: 4 }, ['ab', 'cdef'])).toEqual({ text: 'abcd', state: 'ended', taken: 4 })
  const reader = new BodyReader({ kind: 'length', bytes: 4 })
  reader.push(Buffer.from('ab'), 0)
  reader.close()
  expect(reader.state).toBe('broken')
})

test('a body without a length ends with its connection', () => {
  const reader = new BodyReader({ kind: 'close' })
  reader.push(Buffer.from('ab'), 0)
  expect(reader.state).toBe('open')
  reader.close()
  expect(reader.state).toBe('ended')
})

test('a head and trailers of just their bound are taken, and one byte more is not, however they are split', () => {
  const split = (text: string): Buffer[][] => [[Buffer.from(text)], text.split('').map((char) => Buffer.from(char))]
  for (const [length, isTaken] of [[40, true] as const, [41, false] as const]) {
    for (const pieces of split(`${'a'.repeat(length)}\r\n\r\n`)) {
      const head = new HeadReader(40)
      const read = pieces.map((bytes) => head.push(bytes, 0))
      expect(read.some((one) => one === 'too_large')).toBe(!isTaken)
    }
  }
  for (const [length, state] of [[8_192 - 7, 'ended'] as const, [8_192 - 6, 'broken'] as const]) {
    for (const pieces of split(`0\r\nx: ${'y'.repeat(length)}\r\n\r\n`)) {
      const body = new BodyReader({ kind: 'chunked' })
      for (const bytes of pieces) if (body.state === 'open') body.push(bytes, 0)
      expect(body.state).toBe(state)
    }
  }
})
