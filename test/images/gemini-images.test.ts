/** Models that create images in turns of Gemini's API: with Google's SDK, with valid and with invalid images. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { ApiError, GoogleGenAI, type GenerateContentResponse, type Part } from '@google/genai'
import sharp from 'sharp'
import { startGateway, startSandboxProcess, type TestGateway, type TestSandbox } from '../support/gateway.ts'
import { hasMagick, identify } from '../support/magick.ts'
import { readPng } from '../support/png.ts'

let sandbox: TestSandbox
let gateway: TestGateway
let odd: Bun.Server<undefined>
let picture = ''
const asked: string[] = []

const imagePart = (data: string): object => ({ inlineData: { mimeType: 'image/png', data } })
const answerOf = (parts: object[], rest: object = {}): object => ({
  candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP', index: 0 }],
  usageMetadata: {
    promptTokenCount: 10,
    candidatesTokenCount: 1_500,
    thoughtsTokenCount: 100,
    totalTokenCount: 1_610,
    candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: 1_290 }],
  },
  ...rest,
})
const nothingOut = { promptTokenCount: 10, candidatesTokenCount: 0, totalTokenCount: 10 }
const noDetails = { promptTokenCount: 10, candidatesTokenCount: 1_500, totalTokenCount: 1_510 }

/** A vendor that gives what the name of its model says. */
function oddAnswers(model: string): object[] {
  const broken = picture.slice(0, picture.length / 2)
  switch (model) {
    case 'spoiled':
      return [answerOf([imagePart(broken)])]
    case 'half-spoiled':
      return [answerOf([imagePart(picture), imagePart(broken)])]
    case 'refuses':
      return [{ ...answerOf([]), candidates: [{ finishReason: 'NO_IMAGE', index: 0 }] }]
    case 'at-limit': {
      const usageMetadata = { promptTokenCount: 10, thoughtsTokenCount: 100, totalTokenCount: 110 }
      return [{ candidates: [{ finishReason: 'MAX_TOKENS', index: 0 }], usageMetadata }]
    }
    case 'pauses':
      return [{ candidates: [{ content: { parts: [{ ...imagePart(picture), thought: true }] }, index: 0 }] }]
    case 'only-words':
      return [answerOf([{ text: 'Which colours do you like?' }])]
    case 'only-sketches':
      return [answerOf([{ ...imagePart(picture), thought: true }])]
    case 'untold':
      return [answerOf([{ text: 'Here.' }, imagePart(picture)], { usageMetadata: noDetails })]
    case 'uncounted':
      return [answerOf([{ text: 'Here.' }, imagePart(picture)], { usageMetadata: undefined })]
    case 'nothing-out':
      return [answerOf([{ text: 'Here.' }, imagePart(picture)], { usageMetadata: nothingOut })]
    case 'spoiled-later': {
      const words = { candidates: [{ content: { parts: [{ text: 'Here' }] }, index: 0 }] }
      return [words, answerOf([imagePart(broken)])]
    }
    default:
      return [{ error: { code: 500, message: `no ${model}`, status: 'INTERNAL' } }]
  }
}

beforeAll(async () => {
  const pixels = { width: 64, height: 64, channels: 3 as const, background: 'teal' }
  picture = (await sharp({ create: pixels }).png().toBuffer()).toString('base64')
  sandbox = await startSandboxProcess()
  odd = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      asked.push(await request.text())
      const [, model = '', action] = /\/models\/([^:]+):(\w+)/.exec(request.url) ?? []
      const answers = oddAnswers(model)
      if (action === 'generateContent') return Response.json(answers.at(-1))
      const events = answers.map((answer) => `data: ${JSON.stringify(answer)}\n\n`).join('')
      const paused = async function* (): AsyncGenerator<string> {
        yield events
        await Bun.sleep(5_000)
      }
      return new Response(model === 'pauses' ? paused() : events, { headers: { 'content-type': 'text/event-stream' } })
    },
  })
  const base = new URL(sandbox.baseUrl).origin
  const price = 'price: { input: 0.5, image_input: 1, output: 3, image_output: 60 }'
  const oddModels =
    'spoiled half-spoiled refuses only-words only-sketches untold uncounted nothing-out spoiled-later at-limit pauses'.split(
      ' ',
    )
  gateway = await startGateway({
    yaml: `
providers:
  google: { preset: gemini, base_url: '${base}/v1beta', allow_private: true, key: 'k' }
  odd: { preset: gemini, base_url: 'http://127.0.0.1:${odd.port}/v1beta', allow_private: true, key: 'k' }
  chat: { base_url: '${sandbox.baseUrl}', allow_private: true }
models:
  banana:
    kind: image
    ${price}
    image: { family: gemini-3.1-flash-image }
    offers: [{ provider: google, model: sandbox-image-gemini }]
  left:
    kind: image
    ${price}
    image: { family: gemini-3.1-flash-image }
    offers: [{ provider: google, model: sandbox-image-gemini }]
  rescued:
    kind: image
    ${price}
    image: { family: gemini-3.1-flash-image }
    offers: [{ provider: odd, model: spoiled }, { provider: google, model: sandbox-image-gemini, priority: 1 }]
  misplaced:
    kind: image
    ${price}
    image: { family: gemini-2.5-flash-image }
    offers: [{ provider: chat, model: sandbox-chat }]
  words: { price: { input: 1, output: 2 }, offers: [{ provider: google, model: sandbox-chat }] }
${oddModels.map((id) => `  ${id}: { kind: image, ${price}, image: { family: gemini-2.5-flash-image }, offers: [{ provider: odd, model: ${id} }] }`).join('\n')}
`,
  })
}, 30_000)
afterAll(async () => {
  await gateway.close()
  await sandbox.stop()
  await odd.stop(true)
}, 30_000)

