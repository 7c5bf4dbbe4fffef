/** Ends without an answer, whole and streamed, for Gemini's own clients and for others. */
import { estimatedUsage } from '../core/usage-estimate.ts'
import { expect, test } from 'bun:test'
import type { SseEvent } from '../../lib/http/sse.ts'
import { chatClientSide } from '../chat/client-side.ts'
import type { Adapter, WriterQuirks } from '../core/contract.ts'
import { translated } from '../core/translated.ts'
import { DirectGemini } from './direct.ts'
import { readGeminiRequest } from './request.ts'
import { geminiTurn } from './turn.ts'
import { geminiUpstreamSide } from './upstream-side.ts'

const quirks: WriterQuirks = { outputMaxField: 'max_tokens', usageInStream: 'on_request', usageDialect: 'inclusive' }
const answer = { requestId: 'req_1', createdAtMs: 1_000_500, publicModel: 'm' }
const usageMetadata = { promptTokenCount: 10, totalTokenCount: 10 }
const hi = { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] }

function passages(body: object): Readonly<Record<'direct' | 'translated', Adapter>> {
  const text = JSON.stringify(body)
  const read = readGeminiRequest({ text, bytes: text.length, model: 'm', stream: false })
  if (read.kind !== 'read') throw new Error(read.failure.message)
  return {
    direct: new DirectGemini(read.request),
    translated: translated(geminiTurn(read.request.body), false, chatClientSide(true), geminiUpstreamSide),
  }
}

type Way = keyof ReturnType<typeof passages>
const ways = ['direct', 'translated'] as const

async function wholeOf(way: Way, candidate: object, body: object = hi): Promise<unknown> {
  const read = await passages(body)[way].readReply(JSON.stringify({ candidates: [candidate], usageMetadata }), quirks)
  return read.kind === 'failed' ? read.failure : 'an answer'
}

const eventOf = (candidate: object): SseEvent => ({
  name: undefined,
  data: JSON.stringify({ candidates: [candidate], usageMetadata }),
})

/** How a stream ends, and whether the client got anything before that. */
function streamOf(way: Way, candidates: readonly object[], body: object = hi): { end: unknown; begun: boolean } {
  const stream = passages(body)[way].openStream(answer, quirks)
  let begun = false
  for (const candidate of candidates) {
    const read = stream.read(eventOf(candidate))
    if (read.kind === 'failed') return { end: read.failure, begun }
    if (read.kind === 'chunk') begun ||= read.meaningful
  }
  return { end: stream.finished ? 'an answer' : 'open', begun }
}

const end = (finishReason: string, parts?: object[]): object => ({
  finishReason,
  ...(parts && { content: { role: 'model', parts } }),
})
const said = (...parts: object[]): object => ({ content: { role: 'model', parts } })

const signature = { text: '', thoughtSignature: 'AAAA' }
const thought = { text: 'hm', thought: true }
const broken = ['MALFORMED_FUNCTION_CALL', 'UNEXPECTED_TOOL_CALL', 'MALFORMED_RESPONSE', 'MISSING_THOUGHT_SIGNATURE']
const silent = ['STOP', 'OTHER', 'LANGUAGE', 'FINISH_REASON_UNSPECIFIED', 'SOMETHING_NEW', 'IMAGE_OTHER', 'NO_IMAGE']
const nothings = [
  undefined,
  [],
  [{ text: '' }],
  [signature],
  [thought],
  [thought, signature],
  [{ thoughtSignature: 'AA' }],
]

/** A prompt can cause it, so it rests no offer. */
const failure = { kind: 'server', isDoubtful: true }

test.each(ways)('an end without content is a failure, with empty parts, signatures and thoughts: %s', async (way) => {
  for (const reason of [...broken, ...silent]) {
    for (const parts of nothings) {
      expect(await wholeOf(way, end(reason, parts))).toMatchObject(failure)
      expect(streamOf(way, [end(reason, parts)])).toMatchObject({ end: failure, begun: false })
    }
    expect(streamOf(way, [said(signature), end(reason)])).toMatchObject({ end: failure, begun: false })
    expect(streamOf(way, [said(thought), said(signature), end(reason)])).toMatchObject({ end: failure, begun: true })
  }
  expect(await wholeOf(way, {})).toMatchObject(failure)
})

