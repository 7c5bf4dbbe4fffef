/** POST /v1/images/generations over real sockets, with common clients. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { experimental_generateImage as generateImage } from 'ai'
import OpenAI6 from 'openai-6'
import OpenAI7 from 'openai-7'
import { startGateway, startSandboxProcess, type TestGateway, type TestSandbox } from '../support/gateway.ts'
import { hasMagick, identify } from '../support/magick.ts'
import { readPng } from '../support/png.ts'
import { countOf, reportFigure } from '../support/soaks.ts'

let sandbox: TestSandbox
let gateway: TestGateway
let odd: Bun.Server<undefined>
const asked: Record<string, unknown>[] = []
/** What the odd vendor gives: a real picture. */
let picture = ''

/** A vendor with manners of its own, by the name of the model. */
function oddVendor(body: Record<string, unknown>, origin: string): Response {
  const usage = { input_tokens: 10, output_tokens: 200, total_tokens: 210 }
  switch (body['model']) {
    case 'by-url':
      return Response.json({ created: 5, data: [{ url: `${origin}/file.png`, revised_prompt: 'better' }] })
    case 'by-slow-url':
      return Response.json({ created: 5, data: [{ url: `${origin}/slow.png` }] })
    case 'truncated':
      return Response.json({ data: [{ b64_json: picture.slice(0, picture.length / 2) }], usage })
    case 'half':
      return Response.json({ data: [{ b64_json: picture }, { b64_json: 'aGVsbG8=' }], usage })
    case 'too-many':
      return Response.json({ data: Array.from({ length: 5 }, () => ({ b64_json: picture })) })
    case 'nothing':
      return Response.json({ data: [], usage })
    case 'no-input':
      return Response.json({ data: [{ b64_json: picture }], usage: { input_tokens: 0, output_tokens: 300 } })
    case 'zeros':
    case 'all-words': {
      const counts = body['model'] === 'zeros' ? { input_tokens: 0, output_tokens: 0 } : usage
      const details = { output_tokens_details: { text_tokens: 200 } }
      return Response.json({ data: [{ b64_json: picture }], usage: { ...counts, ...details } })
    }
    case 'half-told': {
      const event = { type: 'image_generation.completed', b64_json: picture }
      const events = [{ ...event, usage }, event].map((one) => `event: ${one.type}\ndata: ${JSON.stringify(one)}\n\n`)
      return new Response(events.join(''), { headers: { 'content-type': 'text/event-stream' } })
    }
    case 'broken-stream': {
      const event = { type: 'image_generation.partial_image', b64_json: picture, partial_image_index: 0 }
      const text = `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\ndata: {"error":{"message":"no"}}\n\n`
      return new Response(text, { headers: { 'content-type': 'text/event-stream' } })
    }
    default:
      return Response.json({ data: [{ b64_json: picture }] }) // no usage
  }
}

/** A model as the declaration has it, that is sold by tokens. */
const byTokens = (id: string, offers: string, ...more: readonly string[]): string => {
  const fields = ['kind: image', 'price: { input: 5, output: 0, image_output: 40 }', 'image: { family: gpt-image }']
  return `  ${id}: { ${[...fields, ...more, `offers: [${offers}]`].join(', ')} }`
}

