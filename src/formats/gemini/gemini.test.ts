/** Gemini's dialect by the documented format: streams whole and cut at every byte, requests written, buckets priced. */
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Delta, ToolCallPart, Turn } from '../../domain/turn.ts'
import type { Usage } from '../../domain/usage.ts'
import { SseDecoder, type SseEvent } from '../../lib/http/sse.ts'
import { chatClientSide } from '../chat/client-side.ts'
import { readChatRequest } from '../../../test/support/read-chat.ts'
import { chatTurn } from '../chat/turn.ts'
import { chatUpstreamSide } from '../chat/upstream-side.ts'
import type { Destination, WriterQuirks } from '../core/contract.ts'
import { translated } from '../core/translated.ts'
import { geminiClientSide } from './client-side.ts'
import { GeminiDecoder } from './decoder.ts'
import { DirectGemini } from './direct.ts'
import { geminiFamilyOf, thinkingConfigOf } from '../../vendors/gemini-families.ts'
import { readModelPath, upstreamPath } from '../core/google-model-path.ts'
import { readGeminiRequest, type GeminiRequest } from './request.ts'
import { schemaForGemini } from './schema.ts'
import { readSignature, writeSignature } from './signature.ts'
import { GeminiStream } from './stream.ts'
import { geminiTurn } from './turn.ts'
import { geminiUpstreamSide } from './upstream-side.ts'
import { correctedGeminiUsage, readGeminiUsage, writeGeminiUsage } from './usage.ts'

const quirks: WriterQuirks = {
  outputMaxField: 'max_tokens',
  usageInStream: 'on_request',
  usageDialect: 'inclusive',
}
const answer = { requestId: 'req_1', createdAtMs: 1_000_500, publicModel: 'public/id' }
const counted: Usage = {
  inputFresh: 3,
  inputCached: 0,
  cacheWrite5m: 0,
  cacheWrite1h: 0,
  outputText: 4,
  outputReasoning: 0,
}
const to = (upstreamModel: string, more: Partial<WriterQuirks> = {}): Destination => ({
  upstreamModel,
  outputTokensMax: 100,
  quirks: { ...quirks, ...more },
})

/** A thinking model that answers in two texts and calls two functions, by the documented shapes. */
const events = [
  {
    candidates: [{ content: { parts: [{ text: '**Planning**\n', thought: true }], role: 'model' }, index: 0 }],
    usageMetadata: {
      promptTokenCount: 912,
      totalTokenCount: 940,
      cachedContentTokenCount: 900,
      thoughtsTokenCount: 28,
    },
    modelVersion: 'gemini-3.5-flash',
    responseId: 'abc',
  },
  {
    candidates: [{ content: { parts: [{ text: 'Let me look – 世界 👩‍👩‍👧.' }], role: 'model' }, index: 0 }],
    modelVersion: 'gemini-3.5-flash',
  },
  {
    candidates: [
      {
        content: {
          parts: [
            { functionCall: { id: 'fc1', name: 'get_weather', args: { city: 'Oslo' } }, thoughtSignature: 'AbCd' },
            { functionCall: { name: 'get_weather', args: { city: 'Rome' } } },
          ],
          role: 'model',
        },
        index: 0,
      },
    ],
    modelVersion: 'gemini-3.5-flash',
  },
  {
    candidates: [
      { content: { parts: [{ text: '', thoughtSignature: 'EfGh' }], role: 'model' }, finishReason: 'STOP', index: 0 },
    ],
    usageMetadata: {
      promptTokenCount: 912,
      candidatesTokenCount: 20,
      totalTokenCount: 996,
      cachedContentTokenCount: 900,
      thoughtsTokenCount: 64,
    },
    modelVersion: 'gemini-3.5-flash',
    responseId: 'abc',
  },
]
const wire = new TextEncoder().encode(events.map((event) => `data: ${JSON.stringify(event)}\r\n\r\n`).join(''))

