/** Streams of the responses format: written, read back, cut anywhere, and repeated from what is stored. */
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Delta, Dialect, FinishReason } from '../../domain/turn.ts'
import { SseDecoder, type SseEvent } from '../../lib/http/sse.ts'
import { ResponsesConversation, followKept, showKept } from './conversation.ts'
import { ResponsesDecoder } from './decoder.ts'
import { readResponsesRequest } from './request.ts'
import { expectStream, type StreamEvent } from '../../../test/support/response-events.ts'

const answer = { requestId: `req_${'0'.repeat(26)}`, createdAtMs: 1_000_500, publicModel: 'public' }
const usage = { inputFresh: 3, inputCached: 2, cacheWrite5m: 1, cacheWrite1h: 0, outputText: 4, outputReasoning: 5 }

function conversation(body: object = {}): ResponsesConversation {
  const text = JSON.stringify({ model: 'public', input: 'hello', background: true, stream: true, ...body })
  const read = readResponsesRequest(text, text.length)
  if (read.kind === 'rejected') throw new Error(read.failure.message)
  const made = new ResponsesConversation(read.request)
  expect(made.recall([], [])).toBeUndefined()
  return made
}

const eventsOf = (text: string): SseEvent[] => new SseDecoder(1_000_000).push(Buffer.from(text))

const say = (kind: 'text' | 'refusal' | 'reasoning', text: string): Delta => ({ kind, choice: 0, text })
const call = (number: number, tool: 'function' | 'custom' = 'function'): Delta => ({
  kind: 'call',
  choice: 0,
  call: number,
  id: `call_${number}`,
  name: `tool_${number}`,
  tool,
})
const argue = (number: number, text: string): Delta => ({ kind: 'arguments', choice: 0, call: number, text })
const seal = (data: string, origin: Dialect = 'responses'): Delta => ({
  kind: 'sealed',
  choice: 0,
  sealed: { origin, data, form: 'rs_x' },
})
const finish = (reason: FinishReason): Delta => ({ kind: 'finish', choice: 0, reason })

const full: Delta[] = [
  say('reasoning', 'Let me '),
  say('reasoning', 'think.'),
  seal('opaque'),
  say('text', 'Grüße, '),
  say('text', '世界! 👩‍👩‍👧'),
  say('refusal', 'But no.'),
  call(0),
  call(1, 'custom'),
  argue(0, '{"a":'),
  argue(1, 'free '),
  argue(0, '1}'),
  argue(1, 'text'),
  finish('tool_calls'),
]

/** Encodes deltas, each as one upstream event, and returns the whole text. */
function encode(made: ResponsesConversation, deltas: readonly Delta[]): string {
  const encoder = made.side('ours').encoder(answer)
  return deltas.map((delta) => encoder.encode([delta])).join('') + encoder.end(usage)
}

/** What a client of this dialect reads. Adjacent deltas become one. */
function decode(text: string): { deltas: Delta[]; decoder: ResponsesDecoder } {
  const decoder = new ResponsesDecoder()
  const deltas: Delta[] = []
  for (const event of eventsOf(text)) {
    const decoded = decoder.decode(event)
    if (decoded.kind === 'deltas') deltas.push(...decoded.deltas)
  }
  return { deltas, decoder }
}

test('the events of a full answer are in order, complete, and numbered without gaps', () => {
  const text = encode(conversation({ include: ['reasoning.encrypted_content'] }), full)
  expectStream(text)
  const types = eventsOf(text).map(({ name }) => name)
  expect(types.slice(0, 3)).toEqual(['response.created', 'response.in_progress', 'response.output_item.added'])
  expect(types.slice(-2)).toEqual(['response.completed', undefined])
  expect(text).toContain('"type":"custom_tool_call"')
})

test('a written stream is read back the same', () => {
  const { deltas, decoder } = decode(encode(conversation({ include: ['reasoning.encrypted_content'] }), full))
  expect(decoder.usage).toEqual(usage)
  expect(decoder.finished).toBe(true)
  const plain = deltas.filter(({ kind }) => kind !== 'sealed')
  expect(plain).toEqual(full.filter(({ kind }) => kind !== 'sealed'))
})

test('a stream is read the same wherever it is cut', () => {
  const text = encode(conversation(), full)
  const bytes = Buffer.from(text)
  const whole = decode(text).deltas
  for (let at = 0; at <= bytes.length; at += 7) {
    const sse = new SseDecoder(1_000_000)
    const events = [...sse.push(bytes.subarray(0, at)), ...sse.push(bytes.subarray(at)), ...sse.end()]
    const decoder = new ResponsesDecoder()
    const deltas = events.flatMap((event) => {
      const decoded = decoder.decode(event)
      return decoded.kind === 'deltas' ? decoded.deltas : []
    })
    expect(deltas).toEqual(whole)
  }
})

const MARK = '§'
const anyDelta: fc.Arbitrary<Delta> = fc.oneof(
  fc
    .tuple(fc.constantFrom('text', 'refusal', 'reasoning'), fc.string({ unit: 'binary', minLength: 1, maxLength: 8 }))
    .map(([kind, text]) => say(kind as 'text', MARK + text)),
  fc.constantFrom('chat', 'gemini', 'messages').map((origin) => seal('x', origin as Dialect)),
  fc.tuple(fc.nat(2), fc.string({ minLength: 1, maxLength: 8 })).map(([at, text]) => argue(at, MARK + text)),
)

