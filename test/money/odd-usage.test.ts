/**
 * Usage at every place where vendors report it: late, early, in every chunk, without choices, or in parts. Each answer
 * is complete and charged once to the nano-dollar, and clients of every dialect get the usage.
 */
import { describe, expect, test } from 'bun:test'
import { SseDecoder } from '../../src/lib/http/sse.ts'
import { useGateway } from '../support/use-gateway.ts'

type Fields = Record<string, unknown>

const counts = (prompt: number, completion: number): Fields => ({
  prompt_tokens: prompt,
  completion_tokens: completion,
  total_tokens: prompt + completion,
})
const real = counts(1000, 50)
const chunk = (delta: object, finish: string | null = null, rest: Fields = {}): Fields => ({
  id: 'c',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'up',
  choices: [{ index: 0, delta, finish_reason: finish }],
  ...rest,
})
const told = (usage: unknown, choices: unknown = []): Fields => ({ ...chunk({}), choices, usage })
const words = [chunk({ role: 'assistant', content: '' }), chunk({ content: 'Hello' }), chunk({ content: ' you' })]
const end = chunk({}, 'stop')

const chat: Readonly<Record<string, readonly Fields[]>> = {
  'as the format has it': [...words, end, told(real)],
  'beside choices that are null': [...words, end, told(real, null)],
  'without choices': [
    ...words,
    end,
    { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'up', usage: real },
  ],
  'all alone': [...words, end, { usage: real }],
  'on the end': [...words, chunk({}, 'stop', { usage: real })],
  'in every chunk': [
    chunk({ content: 'Hello' }, null, { usage: counts(1000, 20) }),
    chunk({ content: ' you' }, null, { usage: counts(1000, 40) }),
    chunk({}, 'stop', { usage: real }),
  ],
  twice: [...words, end, told(real), told(real)],
  'before the end': [...words, told(real), end],
  'in an extension': [...words, { ...end, x_groq: { usage: real } }],
  'in the choice': [...words, { ...end, choices: [{ index: 0, delta: {}, finish_reason: 'stop', usage: real }] }],
  'behind zeros': [chunk({ role: 'assistant' }, null, { usage: counts(0, 0) }), ...words, end, told(real)],
  'before zeros': [...words, end, told(real), told(counts(0, 0))],
  'in halves': [chunk({ role: 'assistant' }, null, { usage: counts(1000, 0) }), ...words, end, told(counts(0, 50))],
  'by other names': [...words, end, told({ input_tokens: 1000, output_tokens: 50 })],
}

const message = (start: unknown, last: unknown, stop: Fields = {}): Fields[] => [
  {
    type: 'message_start',
    message: { id: 'm', type: 'message', role: 'assistant', model: 'up', content: [], usage: start },
  },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello you' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: last },
  { type: 'message_stop', ...stop },
]
const both = { input_tokens: 1000, output_tokens: 50 }
const messages: Readonly<Record<string, readonly Fields[]>> = {
  'as the format has it': message({ input_tokens: 1000, output_tokens: 1 }, { output_tokens: 50 }),
  'at the end': message({ input_tokens: 0, output_tokens: 0 }, both),
  'at the end alone': message(null, both),
  'with zeros for the input at the end': message(
    { input_tokens: 1000, output_tokens: 1 },
    { input_tokens: 0, output_tokens: 50 },
  ),
  'at the stop once more': message({ input_tokens: 1000, output_tokens: 1 }, { output_tokens: 50 }, { usage: both }),
}

const metadata = (prompt: number, candidates: number): Fields => ({
  promptTokenCount: prompt,
  candidatesTokenCount: candidates,
  totalTokenCount: prompt + candidates,
})
const candidate = (text: string, rest: Fields = {}): Fields => ({
  index: 0,
  content: { role: 'model', parts: [{ text }] },
  ...rest,
})
const gemini: Readonly<Record<string, readonly Fields[]>> = {
  'in every response': [
    { candidates: [candidate('Hello')], usageMetadata: metadata(1000, 20) },
    { candidates: [candidate(' you', { finishReason: 'STOP' })], usageMetadata: metadata(1000, 50) },
  ],
  'behind the end': [
    { candidates: [candidate('Hello you', { finishReason: 'STOP' })] },
    { usageMetadata: metadata(1000, 50) },
  ],
  'before zeros': [
    { candidates: [candidate('Hello you', { finishReason: 'STOP' })], usageMetadata: metadata(1000, 50) },
    { usageMetadata: metadata(0, 0) },
  ],
}

const vendors = { chat, messages, gemini } as const
type Dialect = keyof typeof vendors
const models = (Object.keys(vendors) as Dialect[]).flatMap((dialect) =>
  Object.keys(vendors[dialect]).map((variant, i) => ({ dialect, variant, id: `${dialect}-${i}` })),
)

