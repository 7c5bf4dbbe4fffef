import { describe, expect, test } from 'bun:test'
import { randomSpanId, randomTraceId, readParent, writeParent } from './trace-context.ts'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const SPAN = '00f067aa0ba902b7'
const PARENT = `00-${TRACE}-${SPAN}-01`

describe('traceparent', () => {
  test('is read with its flag', () => {
    const read = { traceId: TRACE, spanId: SPAN, state: undefined }
    expect(readParent(PARENT, undefined)).toEqual({ ...read, isSampled: true })
    expect(readParent(`00-${TRACE}-${SPAN}-00`, undefined)).toEqual({ ...read, isSampled: false })
    // Level 2: the second flag says that the trace id is random.
    expect(readParent(`00-${TRACE}-${SPAN}-03`, undefined)?.isSampled).toBe(true)
    expect(readParent(`00-${TRACE}-${SPAN}-02`, undefined)?.isSampled).toBe(false)
  })

  test('of a later version may be longer', () => {
    expect(readParent(`cc-${TRACE}-${SPAN}-01-what-is-new`, undefined)?.traceId).toBe(TRACE)
    expect(readParent(`cc-${TRACE}-${SPAN}-01`, undefined)?.traceId).toBe(TRACE)
  })

  test.each([
    undefined,
    '',
    `00-${TRACE}-${SPAN}`,
    `00-${TRACE}-${SPAN}-01-more`,
    `00-${TRACE}-${SPAN}-01-`,
    `cc-${TRACE}-${SPAN}-01.more`,
    `ff-${TRACE}-${SPAN}-01`,
    `00-${TRACE.toUpperCase()}-${SPAN}-01`,
    `00-${TRACE}-${SPAN}-1`,
    `00-${TRACE}-${SPAN}-0x`,
    `00-${'0'.repeat(32)}-${SPAN}-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
    `00-${TRACE.slice(1)}-${SPAN}-01`,
    ` ${PARENT}`,
    `${PARENT}\n`,
    `${PARENT}, ${PARENT}`,
  ])('that is malformed begins a new trace: %p', (text) => {
    expect(readParent(text, 'a=1')).toBeUndefined()
  })

  test('is written as it is read', () => {
    expect(writeParent({ traceId: TRACE, spanId: SPAN, isSampled: true })).toBe(PARENT)
    expect(writeParent({ traceId: TRACE, spanId: SPAN, isSampled: false })).toBe(`00-${TRACE}-${SPAN}-00`)
  })

  test('of our own is valid and new each time', () => {
    const made = Array.from({ length: 2_000 }, () => ({ traceId: randomTraceId(), spanId: randomSpanId() }))
    for (const ids of made) {
      const read = readParent(writeParent({ ...ids, isSampled: true }), undefined)
      expect(read).toEqual({ ...ids, isSampled: true, state: undefined })
    }
    expect(new Set(made.map(({ traceId }) => traceId)).size).toBe(2_000)
    expect(new Set(made.map(({ spanId }) => spanId)).size).toBe(2_000)
  })
})

describe('tracestate', () => {
  const stateOf = (text: string): string | undefined => readParent(PARENT, text)?.state

  test('is kept in its order', () => {
    expect(stateOf('rojo=00f067aa0ba902b7,congo=t61rcWkgMzE')).toBe('rojo=00f067aa0ba902b7,congo=t61rcWkgMzE')
    expect(stateOf('a=1 , \tb=2,,fw529a3039@dt=x y')).toBe('a=1,b=2,fw529a3039@dt=x y')
  })

  test.each([
    '',
    ',',
    'a',
    'a=',
    '=1',
    'A=1',
    'a=1,a=2',
    'a=b=c',
    'a=\u00e9',
    'a=1\r\nx: 2',
    '1a=1',
    `${'k'.repeat(257)}=1`,
    `a=${'v'.repeat(257)}`,
    Array.from({ length: 33 }, (_, i) => `k${i}=1`).join(','),
    `a=${'v'.repeat(200)},b=${'v'.repeat(200)},c=${'v'.repeat(200)}`,
  ])('that is malformed or too long is dropped alone: %p', (text) => {
    expect(readParent(PARENT, text)).toMatchObject({ traceId: TRACE, state: undefined })
  })
})
