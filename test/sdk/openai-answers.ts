/** The answers that every official client must get through the gateway, in any language, and their cost. */
import { describe, expect, test } from 'bun:test'
import type { ReadAnswer, StreamedAnswer, Usage } from './protocol.ts'
import type { Clerk, Stage } from './stage.ts'
import { costOfRecord, type Bought } from './till.ts'

const model = 'org/chat'
export const ask = (content: unknown): { messages: object[] } => ({ messages: [{ role: 'user', content }] })

const bought = ({ completion: { usage }, requestId }: ReadAnswer): Bought => {
  expect(usage).toBeObject()
  return { usage: usage as Usage, requestId }
}

/** The text of one choice of a stream. */
const textOf = ({ chunks }: StreamedAnswer, index = 0): string =>
  chunks
    .flatMap(({ choices }) => choices.filter((choice) => choice.index === index))
    .map(({ delta }) => delta.content ?? '')
    .join('')

/** The usage of the last chunk, which is there once and without choices. */
function usageOf({ chunks, error }: StreamedAnswer): Usage {
  expect(error).toBeNull()
  const usages = chunks.flatMap(({ usage }) => usage ?? [])
  expect(usages).toHaveLength(1)
  const last = chunks.at(-1)
  expect(last?.choices).toEqual([])
  return last?.usage ?? expect.unreachable()
}

const streamed = (seen: StreamedAnswer): Bought => ({ usage: usageOf(seen), requestId: seen.requestId })
const withUsage = { stream_options: { include_usage: true } }

export function testTexts({ join, expectPaid }: Stage, clerk: Clerk): void {
  test('text, in every script, with its usage and request id', async () => {
    const me = await join()
    const body = { model, ...ask('Say exactly: Grüße, 世界! 👩‍👩‍👧 "\\n"') }
    const seen = await clerk.ask(me, 'create', { body })
    expect(seen.requestId).toMatch(/^req_/)
    expect(seen.completion).toMatchObject({
      object: 'chat.completion',
      model,
      choices: [
        {
          index: 0,
          finish_reason: 'stop',
          message: { role: 'assistant', content: 'Grüße, 世界! 👩‍👩‍👧 "\\n"', refusal: null },
        },
      ],
    })
    const stream = await clerk.ask(me, 'stream', { body: { ...body, ...withUsage } })
    expect(textOf(stream)).toBe('Grüße, 世界! 👩‍👩‍👧 "\\n"')
    await expectPaid(me, [bought(seen), streamed(stream)])
  })

  test('a stream: usage only for who asked, and the same charge either way', async () => {
    const me = await join()
    const body = { model, ...ask('Write 50 tokens') }
    const silent = await clerk.ask(me, 'stream', { body })
    expect(silent.error).toBeNull()
    expect(silent.requestId).toMatch(/^req_/)
    for (const chunk of silent.chunks) {
      expect(chunk).toMatchObject({ object: 'chat.completion.chunk', model, choices: [{ index: 0 }] })
      expect(chunk.usage ?? null).toBeNull()
    }
    expect(silent.chunks[0]?.choices[0]?.delta.role).toBe('assistant')
    expect(silent.chunks.flatMap(({ choices }) => choices[0]?.finish_reason ?? [])).toEqual(['stop'])
    const told = await clerk.ask(me, 'stream', { body: { ...body, ...withUsage } })
    expect(textOf(told)).toBe(textOf(silent))
    expect(told.chunks.filter(({ choices }) => choices[0]?.delta.content)).toHaveLength(50)
    expect(new Set(told.chunks.map(({ id, created }) => `${id} ${created}`)).size).toBe(1)
    const usage = usageOf(told)
    expect(usage.completion_tokens).toBe(50)
    await expectPaid(me, [{ usage, requestId: silent.requestId }, streamed(told)])
  })

  test("the SDK's own helper puts a stream together, usage included", async () => {
    const me = await join()
    const body = { model, ...ask('Write 40 tokens'), ...withUsage }
    const whole = await clerk.ask(me, 'create', { body: { model, ...ask('Write 40 tokens') } })
    const assembled = await clerk.ask(me, 'assemble', { body })
    const [choice] = assembled.completion.choices
    expect(choice?.message.content).toBe(whole.completion.choices[0]?.message.content ?? '?')
    expect(choice?.finish_reason).toBe('stop')
    expect(assembled.completion.usage).toMatchObject({ completion_tokens: 40 })
    await expectPaid(me, [bought(whole), bought(assembled)])
  })

  test('developer and system messages, parts, names and several turns', async () => {
    const me = await join()
    const messages = [
      { role: 'developer', content: 'Be brief.' },
      { role: 'system', content: [{ type: 'text', text: 'Be kind.' }] },
      { role: 'user', name: 'ada', content: 'My name is Ada.' },
      { role: 'assistant', content: 'Hello.' },
      { role: 'user', content: [{ type: 'text', text: 'What is my name?' }] },
    ]
    const seen = await clerk.ask(me, 'create', { body: { model, messages }, organization: 'org-test' })
    expect(seen.completion.choices[0]?.message.content).toBe('Your name is Ada.')
    await expectPaid(me, [bought(seen)])
  })

  test('images as data and as addresses, audio and files', async () => {
    const me = await join()
    const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
    const parts = [
      { type: 'text', text: 'What do you see?' },
      { type: 'image_url', image_url: { url: `data:image/png;base64,${png}`, detail: 'low' } },
      { type: 'image_url', image_url: { url: 'https://example.com/a.jpg' } },
      { type: 'input_audio', input_audio: { data: png, format: 'wav' } },
      { type: 'file', file: { file_data: `data:application/pdf;base64,${png}`, filename: 'plan.pdf' } },
    ]
    const plain = await clerk.ask(me, 'create', { body: { model, ...ask(parts.slice(0, 1)) } })
    const one = await clerk.ask(me, 'create', { body: { model, ...ask(parts.slice(0, 2)) } })
    const all = await clerk.ask(me, 'stream', { body: { model, ...ask(parts), ...withUsage } })
    expect(one.completion.choices[0]?.message.content).toContain('1 image (image/png)')
    expect(textOf(all)).toContain('2 images (image/png, image/jpeg)')
    expect(textOf(all)).toContain('1 audio clip (audio/wav) and 1 file (plan.pdf)')
    expect(bought(one).usage.prompt_tokens - bought(plain).usage.prompt_tokens).toBe(255)
    await expectPaid(me, [bought(plain), bought(one), streamed(all)])
  })
}