/** The events of a stream that arrives in two reads. */
function cutAt(bytes: Uint8Array, at: number): SseEvent[] {
  const decoder = new SseDecoder(1_000_000)
  return [...decoder.push(bytes.subarray(0, at)), ...decoder.push(bytes.subarray(at)), ...decoder.end()]
}

function deltasOf(list: readonly SseEvent[]): { deltas: Delta[]; decoder: GeminiDecoder } {
  const decoder = new GeminiDecoder('failure')
  const deltas = list.flatMap((event) => {
    const decoded = decoder.decode(event)
    if (decoded.kind !== 'deltas') throw new Error(decoded.kind)
    return decoded.deltas
  })
  return { deltas, decoder }
}

const withoutIds = (deltas: readonly Delta[]): unknown[] =>
  deltas.map((delta) =>
    delta.kind === 'call' ? { ...delta, id: delta.id.startsWith('call_') ? 'minted' : delta.id } : delta,
  )

const expectedDeltas = [
  { kind: 'reasoning', choice: 0, text: '**Planning**\n' },
  { kind: 'text', choice: 0, text: 'Let me look – 世界 👩‍👩‍👧.' },
  {
    kind: 'call',
    choice: 0,
    call: 0,
    id: 'fc1',
    name: 'get_weather',
    tool: 'function',
    sealed: { origin: 'gemini', data: 'AbCd', form: undefined },
  },
  { kind: 'arguments', choice: 0, call: 0, text: '{"city":"Oslo"}' },
  { kind: 'call', choice: 0, call: 1, id: 'minted', name: 'get_weather', tool: 'function', sealed: undefined },
  { kind: 'arguments', choice: 0, call: 1, text: '{"city":"Rome"}' },
  { kind: 'sealed', choice: 0, sealed: { origin: 'gemini', data: 'EfGh', form: 'text' } },
  { kind: 'finish', choice: 0, reason: 'tool_calls' },
]

describe('a recorded stream', () => {
  test('means the same wherever it is cut', () => {
    for (let at = 0; at <= wire.length; at++) {
      const { deltas, decoder } = deltasOf(cutAt(wire, at))
      expect(withoutIds(deltas)).toEqual(expectedDeltas)
      expect(decoder.finished).toBeTrue()
      expect(decoder.usage).toEqual({
        ...counted,
        inputFresh: 12,
        inputCached: 900,
        outputText: 20,
        outputReasoning: 64,
      })
    }
  })

  test('passes except for the model, and the end waits for the settlement', () => {
    const stream = new GeminiStream('public/id', { silence: 'failure' })
    const reads = cutAt(wire, 7).map((event) => stream.read(event))
    const texts = reads.map((read) => (read.kind === 'chunk' ? read.text : read.kind))
    const renamed = events.map((event) => `data: ${JSON.stringify({ ...event, modelVersion: 'public/id' })}\n\n`)
    expect(texts).toEqual([...renamed.slice(0, 3), ''])
    expect(stream.finished).toBeTrue()
    expect(stream.end(stream.usage ?? counted)).toBe(renamed[3] ?? '?')
    expect(stream.usage).toMatchObject({ inputCached: 900, outputReasoning: 64 })
  })

  test('passes byte for byte with any further fields', () => {
    const extra = fc.dictionary(
      fc.string().filter((key) => !/^(error|candidates|__proto__)$/.test(key)),
      fc.jsonValue(),
    )
    fc.assert(
      fc.property(extra, extra, fc.boolean(), (more, inPart, isSpaced) => {
        const part = { text: 'x', ...inPart, thought: false, functionCall: undefined }
        const response = {
          ...more,
          promptFeedback: undefined,
          usageMetadata: undefined,
          candidates: [{ content: { parts: [part] } }],
          modelVersion: '@',
        }
        const data = JSON.stringify(response, null, isSpaced ? 1 : 0).replaceAll('\n', ' ')
        const read = new GeminiStream('public/id', { silence: 'failure' }).read({ name: undefined, data })
        const at = data.lastIndexOf('"@"')
        const expected = `data: ${data.slice(0, at)}"public/id"${data.slice(at + 3)}\n\n`
        expect(read.kind === 'chunk' ? read.text : read.kind).toBe(expected)
      }),
    )
  })

  test('is translated to chat and back', () => {
    const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'x' }], stream: true })
    const read = readChatRequest(body, body.length)
    if (read.kind === 'rejected') throw new Error(read.failure.message)
    const adapter = translated(chatTurn(read.request.body), true, chatClientSide(true), geminiUpstreamSide)
    const stream = adapter.openStream(answer, quirks)
    const text = cutAt(wire, 3)
      .map((event) => stream.read(event))
      .map((one) => (one.kind === 'chunk' ? one.text : one.kind))
      .join('')
    const chat = text + stream.end(stream.usage ?? counted)
    expect(chat).toContain('"extra_content":{"google":{"thought_signature":"AbCd"}}')
    expect(chat).toContain('"reasoning_content":"**Planning**\\n"')
    expect(chat).toContain('"prompt_tokens":912,"completion_tokens":84,"total_tokens":996')
    const back = translated(geminiTurn(plain.body), true, geminiClientSide('shown'), chatUpstreamSide).openStream(
      answer,
      quirks,
    )
    const again = cutAt(new TextEncoder().encode(chat), 3)
      .map((event) => back.read(event))
      .map((one) => (one.kind === 'chunk' ? one.text : ''))
      .join('')
    const { deltas } = deltasOf(cutAt(new TextEncoder().encode(again + back.end(back.usage ?? counted)), 5))
    const kept = expectedDeltas.filter(({ kind }) => kind !== 'sealed')
    expect(withoutIds(deltas)).toEqual(
      kept.map((delta) => ('sealed' in delta ? { ...delta, sealed: undefined } : delta)),
    )
  })
})

