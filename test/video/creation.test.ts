/** Requests for videos: every rule with its error, random bodies, and balances that cover only some of them. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { countOf, reportFigure, seedOfRun } from '../support/soaks.ts'
import { VideoClient, words } from '../support/video-client.ts'
import { startVideoVendor, videoYaml, type VideoVendor } from '../support/video-vendor.ts'

const BODIES = countOf('video-bodies')

let gateway: TestGateway
let vendor: VideoVendor
let client: VideoClient

const more = `
  strict:
    kind: video
    price: { each: { second/720p: 0.10 } }
    video: { family: seedance-1-5, audio: never, chooses_duration: false, durations: [4, 8], ratios: ['16:9'] }
    offers: [{ provider: ark, model: doubao-seedance-1-5-pro-251215 }]
  framed:
    kind: video
    price: { each: { second: 0.10, upscale/1080p: 0.01 } }
    video: { reference_images_max: 2, frames: first, web_search: false, upscaler: kit }
    offers: [{ provider: ark, model: doubao-seedance-1-5-pro-251215 }]
`

beforeAll(async () => {
  vendor = startVideoVendor()
  gateway = await startGateway({
    yaml: videoYaml(vendor.origin) + more,
    env: { TOLLGATE_VIDEO_POLL_MS: '200', TOLLGATE_LOG: 'warn' },
    balanceUsd: '100000',
  })
  client = new VideoClient(gateway)
})
afterAll(async () => {
  await gateway.close()
  await vendor.stop()
})
beforeEach(() => vendor.reset())

const image = (role?: string, url = 'https://example.com/a.png'): object => ({
  type: 'image_url',
  image_url: { url },
  ...(role && { role }),
})
const video = (role?: string): object => ({
  type: 'video_url',
  video_url: { url: 'https://example.com/a.mp4' },
  ...(role && { role }),
})
const audio = (role?: string): object => ({
  type: 'audio_url',
  audio_url: { url: 'https://example.com/a.mp3' },
  ...(role && { role }),
})
const times = <T>(count: number, one: T): T[] => Array.from({ length: count }, () => one)
const upscale = (super_resolution_config: object): object => ({ super_resolution_config })
const content = (...items: object[]): object => ({ content: items })

/** A body, the field at fault, and words of the message. */
type Rule = readonly [title: string, body: object, param: string | null, says: RegExp, code?: string]
const MISSING = 'missing_required_parameter'
const WRONG_TYPE = 'invalid_type'
const UNSUPPORTED = 'unsupported_parameter'

