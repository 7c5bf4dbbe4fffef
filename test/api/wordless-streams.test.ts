/**
 * Vendors whose streams continue without content: empty deltas, finishes of unrequested choices, pings, comments, and
 * blocks that stay empty. Each is cut off, charged for what arrived, and counted as a failure.
 */
import { describe, expect, test } from 'bun:test'
import { AWS_EVENT_STREAM, awsEvent, awsFrame } from '../support/aws-frames.ts'
import { chat, freshFolder } from '../support/gateway.ts'
import { residentMib } from '../support/memory.ts'
import { useGateway } from '../support/use-gateway.ts'
import { TICK_MS_MAX, tickMeter, tickReport } from '../support/tick-report.ts'
import { MIB } from '../../src/lib/primitives/units.ts'

const OUTPUT_TOKENS = 64
/** What the gateway reads of a stream that says nothing, and what it passes on: its bound, and a few reads. */
const SENT_BYTES_MAX = 32 * MIB
const RECEIVED_BYTES_MAX = 16 * MIB
const GROWN_MIB_MAX = 200
const PATIENT_MS_MAX = 250

type Flood = { readonly first: string; readonly event: (i: number) => string }

const data = (value: object): string => `data: ${JSON.stringify(value)}\n\n`
const named = (value: { type: string }): string => `event: ${value.type}\n${data(value)}`
const chunk = (choices: object[], more: object = {}): string =>
  data({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices, ...more })
const delta = (content: object, finish: string | null = null, index = 0): string =>
  chunk([{ index, delta: content, finish_reason: finish }])
const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 }

const chatFirst = delta({ role: 'assistant', content: 'One word' })
const messagesFirst =
  named({
    type: 'message_start',
    message: { id: 'm', type: 'message', role: 'assistant', content: [], model: 'm' },
  } as {
    type: string
  }) +
  named({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } } as { type: string }) +
  named({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'One word' } } as { type: string })
const responsesFirst =
  named({ type: 'response.created', response: { id: 'r' } } as { type: string }) +
  named({ type: 'response.output_text.delta', output_index: 0, delta: 'One word' } as { type: string })
const candidate = (parts: object[], more: object = {}): string =>
  data({ candidates: [{ content: { role: 'model', parts }, index: 0, ...more }] })
const geminiFirst = candidate([{ text: 'One word' }])
/** Frames as text whose characters are their bytes. */
const frame = (type: string, body: object): string => awsEvent(type, body).toString('latin1')
const bare = awsFrame({}, '').toString('latin1')
const block = (delta: object): string => frame('contentBlockDelta', { contentBlockIndex: 0, delta })
const converseFirst = block({ text: 'One word' })
const of = (event: object): (() => string) => {
  const text = named(event as { type: string })
  return () => text
}