describe('the ends of a stream', () => {
  const event = (response: object): SseEvent => ({ name: undefined, data: JSON.stringify(response) })
  const finish = (finishReason: string, parts: object[] = []): SseEvent =>
    event({ candidates: [{ ...(parts.length > 0 && { content: { parts } }), finishReason }] })

  test.each([
    ['STOP', 'stop'],
    ['MAX_TOKENS', 'length'],
    ['CONTINUATION', 'length'],
    ['SAFETY', 'content_filter'],
    ['RECITATION', 'content_filter'],
    ['PROHIBITED_CONTENT', 'content_filter'],
    ['SPII', 'content_filter'],
    ['BLOCKLIST', 'content_filter'],
    ['OTHER', 'stop'],
  ])('%s is %s', (reason, expected) => {
    const said = event({ candidates: [{ content: { parts: [{ text: 'a' }] } }] })
    const end = { kind: 'finish', choice: 0, reason: expected as 'stop' } as const
    expect(deltasOf([said, finish(reason)]).deltas.at(-1)).toEqual(end)
    if (expected !== 'stop') expect(deltasOf([finish(reason)]).deltas).toEqual([end])
  })

  test('a broken format leads to another attempt if nothing was sent', () => {
    for (const reason of ['MALFORMED_FUNCTION_CALL', 'UNEXPECTED_TOOL_CALL', 'MALFORMED_RESPONSE']) {
      expect(new GeminiDecoder('failure').decode(finish(reason))).toMatchObject({
        failure: { kind: 'server', code: reason },
      })
      expect(new GeminiStream('m', { silence: 'failure' }).read(finish(reason))).toMatchObject({
        failure: { kind: 'server' },
      })
    }
    const begun = new GeminiStream('m', { silence: 'failure' })
    begun.read(event({ candidates: [{ content: { parts: [{ text: 'a' }] } }] }))
    expect(begun.read(finish('MALFORMED_FUNCTION_CALL'))).toMatchObject({ kind: 'chunk', meaningful: true })
    expect(begun.finished).toBeTrue()
  })

  test('a blocked prompt is the request’s fault, and an answer for its own client', () => {
    const blocked = event({
      promptFeedback: { blockReason: 'SAFETY' },
      usageMetadata: { promptTokenCount: 5, totalTokenCount: 5 },
    })
    expect(new GeminiDecoder('failure').decode(blocked)).toMatchObject({ failure: { kind: 'policy' } })
    const stream = new GeminiStream('m', { silence: 'failure' })
    expect(stream.read(blocked)).toEqual({ kind: 'chunk', text: '', meaningful: true })
    expect([stream.finished, stream.end(stream.usage ?? counted)]).toEqual([true, `data: ${blocked.data}\n\n`])
    expect(stream.usage).toMatchObject({ inputFresh: 5, outputText: 0 })
  })

  test('an error inside the stream keeps its kind, and junk is garbage', () => {
    const failed = event({ error: { code: 503, message: 'overloaded', status: 'UNAVAILABLE' } })
    expect(new GeminiDecoder('failure').decode(failed)).toMatchObject({ failure: { kind: 'overload' } })
    expect(new GeminiStream('m', { silence: 'failure' }).read(failed)).toMatchObject({ failure: { kind: 'overload' } })
    for (const data of ['<html>', '[1]', 'null']) {
      expect(new GeminiStream('m', { silence: 'failure' }).read({ name: undefined, data })).toMatchObject({
        failure: { kind: 'garbage' },
      })
    }
  })

  test('several candidates end with the last of them', () => {
    const decoder = new GeminiDecoder('failure')
    const one = (index: number, more: object): SseEvent =>
      event({ candidates: [{ index, content: { parts: [{ text: 'x' }] }, ...more }] })
    for (const [i, step] of [
      one(0, {}),
      one(1, {}),
      one(0, { finishReason: 'STOP' }),
      one(1, { finishReason: 'STOP' }),
    ].entries()) {
      decoder.decode(step)
      expect(decoder.finished).toBe(i === 3)
    }
  })

  test('a missing usage is written where the client looks for it', () => {
    const stream = new GeminiStream('m', { silence: 'failure' })
    stream.read(finish('STOP', [{ text: 'a' }]))
    expect(JSON.parse(stream.end(stream.usage ?? counted).slice(6))).toMatchObject({
      usageMetadata: { promptTokenCount: 3, totalTokenCount: 7 },
    })
  })

  test('a broken call does not look like one without arguments', () => {
    const encoder = geminiClientSide('shown').encoder(answer)
    const call = { kind: 'call', choice: 0, call: 0, id: 'c', name: 'f', tool: 'function' } as const
    encoder.encode([call, { kind: 'arguments', choice: 0, call: 0, text: '{"a":' }])
    expect(encoder.encode([{ kind: 'finish', choice: 0, reason: 'length' }])).toBe('')
    expect(encoder.end(counted)).toContain('"finishReason":"MAX_TOKENS"')
  })
})

