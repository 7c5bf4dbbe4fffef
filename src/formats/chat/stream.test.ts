import { estimatedUsage } from '../core/usage-estimate.ts'
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { SseDecoder } from '../../lib/http/sse.ts'
import { ChatStream, type ChatStreamOptions } from './stream.ts'

const options: ChatStreamOptions = { publicModel: 'm', choices: 1, usageAsked: false, usageDialect: 'inclusive' }

/** The text that a client gets from an upstream's bytes, and the stream that read them. */
function relay(bytes: readonly Uint8Array[], given = options): { text: string; stream: ChatStream; failed: boolean } {
  const decoder = new SseDecoder(1_000_000)
  const stream = new ChatStream(given)
  let text = ''
  for (const event of [...bytes.flatMap((chunk) => decoder.push(chunk)), ...decoder.end()]) {
    const read = stream.read(event)
    if (read.kind === 'failed') return { text, stream, failed: true }
    if (read.kind === 'done')
      return { text: text + stream.end(stream.usage ?? estimatedUsage(1, 1)), stream, failed: false }
    text += read.text
  }
  return { text, stream, failed: false }
}

const encode = (text: string): Uint8Array => new TextEncoder().encode(text)
const event = (chunk: unknown): string => `data: ${JSON.stringify(chunk)}\n\n`
const chunk = (delta: object, rest: object = {}): object => ({
  id: 'c1',
  object: 'chat.completion.chunk',
  created: 7,
  model: 'm',
  choices: [{ index: 0, delta, finish_reason: null }],
  ...rest,
})

const recorded = [
  event(chunk({ role: 'assistant', content: '' }, { usage: null })),
  ': keep-alive\n\n',
  event(chunk({ content: 'Grüße, 世界 🙂' }, { usage: null, vendor_extra: { usage: 1, model: 'x' } })),
  event(
    chunk(
      { tool_calls: [{ index: 0, id: 'call', type: 'function', function: { name: 'f', arguments: '{"model":"q"}' } }] },
      { usage: null },
    ),
  ),
  event({ ...chunk({}), choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }], usage: null }),
  event({ ...chunk({}), choices: [], usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 } }),
  'data: [DONE]\n\n',
].join('')

test('a recorded stream reaches the client the same and bills the same, wherever it is cut', () => {
  const bytes = encode(recorded)
  const whole = relay([bytes])
  expect(whole.stream.usage).toMatchObject({ inputFresh: 3, outputText: 4 })
  for (let cut = 0; cut <= bytes.length; cut++) {
    const split = relay([bytes.subarray(0, cut), bytes.subarray(cut)])
    expect(split.text).toBe(whole.text)
    expect(split.stream.usage).toEqual(whole.stream.usage)
    expect(split.stream.produced.text).toBe(whole.stream.produced.text)
  }
})

test('usage that was not requested is withheld, both the null on each chunk and the usage chunk', () => {
  const { text } = relay([encode(recorded)])
  expect(text).not.toContain('"usage":null')
  expect(text).not.toContain('prompt_tokens')
  expect(text).toContain('"vendor_extra":{"usage":1,"model":"x"}')
  expect(text.endsWith('data: [DONE]\n\n')).toBe(true)
})

test('requested usage passes unchanged, and a missing one is added before the terminator', () => {
  const asked = { ...options, usageAsked: true }
  expect(relay([encode(recorded)], asked).text).toBe(recorded.replace(': keep-alive\n\n', ''))
  const without = event(chunk({ content: 'x' })) + 'data: [DONE]\n\n'
  expect(relay([encode(without)], asked).text).toContain('"choices":[],"usage":{"prompt_tokens":1')
})

const json = fc.jsonValue({ maxDepth: 3 })
const anyDelta = fc
  .record({ content: fc.string({ minLength: 1 }) })
  .chain((delta) => fc.dictionary(fc.string(), json, { maxKeys: 3 }).map((extra) => ({ ...extra, ...delta })))
const anyChunk = fc
  .tuple(anyDelta, fc.dictionary(fc.string(), json, { maxKeys: 4 }), fc.nat(2), fc.constantFrom('m', 'vendor/m-2'))
  .map(([delta, extra, indent, model]) => {
    const { usage: _usage, error: _error, ...rest } = extra as Record<string, unknown>
    return { text: JSON.stringify({ ...rest, ...chunk(delta, { model }) }, null, indent).replace(/\n/g, ' '), model }
  })

test('any event of the format passes byte for byte, except for the model’s name', () => {
  const property = fc.property(fc.array(anyChunk, { minLength: 1, maxLength: 5 }), (chunks) => {
    const { text } = relay(chunks.map(({ text: data }) => encode(`data: ${data}\n\n`)))
    const got = text.split('\n\n').filter(Boolean)
    chunks.forEach(({ text: data, model }, i) => {
      const sent = (got[i] ?? '').slice('data: '.length)
      if (model === 'm') expect(sent).toBe(data)
      else expect<unknown>({ ...(JSON.parse(sent) as object), model }).toEqual(JSON.parse(data))
      if (model !== 'm') expect(sent.length).toBe(data.length - model.length + 1)
    })
  })
  fc.assert(property, { numRuns: 1_000 })
})

test('empty events, pings and empty deltas are ignored', () => {
  const nothing = [
    '',
    '{"type":"ping"}',
    '{"choices":[{"index":0,"delta":{"role":"assistant","content":"","tool_calls":[]}}]}',
  ]
  for (const data of nothing) {
    const stream = new ChatStream(options)
    expect(stream.read({ name: undefined, data })).toMatchObject({ kind: 'chunk', meaningful: false })
  }
})