/** By dialect of the vendor. `prelude-…` begins without a word. */
const floods: Record<string, Record<string, Flood>> = {
  chat: {
    'empty deltas': { first: chatFirst, event: () => delta({}) },
    'empty texts': { first: chatFirst, event: () => delta({ content: '', reasoning_content: '', tool_calls: [] }) },
    'finishes of more and more choices': { first: chatFirst, event: (i) => delta({}, 'stop', i) },
    'finishes of one choice': { first: chatFirst, event: () => delta({}, 'stop') },
    'beginnings of more and more choices': { first: chatFirst, event: (i) => delta({ content: 'x' }, null, i) },
    'calls without a name': {
      first: chatFirst,
      event: (i) => delta({ tool_calls: [{ index: i, id: '', type: 'function', function: { name: '' } }] }),
    },
    'usage, again and again': { first: chatFirst, event: () => chunk([], { usage }) },
    'pings between comments': { first: chatFirst, event: () => `: ${'x'.repeat(2_000)}\n\ndata: {}\n\n` },
    'events without data': { first: chatFirst, event: () => 'data: \n\n' },
    'nothing but large extras': { first: chatFirst, event: () => chunk([], { padding: 'x'.repeat(50_000) }) },
    'prelude-roles': { first: '', event: () => delta({ role: 'assistant', content: '' }) },
    'prelude-pings': { first: '', event: () => 'data: {}\n\n' },
  },
  messages: {
    pings: { first: messagesFirst, event: of({ type: 'ping' }) },
    'blocks of no text': {
      first: messagesFirst,
      event: (i) => of({ type: 'content_block_start', index: i, content_block: { type: 'text', text: '' } })(),
    },
    'deltas of nothing': {
      first: messagesFirst,
      event: of({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: '' } }),
    },
    'prelude-pings': { first: '', event: of({ type: 'ping' }) },
  },
  responses: {
    progress: { first: responsesFirst, event: of({ type: 'response.in_progress' }) },
    'calls without a name': {
      first: responsesFirst,
      event: (i) => of({ type: 'response.output_item.added', output_index: i, item: { type: 'function_call' } })(),
    },
    'prelude-progress': { first: '', event: of({ type: 'response.in_progress' }) },
  },
  gemini: {
    'empty texts': { first: geminiFirst, event: () => candidate([{ text: '' }]) },
    'no candidates': { first: geminiFirst, event: () => data({ usageMetadata: { promptTokenCount: 3 } }) },
    'finishes of more and more candidates': {
      first: geminiFirst,
      event: (i) => candidate([], { finishReason: 'STOP', index: i }),
    },
    'prelude-usage': { first: '', event: () => data({ usageMetadata: { promptTokenCount: 3 } }) },
  },
  converse: {
    'empty texts': { first: converseFirst, event: () => block({ text: '' }) },
    'frames without headers': { first: converseFirst, event: () => bare },
    'usage, again and again': {
      first: converseFirst,
      event: () => frame('metadata', { usage: { inputTokens: 1, outputTokens: 1 } }),
    },
    'calls without a name': {
      first: converseFirst,
      event: (i) =>
        frame('contentBlockStart', { contentBlockIndex: i, start: { toolUse: { toolUseId: '', name: '' } } }),
    },
    'prelude-starts': { first: '', event: () => frame('messageStart', { role: 'assistant' }) },
  },
  image: {
    extras: { first: '', event: of({ type: 'image_generation.in_progress' }) },
  },
}

const all = Object.entries(floods).flatMap(([dialect, kinds]) => Object.keys(kinds).map((kind) => [dialect, kind]))
const begun = all.filter(([, kind]) => !kind?.startsWith('prelude-')) as [string, string][]
const preludes = all.filter(([, kind]) => kind?.startsWith('prelude-')) as [string, string][]

/** The stream that is sent next, and how much of it was taken. */
let flood: Flood
let sentBytes = 0

function endless(): Response {
  const { first, event } = flood
  const isBinary = Object.values(floods['converse'] ?? {}).includes(flood)
  const encode = (text: string): Uint8Array => Buffer.from(text, isBinary ? 'latin1' : 'utf8')
  let i = 0
  sentBytes = 0
  const body = new ReadableStream<Uint8Array>(
    {
      start: (controller) => void (first !== '' && controller.enqueue(encode(first))),
      async pull(controller) {
        let text = ''
        while (text.length < 32 * 1024) text += event(i++)
        const bytes = encode(text)
        sentBytes += bytes.length
        // Should nobody stop it, the test must still come to an end.
        if (sentBytes > 8 * SENT_BYTES_MAX) return controller.close()
        controller.enqueue(bytes)
        await Bun.sleep(0)
      },
    },
    { highWaterMark: 0 },
  )
  return new Response(body, { headers: { 'content-type': isBinary ? AWS_EVENT_STREAM : 'text/event-stream' } })
}

let vendor: Bun.Server<undefined>
let serial = 0

