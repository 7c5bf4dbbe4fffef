import { describe, expect, test } from 'bun:test'
import type { Delta } from '../../domain/turn.ts'
import { DeltaOrder, wholeChoice } from './delta-order.ts'

const choice = 0
const call = (number: number, tool: 'function' | 'custom' = 'function'): Delta => ({
  kind: 'call',
  choice,
  call: number,
  id: `c${number}`,
  name: 'f',
  tool,
})
const words = (number: number, text: string): Delta => ({ kind: 'arguments', choice, call: number, text })
const text = (said: string): Delta => ({ kind: 'text', choice, text: said })
const finish = (reason: Extract<Delta, { kind: 'finish' }>['reason']): Delta => ({ kind: 'finish', choice, reason })

/** Writes each delta as a word. */
function told(...deltas: Delta[]): string[] {
  const order = new DeltaOrder()
  const said = deltas.flatMap((delta) => order.take([delta]))
  return [...said, ...order.end()].map((delta) => {
    if (delta.kind === 'call') return `call ${delta.call}`
    if (delta.kind === 'arguments') return `${delta.call}: ${delta.text}`
    return delta.kind === 'finish' ? delta.reason : 'text' in delta ? delta.text : delta.kind
  })
}

describe('deltas', () => {
  test('pass at once if nothing has to wait', () => {
    const plain = [text('a'), text('b')]
    expect(new DeltaOrder().take(plain)).toBe(plain)
    expect(told(text('a'), call(0), words(0, '{"a"'), words(0, ':1}'), finish('tool_calls'))).toEqual([
      'a',
      'call 0',
      '0: {"a"',
      '0: :1}',
      'tool_calls',
    ])
  })

  test('of a call wait for the end of the call before it', () => {
    expect(told(call(0), call(1), words(1, '{}'), words(0, '{"}":'), words(0, '1}'), finish('stop'))).toEqual([
      'call 0',
      '0: {"}":',
      '0: 1}',
      'call 1',
      '1: {}',
      'tool_calls',
    ])
  })

  test('of free text do not wait, because its end cannot be seen', () => {
    expect(told(call(0, 'custom'), words(0, 'x'), call(1), words(1, '{}'), finish('stop'))).toEqual([
      'call 0',
      '0: x',
      'call 1',
      '1: {}',
      'tool_calls',
    ])
  })

  test('contain {} for a function without arguments, unless the answer was cut there', () => {
    expect(told(call(0), call(1), finish('tool_calls'))).toEqual(['call 0', '0: {}', 'call 1', '1: {}', 'tool_calls'])
    expect(told(call(0), call(1), finish('length'))).toEqual(['call 0', '0: {}', 'call 1', 'length'])
  })

  test('end once, at the end, with a reason that fits the content', () => {
    expect(told(text('a'), finish('stop'), text('b'), finish('stop'))).toEqual(['a', 'b', 'stop'])
    expect(told(text('a'), finish('tool_calls'))).toEqual(['a', 'stop'])
    expect(told(text('a'), call(0), words(0, '{}'))).toEqual(['a', 'call 0', '0: {}', 'tool_calls'])
    expect(told(call(0), words(0, '{}'), finish('content_filter'))).toEqual(['call 0', '0: {}', 'content_filter'])
  })
})

test('a whole choice has {} for a function without arguments, and a reason that fits the content', () => {
  const part = { kind: 'tool_call', id: 'c', name: 'f', arguments: ' ', tool: 'function' } as const
  expect(wholeChoice({ parts: [part], finish: 'stop' })).toEqual({
    parts: [{ ...part, arguments: '{}' }],
    finish: 'tool_calls',
  })
  expect(wholeChoice({ parts: [part, part], finish: 'length' })).toEqual({
    parts: [{ ...part, arguments: '{}' }, part],
    finish: 'length',
  })
  expect(wholeChoice({ parts: [], finish: 'tool_calls' })).toEqual({ parts: [], finish: 'stop' })
})
