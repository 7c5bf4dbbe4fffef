/**
 * A vendor of Amazon's Converse format on the wire: paths and signatures, streams that fail in every way that its
 * binary frames allow, and what is billed.
 */
import { beforeEach, describe, expect, test } from 'bun:test'
import { AWS_EVENT_STREAM, awsEvent, awsException, awsFrame } from '../support/aws-frames.ts'
import { chat } from '../support/gateway.ts'
import { refusalOf } from '../support/s3-signature.ts'
import { useGateway } from '../support/use-gateway.ts'

const SECRET = 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY'
const IDENTITY = { accessKeyId: 'AKID', secretAccessKey: SECRET, region: 'eu-west-1', service: 'bedrock' }
const FIRST_EVENT_MS = 100
const ARN = 'arn:aws:bedrock:eu-west-1:123456789012:application-inference-profile/a1b2'

const usage = { inputTokens: 5, outputTokens: 7, totalTokens: 42, cacheReadInputTokens: 10, cacheWriteInputTokens: 20 }
const text = (words: string): Buffer => awsEvent('contentBlockDelta', { contentBlockIndex: 0, delta: { text: words } })
const start = awsEvent('messageStart', { role: 'assistant' })
const stop = awsEvent('messageStop', { stopReason: 'end_turn' })
const metadata = awsEvent('metadata', { usage, metrics: { latencyMs: 1 } })
const damaged = Buffer.from(text('lost'))
damaged.writeUInt8(damaged.readUInt8(damaged.length - 20) ^ 1, damaged.length - 20)

/** By the last part of the model's name: what it sends. */
const streams: Readonly<Record<string, readonly Buffer[]>> = {
  good: [start, text('Hello '), text('you.'), stop, metadata],
  throttled: [awsException('throttlingException', 'Too many tokens, please wait before trying again.')],
  failing: [start, text('Hello '), awsException('modelStreamErrorException', 'It broke.')],
  damaged: [start, text('Hello '), damaged, stop, metadata],
  truncated: [start, text('Hello '), text('lost').subarray(0, -1)],
  protocol: [start, text('Hello '), awsFrame({ ':message-type': 'error', ':error-code': 'InternalFailure' }, '')],
  malformed: [start, text('Hello '), awsEvent('messageStop', { stopReason: 'malformed_tool_use' })],
  unmetered: [start, text('Hello '), stop],
  endless: [start, text('Hello '), Buffer.from('00ffffff00000000', 'hex'), Buffer.alloc(64)],
}

let vendor: Bun.Server<unknown>
const seen = { targets: [] as string[], faults: [] as unknown[], bodies: [] as string[] }
let wordsArrived = Promise.withResolvers<void>()
/** What the vendor refuses; undefined: nothing. */
let refused: ((body: string) => string | undefined) | undefined

async function serve(request: Request): Promise<Response> {
  const { pathname, search } = new URL(request.url)
  const headers = Object.fromEntries(request.headers)
  const body = await request.text()
  seen.targets.push(pathname + search)
  seen.bodies.push(body)
  if (pathname === '/chat/completions') {
    const message = { role: 'assistant', content: 'from the other' }
    const choice = { index: 0, finish_reason: 'stop' }
    const counts = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
    const head = { id: 'c', created: 1, model: 'm', usage: counts }
    if (!body.includes('"stream":true')) return Response.json({ ...head, choices: [{ ...choice, message }] })
    const chunk = { ...head, object: 'chat.completion.chunk', choices: [{ ...choice, delta: message }] }
    const type = { 'content-type': 'text/event-stream' }
    return new Response(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`, { headers: type })
  }
  const fault = refusalOf({ method: request.method, target: pathname + search, headers, body }, IDENTITY, Date.now())
  seen.faults.push(fault?.code)
  const error = (status: number, type: string, message: string): Response =>
    Response.json({ message }, { status, headers: { 'x-amzn-errortype': `${type}:http://internal.amazon.com/` } })
  if (fault) return error(403, 'InvalidSignatureException', fault.message)
  if (pathname.includes('/none/')) return error(400, 'ValidationException', 'The provided model identifier is invalid.')
  const message = refused?.(body)
  if (message !== undefined) return error(400, 'ValidationException', message)
  const name = /([a-z]+)\/converse/.exec(pathname)?.[1] ?? ''
  if (pathname.endsWith('/converse')) {
    if (pathname.includes('llama')) await Bun.sleep(FIRST_EVENT_MS * 3)
    const output = { message: { role: 'assistant', content: [{ text: 'Hello you.' }] } }
    return Response.json({ output, stopReason: 'end_turn', usage, metrics: { latencyMs: 1 } })
  }
  const frames = streams[name] ?? streams['good'] ?? []
  const sent = name in streams && name !== 'good' ? inTwo(frames) : Uint8Array.from(Buffer.concat(frames))
  return new Response(sent, { headers: { 'content-type': AWS_EVENT_STREAM } })
}

const gateway = useGateway(
  () => {
    vendor = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: serve })
    const origin = `http://127.0.0.1:${vendor.port}`
    const key = JSON.stringify({ access_key_id: 'AKID', secret_access_key: SECRET, region: 'eu-west-1' })
    const price = 'price: { input: 1, output: 2, cached_input: 0.1, cache_write: 1.25, cache_write_1h: 2 }'
    const offer = (model: string): string => `{ provider: aws, model: '${model}' }`
    const other = '{ provider: other, model: o, priority: 1 }'
    const model = (id: string, ...offers: string[]): string => `  ${id}: { ${price}, offers: [${offers.join(', ')}] }`
    return {
      yaml: [
        'sandbox: false',
        'providers:',
        `  aws: { preset: bedrock-converse, base_url: '${origin}', allow_private: true, key: '${key}' }`,
        `  other: { base_url: '${origin}', allow_private: true }`,
        'models:',
        model('arn', offer(`${ARN}#anthropic.claude-sonnet-4-5`)),
        model('nova', offer('us.amazon.nova-pro-v1:0')),
        `${model('llama', offer('us.meta.llama4-scout-17b-instruct-v1:0')).slice(0, -2)}, first_event_timeout_ms: ${FIRST_EVENT_MS} }`,
        ...Object.keys(streams).map((name) => model(name, offer(`eu.amazon.nova:${name}`), other)),
      ].join('\n'),
    }
  },
  () => vendor.stop(true),
)
beforeEach(() => {
  Object.assign(seen, { targets: [], faults: [], bodies: [] })
  refused = undefined
  wordsArrived = Promise.withResolvers()
})