beforeAll(async () => {
  sandbox = await startSandboxProcess()
  odd = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const { origin, pathname } = new URL(request.url)
      if (pathname === '/slow.png') await Bun.sleep(500)
      if (request.method === 'GET') return new Response(Buffer.from(picture, 'base64'))
      const body = (await request.json()) as Record<string, unknown>
      asked.push(body)
      return oddVendor(body, origin)
    },
  })
  const pieces = ['by-url', 'by-slow-url', 'unrevised', 'truncated', 'half', 'too-many', 'nothing'].map(
    (id) =>
      `  ${id}: { kind: image, price: { each: { image: 0.01 } }, image: { n_max: 4 }, offers: [{ provider: odd, model: ${id} }] }`,
  )
  gateway = await startGateway({
    yaml: `
providers:
  vendor: { base_url: '${sandbox.baseUrl}', allow_private: true }
  odd: { base_url: 'http://127.0.0.1:${odd.port}/v1', allow_private: true }
models:
${byTokens('modern', '{ provider: vendor, model: sandbox-image }')}
${byTokens('rescued', '{ provider: odd, model: truncated }, { provider: vendor, model: sandbox-image, priority: 1 }')}
${byTokens('estimated', '{ provider: odd, model: estimated }')}
${byTokens('zeros', '{ provider: odd, model: zeros }')}
${byTokens('all-words', '{ provider: odd, model: all-words }')}
${byTokens('no-input', '{ provider: odd, model: no-input }')}
  half-told:
    kind: image
    price: { input: 5, output: 0, image_output: 40 }
    image: { family: gpt-image, n_max: 4 }
    offers: [{ provider: odd, model: half-told }]
${byTokens('broken-stream', '{ provider: odd, model: broken-stream }')}
  unpriced:
    kind: image
    price: { each: { image/512x512: 0.01 } }
    offers: [{ provider: odd, model: by-url }]
${pieces.join('\n')}
`,
  })
  const made = await generate({ model: 'modern', prompt: 'a test card', quality: 'low' })
  picture = made.data[0]?.b64_json ?? ''
}, 30_000)
afterAll(async () => {
  await gateway.close()
  await sandbox.stop()
  await odd.stop(true)
}, 30_000)

type Result = {
  created: number
  data: { b64_json?: string; url?: string; revised_prompt?: string }[]
  size: string
  quality: string
  output_format: string
  usage?: { input_tokens: number; output_tokens: number; total_tokens: number }
}

const post = (body: object): Promise<Response> =>
  fetch(`${gateway.baseUrl}/images/generations`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ prompt: 'a lighthouse at dusk', ...body }),
  })
const generate = async (body: object): Promise<Result> => (await (await post(body)).json()) as Result
async function refusal(body: object): Promise<object> {
  const response = await post(body)
  return { status: response.status, ...((await response.json()) as { error: object }).error }
}
const bytesOf = (result: { data?: { b64_json?: string }[] }, at = 0): Buffer =>
  Buffer.from(result.data?.[at]?.b64_json ?? '', 'base64')
const lastRecord = async (): Promise<Record<string, string>> =>
  (await gateway.operate<Record<string, string>[]>('request.list', { account: gateway.accountId, limit: 1 }))[0] ?? {}

describe('with the clients people use', () => {
  test.each([
    ['openai 6', OpenAI6],
    ['openai 7', OpenAI7],
  ] as const)('%s generates, whole and streamed with partial images', async (_, Client) => {
    // What is used of the two is the same; of a union of both TypeScript can call nothing.
    const client = new Client({ baseURL: gateway.baseUrl, apiKey: gateway.key, maxRetries: 0 }) as OpenAI7
    const prompt = 'a lighthouse at dusk'
    const whole = await client.images.generate({ model: 'modern', prompt, size: '1536x1024', quality: 'low' })
    expect(readPng(bytesOf(whole))).toMatchObject({ width: 1536, height: 1024 })
    expect(whole.usage).toMatchObject({ output_tokens: 408, output_tokens_details: { image_tokens: 408 } })
    expect(whole.data?.[0]).toMatchObject({ url: '' })

    const stream = await client.images.generate({ model: 'modern', prompt, stream: true, partial_images: 2 })
    const events = await Array.fromAsync(stream)
    expect(events.map(({ type }) => type.split('.')[1])).toEqual(['partial_image', 'partial_image', 'completed'])
    for (const event of events) {
      expect(readPng(Buffer.from(event.b64_json, 'base64'))).toMatchObject({ width: 1024, height: 1024 })
      expect(event).toMatchObject({ size: '1024x1024', quality: 'medium', output_format: 'png', background: 'opaque' })
    }
    const [first, second, last] = events
    expect([first, second]).toMatchObject([{ partial_image_index: 0 }, { partial_image_index: 1 }])
    // Both readings of the spec: the flat event, and the image result inside it.
    expect(last).toMatchObject({ usage: { output_tokens: 1256 }, data: [{ b64_json: last?.b64_json }] })
  })

  test('the AI SDK generates, by either of its providers', async () => {
    const settings = { baseURL: gateway.baseUrl, apiKey: gateway.key }
    const direct = await generateImage({ model: createOpenAI(settings).imageModel('modern'), prompt: 'a boat' })
    expect(readPng(Buffer.from(direct.image.base64, 'base64'))).toMatchObject({ width: 1024 })
    const compatible = createOpenAICompatible({ name: 'tollgate', ...settings })
    const model = compatible.imageModel('sandbox-image-classic')
    const { images } = await generateImage({ model, prompt: 'a boat', n: 2, size: '512x512' })
    expect(images.map(({ base64 }) => readPng(Buffer.from(base64, 'base64')).width)).toEqual([512, 512])
  })
})