test.each(ways)('a limit or a filter may end an empty answer: %s', async (way) => {
  for (const reason of ['MAX_TOKENS', 'SAFETY', 'PROHIBITED_CONTENT', 'MODEL_ARMOR', 'IMAGE_PROHIBITED_CONTENT']) {
    expect(await wholeOf(way, end(reason, [signature]))).toBe('an answer')
    expect(streamOf(way, [said(signature), end(reason)])).toEqual({ end: 'an answer', begun: true })
  }
})

test.each(ways)('an empty answer is valid after a stop sequence or a tool’s result: %s', async (way) => {
  const functionResponse = { name: 'f', response: { output: 'done' } }
  const results = [
    { role: 'model', parts: [{ functionCall: { name: 'f', args: {} } }] },
    { role: 'user', parts: [{ functionResponse }] },
  ]
  for (const body of [
    { ...hi, generationConfig: { stopSequences: ['x'] } },
    { contents: [...hi.contents, ...results] },
  ]) {
    expect(await wholeOf(way, end('STOP'), body)).toBe('an answer')
    expect(streamOf(way, [end('STOP')], body).end).toBe('an answer')
    expect(await wholeOf(way, end('MALFORMED_FUNCTION_CALL'), body)).toMatchObject(failure)
  }
})

test('text before a broken call is an answer for the vendor’s own client only', async () => {
  const malformed = end('MALFORMED_FUNCTION_CALL', [{ text: 'I will read it.' }])
  expect(await wholeOf('direct', malformed)).toBe('an answer')
  expect(await wholeOf('translated', malformed)).toMatchObject(failure)
})

test.each(ways)('a signature that waited is not lost: %s', (way) => {
  const stream = passages(hi)[way].openStream(answer, quirks)
  let text = ''
  for (const candidate of [said(signature), said({ text: 'Hello' }), end('STOP')]) {
    const read = stream.read(eventOf(candidate))
    if (read.kind === 'chunk') text += read.text
  }
  text += stream.end(estimatedUsage(1, 1))
  expect(text.indexOf('AAAA')).toBeGreaterThan(-1)
  expect(text).toContain('Hello')
})

test('numbers that came as strings are numbers', () => {
  const text = JSON.stringify({
    ...hi,
    generation_config: { max_output_tokens: '100', candidateCount: '2', thinkingConfig: { thinking_budget: '512' } },
  })
  const read = readGeminiRequest({ text, bytes: text.length, model: 'm', stream: false })
  expect(read).toMatchObject({ request: { outputTokensMax: 100, choices: 2 } })
  const sent = new DirectGemini((read as Extract<typeof read, { kind: 'read' }>).request)
  expect(sent.request({ upstreamModel: 'u', outputTokensMax: 100, quirks }).body).toBe(text)
})

test('media for other dialects have their base64 alphabet', () => {
  const bytes = Buffer.from([251, 255, 254, 63, 62, 1, 250])
  for (const data of [
    bytes.toString('base64url'),
    `${bytes.toString('base64url')}==`,
    `${bytes.toString('base64')}\n`,
  ]) {
    const media = { inlineData: { mimeType: 'image/png', data } }
    const functionResponse = { name: 'f', response: { output: 'a picture' }, parts: [media] }
    const text = JSON.stringify({ contents: [{ parts: [media, { functionResponse }] }] })
    const read = readGeminiRequest({ text, bytes: text.length, model: 'm', stream: false })
    if (read.kind !== 'read') throw new Error(read.failure.message)
    const turn = JSON.stringify(geminiTurn(read.request.body))
    expect(turn.split(bytes.toString('base64'))).toHaveLength(3)
    expect(
      new DirectGemini(read.request).request({ upstreamModel: 'u', outputTokensMax: undefined, quirks }).body,
    ).toBe(text)
  }
})

test('an answer of one word from a list is requested in the prompt if there is no field for it', () => {
  const schema = { type: 'STRING', enum: ['red', 'green'] }
  const text = JSON.stringify({ ...hi, generationConfig: { responseMimeType: 'text/x.enum', responseSchema: schema } })
  const read = readGeminiRequest({ text, bytes: text.length, model: 'm', stream: false })
  if (read.kind !== 'read') throw new Error(read.failure.message)
  const turn = geminiTurn(read.request.body)
  expect(turn).toMatchObject({ turn: { format: undefined, foreign: ['responseMimeType'] } })
  expect(JSON.stringify(turn)).toContain('red, green')
})
