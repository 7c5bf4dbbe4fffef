/** POST /v1/images/edits over real sockets. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import OpenAI6, { toFile } from 'openai-6'
import OpenAI7 from 'openai-7'
import sharp from 'sharp'
import { startGateway, startSandboxProcess, type TestGateway, type TestSandbox } from '../support/gateway.ts'
import { readPng } from '../support/png.ts'
import { bomb, isIn, maskWith, photo, writePng } from '../support/test-pictures.ts'

const SIDE = 256
const hole = { x: 40, y: 60, width: 100, height: 50 }
const image = photo(SIDE, SIDE)
const mask = maskWith(SIDE, SIDE, hole)

let sandbox: TestSandbox
let gateway: TestGateway

beforeAll(async () => {
  sandbox = await startSandboxProcess()
  gateway = await startGateway({
    yaml: `
providers:
  vendor: { base_url: '${sandbox.baseUrl}', allow_private: true }
models:
  modern:
    kind: image
    price: { input: 5, output: 0, image_input: 10, image_output: 40 }
    image: { family: gpt-image-2 }
    offers: [{ provider: vendor, model: sandbox-image }]
  rescued:
    kind: image
    price: { input: 5, output: 0, image_input: 10, image_output: 40 }
    image: { family: gpt-image-2 }
    offers: [{ provider: vendor, model: sandbox-image!status=500 }, { provider: vendor, model: sandbox-image, priority: 1 }]
`,
  })
}, 30_000)
afterAll(async () => {
  expect(readdirSync(join(gateway.folder, 'uploads'))).toEqual([])
  await gateway.close()
  await sandbox.stop()
}, 30_000)

type Field = readonly [name: string, value: string | Buffer, filename?: string]

/** A form of exactly these parts, in this order. */
function formOf(fields: readonly Field[]): FormData {
  const form = new FormData()
  for (const [name, value, filename = 'a.png'] of fields) {
    if (typeof value === 'string') form.append(name, value)
    else form.append(name, new Blob([new Uint8Array(value)]), filename)
  }
  return form
}
const post = (body: FormData | string, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${gateway.baseUrl}/images/edits`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, ...headers },
    body,
  })
const plain: readonly Field[] = [
  ['model', 'modern'],
  ['prompt', 'a red door'],
  ['quality', 'low'],
]
async function edit(
  fields: readonly Field[],
): Promise<{ data: { b64_json: string }[]; usage: Record<string, unknown> }> {
  const response = await post(formOf(fields))
  const text = await response.text()
  if (response.status !== 200) throw new Error(text)
  return JSON.parse(text) as { data: { b64_json: string }[]; usage: Record<string, unknown> }
}
async function refusal(fields: readonly Field[]): Promise<object> {
  const response = await post(formOf(fields))
  return { status: response.status, ...((await response.json()) as { error: object }).error }
}
const lastRecord = async (): Promise<Record<string, string>> =>
  (await gateway.operate<Record<string, string>[]>('request.list', { account: gateway.accountId, limit: 1 }))[0] ?? {}
const askedCount = async (): Promise<number> => (await sandbox.stats())['requests'] as number

/** How many pixels differ from the photo, in the hole and outside of it. */
function changes(file: Buffer): { inside: number; outside: number } {
  const [before, after] = [readPng(image), readPng(file)]
  let [inside, outside] = [0, 0]
  for (let y = 0; y < SIDE; y++) {
    for (let x = 0; x < SIDE; x++) {
      const at = y * SIDE + x
      const same = [0, 1, 2].every((i) => before.data[at * 3 + i] === after.data[at * after.channels + i])
      if (same) continue
      if (isIn(hole, x, y)) inside++
      else outside++
    }
  }
  return { inside, outside }
}

describe('with the clients people use', () => {
  test.each([
    ['openai 6', OpenAI6],
    ['openai 7', OpenAI7],
  ] as const)('%s: one image, several, a mask, a stream', async (_, Client) => {
    const client = new Client({ baseURL: gateway.baseUrl, apiKey: gateway.key, maxRetries: 0 }) as OpenAI7
    const file = (): Promise<File> => toFile(image, 'photo.png', { type: 'image/png' })
    const ask = { model: 'modern', prompt: 'a red door', quality: 'low' } as const

    const masked = await client.images.edit({ ...ask, image: await file(), mask: await toFile(mask, 'mask.png') })
    const counted = changes(Buffer.from(masked.data?.[0]?.b64_json ?? '', 'base64'))
    expect(counted.outside).toBe(0)
    expect(counted.inside).toBeGreaterThan(hole.width * hole.height * 0.99)
    expect(masked.usage).toMatchObject({ input_tokens_details: { image_tokens: 323 } })

    const several = await client.images.edit({ ...ask, image: [await file(), await file(), await file()] })
    expect(several.usage).toMatchObject({ input_tokens_details: { image_tokens: 969 } })

    const stream = await client.images.edit({ ...ask, image: await file(), stream: true, partial_images: 2 })
    const events = await Array.fromAsync(stream)
    expect(events.map(({ type }) => type)).toEqual([
      'image_edit.partial_image',
      'image_edit.partial_image',
      'image_edit.completed',
    ])
    expect(readPng(Buffer.from(events.at(-1)?.b64_json ?? '', 'base64'))).toMatchObject({ width: SIDE })
  })
})

describe('every way to write it', () => {
  test.each([
    ['image', [['image', image]], 323],
    ['image[]', [['image[]', image]], 323],
    [
      'image repeated',
      [
        ['image', image],
        ['image', image],
      ],
      646,
    ],
    [
      'image[0] …, backwards',
      [
        ['image[1]', photo(128, 128)],
        ['image[0]', image],
      ],
      646,
    ],
  ] as const)('%s', async (_, files, tokens) => {
    const first = await edit([...files, ...plain])
    expect(first.usage['input_tokens_details']).toMatchObject({ image_tokens: tokens })
    expect(readPng(Buffer.from(first.data[0]?.b64_json ?? '', 'base64'))).toMatchObject({ width: SIDE })
    const last = await edit([...plain, ...files, ['n', '2'], ['stream', 'false'], ['size', 'auto']])
    expect(last.data).toEqual(first.data)
  })

  test('JPEG and WebP, whatever they are called', async () => {
    for (const format of ['jpeg', 'webp'] as const) {
      const file = await sharp(image).toFormat(format).toBuffer()
      expect((await edit([...plain, ['image', file, 'x.png']])).data).toHaveLength(1)
    }
  })

  test('as JSON', async () => {
    const url = (file: Buffer): { image_url: string } => ({
      image_url: `data:image/png;base64,${file.toString('base64')}`,
    })
    const ask = async (body: object): Promise<Record<string, unknown>> => {
      const text = JSON.stringify({ model: 'modern', prompt: 'a red door', quality: 'low', ...body })
      return (await (await post(text, { 'content-type': 'application/json' })).json()) as Record<string, unknown>
    }
    const { data } = (await ask({ images: [url(image)], mask: url(mask) })) as { data: { b64_json: string }[] }
    expect(changes(Buffer.from(data[0]?.b64_json ?? '', 'base64')).outside).toBe(0)
    const refused = { error: { param: 'images[0].image_url', code: 'invalid_value' } }
    expect(await ask({ images: [{ image_url: 'https://example.com/a.png' }] })).toMatchObject(refused)
    expect(await ask({ images: [url(image)], mask: { image_url: 'x' } })).toMatchObject({
      error: { code: 'invalid_mask', param: 'mask' },
    })
  })

  test('the pictures that come in are paid as well', async () => {
    const { usage } = await edit([...plain, ['image[]', image], ['image[]', image]])
    const { input_tokens_details: input } = usage as { input_tokens_details: { text_tokens: number } }
    // $5 for words, $10 for pictures that come in, $40 for the one that goes out.
    const charged = input.text_tokens * 5_000 + 646 * 10_000 + 272 * 40_000
    expect(await lastRecord()).toMatchObject({ charged: String(charged), input_image: '646', usage_source: 'reported' })
  })

  test('the next offer gets the files as well', async () => {
    expect(
      (
        await edit([
          ['model', 'rescued'],
          ['prompt', 'x'],
          ['quality', 'low'],
          ['image', image],
        ])
      ).data,
    ).toHaveLength(1)
  })

  test('the same form again is the same request, also with another boundary', async () => {
    const send = (): Promise<Response> =>
      post(formOf([...plain, ['image', photo(64, 64)]]), { 'idempotency-key': 'edit-1' })
    const first = await (await send()).text()
    const again = await send()
    expect([again.headers.get('idempotent-replayed'), await again.text()]).toEqual(['true', first])
    const other = await post(formOf([...plain, ['image', photo(64, 65)]]), { 'idempotency-key': 'edit-1' })
    expect(other.status).toBe(422)
  })
})

test('a file that nobody chose is none: browsers send it empty and without a name', async () => {
  const blank = (name: string, filename = '; filename=""'): string =>
    `--b\r\ncontent-disposition: form-data; name="${name}"${filename}\r\n\r\n\r\n`
  const field = (name: string, value: string): string =>
    `--b\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
  const send = (parts: string): Promise<Response> => {
    const head = `${field('model', 'modern')}${field('prompt', 'x')}${parts}--b\r\ncontent-disposition: form-data; name="image"; filename="a.png"\r\n\r\n`
    const body = Buffer.concat([Buffer.from(head), image, Buffer.from('\r\n--b--\r\n')])
    const headers = { authorization: `Bearer ${gateway.key}`, 'content-type': 'multipart/form-data; boundary=b' }
    return fetch(`${gateway.baseUrl}/images/edits`, { method: 'POST', headers, body: new Uint8Array(body) })
  }
  for (const parts of [blank('mask'), blank('mask', ''), blank('mask') + blank('image') + blank('image[]')]) {
    expect((await send(parts)).status).toBe(200)
  }
  for (const parts of [
    blank('mask', '; filename="mask.png"'),
    field('mask', 'x'),
    blank('image', '; filename="b.png"'),
  ]) {
    expect((await send(parts)).status).toBe(400)
  }
})