const google = (): GoogleGenAI =>
  new GoogleGenAI({ apiKey: gateway.key, httpOptions: { baseUrl: new URL(gateway.baseUrl).origin } })
const partsOf = (reply: GenerateContentResponse): Part[] => reply.candidates?.[0]?.content?.parts ?? []
const imagesOf = (parts: readonly Part[]): string[] =>
  parts.flatMap(({ inlineData, thought }) => (thought ? [] : (inlineData?.data ?? [])))

type StoredRecord = Readonly<
  Record<'model' | 'outcome' | 'charged' | 'usage_source' | 'input_image' | 'output_text' | 'output_image', string>
>

/** The newest record, once nothing is held; of this model, if one is named. */
async function lastRecord(model?: string): Promise<StoredRecord> {
  for (let attempt = 0; attempt < 300; attempt++) {
    const { held_nano_usd: held } = await gateway.operate<{ held_nano_usd: string }>('account.show', {
      account: gateway.accountId,
    })
    const [record] = await gateway.operate<StoredRecord[]>('request.list', { account: gateway.accountId, limit: 1 })
    if (held === '0' && record && (model === undefined || record.model === model)) return record
    await Bun.sleep(20)
  }
  throw new Error('no record')
}

/** Hangs up in the middle of a stream, as soon as a picture begins. */
async function leaveAtImage(model: string): Promise<void> {
  const hangUp = new AbortController()
  const url = `${new URL(gateway.baseUrl).origin}/v1beta/models/${model}:streamGenerateContent?alt=sse`
  const response = await fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ contents: [{ parts: [{ text: 'a boat' }] }] }),
    signal: hangUp.signal,
  })
  const decoder = new TextDecoder()
  for await (const bytes of response.body ?? []) if (decoder.decode(bytes).includes('inlineData')) break
  hangUp.abort()
}

/** Nano-USD of tokens at dollars per million. */
const price = (...lines: readonly (readonly [tokens: number, dollars: number])[]): string =>
  String(lines.reduce((sum, [tokens, dollars]) => sum + tokens * dollars * 1_000, 0))

const image = { responseModalities: ['TEXT', 'IMAGE'] }

