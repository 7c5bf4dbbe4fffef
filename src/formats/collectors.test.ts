import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { SseDecoder } from '../lib/sse.ts'
import { ChatCollector } from './chat/collector.ts'
import type { ReplyCollector } from './format.ts'
import { GeminiCollector } from './gemini/collector.ts'
import { MessagesCollector } from './messages/collector.ts'
import { ResponsesCollector } from './responses/collector.ts'

const SOURCES = join(import.meta.dir, '../../test/fixtures/golden/source')
const collectors: Readonly<Record<string, () => ReplyCollector>> = {
  chat: () => new ChatCollector(),
  messages: () => new MessagesCollector(),
  gemini: () => new GeminiCollector(),
  responses: () => new ResponsesCollector(),
}
const collect = (dialect: string, stream: string, events = Infinity): Record<string, unknown> => {
  const collector = collectors[dialect]?.()
  if (!collector) throw new Error(dialect)
  const decoder = new SseDecoder(1_000_000)
  const all = [...decoder.push(Buffer.from(stream)), ...decoder.end()]
  for (const event of all.slice(0, events)) collector.add(event)
  return JSON.parse(collector.text(), unsaid) as Record<string, unknown>
}

/** What no stream says. */
const unsaid = (key: string, value: unknown): unknown => (key === 'annotations' ? undefined : value)

test('an index beyond all measure makes no list of that length', () => {
  const event = { type: 'response.output_text.delta', output_index: 0, content_index: 4e9, delta: 'x' }
  expect(collect('responses', `data: ${JSON.stringify(event)}\n\n`)).toMatchObject({ output: [{}] })
})

describe.each(Object.keys(collectors))('a stream of %s', (dialect) => {
  test.each(['tools', 'structured', 'length', 'refusal'])(
    '%s: collected is what the vendor gives in one piece',
    (name) => {
      const file = join(SOURCES, dialect, name)
      const collected = collect(dialect, readFileSync(`${file}.sse`, 'utf8'))
      const whole = JSON.parse(readFileSync(`${file}.json`, 'utf8'), unsaid) as Record<string, unknown>
      expect(collected).toEqual(whole)
    },
  )
})