/** The first two frames, and the others once the client has the words of these. */
async function* inTwo(frames: readonly Buffer[]): AsyncGenerator<Uint8Array> {
  yield Uint8Array.from(Buffer.concat(frames.slice(0, 2)))
  if (frames.length > 2) await wordsArrived.promise
  yield Uint8Array.from(Buffer.concat(frames.slice(2)))
}

const streamed = async (
  model: string,
): Promise<{ words: string; events: string; result: unknown; charged: string }> => {
  const response = await chat(gateway, { model, stream: true, stream_options: { include_usage: true } })
  let events = ''
  const decoder = new TextDecoder()
  for await (const piece of response.body ?? []) {
    events += decoder.decode(piece, { stream: true })
    if (events.includes('Hello ')) wordsArrived.resolve()
  }
  const words = [...events.matchAll(/"content":"([^"]*)"/g)].map(([, piece]) => piece).join('')
  const request = response.headers.get('x-request-id') ?? ''
  const { attempts, charged } = await gateway.operate<{ attempts: string; charged: string }>('request.show', {
    request,
  })
  return { words, events, charged, result: (JSON.parse(attempts) as { result: string }[]).map(({ result }) => result) }
}

test('a model in the path is signed as it is sent', async () => {
  for (const model of ['arn', 'nova']) {
    expect((await chat(gateway, { model })).status).toBe(200)
    expect((await streamed(model)).words).toBe('Hello you.')
  }
  expect(seen.faults).toEqual([undefined, undefined, undefined, undefined])
  const arn = `/model/${encodeURIComponent(ARN)}`
  const nova = '/model/us.amazon.nova-pro-v1%3A0'
  expect(seen.targets).toEqual([
    `${arn}/converse`,
    `${arn}/converse-stream`,
    `${nova}/converse`,
    `${nova}/converse-stream`,
  ])
})

test('the provider’s test needs no model and generates nothing', async () => {
  expect(await gateway.operate('provider.test', { id: 'aws' })).toMatchObject({ ok: true, status: 400 })
  expect(seen.targets).toEqual(['/model/none/converse'])
})

test('what the cache gave and took is billed by its own price, whole and streamed', async () => {
  const billed = { prompt_tokens: 35, completion_tokens: 7, prompt_tokens_details: { cached_tokens: 10 } }
  const whole = await chat(gateway, { model: 'nova' })
  expect(await whole.json()).toMatchObject({ usage: billed })
  const { events, charged } = await streamed('nova')
  // In nano-USD: 5 tokens at $1, 10 at $0.1, 20 at $1.25, and 7 at $2 a million.
  expect(charged).toBe('45000')
  expect(events).toContain('"prompt_tokens":35')
  expect(events).toContain('"cached_tokens":10')
})

test('an exception before the first word goes to the next offer', async () => {
  expect(await streamed('throttled')).toMatchObject({ words: 'from the other', result: ['rate', 'ok'] })
})

describe('a stream that breaks after its first words ends as an error', () => {
  test.each(['failing', 'damaged', 'truncated', 'protocol', 'malformed', 'endless'])('%s', async (model) => {
    const { words, events } = await streamed(model)
    expect(words).toBe('Hello ')
    expect(events).toContain('"error"')
    expect(events).not.toContain('[DONE]')
  })
})

test('a stream without a usage is whole, and its usage is counted', async () => {
  const { words, events } = await streamed('unmetered')
  expect(words).toBe('Hello ')
  expect(events).toContain('[DONE]')
  expect(events).toMatch(/"completion_tokens":[1-9]/)
})

test('a whole reply to a request for a stream has the time of a whole reply', async () => {
  const tools = [{ type: 'function', function: { name: 'look', parameters: { type: 'object' } } }]
  const response = await chat(gateway, { model: 'llama', stream: true, tools })
  const events = await response.text()
  expect([response.status, events]).toEqual([200, expect.stringContaining('"content":"Hello you."')])
  expect(events).toContain('[DONE]')
  expect(seen.targets).toEqual(['/model/us.meta.llama4-scout-17b-instruct-v1%3A0/converse'])
})

test('a field that a model refuses is left out, though it stands inside another', async () => {
  refused = (body) =>
    body.includes('stopSequences')
      ? "This model doesn't support the stopSequences field. Remove stopSequences and try again."
      : undefined
  const response = await chat(gateway, { model: 'nova', stop: ['x'], temperature: 0.5 })
  expect([response.status, response.headers.get('x-tollgate-dropped')]).toEqual([200, 'stopSequences'])
  expect(seen.bodies.at(-1)).toContain('"inferenceConfig":{"temperature":0.5}')
})