describe('usage', () => {
  test.each([
    [
      {
        promptTokenCount: 912,
        cachedContentTokenCount: 900,
        candidatesTokenCount: 20,
        thoughtsTokenCount: 64,
        totalTokenCount: 996,
      },
      [12, 900, 20, 64],
    ],
    [{ promptTokenCount: 10, toolUsePromptTokenCount: 5, candidatesTokenCount: 2, totalTokenCount: 17 }, [15, 0, 2, 0]],
    [{ promptTokenCount: 10, totalTokenCount: 10 }, [10, 0, 0, 0]],
    [{ promptTokenCount: 10, thoughtsTokenCount: 7, totalTokenCount: 17 }, [10, 0, 0, 7]],
    [{ promptTokenCount: 0, candidatesTokenCount: 0 }, [0, 0, 0, 0]],
    [{ promptTokenCount: 5, cachedContentTokenCount: 9, candidatesTokenCount: 1 }, [0, 5, 1, 0]],
  ])('%j', (raw, [inputFresh, inputCached, outputText, outputReasoning]) => {
    const usage = readGeminiUsage(raw)
    expect(usage).toMatchObject({ inputFresh, inputCached, outputText, outputReasoning })
    if (usage) expect(readGeminiUsage(JSON.parse(writeGeminiUsage(usage)))).toEqual(usage)
  })

  test('a missing or absurd count is unknown, never zero', () => {
    const candidatesTokenCount = 1
    for (const raw of [
      undefined,
      {},
      { promptTokenCount: 5 },
      { candidatesTokenCount },
      { promptTokenCount: -1, candidatesTokenCount },
      { promptTokenCount: 5, totalTokenCount: 3 },
      { promptTokenCount: 5, candidatesTokenCount: 1.5, totalTokenCount: 9 },
    ]) {
      expect(readGeminiUsage(raw)).toBeUndefined()
    }
  })

  test('a total that is not the sum is corrected, and the rest stays', () => {
    const raw = { promptTokenCount: 3, candidatesTokenCount: 4, totalTokenCount: 9, x: 1 }
    const usage = readGeminiUsage(raw)
    if (!usage) throw new Error('unread')
    expect(JSON.parse(correctedGeminiUsage(raw, usage) ?? '')).toEqual({ ...raw, totalTokenCount: 7 })
    expect(correctedGeminiUsage({ ...raw, totalTokenCount: 7 }, usage)).toBeUndefined()
  })
})