export function testOptions({ join, expectPaid }: Stage, clerk: Clerk): void {
  test('several choices, whole and streamed, are charged together', async () => {
    const me = await join()
    const body = { model, ...ask('Hi'), n: 2 }
    const { completion, requestId } = await clerk.ask(me, 'create', { body })
    expect(completion.choices.map(({ index }) => index)).toEqual([0, 1])
    const texts = completion.choices.map(({ message }) => message.content ?? '')
    expect(texts[0]).not.toBe(texts[1] ?? '')
    const stream = await clerk.ask(me, 'stream', { body: { ...body, ...withUsage } })
    expect([textOf(stream, 0), textOf(stream, 1)]).toEqual(texts)
    const finished = stream.chunks.flatMap(({ choices }) => choices.filter((choice) => choice.finish_reason))
    for (const index of [0, 1]) expect(finished.filter((choice) => choice.index === index)).toHaveLength(1)
    await expectPaid(me, [bought({ completion, requestId }), streamed(stream)])
  })

  test('stop, max_tokens, max_completion_tokens', async () => {
    const me = await join()
    const stopped = await clerk.ask(me, 'create', { body: { model, ...ask('Say exactly: a, b'), stop: [','] } })
    expect(stopped.completion.choices[0]).toMatchObject({ message: { content: 'a' }, finish_reason: 'stop' })
    const calls: Bought[] = [bought(stopped)]
    for (const limit of [{ max_tokens: 5 }, { max_completion_tokens: 5 }]) {
      const body = { model, ...ask('Write 9 tokens'), ...limit }
      const cut = await clerk.ask(me, 'create', { body })
      expect(cut.completion).toMatchObject({ choices: [{ finish_reason: 'length' }], usage: { completion_tokens: 5 } })
      const stream = await clerk.ask(me, 'stream', { body: { ...body, ...withUsage } })
      expect(stream.chunks.findLast(({ choices }) => choices.length > 0)?.choices[0]?.finish_reason).toBe('length')
      calls.push(bought(cut), streamed(stream))
    }
    await expectPaid(me, calls)
  })

  test('log probabilities, whole and streamed', async () => {
    const me = await join()
    const body = { model, ...ask('Hi'), logprobs: true, top_logprobs: 2 }
    const seen = await clerk.ask(me, 'create', { body })
    const [choice] = seen.completion.choices
    const content = choice?.message.content ?? '?'
    expect(choice?.logprobs?.content?.map(({ token }) => token).join('')).toBe(content)
    expect(choice?.logprobs?.content?.[0]?.top_logprobs).toHaveLength(2)
    const stream = await clerk.ask(me, 'stream', { body: { ...body, ...withUsage } })
    const tokens = stream.chunks.flatMap(({ choices }) => choices[0]?.logprobs?.content ?? [])
    expect(tokens.map(({ token }) => token).join('')).toBe(content)
    await expectPaid(me, [bought(seen), streamed(stream)])
  })

  test('reasoning is counted, and has a price of its own', async () => {
    const me = await join()
    const body = { model, ...ask('Write 10 tokens'), reasoning_effort: 'high', seed: 7, temperature: 0, user: 'ada' }
    const seen = await clerk.ask(me, 'create', { body })
    expect(seen.completion.usage).toMatchObject({
      completion_tokens: 42,
      completion_tokens_details: { reasoning_tokens: 32 },
    })
    const stream = await clerk.ask(me, 'stream', { body: { ...body, ...withUsage } })
    expect(usageOf(stream)).toEqual(bought(seen).usage)
    await expectPaid(me, [bought(seen), streamed(stream)])
  })

  test('usage that the vendor got wrong or left out is there, and is what is charged', async () => {
    const me = await join()
    const calls: Bought[] = []
    for (const name of ['wrong-usage', 'no-usage'] as const) {
      const source = name === 'no-usage' ? ({ source: 'estimated' } as const) : {}
      const body = { model: name, ...ask('Write 20 tokens') }
      calls.push({ ...bought(await clerk.ask(me, 'create', { body })), ...source })
      calls.push({ ...streamed(await clerk.ask(me, 'stream', { body: { ...body, ...withUsage } })), ...source })
    }
    calls.push(streamed(await clerk.ask(me, 'stream', { body: { model: 'no-done', ...ask('Hi'), ...withUsage } })))
    await expectPaid(me, calls)
  })

  test('twenty calls at once on one client are twenty charges', async () => {
    const me = await join()
    const seen = await clerk.ask(me, 'parallel', { body: { model, ...ask('Write 30 tokens') }, times: 20 })
    expect(new Set(seen.map(({ requestId }) => requestId)).size).toBe(20)
    await expectPaid(me, seen.map(bought))
  })
}