const hi = [{ role: 'user', content: 'hi' }]
const clients: Readonly<Record<string, (model: string) => { path: string; body: object }>> = {
  chat: (model) => ({
    path: '/v1/chat/completions',
    body: { model, stream: true, stream_options: { include_usage: true }, messages: hi },
  }),
  'chat that asks for none': (model) => ({ path: '/v1/chat/completions', body: { model, stream: true, messages: hi } }),
  messages: (model) => ({ path: '/v1/messages', body: { model, stream: true, max_tokens: 500, messages: hi } }),
  responses: (model) => ({ path: '/v1/responses', body: { model, stream: true, input: 'hi' } }),
  gemini: (model) => ({
    path: `/v1beta/models/${model}:streamGenerateContent?alt=sse`,
    body: { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] },
  }),
}

// oxlint-disable-next-line typescript/no-explicit-any
type Event = Record<string, any>

/** What a client is told of its usage, and whether the answer came to its end. */
function toldIn(client: string, text: string): { input: unknown; output: unknown; isWhole: boolean } {
  const data = new SseDecoder(100_000).push(Buffer.from(text)).map((event) => event.data)
  const events = data.filter((one) => one.startsWith('{')).map((one): Event => JSON.parse(one))
  expect(events.filter(({ error }) => error)).toEqual([])
  switch (client) {
    case 'messages': {
      const start = events.find(({ type }) => type === 'message_start')?.['message'].usage
      const usage = { ...start, ...events.find(({ type }) => type === 'message_delta')?.['usage'] }
      return { input: usage.input_tokens, output: usage.output_tokens, isWhole: text.includes('message_stop') }
    }
    case 'responses': {
      const usage = events.find(({ type }) => type === 'response.completed')?.['response'].usage
      return { input: usage?.input_tokens, output: usage?.output_tokens, isWhole: data.includes('[DONE]') }
    }
    case 'gemini': {
      const usage = events.findLast(({ usageMetadata }) => usageMetadata)?.['usageMetadata']
      const isWhole = events.some(({ candidates }) => candidates?.[0]?.finishReason === 'STOP')
      return { input: usage?.promptTokenCount, output: usage?.candidatesTokenCount, isWhole }
    }
    default: {
      const usage = events.findLast((event) => event['usage'])?.['usage']
      expect(events.every(({ choices }) => Array.isArray(choices))).toBe(true)
      return { input: usage?.prompt_tokens, output: usage?.completion_tokens, isWhole: data.includes('[DONE]') }
    }
  }
}

let vendor: Bun.Server<unknown>

const gateway = useGateway(
  async () => {
    vendor = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      async fetch(request) {
        const { pathname } = new URL(request.url)
        const body = (await request.json()) as { model?: string }
        const asked = body.model ?? /models\/([\w-]+):/.exec(pathname)?.[1]
        const { dialect, variant } = models.find(({ id }) => id === asked) ?? expect.unreachable()
        const events = vendors[dialect][variant] ?? expect.unreachable()
        const sent = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')
        const headers = { 'content-type': 'text/event-stream' }
        return new Response(dialect === 'chat' ? `${sent}data: [DONE]\n\n` : sent, { headers })
      },
    })
    const presets = { chat: 'custom', messages: 'anthropic', gemini: 'gemini' }
    const base = `http://127.0.0.1:${vendor.port}/v1`
    const providers = (Object.keys(vendors) as Dialect[]).map(
      (one) => `  ${one}: { preset: ${presets[one]}, base_url: '${base}', key: k, allow_private: true }`,
    )
    const offered = models.map(
      ({ dialect, id }) =>
        `  ${id}: { price: { input: 1, output: 2 }, offers: [{ provider: ${dialect}, model: ${id} }] }`,
    )
    return {
      yaml: `sandbox: false\nproviders:\n${providers.join('\n')}\nmodels:\n${offered.join('\n')}\n`,
    }
  },
  () => vendor.stop(true),
)

const headers = (): Record<string, string> => ({
  authorization: `Bearer ${gateway.key}`,
  'x-goog-api-key': gateway.key,
  'content-type': 'application/json',
})
async function balance(): Promise<number> {
  const answer = await fetch(`${gateway.baseUrl}/balance`, { headers: headers() })
  return Math.round(Number(((await answer.json()) as { posted: string }).posted) * 1e9)
}

/** 1,000 tokens at a dollar a million, 50 at two, in nano-dollars. */
const CHARGE = 1_100_000

describe.each(models)('$dialect: usage $variant', ({ id }) => {
  test.each(Object.keys(clients))('is paid once, and told to a client of %s', async (client) => {
    const before = await balance()
    const { path, body } = clients[client]?.(id) ?? expect.unreachable()
    const answer = await fetch(new URL(path, gateway.baseUrl), {
      method: 'POST',
      headers: headers(),
      body: JSON.stringify(body),
    })
    const text = await answer.text()
    const isAsked = client !== 'chat that asks for none'
    expect(toldIn(client, text)).toEqual({
      input: isAsked ? 1000 : undefined,
      output: isAsked ? 50 : undefined,
      isWhole: true,
    })
    expect(before - (await balance())).toBe(CHARGE)
  })
})
