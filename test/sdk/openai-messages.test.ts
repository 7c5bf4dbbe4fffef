/** The official OpenAI SDK through the gateway to a vendor that speaks Messages only. */
import { expect, test } from 'bun:test'
import type { OpenAI } from 'openai-6'
import { zodResponseFormat } from 'openai-6/helpers/zod'
import { z } from 'zod'
import { costOf, modelOf, setMessagesStage, thrown, type Buckets } from './messages-stage.ts'

type Ask = OpenAI.ChatCompletionCreateParamsNonStreaming
type Error = InstanceType<typeof OpenAI.APIError>

const stage = setMessagesStage()
const { join, openai, gateway, recordsOf, expectOne, expectCost } = stage
const model = modelOf('native')
const withUsage = { stream_options: { include_usage: true } }

const ask = (content: OpenAI.ChatCompletionUserMessageParam['content'], rest: Partial<Ask> = {}): Ask => ({
  model,
  messages: [{ role: 'user', content }],
  ...rest,
})

/** The dialect shows cached and written tokens as parts of the prompt, thoughts as part of the answer. */
function bucketsOf(usage: OpenAI.CompletionUsage | null | undefined): Buckets {
  if (!usage) return expect.unreachable()
  expect(usage.total_tokens).toBe(usage.prompt_tokens + usage.completion_tokens)
  const { cached_tokens: cached = 0, cache_write_tokens: write5m = 0 } = usage.prompt_tokens_details as {
    cached_tokens?: number
    cache_write_tokens?: number
  }
  const reasoning = usage.completion_tokens_details?.reasoning_tokens ?? 0
  const fresh = usage.prompt_tokens - cached - write5m
  return { fresh, cached, write5m, text: usage.completion_tokens - reasoning, reasoning }
}