describe('masks that are none', () => {
  const rss = async (): Promise<number> =>
    Number(/^process_resident_memory_bytes (\S+)/m.exec(await gateway.metrics())?.[1] ?? 0)
  const corrupt = Buffer.from(mask)
  corrupt.fill(0x55, 60, mask.length - 20)

  test('each is a 400 that names the mask; nothing asked, nothing charged, nothing held', async () => {
    const jpeg = await sharp(image).jpeg().toBuffer()
    const noise = (): number[] =>
      [0, 0, 0, Math.floor(Math.random() * 256)].map((value, i) => (i < 3 ? Math.floor(Math.random() * 256) : value))
    const large = writePng({ width: 1200, height: 1200, channels: 4 }, noise, 0)
    expect(large.length).toBeGreaterThan(5 * 1024 * 1024)
    const masks: Record<string, Buffer> = {
      corrupt,
      truncated: mask.subarray(0, mask.length / 2),
      'wrong size': maskWith(SIDE, SIDE + 1, hole),
      'no alpha': image,
      'an alpha channel without a transparent pixel': maskWith(SIDE, SIDE, { ...hole, width: 0 }),
      '5 MiB': large,
      bomb: bomb(30_000),
      'a JPEG named .png': jpeg,
      empty: Buffer.alloc(0),
    }
    await edit([...plain, ['image', image], ['mask', mask]])
    const [before, asked, rssBefore] = [await lastRecord(), await askedCount(), await rss()]
    for (const [name, file] of Object.entries(masks)) {
      const answer = await refusal([...plain, ['image', image], ['mask', file, 'mask.png']])
      expect({ name, ...answer }).toMatchObject({ name, status: 400, code: 'invalid_mask', param: 'mask' })
    }
    expect((await lastRecord())['id']).toBe(before['id'] as string)
    expect(await askedCount()).toBe(asked)
    expect(await gateway.metrics()).toContain('tollgate_open_holds 0')
    expect((await rss()) - rssBefore).toBeLessThan(64 * 1024 * 1024)
  }, 30_000)

  test('so are pictures: too many pixels, and files that only begin like one', async () => {
    const cut = image.subarray(0, image.length - 100)
    expect(await refusal([...plain, ['image', bomb(30_000)]])).toMatchObject({ status: 400, param: 'image' })
    const second = await refusal([...plain, ['image[]', image], ['image[]', cut]])
    expect(second).toMatchObject({ status: 400, param: 'image[1]' })
    expect(await refusal([...plain, ['image', Buffer.from('GIF89a…')]])).toMatchObject({ status: 400, param: 'image' })
  })
})