describe('with Google’s SDK', () => {
  test('a picture in the asked ratio and size, beside words, and its bill', async () => {
    const config = { ...image, imageConfig: { aspectRatio: '16:9', imageSize: '512' } }
    const reply = await google().models.generateContent({ model: 'banana', contents: 'a lighthouse', config })
    expect(reply.text).toBe('Here is the picture.')
    const [file = ''] = imagesOf(partsOf(reply))
    expect(readPng(Buffer.from(file, 'base64'))).toMatchObject({ width: 688, height: 384 })
    if (hasMagick) expect(identify(Buffer.from(file, 'base64'))).toBe('PNG 688x384')
    const { promptTokenCount = 0, candidatesTokenCount = 0, thoughtsTokenCount = 0 } = reply.usageMetadata ?? {}
    expect(reply.usageMetadata?.candidatesTokensDetails).toMatchObject([{ modality: 'IMAGE', tokenCount: 747 }])
    expect(await lastRecord()).toMatchObject({
      model: 'banana',
      outcome: 'completed',
      usage_source: 'reported',
      charged: price([promptTokenCount, 0.5], [candidatesTokenCount - 747 + thoughtsTokenCount, 3], [747, 60]),
    })
  })

  test('the same bytes whole, streamed, and straight from the vendor', async () => {
    const ask = { contents: 'a lighthouse', config: { ...image, imageConfig: { imageSize: '512' } } }
    const whole = imagesOf(partsOf(await google().models.generateContent({ model: 'banana', ...ask })))
    const chunks = await Array.fromAsync(await google().models.generateContentStream({ model: 'banana', ...ask }))
    expect(chunks.map(({ text = '' }) => text).join('')).toBe('Here is the picture.')
    const streamed = imagesOf(chunks.flatMap(partsOf))
    const vendor = new GoogleGenAI({ apiKey: 'k', httpOptions: { baseUrl: new URL(sandbox.baseUrl).origin } })
    const direct = await vendor.models.generateContent({ model: 'sandbox-image-gemini', ...ask })
    expect(whole).toHaveLength(1)
    expect(streamed).toEqual(whole)
    expect(imagesOf(partsOf(direct))).toEqual(whole)
    const { promptTokenCount = 0 } = direct.usageMetadata ?? {}
    const { charged } = await lastRecord()
    expect(charged).toBe(price([promptTokenCount, 0.5], [6 + 24, 3], [747, 60]))
  })

  test('another picture for another prompt; without words where none are wanted', async () => {
    const config = { responseModalities: ['IMAGE'], imageConfig: { imageSize: '512' } }
    const [one, other] = await Promise.all(
      ['a boat', 'a tree'].map((contents) => google().models.generateContent({ model: 'banana', contents, config })),
    )
    expect(one && partsOf(one)).toHaveLength(1)
    expect(imagesOf(one ? partsOf(one) : [])).not.toEqual(imagesOf(other ? partsOf(other) : []))
  })

  test('thoughts may have sketches in them, which are no images of the answer', async () => {
    const config = { ...image, imageConfig: { imageSize: '512' }, thinkingConfig: { includeThoughts: true } }
    const reply = await google().models.generateContent({ model: 'banana', contents: 'a boat', config })
    expect(partsOf(reply).filter(({ inlineData, thought }) => thought && inlineData)).toHaveLength(1)
    expect(imagesOf(partsOf(reply))).toHaveLength(1)
  })

  test('a picture is edited in the next turn, and counts as input at its own price', async () => {
    const config = { ...image, imageConfig: { imageSize: '512' } }
    const first = await google().models.generateContent({ model: 'banana', contents: 'a boat', config })
    const [file = ''] = imagesOf(partsOf(first))
    const contents = [
      { role: 'user', parts: [{ inlineData: { mimeType: 'image/png', data: file } }, { text: 'at night' }] },
    ]
    const next = await google().models.generateContent({ model: 'banana', contents, config })
    expect(imagesOf(partsOf(next))).toHaveLength(1)
    expect(imagesOf(partsOf(next))).not.toEqual([file])
    const { promptTokenCount = 0 } = next.usageMetadata ?? {}
    expect(await lastRecord()).toMatchObject({
      input_image: '255',
      output_image: '747',
      charged: price([promptTokenCount - 255, 0.5], [255, 1], [6 + 24, 3], [747, 60]),
    })
    // The whole conversation, with what the model said as it said it.
    const whole = [{ role: 'user', parts: [{ text: 'a boat' }] }, first.candidates?.[0]?.content ?? {}, ...contents]
    expect(
      imagesOf(partsOf(await google().models.generateContent({ model: 'banana', contents: whole, config }))),
    ).toHaveLength(1)
  })

  test('words alone where only they are wanted', async () => {
    const config = { responseModalities: ['TEXT'] }
    const reply = await google().models.generateContent({ model: 'banana', contents: 'a boat', config })
    expect(partsOf(reply).every(({ inlineData }) => !inlineData)).toBe(true)
    expect((await lastRecord()).charged).not.toBe('0')
  })
})

test('either spelling, as in the examples for curl', async () => {
  const response = await fetch(`${new URL(gateway.baseUrl).origin}/v1beta/models/banana:generateContent`, {
    method: 'POST',
    headers: { 'x-goog-api-key': gateway.key, 'content-type': 'application/json' },
    body: JSON.stringify({
      contents: [{ parts: [{ inline_data: { mime_type: 'image/png', data: picture } }, { text: 'at night' }] }],
      generation_config: {
        response_modalities: ['IMAGE'],
        image_config: { aspect_ratio: '16:9', image_size: '512' },
      },
    }),
  })
  const reply = (await response.json()) as GenerateContentResponse
  const [file = ''] = imagesOf(partsOf(reply))
  expect(readPng(Buffer.from(file, 'base64'))).toMatchObject({ width: 688, height: 384 })
  expect(reply.usageMetadata).toMatchObject({ candidatesTokenCount: 747 })
})

