/** The official Anthropic SDK through the gateway, to a vendor of its own dialect and to one that speaks chat. */
import { describe, expect, test } from 'bun:test'
import Anthropic from '@anthropic-ai/sdk'
import { zodOutputFormat } from '@anthropic-ai/sdk/helpers/zod'
import { z } from 'zod'
import { bucketsOf, modelOf, setMessagesStage, thrown, type Vendor } from './messages-stage.ts'

type Ask = Anthropic.MessageCreateParamsNonStreaming

const stage = setMessagesStage()
const { join, anthropic, gateway, recordsOf, expectOne, expectCost } = stage

const asking =
  (model: string) =>
  (content: Anthropic.MessageParam['content'], rest: Partial<Ask> = {}): Ask => ({
    model,
    max_tokens: 2_000,
    messages: [{ role: 'user', content }],
    ...rest,
  })
const textOf = ({ content }: Anthropic.Message): string =>
  content.map((block) => (block.type === 'text' ? block.text : '')).join('')
const callsOf = ({ content }: Anthropic.Message): Anthropic.ToolUseBlock[] =>
  content.flatMap((block) => (block.type === 'tool_use' ? [block] : []))

const weather: Anthropic.Tool = {
  name: 'get_weather',
  description: 'Weather of a city',
  input_schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
}
const clock: Anthropic.Tool = { name: 'get_time', input_schema: { type: 'object' } }