describe('what is refused', () => {
  const one: Field = ['image', image]
  test.each([
    [[...plain], 'image', 400],
    [[...plain, ['image', 'a text']], 'image', 400],
    [[one, ['prompt', 'x']], 'model', 400],
    [[one, ['model', 'modern']], 'prompt', 400],
    [[...plain, one, ['prompt', 'twice']], 'prompt', 400],
    [[...plain, one, ['n', 'many']], 'n', 400],
    [[...plain, one, ['stream', 'perhaps']], 'stream', 400],
    [[...plain, one, ['file', image]], 'file', 400],
    [[...plain, ...Array.from({ length: 17 }, () => one)], 'image', 400],
    [[['model', 'sandbox-image-classic'], ['prompt', 'x'], one], 'model', 400],
    [[['model', 'sandbox-chat'], ['prompt', 'x'], one], 'model', 400],
    [[['model', 'no-such'], ['prompt', 'x'], one], 'model', 404],
    // Said before any picture is decoded.
    [
      [
        ['model', 'no-such'],
        ['prompt', 'x'],
        ['image', Buffer.from('no picture')],
      ],
      'model',
      404,
    ],
  ] as [Field[], string, number][])('case %#', async (fields, param, status) => {
    expect(await refusal(fields)).toMatchObject({ status, param })
  })

  test('pictures that are too much together', async () => {
    const large = await sharp({ create: { width: 7_000, height: 7_000, channels: 3, background: '#123' } })
      .png()
      .toBuffer()
    const answer = await refusal([...plain, ...Array.from({ length: 5 }, (): Field => ['image[]', large])])
    expect(answer).toMatchObject({ status: 400, code: 'invalid_value', param: 'image[4]' })
  }, 60_000)

  test('a picture above 50 MiB, while it is being read', async () => {
    const large = Buffer.alloc(50 * 1024 * 1024 + 1)
    const answer = await refusal([...plain, ['image', large]])
    expect(answer).toMatchObject({ status: 413, code: 'request_too_large', param: 'image' })
    // They go once the answer is out.
    for (let tries = 0; readdirSync(join(gateway.folder, 'uploads')).length > 0 && tries < 100; tries++)
      await Bun.sleep(50)
    expect(readdirSync(join(gateway.folder, 'uploads'))).toEqual([])
  })

  test('a body that is no form, or has no end', async () => {
    const send = (type: string, body: string): Promise<Response> => post(body, { 'content-type': type })
    expect((await send('text/plain', 'x')).status).toBe(415)
    expect((await send('multipart/form-data', 'x')).status).toBe(400)
    expect((await send(`multipart/form-data; boundary=${'b'.repeat(71)}`, 'x')).status).toBe(400)
    const open = '--b\r\nContent-Disposition: form-data; name="model"\r\n\r\nmodern'
    expect((await send('multipart/form-data; boundary=b', open)).status).toBe(400)
    const many = '--b\r\nContent-Disposition: form-data; name="x"\r\n\r\n\r\n'.repeat(33)
    expect((await send('multipart/form-data; boundary=b', `${many}--b--`)).status).toBe(400)
  })
})