const rules: readonly Rule[] = [
  ['no model', { model: undefined }, 'model', /Missing/, MISSING],
  ['no content', { content: undefined }, 'content', /Missing/, MISSING],
  ['a prompt instead', { content: undefined, prompt: 'a boat' }, 'content', /"type": "text"/, MISSING],
  ['empty content', { content: [] }, 'content', /at least 1/],
  ['content that is a text', { content: 'a boat' }, 'content', /expected an array/, WRONG_TYPE],
  ['an empty text alone', content(words('')), 'content', /needs at least one non-empty text, image or video/],
  ['blanks alone', content(words(' \n\t'), words('')), 'content', /needs at least one/],
  ['audio alone', content(audio()), 'content', /needs at least one non-empty text, image or video/],
  ['an unknown type', content({ type: 'smell' }), 'content[0].type', /must be one of 'text'/],
  ['an item without a type', content({ text: 'x' }), 'content[0].type', /Missing/, MISSING],
  ['an item that is no object', { content: ['x'] }, 'content[0]', /expected an object/, WRONG_TYPE],
  ['a text without its text', content(words('x'), { type: 'text' }), 'content[1].text', /Missing/, MISSING],
  ['a text that is a number', content({ type: 'text', text: 5 }), 'content[0].text', /expected a string/, WRONG_TYPE],
  ['a text with a role', content({ ...words('x'), role: 'first_frame' }), 'content[0].role', /a text has no role/],
  ['an image without an address', content({ type: 'image_url' }), 'content[0].image_url.url', /Missing/, MISSING],
  ['an image with an empty address', content(image(undefined, '')), 'content[0].image_url.url', /at least 1/],
  [
    'a video without an address',
    content(words('x'), { type: 'video_url' }),
    'content[1].video_url.url',
    /Missing/,
    MISSING,
  ],
  [
    'audio without an address',
    content(words('x'), { type: 'audio_url' }),
    'content[1].audio_url.url',
    /Missing/,
    MISSING,
  ],
  ['an image with a video’s role', content(image('reference_video')), 'content[0].role', /'first_frame', 'last_frame'/],
  ['a video with a frame’s role', content(video('first_frame')), 'content[0].role', /'reference_video'/],
  ['audio with an image’s role', content(words('x'), audio('reference_image')), 'content[1].role', /'reference_audio'/],
  ['ten images', content(...times(10, image())), 'content', /at most 9 items of type 'image_url'/],
  ['four videos', content(...times(4, video())), 'content', /at most 3 items of type 'video_url'/],
  ['four sounds', content(words('x'), ...times(4, audio())), 'content', /at most 3 items of type 'audio_url'/],
  ['two first frames', content(image('first_frame'), image('first_frame')), 'content[1].role', /one such frame/],
  [
    'two last frames',
    content(image('first_frame'), image('last_frame'), image('last_frame')),
    'content[2].role',
    /one/,
  ],
  ['a last frame alone', content(image('last_frame')), 'content[0].role', /a last frame needs a first/],
  ['an asset of the operator’s', content(image(undefined, 'asset://x')), 'content[0].image_url.url', /http or https/],
  ['a file', content(image(undefined, 'file:///etc/passwd')), 'content[0].image_url.url', /http or https/],
  [
    'a sound as an image',
    content(image(undefined, 'data:audio/mp3;base64,AA')),
    'content[0].image_url.url',
    /data:image/,
  ],
  [
    'a drawing, which is a program',
    content(image(undefined, 'data:image/svg+xml;base64,AA')),
    'content[0].image_url.url',
    /data:image.*PNG, JPEG, WebP/,
  ],
  ['this machine', content(image(undefined, 'http://127.0.0.1/x')), 'content[0].image_url.url', /private/],
  ['a private network', content(image(undefined, 'http://[fd00::1]/x')), 'content[0].image_url.url', /private/],
  ['cloud metadata', content(image(undefined, 'http://169.254.169.254/')), 'content[0].image_url.url', /never called/],
  ['credentials', content(image(undefined, 'http://a:b@example.com/')), 'content[0].image_url.url', /credentials/],
  ['a resolution there is not', { resolution: '4k' }, 'resolution', /must be one of '480p', '720p', '1080p'/],
  ['a resolution in capitals', { resolution: '720P' }, 'resolution', /must be one of/],
  ['a ratio there is not', { ratio: '2:1' }, 'ratio', /'16:9', '4:3', '1:1', '3:4', '9:16', '21:9', 'adaptive'/],
  ['three seconds', { duration: 3 }, 'duration', /from 4 to 15, or -1/],
  ['sixteen seconds', { duration: 16 }, 'duration', /from 4 to 15, or -1/],
  ['no seconds', { duration: 0 }, 'duration', /from 4 to 15, or -1/],
  ['minus two', { duration: -2 }, 'duration', /from 4 to 15, or -1/],
  ['half a second', { duration: 4.5 }, 'duration', /integer/, WRONG_TYPE],
  ['seconds as a text', { duration: '5' }, 'duration', /expected a number/, WRONG_TYPE],
  ['a seed below -1', { seed: -2 }, 'seed', /at least -1/],
  ['a seed of 33 bits', { seed: 2 ** 32 }, 'seed', /at most 4294967295/],
  ['half a seed', { seed: 0.5 }, 'seed', /integer/, WRONG_TYPE],
  ['a watermark that is a text', { watermark: 'yes' }, 'watermark', /expected a boolean/, WRONG_TYPE],
  ['audio that is a number', { generate_audio: 1 }, 'generate_audio', /expected a boolean/, WRONG_TYPE],
  ['a search that is a text', { web_search: 'on' }, 'web_search', /expected a boolean/, WRONG_TYPE],
  ['an input type there is not', { input_type: 'frames' }, 'input_type', /'reference', 'first_last_frame'/],
  ['frames without an image', { input_type: 'first_last_frame' }, 'input_type', /needs an image/],
  [
    'references with a frame',
    { input_type: 'reference', ...content(image('first_frame')) },
    'input_type',
    /contradicts/,
  ],
  ['an upscaling that is a text', { super_resolution_config: '2k' }, 'super_resolution_config', /object/, WRONG_TYPE],
  [
    'an upscaling to 8k',
    upscale({ resolution: '8k' }),
    'super_resolution_config.resolution',
    /'720p', '1080p', '2k', '4k'/,
  ],
  [
    'both targets',
    upscale({ resolution: '2k', resolution_limit: 900 }),
    'super_resolution_config.resolution_limit',
    /combined/,
  ],
  ['a limit of 63', upscale({ resolution_limit: 63 }), 'super_resolution_config.resolution_limit', /at least 64/],
  ['a limit of 2161', upscale({ resolution_limit: 2161 }), 'super_resolution_config.resolution_limit', /at most 2160/],
  [
    'half a limit',
    upscale({ resolution_limit: 99.5 }),
    'super_resolution_config.resolution_limit',
    /integer/,
    WRONG_TYPE,
  ],
  [
    'a scene there is not',
    upscale({ scene: 'common' }),
    'super_resolution_config.scene',
    /'aigc', 'short_series', 'ugc'/,
  ],
  [
    'a tool there is not',
    upscale({ tool_version: 'pro' }),
    'super_resolution_config.tool_version',
    /'standard', 'prof/,
  ],
  ['no frames', upscale({ fps: 0 }), 'super_resolution_config.fps', /at least 1/],
  ['121 frames', upscale({ fps: 121 }), 'super_resolution_config.fps', /at most 120/],
  ['half a frame', upscale({ fps: 24.5 }), 'super_resolution_config.fps', /integer/, WRONG_TYPE],
  [
    'the default resolution again',
    upscale({ resolution: '720p' }),
    'super_resolution_config.resolution',
    /higher than/,
  ],
  [
    'the same resolution',
    { resolution: '1080p', ...upscale({ resolution: '1080p' }) },
    'super_resolution_config.resolution',
    /higher than the resolution of the video, which is '1080p'/,
  ],
  [
    'a lower resolution',
    { resolution: '1080p', ...upscale({ resolution: '720p' }) },
    'super_resolution_config.resolution',
    /higher than/,
  ],
]