function request(body: object | string): GeminiRequest {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const read = readGeminiRequest({ text, bytes: text.length, model: 'public/id', stream: false })
  if (read.kind === 'rejected') throw new Error(read.failure.message)
  return read.request
}
const plain = request({ contents: [{ parts: [{ text: 'hi' }] }] })

describe('a request', () => {
  const direct = (body: string, more: Partial<WriterQuirks> = {}): string =>
    new DirectGemini(request(body)).request(to('gemini-3.5-flash', more)).body

  test('passes byte for byte, except for the limit and a second name of the model', () => {
    const odd =
      '{ "contents":[{"parts":[{"text":"\\u00fc"}]}],  "x_y": [1.0, 1e2], "generationConfig" : {"topK": 3.0 , "maxOutputTokens":100}}'
    expect(direct(odd)).toBe(odd)
    expect(direct(odd.replace('100', '900'))).toBe(odd)
    expect(
      direct(
        odd
          .replace('maxOutputTokens', 'max_output_tokens')
          .replace('generationConfig', 'generation_config')
          .replace('100', '9'),
      ),
    ).toBe(odd.replace('maxOutputTokens', 'max_output_tokens').replace('generationConfig', 'generation_config'))
    expect(direct('{"model":"models/x","contents":[]}'.replace('[]', '[{"parts":[]}]'))).toBe(
      '{"generationConfig":{"maxOutputTokens":100},"contents":[{"parts":[]}]}',
    )
    expect(direct('{"contents":[{"parts":[]}],"generationConfig":null}')).toContain(
      '"generationConfig":{"maxOutputTokens":100}',
    )
  })

  test('loses the ids of calls only if they are refused', () => {
    const call =
      '{"contents":[{"parts":[{"functionCall":{"id":"a","name":"f","args":{"id":1}}}]}],"generationConfig":{"maxOutputTokens":100}}'
    expect(direct(call)).toBe(call)
    expect(direct(call, { callIds: 'refused' })).toBe(call.replace('"id":"a",', ''))
  })

  test('images count by their number, other media by their bytes', () => {
    const data = 'A'.repeat(4_000)
    const parts = [
      { inlineData: { mimeType: 'image/png', data } },
      { inline_data: { mime_type: 'audio/wav', data } },
      { fileData: { fileUri: 'gs://b/x.png' } },
    ]
    const read = request({ contents: [{ parts }] })
    expect(read).toMatchObject({ imageParts: 2, mediaBytes: 3_000 })
    expect(read.textBytes).toBeLessThan(300)
  })
})

