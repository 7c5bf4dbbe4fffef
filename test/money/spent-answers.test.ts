/**
 * Answers that end because the balance is used up, in the official clients: cut at their length, with a usage, and
 * without unpaid words, even if the vendor sends large events. A cut tool call does not look like a whole one.
 */
import { describe, expect, test } from 'bun:test'
import { GoogleGenAI } from '@google/genai'
import OpenAI from 'openai-7'
import { dataEvent } from '../../src/lib/http/sse.ts'
import { useGateway } from '../support/use-gateway.ts'

const NANO_PER_TOKEN = 10_000n
/** Of an account, where an answer has ten times as many. */
const BALANCE_TOKENS = 300
const WORDS = 10 * BALANCE_TOKENS
const UPSTREAMS = ['chat', 'messages', 'gemini', 'responses'] as const
type Upstream = (typeof UPSTREAMS)[number]
const ANSWERS = ['at-once', 'behind-little', 'call', 'all-of-call', 'rare'] as const
type AnswerName = (typeof ANSWERS)[number]

const many = ' word'.repeat(WORDS)
/** Three tokens of o200k_base a character, each in a script that its vocabulary hardly knows. */
const RARE = '𒀀𒁀𒂀𒃀'
const spoken: Readonly<Record<Exclude<AnswerName, 'call' | 'all-of-call'>, readonly string[]>> = {
  'at-once': [many],
  'behind-little': ['A few', ' words', many],
  rare: Array.from({ length: WORDS }, () => RARE),
}
/** The arguments of a call, in pieces. */
const argued = ['{"text":"', ...Array.from({ length: WORDS / 4 }, () => ' word word word word'), '"}']

type Answer = { readonly words: readonly string[] } | { readonly arguments: readonly string[] }
function answerNamed(name: AnswerName): Answer {
  if (name === 'call') return { arguments: argued }
  return name === 'all-of-call' ? { arguments: [argued.join('')] } : { words: spoken[name] }
}

const chunk = (delta: object, finish: string | null = null): object => ({
  id: 'c',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'up',
  choices: [{ index: 0, delta, finish_reason: finish }],
})
const calling = (fn: object, more: object = {}): object => ({ tool_calls: [{ index: 0, ...more, function: fn }] })

/** The last words come with the end of the answer, where a dialect can say both in one event. */
function chatEvents(said: Answer): object[] {
  if ('words' in said) {
    const last = said.words.length - 1
    return said.words.map((content, i) =>
      chunk(i === 0 ? { role: 'assistant', content } : { content }, i === last ? 'stop' : null),
    )
  }
  const pieces = said.arguments.map((text) => chunk(calling({ arguments: text })))
  return [
    chunk({ role: 'assistant', ...calling({ name: 'note', arguments: '' }, { id: 'call', type: 'function' }) }),
    ...pieces,
    chunk({}, 'tool_calls'),
  ]
}

function messagesEvents(said: Answer): object[] {
  const pieces =
    'words' in said
      ? said.words.map((text) => ({ type: 'text_delta', text }))
      : said.arguments.map((text) => ({ type: 'input_json_delta', partial_json: text }))
  const block = 'words' in said ? { type: 'text', text: '' } : { type: 'tool_use', id: 't', name: 'note', input: {} }
  const stop = 'words' in said ? 'end_turn' : 'tool_use'
  return [
    {
      type: 'message_start',
      message: { role: 'assistant', content: [], usage: { input_tokens: 7, output_tokens: 1 } },
    },
    { type: 'content_block_start', index: 0, content_block: block },
    ...pieces.map((delta) => ({ type: 'content_block_delta', index: 0, delta })),
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: stop }, usage: { output_tokens: WORDS } },
    { type: 'message_stop' },
  ]
}

function geminiEvents(said: Answer): object[] {
  const parts: object[] =
    'words' in said
      ? said.words.map((text) => ({ text }))
      : [{ text: 'A few words' }, { functionCall: { name: 'note', args: { text: many } } }]
  return parts.map((part, i) => ({
    candidates: [
      { index: 0, content: { role: 'model', parts: [part] }, ...(i === parts.length - 1 && { finishReason: 'STOP' }) },
    ],
    usageMetadata: { promptTokenCount: 7, candidatesTokenCount: WORDS, totalTokenCount: 7 + WORDS },
  }))
}

