/** A vendor that speaks `/responses`: the conversation is not stored there, and the vendor's usage is billed. */
import { expect, test } from 'bun:test'
import { chat } from '../support/gateway.ts'
import { useGateway } from '../support/use-gateway.ts'
import { expectStream, type ShownResponse } from '../support/response-events.ts'
import { create, failure, joined, made, textOf } from '../support/speaker.ts'

type ReceivedBody = { input: Record<string, unknown>[]; stream?: boolean } & Record<string, unknown>
const asked: ReceivedBody[] = []

const usage = {
  input_tokens: 20,
  input_tokens_details: { cached_tokens: 8 },
  output_tokens: 9,
  output_tokens_details: { reasoning_tokens: 5 },
  total_tokens: 29,
}
const reasoning = {
  id: 'rs_u',
  type: 'reasoning',
  summary: [{ type: 'summary_text', text: 'Hm.' }],
  encrypted_content: 'opaque',
}
const message = {
  id: 'msg_u',
  type: 'message',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text: 'Hello you.', annotations: [] }],
}
const whole = {
  id: 'resp_u',
  object: 'response',
  status: 'completed',
  error: null,
  output: [reasoning, message],
  usage,
}

function eventsFor(model: string): object[] {
  const at = { item_id: 'msg_u', output_index: 1, content_index: 0 }
  const head = [
    { type: 'response.created', response: { ...whole, status: 'in_progress', output: [], usage: null } },
    { type: 'response.output_item.added', output_index: 0, item: { ...reasoning, summary: [] } },
    { type: 'response.reasoning_summary_text.delta', item_id: 'rs_u', output_index: 0, summary_index: 0, delta: 'Hm.' },
    { type: 'response.output_item.done', output_index: 0, item: reasoning },
    { type: 'response.output_item.added', output_index: 1, item: { ...message, content: [] } },
    { type: 'response.output_text.delta', ...at, delta: 'Hello ' },
    { type: 'response.output_text.delta', ...at, delta: 'you.' },
  ]
  if (model === 'breaks') {
    const error = { code: 'server_error', message: 'Something of theirs.' }
    return [...head, { type: 'response.failed', response: { ...whole, status: 'failed', error } }]
  }
  if (model === 'cuts') {
    const response = { ...whole, status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } }
    return [...head, { type: 'response.incomplete', response }]
  }
  return [
    ...head,
    { type: 'response.output_item.done', output_index: 1, item: message },
    { type: 'response.completed', response: whole },
  ]
}

const upstream = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  async fetch(request) {
    if (new URL(request.url).pathname !== '/v1/responses') return new Response('not here', { status: 404 })
    const body = (await request.json()) as ReceivedBody
    asked.push(body)
    if (body['model'] === 'refuses') {
      const error = { message: 'No such effort.', type: 'invalid_request_error', param: 'reasoning.effort', code: null }
      return Response.json({ error }, { status: 400 })
    }
    if (!body.stream) return Response.json(whole)
    const frames = eventsFor(String(body['model'])).map((event, i) => {
      const { type } = event as { type: string }
      return `event: ${type}\ndata: ${JSON.stringify({ ...event, sequence_number: i })}\n\n`
    })
    return new Response(frames.join(''), { headers: { 'content-type': 'text/event-stream' } })
  },
})

const gateway = useGateway(
  () => {
    const base = `base_url: 'http://127.0.0.1:${upstream.port}/v1', allow_private: true`
    const offer = (provider: string, model: string): string =>
      `{ price: { input: 1, output: 2 }, offers: [{ provider: ${provider}, model: ${model} }] }`
    return {
      yaml: `
sandbox: false
providers:
  own: { preset: custom-responses, ${base} }
  both: { preset: openai, ${base}, key: secret }
models:
  fine: ${offer('own', 'fine')}
  both: ${offer('both', 'fine')}
  breaks: ${offer('own', 'breaks')}
  cuts: ${offer('own', 'cuts')}
  refuses: ${offer('own', 'refuses')}
`,
    }
  },
  () => upstream.stop(true),
)