describe('a turn', () => {
  const written = (turn: Partial<Turn>, model = 'gemini-3.5-flash', more: Partial<WriterQuirks> = {}) => {
    const { body, dropped, path } = geminiUpstreamSide.write(
      { messages: [], tools: [], choices: 1, foreign: [], ...turn },
      true,
      to(model, more),
    )
    const fields = JSON.parse(body) as { contents: unknown; toolConfig?: unknown }
    return { ...fields, dropped, path }
  }
  const text = (words: string) => ({ kind: 'text', text: words }) as const
  const call = (id: string, data?: string): ToolCallPart => ({
    kind: 'tool_call',
    id,
    name: 'f',
    arguments: '{"a":1}',
    tool: 'function',
    ...(data !== undefined && { sealed: { origin: 'gemini', data } }),
  })
  const messages: Turn['messages'] = [
    { role: 'system', parts: [text('Be brief.')] },
    {
      role: 'user',
      parts: [text('Hi'), { kind: 'image', source: { kind: 'data', mediaType: 'image/png', base64: 'AAAA' } }],
    },
    { role: 'assistant', parts: [text('Well'), call('c1', 'SIG'), call('c2')] },
    { role: 'tool', callId: 'c1', parts: [text('one')] },
    { role: 'tool', callId: 'c2', parts: [text('two')], isError: true },
    { role: 'user', parts: [text('And?')] },
    { role: 'assistant', parts: [call('c3')] },
    { role: 'tool', callId: 'c3', parts: [text('three')] },
  ]

  test('becomes contents with results together, names looked up, and the first call of each turn signed', () => {
    expect(written({ messages })).toMatchObject({
      systemInstruction: { parts: [{ text: 'Be brief.' }] },
      contents: [
        { role: 'user', parts: [{ text: 'Hi' }, { inlineData: { mimeType: 'image/png', data: 'AAAA' } }] },
        {
          role: 'model',
          parts: [
            { text: 'Well' },
            { functionCall: { id: 'c1', name: 'f', args: { a: 1 } }, thoughtSignature: 'SIG' },
            { functionCall: { id: 'c2', name: 'f' } },
          ],
        },
        {
          role: 'user',
          parts: [
            { functionResponse: { id: 'c1', name: 'f', response: { output: 'one' } } },
            { functionResponse: { id: 'c2', name: 'f', response: { error: 'two' } } },
            { text: 'And?' },
          ],
        },
        {
          role: 'model',
          parts: [{ functionCall: { id: 'c3' }, thoughtSignature: 'skip_thought_signature_validator' }],
        },
        { role: 'user', parts: [{ functionResponse: { name: 'f', response: { output: 'three' } } }] },
      ],
      path: '/models/gemini-3.5-flash:streamGenerateContent?alt=sse',
    })
    expect(JSON.stringify(written({ messages }, 'gemini-2.5-pro'))).not.toContain('skip_thought')
    expect(JSON.stringify(written({ messages }, 'gemini-3.5-flash', { callIds: 'refused' }))).not.toContain('"id"')
  })

  test('gives the system prompt to a model without one as its first text, also if it is alone', () => {
    expect(written({ messages }, 'gemma-3-27b-it')).toMatchObject({
      contents: [{ parts: [{ text: 'Be brief.' }, { text: 'Hi' }, {}] }, {}, {}, {}, {}],
    })
    expect(written({ messages: messages.slice(0, 1) })).toMatchObject({
      contents: [{ role: 'user', parts: [{ text: 'Be brief.' }] }],
    })
  })

  test('sends signatures back to their places, and to no other vendor', () => {
    const parts = [
      { kind: 'reasoning', text: 'hm', sealed: { origin: 'gemini', data: 'T' } },
      text('So'),
      { kind: 'reasoning', text: '', sealed: { origin: 'gemini', data: 'U', form: 'text' } },
      { kind: 'reasoning', text: 'theirs', sealed: { origin: 'messages', data: 'V' } },
    ] as const
    const { contents } = written({ messages: [{ role: 'assistant', parts }] })
    expect(contents).toEqual([
      {
        role: 'model',
        parts: [
          { text: 'hm', thought: true, thoughtSignature: 'T' },
          { text: 'So', thoughtSignature: 'U' },
        ],
      },
    ])
  })

  test('writes tools, their choice and the schema of the answer', () => {
    const parameters = { type: 'object', properties: { const: { const: 1 } }, anyOf: [{ const: 'x' }] }
    const tools = [
      { kind: 'function', name: 'f', parameters, strict: true },
      { kind: 'function', name: 'g', parameters: {} },
    ] as const
    expect(written({ tools, format: { kind: 'json_schema', name: 'n', schema: parameters } })).toMatchObject({
      tools: [
        {
          functionDeclarations: [
            { name: 'f', parametersJsonSchema: { properties: { const: { enum: [1] } }, anyOf: [{ enum: ['x'] }] } },
            { name: 'g' },
          ],
        },
      ],
      toolConfig: { functionCallingConfig: { mode: 'VALIDATED' } },
      generationConfig: {
        maxOutputTokens: 100,
        responseMimeType: 'application/json',
        responseJsonSchema: { type: 'object' },
      },
    })
    const modeOf = (toolChoice: Turn['toolChoice']): unknown => written({ tools: [tools[1]], toolChoice }).toolConfig
    expect(modeOf({ kind: 'required' })).toEqual({ functionCallingConfig: { mode: 'ANY' } })
    expect(modeOf({ kind: 'none' })).toEqual({ functionCallingConfig: { mode: 'NONE' } })
    expect(modeOf({ kind: 'tool', name: 'g' })).toEqual({
      functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['g'] },
    })
    expect(modeOf({ kind: 'allowed', mode: 'auto', names: ['g'] })).toEqual({
      functionCallingConfig: { mode: 'VALIDATED', allowedFunctionNames: ['g'] },
    })
  })

  test('names what cannot be written', () => {
    const { dropped } = written(
      {
        parallelToolCalls: false,
        tools: [{ kind: 'function', name: 'f' }],
        user: 'u',
        verbosity: 'low',
        logprobs: 1,
        seed: 2 ** 40,
        frequencyPenalty: 1,
        effort: 'low',
      },
      'gemma-3',
    )
    expect(dropped.toSorted()).toEqual([
      'frequency_penalty',
      'logprobs',
      'parallel_tool_calls',
      'reasoning_effort',
      'seed',
      'user',
      'verbosity',
    ])
  })

  test('comes back unchanged from Gemini’s own request', () => {
    const read = geminiTurn(
      request({
        systemInstruction: 'Be brief.',
        contents: [
          { role: 'user', parts: [{ text: 'Hi' }] },
          {
            role: 'model',
            parts: [
              { text: 'hm', thought: true },
              { functionCall: { name: 'f', args: { a: 1 } }, thoughtSignature: 'S' },
              { functionCall: { name: 'f' } },
            ],
          },
          {
            role: 'user',
            parts: [
              { functionResponse: { name: 'f', response: { output: 'one' } } },
              { functionResponse: { name: 'f', response: { error: 'two' } } },
              { text: 'And?' },
            ],
          },
        ],
        tools: [
          {
            functionDeclarations: [
              { name: 'f', parameters: { type: 'OBJECT', properties: { a: { type: 'STRING', nullable: true } } } },
            ],
          },
        ],
        toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['f'] } },
        generationConfig: { thinkingConfig: { thinkingBudget: 0 }, stopSequences: ['x'], mediaResolution: 'LOW' },
        safetySettings: [],
      }).body,
    )
    expect(read).toMatchObject({
      turn: {
        messages: [
          { role: 'system', parts: [{ text: 'Be brief.' }] },
          { role: 'user' },
          {
            role: 'assistant',
            parts: [
              { kind: 'reasoning' },
              { id: 'call_0', arguments: '{"a":1}', sealed: { data: 'S' } },
              { id: 'call_1' },
            ],
          },
          { role: 'tool', callId: 'call_0', parts: [{ text: 'one' }] },
          { role: 'tool', callId: 'call_1', isError: true },
          { role: 'user', parts: [{ text: 'And?' }] },
        ],
        tools: [{ parameters: { type: 'object', properties: { a: { type: ['string', 'null'] } } } }],
        toolChoice: { kind: 'tool', name: 'f' },
        effort: 'none',
        stop: ['x'],
        foreign: ['safetySettings', 'mediaResolution'],
      },
    })
  })
})