/** What one model cannot do. */
const ofModels: readonly Rule[] = [
  ['1080p of a fast model', { model: 'seed-fast', resolution: '1080p' }, 'resolution', /'480p', '720p' for this model/],
  [
    'upscaling without an upscaler',
    { model: 'seed-fast', ...upscale({ resolution: '2k' }) },
    'super_resolution_config',
    /super-resolution/,
    UNSUPPORTED,
  ],
  ['a choice that it does not make', { model: 'strict', duration: -1 }, 'duration', /cannot choose it/],
  ['seconds that it cannot', { model: 'strict', duration: 5 }, 'duration', /'4', '8' for this model/],
  ['a ratio that it cannot', { model: 'strict', duration: 4, ratio: '1:1' }, 'ratio', /'16:9' for this model/],
  [
    'audio of a silent model',
    { model: 'strict', duration: 4, generate_audio: true },
    'generate_audio',
    /audio/,
    UNSUPPORTED,
  ],
  [
    'silence of a loud model',
    { model: 'veo', duration: 4, generate_audio: false },
    'generate_audio',
    /without audio/,
    UNSUPPORTED,
  ],
  ['no price for a resolution', { model: 'strict', duration: 4, resolution: '480p' }, 'resolution', /no price/],
  [
    'references of one without',
    { model: 'strict', duration: 4, ...content(image()) },
    'content',
    /reference images/,
    UNSUPPORTED,
  ],
  ['too many references', { model: 'framed', ...content(...times(3, image())) }, 'content', /at most 2 items/],
  [
    'a last frame',
    { model: 'framed', ...content(image('first_frame'), image('last_frame')) },
    'content',
    /last frame/,
    UNSUPPORTED,
  ],
  ['a search', { model: 'framed', web_search: true }, 'web_search', /web search/, UNSUPPORTED],
  [
    'no price for an upscaling',
    { model: 'framed', ...upscale({ resolution: '4k' }) },
    'super_resolution_config',
    /no price/,
  ],
  ['a watermark', { model: 'veo', duration: 4, watermark: true }, 'watermark', /watermarks/, UNSUPPORTED],
  [
    'a picture that the gateway would fetch from where no web server is',
    { model: 'veo', duration: 4, ...content(words('x'), image(undefined, 'https://example.com:6379/a.png')) },
    'content[1].image_url.url',
    /a port other than 80 and 443/,
  ],
  ['a long text', { model: 'veo', duration: 4, ...content(words('x'.repeat(4_001))) }, 'content', /at most 4000/],
]