describe('the bill', () => {
  const ask = (model: string): Promise<unknown> =>
    google()
      .models.generateContent({ model, contents: 'a boat', config: image })
      .catch((error: unknown) => error)

  test('is nothing where no image can be decoded, and the next offer is asked', async () => {
    expect(await ask('spoiled')).toMatchObject({ status: 502 })
    expect(await lastRecord()).toMatchObject({ model: 'spoiled', charged: '0', outcome: 'failed' })
    expect(imagesOf(partsOf((await ask('rescued')) as GenerateContentResponse))).toHaveLength(1)
  })

  test('is nothing where neither image nor word came, and the reason reaches the client', async () => {
    expect(await ask('refuses')).toMatchObject({ candidates: [{ finishReason: 'NO_IMAGE' }] })
    expect(await lastRecord()).toMatchObject({ model: 'refuses', charged: '0', outcome: 'completed' })
    await ask('only-sketches')
    expect(await lastRecord()).toMatchObject({ model: 'only-sketches', charged: '0' })
  })

  test('is what the vendor did where the client’s own limit, or its leaving, is why nothing came', async () => {
    await ask('at-limit')
    expect(await lastRecord('at-limit')).toMatchObject({ charged: price([10, 0.5], [100, 3]), output_image: '0' })
    await leaveAtImage('pauses')
    const left = await lastRecord('pauses')
    expect(left).toMatchObject({ outcome: 'client_closed', usage_source: 'estimated', output_image: '0' })
    expect(Number(left.charged)).toBeGreaterThan(0)
  })

  test('is the words where they came instead of an image', async () => {
    await ask('only-words')
    expect(await lastRecord()).toMatchObject({ output_image: '0', charged: price([10, 0.5], [210 + 100, 3]) })
  })

  test('is for the images that can be decoded, where others cannot', async () => {
    await ask('half-spoiled')
    expect((await lastRecord()).charged).toBe(price([10, 0.5], [210 + 100, 3], [645, 60]))
  })

  test('is by the vendor’s table where words and images are not told apart, or nothing is, and marked', async () => {
    await ask('untold')
    const untold = { usage_source: 'estimated', charged: price([10, 0.5], [210, 3], [1_290, 60]) }
    expect(await lastRecord()).toMatchObject(untold)
    const uncounted = (await ask('uncounted')) as GenerateContentResponse
    expect(uncounted.usageMetadata?.candidatesTokensDetails).toEqual([
      { modality: 'IMAGE', tokenCount: 1_290 },
    ] as never)
    expect(await lastRecord()).toMatchObject({ usage_source: 'estimated', output_image: '1290' })
    const { usageMetadata: told } = (await ask('nothing-out')) as GenerateContentResponse
    const record = await lastRecord()
    expect(record).toMatchObject({ usage_source: 'estimated', output_image: '1290' })
    expect(record.charged).toBe(price([10, 0.5], [Number(record.output_text), 3], [1_290, 60]))
    expect([Number(record.output_text) > 0, told?.candidatesTokenCount]).toEqual([
      true,
      Number(record.output_text) + 1_290,
    ])
  })

  test('of a stream whose image is spoiled is what came before it, and the stream says so', async () => {
    const stream = await google().models.generateContentStream({ model: 'spoiled-later', contents: 'a boat' })
    const seen: string[] = []
    const read = async (): Promise<void> => {
      for await (const { text = '' } of stream) seen.push(text)
    }
    expect(await read().catch((error: unknown) => error)).toBeInstanceOf(ApiError)
    expect(seen).toEqual(['Here'])
    expect(await lastRecord()).toMatchObject({ outcome: 'cut', output_text: '1', output_image: '0' })
  })

  test('is covered by what is held: an image, however small the limit of the client', async () => {
    const name = 'poor'
    const { id } = await gateway.operate<{ id: string }>('account.create', { name, balance: '0.05' })
    const { secret } = await gateway.operate<{ secret: string }>('key.create', { account: name, name })
    const poor = new GoogleGenAI({ apiKey: secret, httpOptions: { baseUrl: new URL(gateway.baseUrl).origin } })
    const asking = (imageSize: string): Promise<unknown> => {
      const config = { ...image, maxOutputTokens: 16, imageConfig: { imageSize } }
      return poor.models.generateContent({ model: 'banana', contents: 'x', config }).catch((error: unknown) => error)
    }
    // 1,120 tokens at $60 a million are more than five cents, 747 are less.
    expect(String(await asking('1K'))).toMatch(/does not cover this request.*needed \$0\.067\d+\."/)
    expect(await asking('512')).toMatchObject({ candidates: [{ finishReason: 'MAX_TOKENS' }] })
    expect(await gateway.operate('account.show', { account: id })).toMatchObject({ held_nano_usd: '0' })
  })
})

describe('what is refused', () => {
  const config = (imageConfig: object): object => ({ generationConfig: { imageConfig } })
  const post = async (path: string, body: object): Promise<{ status: number; text: string }> => {
    const response = await fetch(`${new URL(gateway.baseUrl).origin}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    return { status: response.status, text: await response.text() }
  }
  const contents = [{ parts: [{ text: 'a boat' }] }]

  test.each([
    ['/v1/images/generations', { prompt: 'a boat' }],
    ['/v1/chat/completions', { messages: [{ role: 'user', content: 'a boat' }] }],
    ['/v1/responses', { input: 'a boat' }],
    ['/v1/messages', { max_tokens: 9, messages: [{ role: 'user', content: 'a boat' }] }],
    ['/v1/embeddings', { input: 'a boat' }],
  ])('%s: 400 that names the endpoint of the model', async (path, body) => {
    const { status, text } = await post(path, { model: 'banana', ...body })
    expect([status, text]).toEqual([400, expect.stringContaining('POST /v1beta/models/banana:generateContent')])
  })

  test('an edit: 400 that names the endpoint of the model', async () => {
    const form = new FormData()
    form.set('model', 'banana')
    form.set('prompt', 'at night')
    form.set('image', new Blob([Buffer.from(picture, 'base64')], { type: 'image/png' }), 'a.png')
    const headers = { authorization: `Bearer ${gateway.key}` }
    const response = await fetch(`${gateway.baseUrl}/images/edits`, { method: 'POST', headers, body: form })
    expect([response.status, await response.text()]).toEqual([
      400,
      expect.stringContaining('/v1beta/models/banana:generateContent'),
    ])
  })

  test.each([
    ['banana', config({ aspectRatio: '7:3' }), "'generationConfig.imageConfig.aspectRatio': must be one of '1:1'"],
    ['banana', config({ imageSize: '8K' }), "must be one of '512', '1K', '2K', '4K'"],
    ['banana', { generation_config: { image_config: { image_size: '8K' } } }, "must be one of '512'"],
    ['banana', config({ imagesize: '4K' }), 'Check its capital letters'],
    ['banana', { generationConfig: { responseModalities: ['AUDIO'] } }, 'must be text or images'],
    ['words', { generationConfig: { responseModalities: ['TEXT', 'IMAGE'] } }, 'answers with text only'],
    ['misplaced', {}, 'none of its upstreams speaks it'],
  ])('%s with %j', async (model, body, message) => {
    const before = asked.length
    const { status, text } = await post(`/v1beta/models/${model}:generateContent`, { contents, ...body })
    expect([status, text]).toEqual([400, expect.stringContaining(message)])
    expect(asked).toHaveLength(before)
  })

  test('a size that is given twice', async () => {
    const response = await fetch(`${new URL(gateway.baseUrl).origin}/v1beta/models/banana:generateContent`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
      body: '{"contents":[{"parts":[{"text":"x"}]}],"generationConfig":{"imageConfig":{"imageSize":"4K","imageSize":"512"}}}',
    })
    expect([response.status, await response.text()]).toEqual([
      400,
      expect.stringContaining("'imageSize' is given more than once"),
    ])
  })

  test('a model without a price for its words', async () => {
    const yaml =
      'models:\n  m: { kind: image, price: { input: 1 }, image: { family: gemini-3-pro-image }, offers: [{ provider: sandbox, model: m }] }'
    expect(await startGateway({ yaml }).catch(String)).toContain('also answers with text')
  })
})

test('it says where it can be called, and its input can be counted', async () => {
  const headers = { authorization: `Bearer ${gateway.key}` }
  const model = await fetch(`${gateway.baseUrl}/models/banana`, { headers })
  expect(await model.json()).toMatchObject({ endpoints: ['gemini'] })
  const { totalTokens = 0 } = await google().models.countTokens({ model: 'banana', contents: 'a boat' })
  expect(totalTokens).toBeGreaterThan(2)
})

test('a client that leaves once the image is there pays for it', async () => {
  await leaveAtImage('left')
  expect(await lastRecord('left')).toMatchObject({ output_image: '1120' })
})