describe('what is asked for comes', () => {
  test.if(hasMagick).each(['png', 'jpeg', 'webp'])('as %s, by another decoder', async (format) => {
    const result = await generate({ model: 'modern', output_format: format, size: '1024x1536' })
    expect(identify(bytesOf(result))).toBe(`${format.toUpperCase()} 1024x1536`)
    expect(result).toMatchObject({ size: '1024x1536', output_format: format })
  })

  test('another prompt, another picture; transparent where that is asked for', async () => {
    const [one, other, clear] = await Promise.all([
      generate({ model: 'modern', prompt: 'one' }),
      generate({ model: 'modern', prompt: 'other' }),
      generate({ model: 'modern', prompt: 'one', background: 'transparent' }),
    ])
    expect(bytesOf(one).equals(bytesOf(other))).toBe(false)
    const { data, channels } = readPng(bytesOf(clear))
    const alphas = new Set(Array.from({ length: data.length / 4 }, (_, at) => data[at * 4 + 3]))
    expect([channels, alphas]).toEqual([4, new Set([0, 255])])
  })

  test('one image whatever n is from the primary model, n from others, with the revised prompt', async () => {
    expect((await generate({ model: 'modern', n: 4 })).data).toHaveLength(1)
    const several = await generate({
      model: 'sandbox-image-classic',
      n: 3,
      size: '256x256',
      response_format: 'b64_json',
    })
    expect(several.data.map(({ revised_prompt: words }) => words)).toEqual(
      Array.from({ length: 3 }, () => 'a lighthouse at dusk, in bold shapes'),
    )
    expect(new Set(several.data.map(({ b64_json: bytes }) => bytes)).size).toBe(3)
  })

  test('with its own prompt, where the vendor revised none', async () => {
    const { data } = await generate({ model: 'unrevised', prompt: 'as it is' })
    expect(data).toMatchObject([{ revised_prompt: 'as it is' }])
  })

  test('from an upstream that answers with an address', async () => {
    const result = await generate({ model: 'by-url', response_format: 'b64_json' })
    expect(result).toMatchObject({ created: 5, data: [{ b64_json: picture, revised_prompt: 'better' }] })
    expect(asked.at(-1)).toMatchObject({ model: 'by-url', response_format: 'b64_json' })
  })

  test('a model that cannot stream answers as one completed event', async () => {
    const response = await post({
      model: 'sandbox-image-classic',
      size: '256x256',
      stream: true,
      n: 2,
      response_format: 'b64_json',
    })
    expect(response.headers.get('content-type')).toStartWith('text/event-stream')
    const [event, done, rest] = (await response.text()).split('\n\n')
    expect(event).toStartWith('event: image_generation.completed\ndata: {"type":"image_generation.completed"')
    expect((JSON.parse(event?.split('data: ')[1] ?? '') as Result).data).toHaveLength(2)
    expect([done, rest]).toEqual(['data: [DONE]', ''])
    expect(await lastRecord()).toMatchObject({ stream: '1', charged: '32000000' })
  })

  test('unknown fields are not passed on, and said to be', async () => {
    const response = await post({ model: 'estimated', prompt: 'x', batch: 4, 'x\ny': 1 })
    expect(response.headers.get('x-tollgate-dropped')).toBe('batch')
    expect(asked.at(-1)).toEqual({ model: 'estimated', prompt: 'x' })
  })
})