type Refusal = { error: { message: string; type: string; param: string | null; code: string } }

describe('refused, with the field named', () => {
  test.each([...rules, ...ofModels])('%s', async (_, body, param, says, code = 'invalid_value') => {
    const before = await client.money()
    const response = await client.create(body)
    const { error } = (await response.json()) as Refusal
    expect([response.status, error.type, error.code, error.param]).toEqual([400, 'invalid_request_error', code, param])
    expect(error.message).toMatch(says)
    expect(await client.money()).toEqual(before)
    expect(vendor.tasks).toEqual([])
  })

  test('on the alias route with the same error', async () => {
    const body = JSON.stringify({ model: 'seed', content: [] })
    const [one, other] = await Promise.all(
      ['/videos', '/video/generations'].map(async (path) => (await client.call(path, { method: 'POST', body })).json()),
    )
    expect(one).toEqual(other)
  })

  test('a model that makes something else, does not exist, or is not for this key', async () => {
    const codes = async (body: object): Promise<unknown[]> => {
      const response = await client.create(body)
      return [response.status, ((await response.json()) as Refusal).error.code]
    }
    expect(await codes({ model: 'words' })).toEqual([400, 'model_not_supported'])
    expect(await codes({ model: 'nothing' })).toEqual([404, 'model_not_found'])
    const chat = { method: 'POST', body: JSON.stringify({ model: 'seed', messages: [{ role: 'user', content: 'x' }] }) }
    const refused = (await (await client.call('/chat/completions', chat)).json()) as Refusal
    expect(refused.error.code).toBe('model_not_supported')
    const { secret } = await gateway.operate<{ secret: string }>('key.create', {
      account: gateway.accountId,
      name: 'narrow',
      models: ['words'],
    })
    const response = await new VideoClient({ ...gateway, key: secret }).create()
    expect([response.status, ((await response.json()) as Refusal).error.code]).toEqual([403, 'model_not_allowed'])
  })
})

