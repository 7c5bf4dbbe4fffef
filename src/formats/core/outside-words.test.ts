/** Words of vendors and clients that are looked up in a table. None may find a member that every object inherits. */
import { describe, expect, test } from 'bun:test'
import type { Turn } from '../../domain/turn.ts'
import { dataEvent, namedEvent, SseDecoder } from '../../lib/http/sse.ts'
import { parseKnobText } from '../../../sandbox/faults.ts'
import type { UpstreamSide } from './contract.ts'
import { imageTypeOf } from '../gemini/media.ts'
import { upstreamSideOf } from '../upstream-sides.ts'
import { outputItemId } from '../responses/items.ts'

const words = ['constructor', 'toString', '__proto__', 'hasOwnProperty', 'valueOf', 'isPrototypeOf']
const quirks = { outputMaxField: 'max_tokens', usageInStream: 'on_request', usageDialect: 'inclusive' } as const
const turn = { messages: [], tools: [] } as unknown as Turn

/** An answer of each dialect that ends with the given word, whole and as events. */
const answers: Readonly<Record<string, (word: string) => { whole: object; events: string }>> = {
  chat(word) {
    const choice = { index: 0, finish_reason: word }
    return {
      whole: { choices: [{ ...choice, message: { role: 'assistant', content: 'a' } }] },
      events: dataEvent(JSON.stringify({ choices: [{ ...choice, delta: { content: 'a' } }] })),
    }
  },
  messages(word) {
    const block = { type: 'text', text: 'a' }
    return {
      whole: { type: 'message', role: 'assistant', content: [block], stop_reason: word },
      events:
        namedEvent(
          'content_block_start',
          JSON.stringify({ type: 'content_block_start', index: 0, content_block: block }),
        ) + namedEvent('message_delta', JSON.stringify({ type: 'message_delta', delta: { stop_reason: word } })),
    }
  },
  gemini(word) {
    const whole = { candidates: [{ index: 0, content: { parts: [{ text: 'a' }] }, finishReason: word }] }
    return { whole, events: dataEvent(JSON.stringify(whole)) }
  },
}

function finishesOf(side: UpstreamSide, events: string): unknown[] {
  const decoder = side.decoder(quirks, turn)
  const sse = new SseDecoder(10_000)
  return [...sse.push(Buffer.from(events)), ...sse.end()].flatMap((event): unknown[] => {
    const decoded = decoder.decode(event)
    if (decoded.kind !== 'deltas') return [decoded]
    return decoded.deltas.flatMap((delta) => (delta.kind === 'finish' ? [delta.reason] : []))
  })
}

describe.each(Object.entries(answers))('%s', (dialect, answer) => {
  const side = upstreamSideOf([dialect as 'chat'])
  test.each(words)('an answer that ended with %s has stopped', (word) => {
    const { whole, events } = answer(word)
    const read = side.readReply(JSON.stringify(whole), quirks, turn)
    expect(read).toMatchObject({ kind: 'reply', reply: { choices: [{ finish: 'stop' }] } })
    expect(finishesOf(side, events)).toEqual(['stop'])
  })
})

test.each(words)('%s is no type of an item, no file ending and no knob', (word) => {
  expect(outputItemId('resp_1', word, 0)).toBe('item_1_0')
  expect(imageTypeOf(`https://a.example/b.${word}`)).toBeUndefined()
  expect(parseKnobText(`${word}=1`)).toMatchObject({ kind: 'refused' })
})