const weather = {
  type: 'function',
  function: {
    name: 'get_weather',
    description: 'Weather of a city',
    strict: true,
    parameters: {
      type: 'object',
      properties: { city: { type: 'string' } },
      required: ['city'],
      additionalProperties: false,
    },
  },
}
const note = { type: 'custom', custom: { name: 'take_note', description: 'Takes a note' } }
const both = { model, ...ask('What is the weather in both Oslo and Rome?'), tools: [weather, note] }
const inputs = [{ city: 'Oslo' }, { city: 'Rome' }]

/** The calls of a message, ids aside: those differ each time. */
const callsOf = ({ completion }: ReadAnswer): unknown[] =>
  (completion.choices[0]?.message.tool_calls ?? []).map((call) => {
    expect(call.id).toMatch(/^call_/)
    return call.type === 'function' ? JSON.parse(call.function.arguments) : call.custom.input
  })

export function testTools({ join, expectPaid }: Stage, clerk: Clerk): void {
  test('tools: parallel calls, their results, the answer', async () => {
    const me = await join()
    const [first, second] = await clerk.ask(me, 'toolRound', { body: both, result: '7 degrees' })
    if (!first || !second) return expect.unreachable()
    expect(first.completion.choices[0]?.finish_reason).toBe('tool_calls')
    expect(callsOf(first)).toEqual(inputs)
    expect(second.completion.choices[0]).toMatchObject({
      finish_reason: 'stop',
      message: { content: 'According to get_weather: 7 degrees\nAccording to get_weather: 7 degrees' },
    })
    await expectPaid(me, [bought(first), bought(second)])
  })

  test('streamed calls come in pieces, and the helper joins them', async () => {
    const me = await join()
    const stream = await clerk.ask(me, 'stream', { body: { ...both, ...withUsage } })
    const deltas = stream.chunks.flatMap(({ choices }) => choices[0]?.delta.tool_calls ?? [])
    for (const index of [0, 1]) {
      const [opening, ...rest] = deltas.filter((delta) => delta.index === index)
      expect(opening).toMatchObject({ type: 'function', id: expect.stringMatching(/^call_/) })
      expect(opening?.function).toEqual({ name: 'get_weather', arguments: '' })
      expect(rest.every(({ id, function: part }) => id === undefined && part?.name === undefined)).toBeTrue()
      expect(JSON.parse(rest.map((delta) => delta.function?.arguments).join(''))).toEqual(inputs[index])
    }
    const assembled = await clerk.ask(me, 'assemble', { body: { ...both, tools: [weather], ...withUsage } })
    expect(callsOf(assembled)).toEqual(inputs)
    await expectPaid(me, [streamed(stream), bought(assembled)])
  })

  test('tool_choice: required, none, a name; one call at a time; a custom tool', async () => {
    const me = await join()
    const body = { ...both, ...ask('Hello') }
    const ways = {
      required: { tool_choice: 'required' },
      none: { ...both, tool_choice: 'none' },
      named: { tool_choice: { type: 'function', function: { name: 'get_weather' } } },
      single: { ...both, parallel_tool_calls: false },
      custom: { tool_choice: { type: 'custom', custom: { name: 'take_note' } } },
    }
    const seen: Record<string, unknown[]> = {}
    const calls: Bought[] = []
    for (const [name, fields] of Object.entries(ways)) {
      const answered = await clerk.ask(me, 'create', { body: { ...body, ...fields } })
      seen[name] = callsOf(answered)
      calls.push(bought(answered))
    }
    expect(seen).toMatchObject({ none: [], single: [inputs[0]], custom: ['Hello'] })
    expect([seen['required']?.length, seen['named']?.length]).toEqual([1, 1])
    await expectPaid(me, calls)
  })

  test('structured output by a schema of the language', async () => {
    const me = await join()
    const seen = await clerk.ask(me, 'parse', { body: { model, ...ask('Ada is 36 years old') } })
    expect(seen.parsed).toMatchObject({ name: 'Ada', age: 36, tags: expect.any(Array) })
    await expectPaid(me, [bought(seen)])
  })

  test('structured output by a raw schema, streamed, and as any JSON', async () => {
    const me = await join()
    const schema = {
      type: 'object',
      properties: { city: { type: 'string' }, population: { type: 'integer', minimum: 1 } },
      required: ['city', 'population'],
      additionalProperties: false,
    }
    const format = { type: 'json_schema', json_schema: { name: 'city', strict: true, schema } }
    const body = { model, ...ask('Oslo is a city'), response_format: format, ...withUsage }
    const stream = await clerk.ask(me, 'stream', { body })
    expect(JSON.parse(textOf(stream))).toEqual({ city: expect.any(String), population: expect.any(Number) })
    const any = await clerk.ask(me, 'create', {
      body: { ...body, stream_options: undefined, response_format: { type: 'json_object' } },
    })
    expect(JSON.parse(any.completion.choices[0]?.message.content ?? '')).toBeObject()
    await expectPaid(me, [streamed(stream), bought(any)])
  })
}