test('a stored turn repeats the same events, byte for byte, from any number on', () => {
  const property = fc.property(
    fc.array(anyDelta, { maxLength: 30 }),
    fc.constantFrom<FinishReason>('stop', 'length', 'tool_calls', 'content_filter'),
    fc.constantFrom('end', 'fail', 'cancel'),
    (said, reason, ending) => {
      const made = conversation()
      const encoder = made.side('ours').encoder(answer)
      const begun = new Set<number>()
      let live = ''
      for (const delta of said) {
        if (delta.kind === 'arguments' && !begun.has(delta.call)) {
          begun.add(delta.call)
          live += encoder.encode([call(delta.call, delta.call === 1 ? 'custom' : 'function')])
        }
        live += encoder.encode([delta])
      }
      if (ending === 'cancel') made.cancel('stopped')
      if (ending === 'end') live += encoder.encode([finish(reason)]) + encoder.end(usage)
      else live += encoder.fail({ kind: 'upstream_error', message: 'It broke.', param: 'x' })
      const turn = made.ended()
      if (!turn) throw new Error('nothing was kept')
      expectStream(live)
      const events = live.split(/(?<=\n\n)/)
      for (const after of [-1, 0, Math.floor(events.length / 2), events.length]) {
        expect(followKept(turn, { after, include: [] })).toBe(
          [...events.slice(0, -1).slice(after + 1), events.at(-1)].join(''),
        )
      }
      const follower = made.follow(answer, -1)
      expect(follower.read('here') + follower.read('end')).toBe(live)
      // Only the items hold text.
      expect(turn.trace).not.toContain(MARK)
    },
  )
  fc.assert(property, { numRuns: 300 })
})

test('sealed parts are stored for later turns, and shown only on request', () => {
  for (const [include, shown] of [
    [[], false],
    [['reasoning.encrypted_content'], true],
  ] as const) {
    const made = conversation({ include })
    const text = encode(made, full)
    expect(text.includes('tgs1_')).toBe(shown)
    const turn = made.ended()
    if (!turn) throw new Error('nothing was kept')
    expect(turn.output).toContain('tgs1_')
    expect(JSON.stringify(showKept(turn, include)).includes('tgs1_')).toBe(shown)
    const later = conversation({ input: 'next' })
    later.recall([turn], [])
    expect(later.turn?.messages[1]).toMatchObject({
      role: 'assistant',
      parts: [{ kind: 'reasoning', sealed: { origin: 'responses', data: 'opaque', form: 'rs_x' } }, {}, {}, {}, {}],
    })
  }
})

test('an answer that the limit cut is incomplete, and so is its last item', () => {
  const text = encode(conversation(), [say('text', 'Half'), finish('length')])
  const events = expectStream(text)
  const { response } = events.at(-1) as StreamEvent & { response: Record<string, unknown> }
  expect(response).toMatchObject({
    status: 'incomplete',
    incomplete_details: { reason: 'max_output_tokens' },
    completed_at: null,
    output: [{ status: 'incomplete', content: [{ text: 'Half' }] }],
    usage: { input_tokens: 6, output_tokens: 9, total_tokens: 15 },
  })
})

test('a broken call is stored unchanged, and not sent to a vendor again', () => {
  const made = conversation()
  const encoder = made.side('ours').encoder(answer)
  encoder.encode([say('text', 'I look.'), call(0), argue(0, '{"a":')])
  encoder.fail({ kind: 'upstream_error', message: 'It broke.' })
  const turn = made.ended()
  if (!turn) throw new Error('nothing was kept')
  expect(JSON.parse(turn.output)).toMatchObject([{ status: 'completed' }, { status: 'incomplete', arguments: '{"a":' }])
  const later = conversation({ input: 'next' })
  later.recall([turn], [])
  expect(later.turn?.messages.map(({ parts }) => parts.map(({ kind }) => kind))).toEqual([['text'], ['text'], ['text']])
})

test('usage is stated on completed, incomplete and failed', () => {
  const wire = {
    input_tokens: 10,
    input_tokens_details: { cached_tokens: 4, cache_write_tokens: 1 },
    output_tokens: 7,
    output_tokens_details: { reasoning_tokens: 5 },
  }
  for (const status of ['completed', 'incomplete', 'failed']) {
    const decoder = new ResponsesDecoder()
    const response = { status, usage: wire, error: status === 'failed' ? { code: 'server_error', message: 'x' } : null }
    const decoded = decoder.decode({ name: undefined, data: JSON.stringify({ type: `response.${status}`, response }) })
    expect(decoded.kind).toBe(status === 'failed' ? 'failed' : 'deltas')
    expect(decoder.usage).toEqual({
      inputFresh: 5,
      inputCached: 4,
      cacheWrite5m: 1,
      cacheWrite1h: 0,
      outputText: 2,
      outputReasoning: 5,
    })
  }
})