const gateway = useGateway(
  () => {
    const folder = freshFolder()
    const { preload, env } = tickMeter(folder)
    vendor = Bun.serve({ port: 0, hostname: '127.0.0.1', idleTimeout: 0, fetch: () => endless() })
    const presets = {
      chat: 'custom',
      messages: 'anthropic',
      gemini: 'gemini',
      responses: 'custom-responses',
      converse: 'bedrock-converse',
    }
    const base = `base_url: 'http://127.0.0.1:${vendor.port}/v1', allow_private: true, key: k`
    const providers = Object.entries(presets).map(([name, preset]) =>
      preset === 'custom' ? `  ${name}: { ${base} }` : `  ${name}: { preset: ${preset}, ${base} }`,
    )
    const models = Object.keys(presets).flatMap((name) => [
      `  ${name}: { price: { input: 1, output: 2 }, offers: [{ provider: ${name}, model: m }] }`,
      `  ${name}-or-sandbox: { price: { input: 1, output: 2 }, offers: [{ provider: ${name}, model: m }, { provider: sandbox, model: sandbox-mini, priority: 1 }] }`,
    ])
    const image = `  image:
    kind: image
    price: { input: 5, output: 0, image_output: 40 }
    image: { family: gpt-image-2 }
    offers: [{ provider: chat, model: m }]`
    const yaml = `providers:\n${providers.join('\n')}\nmodels:\n${[...models, image].join('\n')}\n`
    return { yaml, folder, preload, env }
  },
  () => vendor.stop(true),
)

/** Somebody with an account of his own. */
async function member(): Promise<{ account: string; key: string; baseUrl: string }> {
  const name = `m${serial++}`
  const { id: account } = await gateway.operate<{ id: string }>('account.create', { name, balance: '10' })
  const { secret: key } = await gateway.operate<{ secret: string }>('key.create', { account: name, name: 'k' })
  return { account, key, baseUrl: gateway.baseUrl }
}

/** How a client of each dialect asks, and what an error inside its stream looks like. */
const clients = {
  chat: { path: '/v1/chat/completions', body: { max_tokens: OUTPUT_TOKENS, messages: said() }, error: '"error":{' },
  messages: { path: '/v1/messages', body: { max_tokens: OUTPUT_TOKENS, messages: said() }, error: 'event: error' },
  responses: { path: '/v1/responses', body: { max_output_tokens: OUTPUT_TOKENS, input: 'hi' }, error: 'event: error' },
  gemini: {
    path: '/v1beta/models/MODEL:streamGenerateContent?alt=sse',
    body: {
      contents: [{ role: 'user', parts: [{ text: 'hi' }] }],
      generationConfig: { maxOutputTokens: OUTPUT_TOKENS },
    },
    error: '"error":{',
  },
  image: { path: '/v1/images/generations', body: { prompt: 'a door' }, error: '"error":{' },
} as const
type Client = keyof typeof clients

/** No client speaks Converse. */
const clientOf = (dialect: string): Client => (dialect === 'converse' ? 'chat' : (dialect as Client))

function said(): object[] {
  return [{ role: 'user', content: 'hi' }]
}

async function ask(client: Client, model: string, key: string): Promise<string> {
  const { path, body } = clients[client]
  const url = new URL(path.replace('MODEL', model), gateway.baseUrl)
  const isGemini = client === 'gemini'
  const response = await fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'x-api-key': key, 'content-type': 'application/json' },
    body: JSON.stringify(isGemini ? body : { model, stream: true, ...body }),
  })
  return response.text()
}

const rssMib = (): number => (process.platform === 'linux' ? residentMib(gateway.pids) : 0)

type StoredRecord = {
  outcome: string
  charged: string
  output_text: string
  attempts: string
}

/** What the well-behaved client waited for its answers. */
const tookMs: number[] = []

const resultsOf = (record: StoredRecord | undefined): string[] =>
  (JSON.parse(record?.attempts ?? '[]') as { result: string }[]).map(({ result }) => result)