describe('the bill', () => {
  test('is the tokens that are reported', async () => {
    const { usage } = await generate({ model: 'modern', quality: 'low' })
    const charged = (usage?.input_tokens ?? 0) * 5_000 + 272 * 40_000
    expect(await lastRecord()).toMatchObject({
      charged: String(charged),
      usage_source: 'reported',
      output_image: '272',
    })
  })

  test('is the images that came, where they are sold by the piece', async () => {
    await generate({ model: 'sandbox-image-classic', n: 2, quality: 'hd', response_format: 'b64_json' })
    expect(await lastRecord()).toMatchObject({
      held: '160000000',
      charged: '160000000',
      pieces: '[{"unit":"piece:image/1024x1024/hd","count":2}]',
    })
    expect((await generate({ model: 'half', n: 2 })).data).toHaveLength(1)
    expect(await lastRecord()).toMatchObject({ held: '20000000', charged: '10000000' })
    expect((await generate({ model: 'too-many', n: 3 })).data).toHaveLength(3)
    expect(await lastRecord()).toMatchObject({ held: '30000000', charged: '30000000' })
  })

  test('is an estimate where tokens are not reported, and marked', async () => {
    await generate({ model: 'estimated', prompt: 'x', quality: 'low' })
    expect(await lastRecord()).toMatchObject({ usage_source: 'estimated', output_image: '408' })
  })

  test.each(['zeros', 'all-words'])('is an estimate where no image is counted beside one: %s', async (model) => {
    const { usage } = await generate({ model, prompt: 'x', quality: 'low' })
    const record = await lastRecord()
    expect(record).toMatchObject({ usage_source: 'estimated', output_image: '408' })
    expect(usage).toMatchObject({ input_tokens: Number(record['input_fresh']), output_tokens: 408 })
    expect(Number(record['charged'])).toBe(Number(record['input_fresh']) * 5_000 + 408 * 40_000)
  })

  test('has the image as it was reported where only the input was not', async () => {
    const { usage } = await generate({ model: 'no-input', prompt: 'a red boat', quality: 'low' })
    const record = await lastRecord()
    expect(record).toMatchObject({ usage_source: 'estimated', output_image: '300' })
    expect(Number(record['input_fresh'])).toBeGreaterThan(0)
    expect(usage).toMatchObject({ input_tokens: Number(record['input_fresh']), output_tokens: 300 })
    expect(Number(record['charged'])).toBe(Number(record['input_fresh']) * 5_000 + 300 * 40_000)
  })

  test('is nothing without an image that can be decoded', async () => {
    for (const model of ['truncated', 'nothing']) {
      expect(await refusal({ model })).toMatchObject({ status: 502, code: 'upstream_error' })
      expect(await lastRecord()).toMatchObject({ outcome: 'failed', charged: '0' })
    }
    expect((await generate({ model: 'rescued', quality: 'low' })).data).toHaveLength(1)
  })

  test('is nothing for a stream that breaks off before its image, with the error inside it', async () => {
    const client = new OpenAI7({ baseURL: gateway.baseUrl, apiKey: gateway.key, maxRetries: 0 })
    const ask = { model: 'broken-stream', prompt: 'x', stream: true, partial_images: 2 } as const
    const seen: string[] = []
    const reading = async (): Promise<void> => {
      for await (const { type } of await client.images.generate(ask)) seen.push(type)
    }
    const error: unknown = await reading().catch((thrown: unknown) => thrown)
    expect(String(error)).toContain('Nothing was charged')
    expect(seen).toEqual(['image_generation.partial_image'])
    expect(await lastRecord()).toMatchObject({ outcome: 'cut', charged: '0', pieces: null })
  })

  test('is for both images of a stream that tells what one of them came to', async () => {
    const response = await post({ model: 'half-told', n: 2, stream: true, quality: 'low', size: '1024x1024' })
    expect((await response.text()).match(/event: image_generation.completed/g)).toHaveLength(2)
    // 272 tokens each at $40 a million, where a report of one had said 200 for all.
    const record = await lastRecord()
    expect(record).toMatchObject({ outcome: 'completed', usage_source: 'estimated' })
    expect(Number(record['charged'])).toBeGreaterThan(2 * 272 * 40_000)
  })

  test('is for the image that was made, though its client left while it was fetched', async () => {
    const gone = fetch(`${gateway.baseUrl}/images/generations`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'by-slow-url', prompt: 'x' }),
      signal: AbortSignal.timeout(250),
    }).catch(() => undefined)
    expect(await gone).toBeUndefined()
    let record = await lastRecord()
    for (let tries = 0; record['model'] !== 'by-slow-url' && tries < 250; tries++) {
      await Bun.sleep(20)
      record = await lastRecord()
    }
    const attempts = JSON.parse(record['attempts'] ?? '[]') as { result: string }[]
    expect([record['outcome'], record['charged'], attempts.map(({ result }) => result)]).toEqual([
      'client_closed',
      '10000000',
      ['ok'],
    ])
  })

  test('is held before anything is asked', async () => {
    const { id } = await gateway.operate<{ id: string }>('account.create', { name: 'poor', balance: '0.001' })
    const { secret } = await gateway.operate<{ secret: string }>('key.create', { account: id, name: 'k' })
    const before = asked.length
    const response = await fetch(`${gateway.baseUrl}/images/generations`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'by-url', prompt: 'x' }),
    })
    expect(response.status).toBe(401)
    expect(asked).toHaveLength(before)
  })
})