test('our state, not theirs: no ids go there, sealed reasoning does, and only ours come to the client', async () => {
  const who = await joined(gateway)
  for (const model of ['fine', 'both']) {
    asked.length = 0
    const one = await made(who, { model, input: 'Hi', reasoning: { effort: 'low', summary: 'auto' } })
    const events = expectStream(
      await (await create(who, { model, input: 'And?', stream: true, previous_response_id: one.id })).text(),
    )
    const two = events.at(-1)?.['response'] as ShownResponse
    for (const shown of [one, two]) {
      expect(textOf(shown)).toBe('Hello you.')
      expect(shown.output[0]).toMatchObject({ type: 'reasoning', summary: [{ text: 'Hm.' }] })
      expect(shown.output[0]).not.toHaveProperty('encrypted_content')
      expect(shown.usage).toEqual({
        ...usage,
        input_tokens_details: { cached_tokens: 8, cache_write_tokens: 0 },
      })
      expect(JSON.stringify(shown)).not.toMatch(/(?:rs|msg|resp)_u/)
    }
    const [, second] = asked
    expect(second).toMatchObject({ store: false, include: ['reasoning.encrypted_content'] })
    expect(second).not.toHaveProperty('previous_response_id')
    expect(second?.input.map((item) => item['type'])).toEqual(['message', 'reasoning', 'message', 'message'])
    expect(second?.input[1]).toEqual({
      type: 'reasoning',
      id: 'rs_u',
      summary: reasoning.summary,
      encrypted_content: 'opaque',
    })
  }
})

test('incomplete and failed answers are charged by the usage they report', async () => {
  const who = await joined(gateway)
  const last = async (model: string): Promise<ShownResponse> => {
    const text = await (await create(who, { model, stream: true })).text()
    return expectStream(text).at(-1)?.['response'] as ShownResponse
  }
  const cut = await last('cuts')
  expect(cut).toMatchObject({
    status: 'incomplete',
    usage: { output_tokens: 9 },
    output: [{}, { status: 'incomplete' }],
  })
  const failed = await last('breaks')
  expect(failed).toMatchObject({ status: 'failed', error: { code: 'server_error' } })
  expect(JSON.stringify(failed)).not.toContain('of theirs')
  const rows = await who.records(2)
  const expected = String(20 * 1_000 + 9 * 2_000)
  expect(rows.map(({ outcome, charged, usage_source: source }) => [outcome, charged, source])).toEqual([
    ['cut', expected, 'reported'],
    ['completed', expected, 'reported'],
  ])
})

test('a chat client is served by it as well', async () => {
  const who = await joined(gateway)
  const answer = (await (await chat(who, { model: 'fine' })).json()) as { choices: object[]; usage: object }
  expect(answer.choices).toMatchObject([
    { message: { content: 'Hello you.', reasoning_content: 'Hm.' }, finish_reason: 'stop' },
  ])
  const text = await (await chat(who, { model: 'fine', stream: true, stream_options: { include_usage: true } })).text()
  expect(text).toContain('"reasoning_content":"Hm."')
  expect(text).toEndWith('data: [DONE]\n\n')
  expect((await who.records(2)).map(({ charged }) => charged)).toEqual(['38000', '38000'])
})

test('the field that it refuses is named to a client that sent such a field, and to no other', async () => {
  const who = await joined(gateway)
  const asked = { model: 'refuses', reasoning: { effort: 'none' } }
  expect(await failure(await create(who, asked))).toEqual([400, 'invalid_value', 'reasoning.effort'])
  expect(await failure(await create(who, { model: 'refuses' }))).toEqual([400, 'invalid_value', null])
  expect(await failure(await chat(who, { model: 'refuses' }))).toEqual([400, 'invalid_value', null])
})