describe('taken', () => {
  const roles = (): unknown[] => {
    const { body } = vendor.tasks.at(-1) ?? expect.unreachable()
    return (body['content'] as { role?: string }[]).flatMap(({ role }) => role ?? [])
  }
  /** A body, the roles that the vendor is told, and what has no effect. */
  const taken: [string, object, string[], string?][] = [
    ['a text alone', {}, []],
    ['nine images', content(...times(9, image())), times(9, 'reference_image')],
    ['an image alone is a reference', content(image()), ['reference_image']],
    ['a frame by its role', content(image('first_frame'), image('last_frame')), ['first_frame', 'last_frame']],
    [
      'frames by their order',
      { input_type: 'first_last_frame', ...content(image(), image()) },
      ['first_frame', 'last_frame'],
    ],
    ['one frame by the mode', { input_type: 'first_last_frame', ...content(image()) }, ['first_frame']],
    ['a frame after the last', content(image('last_frame'), image('first_frame')), ['last_frame', 'first_frame']],
    [
      'frames beside references where the model can',
      { model: 'framed', ...content(image(), image('first_frame')) },
      ['reference_image', 'first_frame'],
    ],
    [
      'all that is nothing',
      { ratio: null, seed: null, watermark: null, super_resolution_config: null, input_type: null },
      [],
    ],
    ['a random seed by its word', { seed: -1 }, []],
    ['the lowest limit', upscale({ resolution_limit: 64 }), [], 'super_resolution_config'],
    ['a limit that the video has already', upscale({ resolution_limit: 720 }), [], 'super_resolution_config'],
    ['an upscaling to nothing', upscale({}), [], 'super_resolution_config'],
    ['an upscaling to nothing in particular', upscale({ scene: 'ugc', fps: 24 }), [], 'super_resolution_config'],
    [
      'an upscaling to nothing where there is none',
      { model: 'seed-fast', ...upscale({}) },
      [],
      'super_resolution_config',
    ],
    ['a frame, and an image without a role', content(image('first_frame'), image()), ['first_frame'], 'content[1]'],
    [
      'frames before references of every kind',
      content(image(), image('first_frame'), video(), audio(), image('last_frame'), image('reference_image')),
      ['first_frame', 'last_frame'],
      'content[0], content[2], content[3], content[5]',
    ],
    ['a text with a sound', content(words('x'), audio('reference_audio')), [], 'content[1]'],
    ['a sound beside an image', content(image(), audio()), ['reference_image', 'reference_audio']],
    ['fields that have no effect', { camera_fixed: 3, frames: {}, callback_url: 'x', return_last_frame: [] }, []],
    ['fields that nobody knows', { n: 7, service_tier: 'flex', draft: true }, []],
  ]
  test.each(taken)('%s', async (_, body, expected, ...[dropped]) => {
    const response = await client.create(body)
    expect(response.headers.get('x-tollgate-dropped') ?? undefined).toBe(dropped as never)
    expect([response.status, await response.text()]).toEqual([200, expect.any(String) as string])
    expect(roles()).toEqual(expected)
    expect(Object.keys(vendor.tasks.at(-1)?.body ?? {})).not.toContain('service_tier')
    expect(vendor.tasks.at(-1)?.body['seed']).toBeWithin(0, 2 ** 32)
  })
})

/** mulberry32. */
function randomBy(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below
  }
}

/** A body of the right fields, with values right and wrong. */
function randomBody(below: (limit: number) => number): unknown {
  const pick = <T>(...values: T[]): T => values[below(values.length)] as T
  const odd = (): unknown =>
    pick<unknown>(null, -1, 0, 4, 5, 15, 1e308, '', 'x', true, [], {}, '720p', '\u0000', [[[]]], { url: 5 })
  const url = (): unknown =>
    pick<unknown>('https://example.com/a', 'data:image/png;base64,AA', 'http://10.0.0.1', odd())
  const anItem = (): unknown => {
    const type = pick('text', 'image_url', 'video_url', 'audio_url', 'x')
    const value = type === 'text' ? pick<unknown>('a boat', '', odd()) : pick<unknown>({ url: url() }, odd())
    return pick<unknown>({ type, [type]: value, ...(below(3) === 0 && { role: pick('first_frame', odd()) }) }, odd())
  }
  const body: Record<string, unknown> = {
    model: pick<unknown>('seed', 'seed', 'seed-fast', 'veo', 'strict', odd()),
    content: below(8) === 0 ? odd() : Array.from({ length: below(6) }, () => (below(2) ? words('a boat') : anItem())),
  }
  const fields: Record<string, () => unknown> = {
    resolution: () => pick('480p', '720p', '1080p'),
    ratio: () => pick('16:9', 'adaptive'),
    duration: () => pick(4, 5, 15, -1),
    seed: () => below(2 ** 31),
    watermark: () => pick(true, false),
    generate_audio: () => pick(true, false),
    input_type: () => pick('reference', 'first_last_frame'),
    web_search: () => pick(true, false),
    super_resolution_config: () => ({ resolution: pick('1080p', '2k', odd()), fps: pick<unknown>(60, odd()) }),
    callback_url: odd,
  }
  for (const [name, good] of Object.entries(fields)) if (below(4) === 0) body[name] = below(3) === 0 ? odd() : good()
  return below(50) === 0 ? odd() : body
}