describe('what is refused', () => {
  test.each([
    [{ model: undefined }, 'model', 'missing_required_parameter'],
    [{ prompt: undefined }, 'prompt', 'missing_required_parameter'],
    [{ prompt: '' }, 'prompt', 'invalid_value'],
    [{ size: '1000x1000' }, 'size', "'auto', '1024x1024'"],
    [{ size: 7 }, 'size', 'invalid_type'],
    [{ quality: 'hd' }, 'quality', "'low', 'medium', 'high'"],
    [{ output_format: 'gif' }, 'output_format', "'png', 'jpeg', 'webp'"],
    [{ background: 'blue' }, 'background', "'transparent'"],
    [{ background: 'transparent', output_format: 'jpeg' }, 'background', 'png'],
    [{ output_compression: 50 }, 'output_compression', 'jpeg'],
    [{ model: 'sandbox-image-classic', output_compression: 50 }, 'output_compression', 'unsupported_parameter'],
    [{ n: 0 }, 'n', 'invalid_value'],
    [{ n: 11 }, 'n', 'at most 10'],
    [{ response_format: 'url' }, 'response_format', 'b64_json'],
    [{ style: 'vivid' }, 'style', 'unsupported_parameter'],
    [{ stream: true, partial_images: 4 }, 'partial_images', 'invalid_value'],
    [{ model: 'unpriced' }, null, 'no price'],
    [{ model: 'unpriced', size: '256x256' }, 'size', 'no price'],
    [{ model: 'sandbox-chat' }, 'model', 'model_not_supported'],
    [{ model: 'no-such' }, 'model', 'model_not_found'],
  ])('%j', async (fields, param, says) => {
    const answer = await refusal({ model: 'modern', ...fields })
    expect(answer).toMatchObject({ type: 'invalid_request_error', param })
    expect(JSON.stringify(answer)).toContain(says)
  })
})

const LONG_SECONDS = countOf('long-images')