export function testToolLoop({ join, recordsOf, expectBalance }: Stage, clerk: Clerk): void {
  test.each([false, true])("the SDK's own tool loop, streamed: %p", async (stream) => {
    const me = await join()
    const fields = stream ? { stream, ...withUsage } : {}
    const body = { ...both, tools: [weather], ...fields }
    const { text, inputs: ran, usage } = await clerk.ask(me, 'runTools', { body, result: '7 degrees' })
    expect(ran).toEqual(inputs)
    expect(text).toContain('According to get_weather: 7 degrees')
    const records = await recordsOf(me, 2)
    for (const record of records) expect(record.charged).toBe(String(costOfRecord(record)))
    const sum = (name: 'input_fresh' | 'output_text'): number =>
      records.reduce((total, record) => total + Number(record[name]), 0)
    expect(usage).toMatchObject({ prompt_tokens: sum('input_fresh'), completion_tokens: sum('output_text') })
    await expectBalance(me, records)
  })
}

export function testModels({ join, recordsOf, requestsDuring }: Stage, clerk: Clerk): void {
  test('models: the list, and one whose id has a slash', async () => {
    const me = await join({ models: ['org/chat', 'slow'] })
    const requests = await requestsDuring(async () => {
      const models = await clerk.ask(me, 'models')
      expect(models.map(({ id }) => id)).toEqual(['org/chat', 'slow'])
      for (const { object, owned_by: owner } of models) expect([object, typeof owner]).toEqual(['model', 'string'])
      const one = await clerk.ask(me, 'model', { id: 'org/chat' })
      expect(one).toMatchObject({ id: 'org/chat', object: 'model', created: expect.any(Number) })
    })
    expect(requests).toBe(2)
    await recordsOf(me, 0)
  })
}

/** All of it, for one client. */
export function describeAnswers(stage: Stage, clerk: Clerk): void {
  describe('texts', () => testTexts(stage, clerk))
  describe('options', () => testOptions(stage, clerk))
  describe('tools and structure', () => testTools(stage, clerk))
  describe('models', () => testModels(stage, clerk))
}