test('thinking is requested in the form of the family', () => {
  const ask = (model: string, effort: Turn['effort']): unknown => thinkingConfigOf({ effort }, geminiFamilyOf(model))
  expect(ask('gemini-3.5-flash', 'none')).toEqual({ thinkingLevel: 'minimal' })
  expect(ask('gemini-3.8-flash', 'none')).toEqual({ thinkingLevel: 'low' })
  expect(ask('gemini-3.1-pro-preview', 'minimal')).toEqual({ thinkingLevel: 'low' })
  expect(ask('gemini-4-hydrogen', 'max')).toEqual({ thinkingLevel: 'xhigh' })
  expect(ask('gemini-4-argon', 'xhigh')).toEqual({ thinkingLevel: 'high' })
  expect(ask('gemini-2.5-flash', 'none')).toEqual({ thinkingBudget: 0 })
  expect(ask('gemini-2.5-pro', 'none')).toEqual({ thinkingBudget: 128 })
  expect(ask('gemini-2.5-pro', 'max')).toEqual({ thinkingBudget: 32_768 })
  expect(ask('gemini-2.0-flash', 'high')).toBeUndefined()
  expect(thinkingConfigOf({ thinkingTokens: 5_000, showReasoning: true }, geminiFamilyOf('gemini-3.5-flash'))).toEqual({
    thinkingLevel: 'medium',
    includeThoughts: true,
  })
})