function responsesEvents(said: Answer): object[] {
  const item =
    'words' in said ? { type: 'message', content: [] } : { type: 'function_call', call_id: 'c', name: 'note' }
  const pieces =
    'words' in said
      ? said.words.map((delta) => ({ type: 'response.output_text.delta', delta }))
      : said.arguments.map((delta) => ({ type: 'response.function_call_arguments.delta', delta }))
  return [
    { type: 'response.created', response: { status: 'in_progress', output: [] } },
    { type: 'response.output_item.added', output_index: 0, item: { ...item, status: 'in_progress' } },
    ...pieces.map((piece) => ({ ...piece, output_index: 0, content_index: 0 })),
    { type: 'response.completed', response: { status: 'completed', output: [], usage: {} } },
  ]
}

const eventsOf: Readonly<Record<Upstream, (said: Answer) => object[]>> = {
  chat: chatEvents,
  messages: messagesEvents,
  gemini: geminiEvents,
  responses: responsesEvents,
}

async function answerOf(request: Request): Promise<Response> {
  const { pathname } = new URL(request.url)
  const { model = pathname } = (await request.json()) as { readonly model?: string }
  const dialect = UPSTREAMS.find((one) => pathname.startsWith(`/${one}/`)) ?? expect.unreachable()
  const name = ANSWERS.find((one) => model === one || model.includes(`/${one}:`)) ?? expect.unreachable()
  const events = eventsOf[dialect](answerNamed(name)).map((event) => dataEvent(JSON.stringify(event)))
  return new Response(events.join(''), { headers: { 'content-type': 'text/event-stream' } })
}

let vendor: ReturnType<typeof Bun.serve>
const gateway = useGateway(
  () => {
    vendor = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: answerOf })
    const origin = `http://127.0.0.1:${vendor.port}`
    const presets = {
      chat: '',
      messages: 'preset: anthropic, ',
      gemini: 'preset: gemini, ',
      responses: 'preset: custom-responses, ',
    }
    const providers = UPSTREAMS.map(
      (one) => `  ${one}: { ${presets[one]}base_url: '${origin}/${one}/v1', key: k, allow_private: true }`,
    )
    const models = UPSTREAMS.flatMap((provider) =>
      ANSWERS.map(
        (name) =>
          `  ${provider}-${name}: { price: { input: 0, output: 10 }, output_tokens_max: 128000, offers: [{ provider: ${provider}, model: ${name} }] }`,
      ),
    )
    return {
      yaml: ['sandbox: false', 'providers:', ...providers, 'models:', ...models].join('\n'),
    }
  },
  () => vendor.stop(true),
)

/** What a client got: all words of it, arguments of calls included, and what it was told of the end. */
type ClientView = {
  readonly id: string
  readonly words: string
  readonly calls: readonly string[]
  readonly end: unknown
  readonly outputTokens: unknown
}

type Client = { readonly key: string; readonly model: string }

const openai = ({ key }: Client): OpenAI => new OpenAI({ baseURL: gateway.baseUrl, apiKey: key, maxRetries: 0 })
const messages = [{ role: 'user' as const, content: 'go' }]

async function chatWhole(client: Client): Promise<ClientView> {
  const { id, choices, usage } = await openai(client).chat.completions.create({ model: client.model, messages })
  return chatView({ id, choices, usage })
}

async function chatStreamed(client: Client): Promise<ClientView> {
  const stream = openai(client).chat.completions.stream({
    model: client.model,
    messages,
    stream_options: { include_usage: true },
  })
  const { id, choices, usage } = await stream.finalChatCompletion()
  return chatView({ id, choices, usage })
}

type ChatAnswer = Pick<OpenAI.ChatCompletion, 'id' | 'choices'> & { readonly usage: OpenAI.CompletionUsage | undefined }

function chatView({ id, choices, usage }: ChatAnswer): ClientView {
  const [choice] = choices
  const calls = (choice?.message.tool_calls ?? []).map((call) =>
    call.type === 'function' ? call.function.arguments : '',
  )
  const words = (choice?.message.content ?? '') + calls.join('')
  return { id, words, calls, end: choice?.finish_reason, outputTokens: usage?.completion_tokens }
}

async function responsesWhole({ key, model }: Client): Promise<ClientView> {
  return responsesView(await openai({ key, model }).responses.create({ model, input: 'go' }))
}