describe.each(['native', 'chatty'] as const)('a %s vendor', (vendor) => {
  const model = modelOf(vendor)
  const ask = asking(model)

  test('text in every script, whole and streamed, with the id, the usage and the charge', async () => {
    const me = await join()
    const words = 'Grüße, 世界! 👩‍👩‍👧 "\\n"'
    const whole = await anthropic(me).messages.create(ask(`Say exactly: ${words}`))
    expect(whole).toMatchObject({ type: 'message', role: 'assistant', model, stop_reason: 'end_turn' })
    expect(whole.id).toStartWith('msg_')
    expect(whole._request_id).toStartWith('req_')
    const streamed = await anthropic(me)
      .messages.stream(ask(`Say exactly: ${words}`))
      .finalMessage()
    expect([textOf(whole), textOf(streamed), streamed.model]).toEqual([words, words, model])
    expect(bucketsOf(streamed.usage)).toEqual(bucketsOf(whole.usage))
    await expectCost(me, [bucketsOf(whole.usage), bucketsOf(streamed.usage)])
    const records = await recordsOf(me, 2)
    for (const record of records) expect(record).toMatchObject({ endpoint: 'messages', status: '200', model })
    expect(records[0]?.id).toBe(whole._request_id ?? '')
  })

  test('the events of a stream come in their order, and the last one after all others', async () => {
    const me = await join()
    const stream = await anthropic(me).messages.create({ ...ask('Write 5 tokens'), stream: true })
    const types: string[] = []
    let first: Anthropic.Usage | undefined
    for await (const event of stream) {
      if (types.at(-1) !== event.type) types.push(event.type)
      if (event.type === 'message_start') first = event.message.usage
    }
    const block = ['content_block_start', 'content_block_delta', 'content_block_stop']
    expect(types).toEqual(['message_start', ...block, 'message_delta', 'message_stop'])
    expect(first?.input_tokens).toBeGreaterThan(5)
  })

  test.each(['whole', 'streamed'])('tools, %s: parallel calls, their results, the answer', async (how) => {
    const me = await join()
    const run = (body: Ask): PromiseLike<Anthropic.Message> =>
      how === 'whole' ? anthropic(me).messages.create(body) : anthropic(me).messages.stream(body).finalMessage()
    const question = ask('What is the weather in both Oslo and Rome?', { tools: [weather, clock] })
    const first = await run(question)
    const calls = callsOf(first)
    expect(first.stop_reason).toBe('tool_use')
    expect(calls.map(({ name, input }) => [name, input])).toEqual([
      ['get_weather', { city: 'Oslo' }],
      ['get_weather', { city: 'Rome' }],
    ])
    const results = calls.map(({ id }, i) => {
      return { type: 'tool_result' as const, tool_use_id: id, content: `${i} degrees`, is_error: i === 1 }
    })
    const second = await run({
      ...question,
      messages: [
        ...question.messages,
        { role: 'assistant', content: first.content },
        { role: 'user', content: results },
      ],
    })
    expect(textOf(second)).toBe('According to get_weather: 0 degrees\nAccording to get_weather: 1 degrees')
    await expectCost(me, [bucketsOf(first.usage), bucketsOf(second.usage)])
  })

  test('tool_choice and calls without arguments', async () => {
    const me = await join()
    const calls = async (rest: Partial<Ask>): Promise<unknown[]> => {
      const message = await anthropic(me)
        .messages.stream(ask('Hello', { tools: [clock, weather], ...rest }))
        .finalMessage()
      return callsOf(message).map(({ name, input }) => [name, input])
    }
    expect(await calls({ tool_choice: { type: 'any' } })).toEqual([['get_time', {}]])
    expect(await calls({ tool_choice: { type: 'tool', name: 'get_weather' } })).toHaveLength(1)
    expect(await calls({ tool_choice: { type: 'none' } })).toEqual([])
    const single = { type: 'auto', disable_parallel_tool_use: true } as const
    const both = ask('What is the weather in both Oslo and Rome?', { tools: [weather], tool_choice: single })
    expect(callsOf(await anthropic(me).messages.create(both))).toHaveLength(1)
  })

  test('structured output', async () => {
    const me = await join()
    const format = zodOutputFormat(z.object({ name: z.string(), age: z.int() }))
    const message = await anthropic(me).messages.parse(ask('Ada is 36 years old', { output_config: { format } }))
    expect(message.parsed_output as unknown).toEqual({ name: 'Ada', age: 36 })
    await expectCost(me, [bucketsOf(message.usage)])
  })

  test('a system prompt, several turns, an image, a document, a limit, a stop sequence', async () => {
    const me = await join()
    const { messages } = anthropic(me)
    const turns: Anthropic.MessageParam[] = [
      { role: 'user', content: 'My name is Ada.' },
      { role: 'assistant', content: 'Hello.' },
      { role: 'user', content: [{ type: 'text', text: 'What is my name?' }] },
    ]
    const known = await messages.create({ model, max_tokens: 100, system: 'Be brief.', messages: turns })
    expect(textOf(known)).toBe('Your name is Ada.')
    const png = { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } as const
    const pdf = { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' } as const
    const parts: Anthropic.ContentBlockParam[] = [
      { type: 'image', source: png },
      { type: 'image', source: { type: 'url', url: 'https://example.com/a.jpg' } },
      { type: 'document', source: pdf, title: 'plan.pdf' },
      { type: 'text', text: 'What do you see?' },
    ]
    const seen = textOf(await messages.create(ask(parts)))
    expect(seen).toContain('2 images (image/png, image/jpeg) and 1 file (plan.pdf)')
    const cut = await messages.create(ask('Write 9 tokens', { max_tokens: 5 }))
    expect(cut).toMatchObject({ stop_reason: 'max_tokens', usage: { output_tokens: 5 } })
    const stopped = await messages.create(ask('Say exactly: a, b', { stop_sequences: [','] }))
    expect(textOf(stopped)).toBe('a')
    expect(stopped.stop_reason).toBe(vendor === 'native' ? 'stop_sequence' : 'end_turn')
  })

  test('a vendor without usage, or without an end, is no trouble; what is counted is marked', async () => {
    const me = await join()
    const { messages } = anthropic(me)
    for (const fault of ['no-usage', 'no-end'] as const) {
      const question = ask('Write 20 tokens', { model: modelOf(vendor, fault) })
      const streamed = await messages.stream(question).finalMessage()
      expect([streamed.stop_reason, textOf(streamed).split(' ').length > 10]).toEqual(['end_turn', true])
      expect(streamed.usage.output_tokens).toBeGreaterThan(5)
    }
    const whole = await messages.create(ask('Write 20 tokens', { model: modelOf(vendor, 'no-usage') }))
    expect(whole.usage.output_tokens).toBeGreaterThan(5)
    const sources = (await recordsOf(me, 3)).map(({ usage_source: source }) => source)
    expect(sources).toEqual(['estimated', vendor === 'native' ? 'reported' : expect.any(String), 'estimated'])
  })

  describe('when something goes wrong', () => testFailures(vendor))
})

function testFailures(vendor: Vendor): void {
  const ask = asking(modelOf(vendor))

  test('refusals of the gateway: class, type, code, request id, and nothing charged', async () => {
    const me = await join({ models: [modelOf(vendor)] })
    const failing = (body: Ask, who: { key: string } = me): Promise<InstanceType<typeof Anthropic.APIError>> =>
      thrown(anthropic(who).messages.create(body))
    const expectError = async (
      error: InstanceType<typeof Anthropic.APIError>,
      type: string,
      [status, errorCode]: [number, string],
    ): Promise<void> => {
      expect(error).toMatchObject({ status, type, errorCode })
      expect(error.requestID).toStartWith('req_')
      expect(error.error).toMatchObject({ type: 'error', request_id: error.requestID })
    }
    const bad = { key: `sk-tg-${'A'.repeat(49)}` }
    await expectError(await failing(ask('Hi'), bad), 'authentication_error', [401, 'invalid_api_key'])
    const missing = ask('Hi', { model: 'gone' })
    await expectError(await failing(missing), 'not_found_error', [404, 'model_not_found'])
    const denied = ask('Hi', { model: modelOf(vendor, 'slow') })
    await expectError(await failing(denied), 'permission_error', [403, 'model_not_allowed'])
    const { max_tokens: _, ...unlimited } = ask('Hi')
    const refused = await failing(unlimited as Ask)
    await expectError(refused, 'invalid_request_error', [400, 'missing_required_parameter'])
    expect(refused.message).toContain('max_tokens')
    const search = ask('Hi', { tools: [{ type: 'web_search_20250305', name: 'web_search' }] })
    await expectError(await failing(search), 'invalid_request_error', [400, 'unsupported_parameter'])
    const broke = await join({ balance: '0' })
    await expectError(await failing(ask('Hi'), broke), 'billing_error', [402, 'insufficient_balance'])
    await gateway().operate('account.suspend', { account: me.account })
    await expectError(await failing(ask('Hi')), 'permission_error', [403, 'account_suspended'])
    await recordsOf(me, 0)
    await recordsOf(broke, 0)
  })

  test('limits say when to come back', async () => {
    const me = await join()
    await gateway().operate('account.limits', { account: me.account, limits: { requests_per_minute: 1 } })
    await anthropic(me).messages.create(ask('Hi'))
    const error = await thrown<InstanceType<typeof Anthropic.APIError>>(anthropic(me).messages.create(ask('Hi')))
    expect(error).toBeInstanceOf(Anthropic.RateLimitError)
    expect(error).toMatchObject({ type: 'rate_limit_error', errorCode: 'rate_limit_exceeded' })
    expect(Number(error.headers?.get('retry-after'))).toBeGreaterThan(0)
  })

  test.each([
    ['fails-500', 502, 'api_error'],
    ['fails-529', 529, 'overloaded_error'],
    ['limits-429', 529, 'overloaded_error'],
    ['fails-401', 529, 'overloaded_error'],
    ['rejects', 400, 'invalid_request_error'],
  ] as const)('a vendor that answers %s: %i %s, free of charge', async (fault, status, type) => {
    const me = await join()
    const body = ask('Hi', { model: modelOf(vendor, fault) })
    expect(await thrown(anthropic(me).messages.create(body))).toMatchObject({ status, type })
    expect(await thrown(anthropic(me).messages.stream(body).finalMessage())).toMatchObject({ status, type })
    for (const record of await recordsOf(me, 2)) expect(record).toMatchObject({ outcome: 'failed', charged: '0' })
  })

  test.each(['cut', 'breaks'] as const)('a stream that is broken off (%s) ends in an error event', async (fault) => {
    const me = await join()
    const events: Anthropic.MessageStreamEvent[] = []
    const body = ask('Write 200 tokens', { model: modelOf(vendor, fault) })
    const stream = await anthropic(me).messages.create({ ...body, stream: true })
    const reading = (async () => {
      for await (const event of stream) events.push(event)
    })()
    const error = await thrown<Error>(reading)
    expect(error).toMatchObject({ type: 'api_error' })
    expect(error.message).toContain('What arrived was charged')
    expect(events.length).toBeGreaterThan(3)
    expect(events.some(({ type }) => type === 'message_stop')).toBeFalse()
    const record = await expectOne(me, { outcome: 'cut' })
    expect(Number(record.output_text)).toBeGreaterThan(0)
  })

  test('a client that leaves pays what arrived', async () => {
    const me = await join()
    const body = ask('Write 400 tokens', { model: modelOf(vendor, 'slow') })
    const stream = await anthropic(me).messages.create({ ...body, stream: true })
    let events = 0
    for await (const _ of stream) if (++events === 12) break
    const record = await expectOne(me, { outcome: 'client_closed', status: '499' })
    expect(Number(record.output_text)).toBeWithin(5, 200)
    expect(Number(record.input_fresh)).toBeWithin(3, 60)
  })
}

test('an overloaded vendor is replaced by one of another dialect, unnoticed', async () => {
  const me = await join()
  const message = await anthropic(me).messages.stream(asking('falls-back')('Say exactly: still here')).finalMessage()
  expect([textOf(message), message.model]).toEqual(['still here', 'falls-back'])
  await expectCost(me, [bucketsOf(message.usage)])
})

test('the prompt cache: writes and reads are charged by their own prices', async () => {
  const me = await join()
  const calls = []
  for (const ttl of ['5m', '1h'] as const) {
    const text = `${ttl} ${'words to keep '.repeat(60)}`
    const system: Anthropic.TextBlockParam[] = [{ type: 'text', text, cache_control: { type: 'ephemeral', ttl } }]
    for (const how of ['write', 'read']) {
      const body = asking('native')(`Say exactly: ${how}`, { system })
      const message = await anthropic(me).messages.stream(body).finalMessage()
      calls.push(bucketsOf(message.usage))
    }
  }
  expect(calls[0]?.write5m).toBeGreaterThan(100)
  expect([calls[1]?.cached, calls[1]?.write5m]).toEqual([calls[0]?.write5m ?? -1, 0])
  expect(calls[2]?.write1h).toBeGreaterThan(100)
  expect(calls[3]?.cached).toBe(calls[2]?.write1h ?? -1)
  await expectCost(me, calls)
})

test('thoughts pass with their signatures, survive the tool turn, and are charged as reasoning', async () => {
  const me = await join()
  const thinking = { type: 'enabled', budget_tokens: 1_024 } as const
  const question = asking('native')('What is the weather in Oslo?', { tools: [weather], thinking })
  const first = await anthropic(me).messages.stream(question).finalMessage()
  const [thought, call] = first.content
  if (thought?.type !== 'thinking' || call?.type !== 'tool_use') return expect.unreachable()
  const result = { type: 'tool_result', tool_use_id: call.id, content: 'cold' } as const
  const turns: Anthropic.MessageParam[] = [
    ...question.messages,
    { role: 'assistant', content: first.content },
    { role: 'user', content: [result] },
  ]
  const second = await anthropic(me).messages.create({ ...question, messages: turns })
  expect(second.stop_reason).toBe('end_turn')
  expect(bucketsOf(first.usage).reasoning).toBe(16)
  await expectCost(me, [bucketsOf(first.usage), bucketsOf(second.usage)])
})

test('what another dialect cannot do is named', async () => {
  const me = await join()
  const body = asking('chatty')([{ type: 'text', text: 'Hi', cache_control: { type: 'ephemeral' } }], {
    cache_control: { type: 'ephemeral' },
    diagnostics: {},
  })
  const { response } = await anthropic(me).messages.create(body).withResponse()
  expect(response.headers.get('x-tollgate-dropped')).toBe('cache_control, diagnostics')
  const tools = [{ type: 'bash_20250124', name: 'bash' } as const]
  expect(await thrown(anthropic(me).messages.create({ ...body, tools }))).toMatchObject({ status: 400 })
})

test('a dropped field is named by what a header can hold, whatever its name', async () => {
  const me = await join()
  const many = Object.fromEntries(Array.from({ length: 400 }, (_, i) => [`field_${i}`, 1]))
  const response = await fetch(`${gateway().baseUrl}/messages`, {
    method: 'POST',
    headers: { 'x-api-key': me.key, 'content-type': 'application/json' },
    body: JSON.stringify({ ...asking('chatty')('Hi'), 'a\r\nx-evil: 1': 1, 'grüße 世界': 1, ...many }),
  })
  expect([response.status, response.headers.has('x-evil')]).toEqual([200, false])
  const names = response.headers.get('x-tollgate-dropped')?.split(', ') ?? []
  expect(names.slice(0, 3)).toEqual(['a__x-evil:_1', 'gr__e___', 'field_0'])
  expect(names.length).toBeLessThan(100)
  expect(await response.json()).toMatchObject({ type: 'message' })
})

test('tokens are counted for nothing, also for who has nothing', async () => {
  const broke = await join({ balance: '0' })
  const { max_tokens: _, ...question } = asking('native')('How many tokens are these few words?', { tools: [weather] })
  const { input_tokens: tokens } = await anthropic(broke).messages.countTokens(question)
  expect(tokens).toBeWithin(20, 120)
  const unknown = anthropic(broke).messages.countTokens({ ...question, model: 'none' })
  expect(await thrown(unknown)).toMatchObject({ status: 404, type: 'not_found_error' })
  await recordsOf(broke, 0)
})

test('the key may come as a bearer token too, and betas in the query do no harm', async () => {
  const me = await join()
  const response = await fetch(`${gateway().baseUrl}/messages?beta=true`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${me.key}`,
      'content-type': 'application/json',
      'anthropic-beta': 'interleaved-thinking-2025-05-14,context-1m-2025-08-07',
    },
    body: JSON.stringify(asking('native')('Hi')),
  })
  expect([response.status, response.headers.get('x-tollgate-dropped')]).toEqual([200, 'context-1m-2025-08-07'])
})

test('a provider of this dialect can be tested', async () => {
  const probed = await gateway().operate('provider.test', { id: 'native' })
  expect(probed).toMatchObject({ ok: true, models: expect.arrayContaining(['sandbox-chat', 'sandbox-mini']) })
})