test(`${BODIES} random bodies: no 5xx, and no error without its words`, async () => {
  const seed = seedOfRun()
  const below = randomBy(seed)
  vendor.plan.looks = 1
  const statuses = new Map<number, number>()
  const send = async (): Promise<void> => {
    const body = JSON.stringify(randomBody(below))
    const response = await client.call('/videos', { method: 'POST', body })
    const text = await response.text()
    statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1)
    if (response.status === 200) return
    const { error } = JSON.parse(text) as Refusal
    if (![400, 404].includes(response.status) || error.message === '' || error.code === '') {
      throw new Error(`seed ${seed}: ${response.status} ${text} for ${body}`)
    }
  }
  let left = BODIES
  const worker = async (): Promise<void> => {
    while (left-- > 0) await send()
  }
  await Promise.all(Array.from({ length: 20 }, worker))
  reportFigure(`${BODIES} bodies: ${[...statuses].map(([status, count]) => `${count} × ${status}`).join(', ')}`)
  expect(statuses.get(200) ?? 0).toBeGreaterThan(BODIES / 50)
  expect(statuses.get(400) ?? 0).toBeGreaterThan(BODIES / 5)
  // All that were taken end, so that the books can be closed.
  for (let waits = 0; waits < 1_200 && (await client.money()).held !== '0.00'; waits++) await Bun.sleep(50)
  expect((await client.money()).held).toBe('0.00')
}, 240_000)

describe('balance', () => {
  const accountWith = async (balance: string): Promise<VideoClient> => {
    const name = `poor-${crypto.randomUUID()}`
    await gateway.operate('account.create', { name, balance })
    const { secret: key } = await gateway.operate<{ secret: string }>('key.create', { account: name, name: 'test' })
    return new VideoClient({ ...gateway, key })
  }

  test('that does not cover it is a 401, and no task', async () => {
    const poor = await accountWith('0.49')
    const response = await poor.create()
    const { error } = (await response.json()) as Refusal
    expect([response.status, error.code, error.type]).toEqual([401, 'insufficient_balance', 'billing_error'])
    expect(error.message).toContain('needed $0.50')
    expect(await (await poor.call('/videos')).json()).toMatchObject({ data: [], has_more: false })
    expect(vendor.tasks).toEqual([])
  })

  test('for k is enough for exactly k of 200 at once', async () => {
    const k = 37
    const poor = await accountWith(String(k * 0.5 + 0.49))
    const responses = await Promise.all(Array.from({ length: 200 }, () => poor.create()))
    const statuses = responses.map(({ status }) => status)
    await Promise.all(responses.map((response) => response.text()))
    expect(statuses.filter((status) => status === 200).length).toBe(k)
    expect(statuses.filter((status) => status === 401).length).toBe(200 - k)
    expect(vendor.count('video')).toBe(k)
    const { data } = (await (await poor.call('/videos?limit=100')).json()) as { data: { id: string }[] }
    expect(data.length).toBe(k)
    for (const { id } of data) expect((await poor.ended(id, 30_000)).status).toBe('completed')
    expect(await poor.money()).toEqual({ posted: '0.49', held: '0.00' })
  }, 60_000)
})