async function responsesStreamed({ key, model }: Client): Promise<ClientView> {
  const stream = openai({ key, model }).responses.stream({ model, input: 'go' })
  let told = ''
  stream.on('event', (event) => {
    if (event.type === 'response.output_text.delta' || event.type === 'response.function_call_arguments.delta') {
      told += event.delta
    }
  })
  const got = responsesView(await stream.finalResponse())
  // What the last event repeats is what came before.
  expect(got.words).toBe(told)
  return got
}

function responsesView({
  id,
  output,
  status,
  incomplete_details: details,
  usage,
}: OpenAI.Responses.Response): ClientView {
  const calls = output.flatMap((item) => (item.type === 'function_call' ? [item.arguments] : []))
  const said = output.flatMap((item) => (item.type === 'message' ? item.content : []))
  const words = said.map((part) => (part.type === 'output_text' ? part.text : '')).join('') + calls.join('')
  for (const item of output.slice(-1)) expect(item).toMatchObject({ status: 'incomplete' })
  const end = status === 'incomplete' && details?.reason === 'max_output_tokens' ? 'length' : status
  return { id, words, calls, end, outputTokens: usage?.output_tokens }
}

const google = ({ key }: Client): GoogleGenAI =>
  new GoogleGenAI({ apiKey: key, httpOptions: { baseUrl: new URL(gateway.baseUrl).origin } })

async function geminiWhole(client: Client): Promise<ClientView> {
  return geminiView([await google(client).models.generateContent({ model: client.model, contents: 'go' })])
}

async function geminiStreamed(client: Client): Promise<ClientView> {
  const stream = await google(client).models.generateContentStream({ model: client.model, contents: 'go' })
  return geminiView(await Array.fromAsync(stream))
}

type GeminiResponse = Awaited<ReturnType<GoogleGenAI['models']['generateContent']>>

function geminiView(all: readonly GeminiResponse[]): ClientView {
  const parts = all.flatMap(({ candidates }) => candidates?.[0]?.content?.parts ?? [])
  const calls = parts.flatMap(({ functionCall }) => (functionCall ? [JSON.stringify(functionCall.args)] : []))
  const words = parts.map(({ text = '' }) => text).join('') + calls.join('')
  const last = all.at(-1)
  const finish = last?.candidates?.[0]?.finishReason
  const end = finish === 'MAX_TOKENS' ? 'length' : finish
  return { id: last?.responseId ?? '', words, calls, end, outputTokens: last?.usageMetadata?.candidatesTokenCount ?? 0 }
}

const clients = {
  'chat whole': chatWhole,
  'chat streamed': chatStreamed,
  'responses whole': responsesWhole,
  'responses streamed': responsesStreamed,
  'gemini whole': geminiWhole,
  'gemini streamed': geminiStreamed,
}

/** At least so many tokens a text has: as many as words, or as characters of the rare script. */
const tokensIn = (text: string): number => (text.match(/word/g) ?? []).length + (text.match(/\p{Lo}/gu) ?? []).length

let serial = 0

describe.each(UPSTREAMS)('a vendor that speaks %s', (upstream) => {
  describe.each(ANSWERS)('answers %s', (name) => {
    test.each(Object.keys(clients) as (keyof typeof clients)[])('for %s', async (client) => {
      const account = `spent-${serial++}`
      const balance = String((BALANCE_TOKENS * Number(NANO_PER_TOKEN)) / 1e9)
      const { id } = await gateway.operate<{ id: string }>('account.create', { name: account, balance })
      const { secret: key } = await gateway.operate<{ secret: string }>('key.create', { account, name: 'k' })
      const got = await clients[client]({ key, model: `${upstream}-${name}` })
      expect(got.end).toBe('length')
      expect(tokensIn(got.words)).toBeLessThanOrEqual(BALANCE_TOKENS)
      for (const call of got.calls) expect(() => JSON.parse(call) as unknown).toThrow()
      const shown = await gateway.operate<Record<string, string>>('account.show', { account: id })
      const charged = BigInt(BALANCE_TOKENS) * NANO_PER_TOKEN - BigInt(shown['posted_nano_usd'] ?? '')
      expect(shown['held_nano_usd']).toBe('0')
      expect(charged).toBe(BigInt(Number(got.outputTokens)) * NANO_PER_TOKEN)
      expect(charged).toBeGreaterThanOrEqual(BigInt(tokensIn(got.words)) * NANO_PER_TOKEN)
      const [record] = await gateway.operate<Record<string, unknown>[]>('request.list', { account: id })
      expect(record).toMatchObject({ outcome: 'completed', output_cap_reason: 'balance' })
    })
  })
})