const weather: OpenAI.ChatCompletionTool = {
  type: 'function',
  function: {
    name: 'get_weather',
    description: 'Weather of a city',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
}
const note: OpenAI.ChatCompletionTool = {
  type: 'custom',
  custom: { name: 'take_note', description: 'Takes a note' },
}

test('text, whole and streamed, with usage and charge', async () => {
  const me = await join()
  const words = 'Grüße, 世界! 👩‍👩‍👧 "\\n"'
  const whole = await openai(me).chat.completions.create(ask(`Say exactly: ${words}`))
  expect(whole).toMatchObject({ object: 'chat.completion', model })
  expect(whole.choices[0]).toMatchObject({ finish_reason: 'stop', message: { content: words, refusal: null } })
  const body = { ...ask(`Say exactly: ${words}`), ...withUsage, stream: true as const }
  const streamed = await openai(me).chat.completions.stream(body).finalChatCompletion()
  expect(streamed.choices[0]?.message.content).toBe(words)
  expect(bucketsOf(streamed.usage)).toEqual(bucketsOf(whole.usage))
  await expectCost(me, [bucketsOf(whole.usage), bucketsOf(streamed.usage)])
  for (const record of await recordsOf(me, 2)) expect(record).toMatchObject({ endpoint: 'chat.completions' })
})

test.each(['whole', 'streamed'])('tools, %s: parallel calls, their results, the answer', async (how) => {
  const me = await join()
  const run = async (body: Ask): Promise<OpenAI.ChatCompletion> =>
    how === 'whole'
      ? openai(me).chat.completions.create(body)
      : openai(me)
          .chat.completions.stream({ ...body, ...withUsage, stream: true })
          .finalChatCompletion()
  const question = ask('What is the weather in both Oslo and Rome?', { tools: [weather] })
  const first = await run(question)
  const message = first.choices[0]?.message
  if (!message) return expect.unreachable()
  const calls = message.tool_calls ?? []
  expect(first.choices[0]?.finish_reason).toBe('tool_calls')
  const inputs = calls.map((call) => call.type === 'function' && JSON.parse(call.function.arguments))
  expect(inputs).toEqual([{ city: 'Oslo' }, { city: 'Rome' }])
  const results = calls.map(({ id }) => ({ role: 'tool' as const, tool_call_id: id, content: '7 degrees' }))
  const second = await run({ ...question, messages: [...question.messages, message, ...results] })
  const answer = 'According to get_weather: 7 degrees\nAccording to get_weather: 7 degrees'
  expect(second.choices[0]?.message.content).toBe(answer)
  await expectCost(me, [bucketsOf(first.usage), bucketsOf(second.usage)])
})

test('tool_choice, one call at a time, and a custom tool', async () => {
  const me = await join()
  const callsOf = async (body: Ask): Promise<unknown[]> => {
    const whole = await openai(me).chat.completions.create(body)
    const calls = whole.choices[0]?.message.tool_calls ?? []
    const texts = calls.map((call) => (call.type === 'custom' ? call.custom.input : call.function.arguments))
    let streamed = ''
    for await (const { choices } of await openai(me).chat.completions.create({ ...body, stream: true })) {
      const [call] = choices[0]?.delta.tool_calls ?? []
      // The SDK has no type for the custom call of a stream.
      const { function: made, custom } = (call ?? {}) as {
        function?: { arguments?: string }
        custom?: { input?: string }
      }
      streamed += made?.arguments ?? custom?.input ?? ''
    }
    expect(streamed).toBe(texts.join(''))
    return texts
  }
  const tools = [weather]
  expect(await callsOf(ask('Hello', { tools, tool_choice: 'required' }))).toHaveLength(1)
  expect(await callsOf(ask('Hello', { tools, tool_choice: 'none' }))).toEqual([])
  const both = ask('What is the weather in both Oslo and Rome?', { tools, parallel_tool_calls: false })
  expect(await callsOf(both)).toEqual(['{"city":"Oslo"}'])
  const choice = { type: 'custom', custom: { name: 'take_note' } } as const
  const [free] = await callsOf(ask('Buy milk', { tools: [weather, note], tool_choice: choice }))
  expect(free).toBeString()
  expect(free).not.toContain('"input"')
})

test('structured output by a schema, streamed too', async () => {
  const me = await join()
  const format = zodResponseFormat(z.object({ name: z.string(), age: z.int() }), 'person')
  const body = ask('Ada is 36 years old', { response_format: format })
  const parsed = await openai(me).chat.completions.parse(body)
  expect(parsed.choices[0]).toMatchObject({ finish_reason: 'stop', message: { parsed: { name: 'Ada', age: 36 } } })
  const stream = openai(me).chat.completions.stream({ ...body, stream: true })
  const content = (await stream.finalChatCompletion()).choices[0]?.message.content
  expect(JSON.parse(content ?? '')).toEqual({ name: 'Ada', age: 36 })
})

test('images, files and several turns; a limit; stop', async () => {
  const me = await join()
  const { completions } = openai(me).chat
  const parts: OpenAI.ChatCompletionContentPart[] = [
    { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=', detail: 'low' } },
    { type: 'image_url', image_url: { url: 'https://example.com/a.jpg' } },
    { type: 'file', file: { file_data: 'data:application/pdf;base64,JVBERi0=', filename: 'plan.pdf' } },
    { type: 'text', text: 'What do you see?' },
  ]
  const seen = (await completions.create(ask(parts))).choices[0]?.message.content
  expect(seen).toContain('2 images (image/png, image/jpeg) and 1 file (plan.pdf)')
  const messages: OpenAI.ChatCompletionMessageParam[] = [
    { role: 'developer', content: 'Be brief.' },
    { role: 'assistant', content: 'I begin.' },
    { role: 'user', content: 'My name is Ada.' },
    { role: 'user', content: '' },
    { role: 'assistant', content: 'Hello.' },
    { role: 'system', content: 'Be kind.' },
    { role: 'user', content: 'What is my name?' },
  ]
  expect((await completions.create({ model, messages })).choices[0]?.message.content).toContain('Your name is Ada')
  const cut = await completions.create(ask('Write 9 tokens', { max_completion_tokens: 5 }))
  expect(cut).toMatchObject({ choices: [{ finish_reason: 'length' }], usage: { completion_tokens: 5 } })
  const stopped = await completions.create(ask('Say exactly: a, b', { stop: [',', ''] }))
  expect(stopped.choices[0]).toMatchObject({ message: { content: 'a' }, finish_reason: 'stop' })
})

test.each(['whole', 'streamed'])('thoughts, %s, are shown, charged, and survive the tool turn sealed', async (how) => {
  const me = await join()
  const body = ask('What is the weather in Oslo?', { tools: [weather], reasoning_effort: 'high', max_tokens: 4_000 })
  let message: object = {}
  let usage: OpenAI.CompletionUsage | null | undefined
  if (how === 'whole') {
    const first = await openai(me).chat.completions.create(body)
    message = first.choices[0]?.message ?? {}
    usage = first.usage
  } else {
    const { choices, usage: told } = await openai(me)
      .chat.completions.stream({ ...body, ...withUsage, stream: true })
      .finalChatCompletion()
    message = choices[0]?.message ?? {}
    usage = told
  }
  const { reasoning_details: details, tool_calls: calls } = message as {
    reasoning_details?: { text: string; data: string }[]
    tool_calls?: { id: string }[]
  }
  expect(details?.[0]?.data).toStartWith('sandbox:')
  expect(bucketsOf(usage).reasoning).toBe(16)
  const result = { role: 'tool', tool_call_id: calls?.[0]?.id ?? '', content: 'cold' } as const
  const again = async (
    said: object,
  ): Promise<{ dropped: string | null; usage: OpenAI.CompletionUsage | undefined }> => {
    const messages = [...body.messages, said as OpenAI.ChatCompletionMessageParam, result]
    const { data, response } = await openai(me)
      .chat.completions.create({ ...body, messages })
      .withResponse()
    expect(data.choices[0]?.message.content).toContain('cold')
    return { dropped: response.headers.get('x-tollgate-dropped'), usage: data.usage }
  }
  const kept = await again(message)
  expect([kept.dropped, bucketsOf(kept.usage).reasoning]).toEqual([null, 16])
  // A client that throws the seal away gets an answer all the same, without a thought.
  const lost = await again({ role: 'assistant', tool_calls: calls })
  expect([lost.dropped, bucketsOf(lost.usage).reasoning]).toEqual(['reasoning_effort', 0])
  await expectCost(me, [bucketsOf(usage), bucketsOf(kept.usage), bucketsOf(lost.usage)])
})

test('what is marked for the cache is written once and read cheaply', async () => {
  const me = await join()
  const text = `${me.account} ${'words to keep '.repeat(60)}`
  const marked = { type: 'text', text, cache_control: { type: 'ephemeral' } } as const
  const calls: Buckets[] = []
  for (const question of ['Say exactly: one', 'Say exactly: two']) {
    const body = ask([marked, { type: 'text', text: question }])
    const stream = openai(me).chat.completions.stream({ ...body, ...withUsage, stream: true })
    calls.push(bucketsOf((await stream.finalChatCompletion()).usage))
  }
  expect(calls[0]?.write5m).toBeGreaterThan(100)
  expect([calls[1]?.cached, calls[1]?.write5m]).toEqual([calls[0]?.write5m ?? -1, 0])
  await expectCost(me, calls)
})

test('what the dialect cannot do is named, or refused', async () => {
  const me = await join()
  const odd = ask('Hi', { seed: 7, logit_bias: { 1: 2 }, temperature: 1.5, top_p: 0.5, user: 'ada@example.com' })
  const { data, response } = await openai(me).chat.completions.create(odd).withResponse()
  expect(data.choices[0]?.message.content).toBeString()
  const dropped = response.headers.get('x-tollgate-dropped')?.split(', ').toSorted()
  expect(dropped).toEqual(['logit_bias', 'seed', 'temperature>1', 'top_p', 'user'])
  const audio = { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } } as const
  for (const body of [ask('Hi', { n: 2 }), ask([audio])]) {
    expect(await thrown<Error>(openai(me).chat.completions.create(body))).toMatchObject({ status: 400 })
  }
})

test.each([
  ['fails-500', 502, 'upstream_error'],
  ['fails-529', 503, 'service_unavailable'],
  ['limits-429', 503, 'service_unavailable'],
  ['fails-401', 503, 'service_unavailable'],
  ['rejects', 400, 'invalid_value'],
] as const)('a vendor that answers %s: %i %s, free of charge', async (fault, status, code) => {
  const me = await join()
  const body = ask('Hi', { model: modelOf('native', fault) })
  expect(await thrown<Error>(openai(me).chat.completions.create(body))).toMatchObject({ status, code })
  const stream = openai(me).chat.completions.create({ ...body, stream: true })
  expect(await thrown<Error>(stream)).toMatchObject({ status, code })
  for (const record of await recordsOf(me, 2)) expect(record).toMatchObject({ outcome: 'failed', charged: '0' })
})

test.each(['cut', 'breaks'] as const)('a stream that the vendor breaks off (%s) says so', async (fault) => {
  const me = await join()
  const body = ask('Write 200 tokens', { model: modelOf('native', fault) })
  const stream = await openai(me).chat.completions.create({ ...body, stream: true })
  const finishes: unknown[] = []
  const reading = (async () => {
    for await (const chunk of stream) finishes.push(chunk.choices[0]?.finish_reason)
  })()
  expect((await thrown<Error>(reading)).message).toContain('What arrived was charged')
  expect(finishes.filter(Boolean)).toEqual([])
  const record = await expectOne(me, { outcome: 'cut' })
  const buckets = { fresh: Number(record.input_fresh), text: Number(record.output_text) }
  expect([record.charged, buckets.text > 0]).toEqual([String(costOf(buckets)), true])
})

test('a vendor without usage is counted, a client that leaves pays what arrived', async () => {
  const me = await join()
  const body = ask('Write 20 tokens', { model: modelOf('native', 'no-usage') })
  expect((await openai(me).chat.completions.create(body)).usage?.completion_tokens).toBeGreaterThan(5)
  expect((await recordsOf(me, 1))[0]).toMatchObject({ usage_source: 'estimated', outcome: 'completed' })
  const leaver = await join()
  const slow = ask('Write 400 tokens', { model: modelOf('native', 'slow') })
  let chunks = 0
  for await (const _ of await openai(leaver).chat.completions.create({ ...slow, stream: true })) {
    if (++chunks === 10) break
  }
  const record = await expectOne(leaver, { outcome: 'client_closed', status: '499' })
  expect(Number(record.output_text)).toBeWithin(5, 200)
  expect(await gateway().operate('ledger.verify')).toMatchObject({ clean: true })
})