/** Runs something while a well-behaved client asks, and says what that and the gateway went through. */
async function beside<T>(work: Promise<T>): Promise<T> {
  const beforeMib = rssMib()
  let isOver = false
  const over = work.finally(() => (isOver = true))
  while (!isOver) {
    const startedMs = performance.now()
    const answer = await chat(gateway, { model: 'sandbox-mini', max_tokens: 4 })
    expect(answer.status).toBe(200)
    await answer.text()
    tookMs.push(performance.now() - startedMs)
    expect(rssMib() - beforeMib).toBeLessThan(GROWN_MIB_MAX)
    await Bun.sleep(5)
  }
  return over
}

describe('streams that say nothing', () => {
  // The vendor's own dialect, and one that it has to be translated to.
  const ways = begun.flatMap(([dialect, kind]): [string, string, Client][] => {
    const clientsOf: Client[] =
      dialect === 'image'
        ? ['image']
        : dialect === 'chat'
          ? ['chat', 'messages', 'responses', 'gemini']
          : dialect === 'converse'
            ? ['chat']
            : [dialect as Client, 'chat']
    return clientsOf.map((client) => [dialect, kind, client])
  })

  test.each(ways)(
    'of %s, %s, to a client of %s: cut off, blamed, and charged for what came',
    async (dialect, kind, client) => {
      flood = floods[dialect]?.[kind] ?? expect.unreachable()
      const me = await member()
      await tickReport(gateway)
      const text = await beside(ask(client, dialect, me.key))
      const { longestMs } = await tickReport(gateway)
      console.log(`${dialect}, ${kind}, to ${client}: ${(sentBytes / MIB).toFixed(1)} MiB, ${longestMs.toFixed(0)} ms`)
      expect(sentBytes).toBeLessThan(SENT_BYTES_MAX * (dialect === 'image' ? 4 : 1))
      expect(text.length).toBeLessThan(RECEIVED_BYTES_MAX)
      // The last event of a response repeats all that came: there the error stands before it.
      expect(client === 'responses' ? text : text.slice(-2_000)).toContain(clients[client].error)
      // Where a client of the dialect takes the answer for complete.
      if (client !== 'responses') expect(text.slice(-2_000)).not.toMatch(/\[DONE\]|message_stop/)
      expect(longestMs).toBeLessThan(TICK_MS_MAX)
      const [record] = await gateway.operate<StoredRecord[]>('request.list', { account: me.account, limit: 1 })
      expect(resultsOf(record)).toEqual(['garbage'])
      if (dialect === 'image') return expect(Number(record?.charged)).toBe(0)
      expect(record?.outcome).toBe('cut')
      expect(Number(record?.charged)).toBeGreaterThan(0)
      expect(Number(record?.output_text)).toBeWithin(1, OUTPUT_TOKENS + 1)
    },
    60_000,
  )

  test.each(preludes)(
    'of %s, %s: the next offer answers',
    async (dialect, kind) => {
      flood = floods[dialect]?.[kind] ?? expect.unreachable()
      const me = await member()
      await beside(ask(clientOf(dialect), `${dialect}-or-sandbox`, me.key))
      expect(sentBytes).toBeLessThan(SENT_BYTES_MAX)
      const [record] = await gateway.operate<StoredRecord[]>('request.list', { account: me.account, limit: 1 })
      expect(resultsOf(record)).toEqual(['garbage', 'ok'])
      expect(record?.outcome).toBe('completed')
    },
    60_000,
  )

  test('a client beside them is served as ever', () => {
    const sorted = tookMs.toSorted((a, b) => a - b)
    const part = (share: number): number => sorted[Math.floor(sorted.length * share)] ?? 0
    console.log(`of ${sorted.length} answers: p50 ${part(0.5).toFixed(0)} ms, p99 ${part(0.99).toFixed(0)} ms`)
    // What neighbours on the machine take is in the slowest of them.
    expect(part(0.9)).toBeLessThan(PATIENT_MS_MAX)
  })
})