test('a model cannot lead out of its path', () => {
  for (const id of ['..', '../../v1/x', 'a/../../b', '%2e%2e/x', 'x?key=1', 'x#y', 'a:b', 'models/../x', '\ud800']) {
    const { pathname, search, hash } = new URL(`https://host/v1beta${upstreamPath(id, 'generateContent')}`)
    expect(pathname).toStartWith('/v1beta/models/')
    expect(pathname.split('/')).toHaveLength(4)
    expect(decodeURIComponent(pathname)).not.toMatch(/(^|\/)\.+(\/|$)/)
    expect(search + hash).toBe('')
  }
  expect(upstreamPath('tunedModels/mine', 'generateContent')).toBe('/tunedModels/mine:generateContent')
  expect(readModelPath('/v1beta/models/a%2Fb:c:generateContent')).toEqual({ model: 'a/b:c', action: 'generateContent' })
  expect(readModelPath('/v1/models/llama3:8b')).toBeUndefined()
  expect(readModelPath('/v1beta/models/:generateContent')).toBeUndefined()
})

test('thoughts are shown on request, and the signature stays either way', () => {
  const sealed = { origin: 'messages', data: 'abc' } as const
  const parts = [{ kind: 'reasoning', text: 'hm', sealed }] as const
  const reply = { choices: [{ parts, finish: 'stop' }], usage: undefined } as const
  expect(geminiClientSide('shown').reply(reply, answer, counted)).toContain('"text":"hm","thought":true')
  const hidden = geminiClientSide('hidden').reply(reply, answer, counted)
  expect(hidden).not.toContain('hm')
  expect(hidden).toContain('thoughtSignature')
  const delta = { kind: 'reasoning', choice: 0, text: 'hm' } as const
  expect(geminiClientSide('hidden').encoder(answer).encode([delta])).toBe('')
})

test('a signature of another dialect travels in an envelope and comes out of it', () => {
  const sealed = { origin: 'messages', data: 'abc', form: 'thinking' } as const
  expect(readSignature(writeSignature(sealed))).toEqual(sealed)
  expect(readSignature('eyJ0b2xsZ2F0ZSI6broken')).toMatchObject({ origin: 'gemini' })
  expect(schemaForGemini({ properties: { type: { const: 1 } } })).toEqual({ properties: { type: { enum: [1] } } })
})