test('data of several lines reaches the client as one line', () => {
  const { text } = relay([
    encode('data: {"id":"c1",\ndata: "model":"m","choices":[{"index":0,"delta":{"content":"x"}}]}\n\n'),
  ])
  expect(text.split('\n')).toHaveLength(3)
  expect(JSON.parse(text.slice('data: '.length))).toMatchObject({ choices: [{ delta: { content: 'x' } }] })
})

test('garbage and errors inside the stream are failures', () => {
  for (const data of [
    '{nope',
    '"x"',
    'null',
    '{"choices":[null]}',
    '{"choices":5}',
    '{"error":{"message":"overloaded","code":503}}',
  ]) {
    expect(relay([encode(`data: ${data}\n\n`)]).failed).toBe(true)
  }
})

test('a stream is finished only after every open choice has its finish_reason', () => {
  const begin = (index: number): object => ({
    ...chunk({}),
    choices: [{ index, delta: { content: 'a' }, finish_reason: null }],
  })
  const end = (index: number): object => ({ ...chunk({}), choices: [{ index, delta: {}, finish_reason: 'stop' }] })
  const finished = (...chunks: object[]): boolean => relay([encode(chunks.map(event).join(''))]).stream.finished
  expect(finished(begin(0), begin(1), end(0))).toBe(false)
  expect(finished(begin(0), begin(1), end(0), end(1))).toBe(true)
  expect(finished()).toBe(false)
})

test('with several requested choices one is not the whole answer, and neither is one that finishes twice', () => {
  const stream = new ChatStream({ ...options, choices: 2 })
  const read = (index: number, delta: object, finish: string | null): boolean => {
    stream.read({ name: undefined, data: JSON.stringify({ choices: [{ index, delta, finish_reason: finish }] }) })
    return stream.finished
  }
  expect(read(0, { content: 'first' }, null)).toBe(false)
  expect(read(0, {}, 'stop')).toBe(false)
  expect(read(0, {}, 'stop')).toBe(false)
  expect(read(1, { content: 'second' }, null)).toBe(false)
  expect(read(1, {}, 'stop')).toBe(true)
})

test('the fast path for ordinary events gives the same result as a full read', () => {
  const word = fc.oneof(
    fc.string({ minLength: 1, maxLength: 8 }),
    fc.constantFrom('"', '\\', '\n', '"content":"x"', ' a'),
  )
  const delta = fc.oneof(
    { weight: 8, arbitrary: word.map((content) => ({ content })) },
    { weight: 1, arbitrary: word.map((content) => ({ content, refusal: null })) },
    { weight: 1, arbitrary: word.map((reasoning) => ({ reasoning_content: reasoning, content: null })) },
  )
  const shape = fc.record({ model: fc.constantFrom('m', 'other'), usage: fc.constantFrom(null, undefined) })
  const property = fc.property(fc.array(delta, { minLength: 3, maxLength: 30 }), shape, (deltas, rest) => {
    const events = deltas.map((one) => event(chunk(one, rest)))
    const together = relay([encode(events.join(''))])
    // A new reader for each event has no template to use.
    expect(together.text).toBe(events.map((one) => relay([encode(one)]).text).join(''))
    expect(together.stream.produced.text).toBe(deltas.map(({ content }) => content ?? '').join(''))
    const thoughts = deltas.map((one) => ('reasoning_content' in one ? one.reasoning_content : ''))
    expect(together.stream.thoughts.text).toBe(thoughts.join(''))
  })
  fc.assert(property, { numRuns: 1_000 })
})

const counts = { prompt_tokens: 1000, completion_tokens: 50, total_tokens: 1050 }
const words = [chunk({ role: 'assistant', content: '' }), chunk({ content: 'Hello' })]
const finish = { ...chunk({}), choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }
const statements: Readonly<Record<string, readonly object[]>> = {
  'beside choices that are null': [...words, finish, { ...chunk({}), choices: null, usage: counts }],
  'without choices': [...words, finish, { id: 'c1', object: 'chat.completion.chunk', created: 7, usage: counts }],
  'all alone': [...words, finish, { usage: counts }],
  'alone, behind another': [
    ...words,
    finish,
    { ...chunk({}), choices: [], usage: { ...counts, completion_tokens: 9 } },
    { usage: counts },
  ],
  'in the choice': [
    ...words,
    { ...chunk({}), choices: [{ index: 0, delta: {}, finish_reason: 'stop', usage: counts }] },
  ],
  'in an extension': [...words, { ...finish, x_groq: { usage: counts } }],
  'before zeros': [
    ...words,
    finish,
    { ...chunk({}), choices: [], usage: counts },
    { ...chunk({}), choices: [], usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 } },
  ],
  'in halves': [
    chunk({ role: 'assistant', content: '' }, { usage: { prompt_tokens: 1000, completion_tokens: 0 } }),
    ...words,
    finish,
    { ...chunk({}), choices: [], usage: { prompt_tokens: 0, completion_tokens: 50 } },
  ],
  'before the end': [...words, { ...chunk({}), choices: [], usage: counts }, finish],
}

test.each(Object.entries(statements))('a usage %s is read, and stated once at the end', (_, chunks) => {
  const bytes = encode([...chunks.map(event), 'data: [DONE]\n\n'].join(''))
  const { text, stream } = relay([bytes], { ...options, usageAsked: true })
  expect(stream.usage).toMatchObject({ inputFresh: 1000, outputText: 50 })
  const told = text.split('\n\n').flatMap((data) => (data.startsWith('data: {') ? [JSON.parse(data.slice(6))] : []))
  expect(told.findLast(({ usage }) => usage)?.usage).toMatchObject(counts)
  expect(told.every(({ choices }) => Array.isArray(choices))).toBe(true)
  expect(relay([bytes]).text).not.toContain('"choices":[]')
})