test(
  `an image may take ${LONG_SECONDS} s with all limits as they are, and its client is still there`,
  async () => {
    const delay = `delay-ms=${LONG_SECONDS * 1_000}`
    const slow = await startGateway({
      yaml: `
providers:
  vendor: { base_url: '${sandbox.baseUrl}', allow_private: true }
models:
${byTokens('slow', `{ provider: vendor, model: 'sandbox-image!${delay}' }`)}
  slow-turn:
    kind: image
    price: { input: 1, output: 3, image_output: 60 }
    image: { family: gemini-3.1-flash-image }
    offers: [{ provider: sandbox, model: 'sandbox-image-gemini!${delay}' }]
`,
    })
    const { baseURL, apiKey } = { baseURL: slow.baseUrl, apiKey: slow.key }
    const client = new OpenAI7({ baseURL, apiKey, maxRetries: 0 })
    const startedMs = performance.now()
    const post = (url: URL, body: object): Promise<unknown> => {
      const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' }
      return fetch(url, { method: 'POST', headers, body: JSON.stringify(body), timeout: false } as RequestInit).then(
        (response) => response.json(),
      )
    }
    const turn = new URL('/v1beta/models/slow-turn:generateContent', baseURL)
    const [whole, streamed, painted] = await Promise.all([
      post(new URL(`${baseURL}/images/generations`), { model: 'slow', prompt: 'x', quality: 'low' }),
      client.images
        .generate({ model: 'slow', prompt: 'x', quality: 'low', stream: true })
        .then((s) => Array.fromAsync(s)),
      post(turn, { contents: [{ parts: [{ text: 'x' }] }] }),
    ])
    expect(performance.now() - startedMs).toBeGreaterThan(LONG_SECONDS * 1_000)
    expect(whole).toMatchObject({ data: [{ b64_json: expect.any(String) }] })
    expect(streamed).toHaveLength(1)
    expect(painted).toMatchObject({ candidates: [{ finishReason: 'STOP' }] })
    reportFigure(`images that take ${LONG_SECONDS} s arrive, whole, streamed and in a turn`)
    await slow.close()
  },
  30_000 + LONG_SECONDS * 1_000,
)

test('an image in one piece that takes too long may be made and billed: nobody else is asked, streamed or not', async () => {
  const delayed = "{ provider: vendor, model: 'sandbox-image!delay-ms=3000' }"
  const late = await startGateway({
    yaml: `
providers:
  vendor: { base_url: '${sandbox.baseUrl}', allow_private: true }
models:
  late:
    kind: image
    price: { input: 5, output: 0, image_output: 40 }
    image: { family: gpt-image, streams: false }
    offers: [${delayed}, { provider: vendor, model: sandbox-image, priority: 1 }]
`,
    env: { TOLLGATE_WHOLE_REPLY_TIMEOUT_MS: '300' },
  })
  for (const stream of [false, true]) {
    const response = await fetch(`${late.baseUrl}/images/generations`, {
      method: 'POST',
      headers: { authorization: `Bearer ${late.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'late', prompt: 'x', quality: 'low', stream }),
    })
    expect(await response.text()).toContain('"code":"upstream_timeout"')
  }
  expect(await late.metrics()).not.toMatch(/attempts_total\{provider="vendor",result="ok"\}/)
  await late.close()
}, 20_000)

test('an image may take longer than any other answer, whole and streamed', async () => {
  const slow = await startGateway({
    yaml: `
providers:
  vendor: { base_url: '${sandbox.baseUrl}', allow_private: true }
models:
${byTokens('slow', "{ provider: vendor, model: 'sandbox-image!delay-ms=1500' }", 'first_event_timeout_ms: 200')}
`,
    env: { TOLLGATE_EVENT_GAP_TIMEOUT_MS: '300', TOLLGATE_STALL_TIMEOUT_MS: '300', TOLLGATE_HEARTBEAT_MS: '200' },
  })
  const client = new OpenAI7({ baseURL: slow.baseUrl, apiKey: slow.key, maxRetries: 0 })
  expect((await client.images.generate({ model: 'slow', prompt: 'x', quality: 'low' })).data).toHaveLength(1)
  const stream = await client.images.generate({ model: 'slow', prompt: 'x', quality: 'low', stream: true })
  expect(await Array.fromAsync(stream)).toHaveLength(1)
  await slow.close()
}, 20_000)
