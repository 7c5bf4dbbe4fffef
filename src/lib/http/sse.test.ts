import { expect, test } from 'bun:test'
import { SseDecoder, type SseEvent } from './sse.ts'

const text = [
  ': a comment\n\n',
  'event: greeting\ndata: {"a":1}\n\n',
  'data:no space\nid: 7\n\n',
  'data: two\r\ndata: lines\r\n\r\n',
  'data: ümläut 漢字 🙂\n\n',
  'retry: 5\n\n',
  'data:\n\n',
  'data: \r\n\r\n',
  'data: last without blank line',
].join('')
const expected: SseEvent[] = [
  { name: 'greeting', data: '{"a":1}' },
  { name: undefined, data: 'no space' },
  { name: undefined, data: 'two\nlines' },
  { name: undefined, data: 'ümläut 漢字 🙂' },
  { name: undefined, data: '' },
  { name: undefined, data: '' },
  { name: undefined, data: 'last without blank line' },
]

test('a stream cut at any byte gives the same events', () => {
  const bytes = new TextEncoder().encode(text)
  for (let cut = 0; cut <= bytes.length; cut++) {
    const decoder = new SseDecoder(1_000)
    const events = [...decoder.push(bytes.subarray(0, cut)), ...decoder.push(bytes.subarray(cut)), ...decoder.end()]
    expect(events).toEqual(expected)
  }
})

test('a stream fed byte by byte gives the same events', () => {
  const decoder = new SseDecoder(1_000)
  const events = [...new TextEncoder().encode(text)].flatMap((byte) => decoder.push(Uint8Array.of(byte)))
  expect([...events, ...decoder.end()]).toEqual(expected)
})

test('lines may end with CR alone, wherever the stream is cut', () => {
  const bytes = new TextEncoder().encode(
    'event: a\rdata: {"b":1}\r\rdata: one\r\ndata: two\n\rdata:x\r\r\n: c\r\rdata: last',
  )
  const all = [
    { name: 'a', data: '{"b":1}' },
    { name: undefined, data: 'one\ntwo' },
    { name: undefined, data: 'x' },
    { name: undefined, data: 'last' },
  ]
  for (let cut = 0; cut <= bytes.length; cut++) {
    const decoder = new SseDecoder(1_000)
    const events = [...decoder.push(bytes.subarray(0, cut)), ...decoder.push(bytes.subarray(cut)), ...decoder.end()]
    expect(events).toEqual(all)
  }
  const decoder = new SseDecoder(1_000)
  expect([...bytes].flatMap((byte) => decoder.push(Uint8Array.of(byte))).concat(decoder.end())).toEqual(all)
})

test('an event that ends with CR is delivered at once', () => {
  expect(new SseDecoder(1_000).push(new TextEncoder().encode('data: 1\r\r'))).toEqual([{ name: undefined, data: '1' }])
})

test('an endless event is refused', () => {
  const decoder = new SseDecoder(100)
  expect(() => decoder.push(new TextEncoder().encode(`data: ${'x'.repeat(200)}`))).toThrow(RangeError)
})

test('bytes that are not UTF-8 are refused', () => {
  expect(() => new SseDecoder(100).push(Uint8Array.of(0x64, 0xff, 0xfe))).toThrow(TypeError)
})

test('endless comments and empty lines are refused, and between events they are not', () => {
  const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
  const decoder = new SseDecoder(100)
  for (let i = 0; i < 50; i++)
    expect(decoder.push(bytes(`: still there\n\n${'\n'.repeat(150)}data: x\n\n`))).toHaveLength(1)
  expect(decoder.push(bytes(':\n\n'.repeat(60)))).toEqual([])
  expect(() => decoder.push(bytes('\n'.repeat(60)))).toThrow(RangeError)
})
