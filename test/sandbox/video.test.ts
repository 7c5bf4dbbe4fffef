/** The sandbox as a vendor of videos, called by plain HTTP like its originals. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { startSandbox } from '../../sandbox/server.ts'

type Json = Record<string, unknown>
type Answer = { status: number; body: Json; headers: Headers }

const TASK_MS = 120
let sandbox: ReturnType<typeof startSandbox>
let origin = ''

beforeAll(() => {
  sandbox = startSandbox({ paceMs: 0, taskMs: TASK_MS })
  origin = new URL(sandbox.url).origin
})
afterAll(() => sandbox.stop())

async function ask(
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const init = body === undefined ? {} : { body: JSON.stringify(body) }
  const response = await fetch(path.startsWith('http') ? path : origin + path, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    redirect: 'manual',
    ...init,
  })
  const text = await response.text()
  return { status: response.status, headers: response.headers, body: parsed(text) }
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text) as Json
  } catch {
    return { text }
  }
}

const endOf = (exchange: Promise<unknown>): Promise<'whole' | 'cut'> =>
  exchange.then(
    () => 'whole',
    () => 'cut',
  )

const TASKS = '/v1/contents/generations/tasks'
const text = (prompt: string): Json => ({ type: 'text', text: prompt })
const image = (role?: string): Json => ({
  type: 'image_url',
  image_url: { url: 'https://example.com/a.png?a=1&b=2' },
  ...(role !== undefined && { role }),
})
const video = { type: 'video_url', video_url: { url: 'https://example.com/a.mp4' }, role: 'reference_video' }
const audio = { type: 'audio_url', audio_url: { url: 'data:audio/wav;base64,AAAA' }, role: 'reference_audio' }
const asked = (prompt: string, more: Json = {}): Json => ({ model: 'sandbox-video', content: [text(prompt)], ...more })

async function create(prompt: string, more: Json = {}): Promise<string> {
  const { status, body } = await ask('POST', TASKS, asked(prompt, more))
  expect(status).toBe(200)
  return body['id'] as string
}

const OVER = ['succeeded', 'failed', 'expired', 'cancelled', 'completed', 'canceled']

/** Looks until it is over. */
async function wait(path: string): Promise<Json> {
  for (let look = 0; look < 200; look++) {
    const { status, body } = await ask('GET', path)
    expect(status).toBe(200)
    if (OVER.includes(body['status'] as string) || body['done'] === true) return body
    await Bun.sleep(20)
  }
  throw new Error(`${path} is not over`)
}

/** Looks until it waits no longer. */
async function start(path: string): Promise<Json> {
  for (;;) {
    const { body } = await ask('GET', path)
    if (body['status'] !== 'queued') return body
    await Bun.sleep(10)
  }
}

const linkOf = (task: Json): string => (task['content'] as Json)['video_url'] as string

/** Width, height and seconds, from the first track header and the movie header of a file. */
async function download(link: string, headers: Record<string, string> = {}): Promise<number[]> {
  const response = await fetch(link, { headers })
  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toBe('video/mp4')
  return measure(Buffer.from(await response.arrayBuffer()))
}

function measure(file: Buffer): number[] {
  const [movie, track] = [file.indexOf('mvhd') + 4, file.indexOf('tkhd') + 4]
  const seconds = file.readUInt32BE(movie + 16) / file.readUInt32BE(movie + 12)
  return [file.readUInt16BE(track + 76), file.readUInt16BE(track + 80), seconds]
}

describe('Ark', () => {
  test('a task waits, runs, succeeds, says what it used, and its video is as asked', async () => {
    const prompt = 'A red ball [sandbox: task-ms=2000]'
    const id = await create(prompt, {
      resolution: '480p',
      ratio: '9:16',
      duration: 4,
      seed: 5,
      safety_identifier: 'u1',
    })
    expect(id).toMatch(/^cgt-\d{14}-\w+$/)
    expect((await ask('GET', `${TASKS}/${id}`)).body).toMatchObject({
      id,
      status: 'queued',
      error: null,
      model: 'sandbox-video',
    })
    expect((await start(`${TASKS}/${id}`))['status']).toBe('running')
    const task = await wait(`${TASKS}/${id}`)
    expect(task).toMatchObject({
      status: 'succeeded',
      seed: 5,
      resolution: '480p',
      ratio: '9:16',
      duration: 4,
      framespersecond: 24,
      service_tier: 'default',
      generate_audio: true,
      safety_identifier: 'u1',
      error: null,
    })
    expect(task['usage']).toEqual({
      completion_tokens: Math.ceil((480 * 854 * 24 * 4) / 1024),
      total_tokens: Math.ceil((480 * 854 * 24 * 4) / 1024),
      tool_usage: { web_search: 0 },
    })
    expect(await download(linkOf(task))).toEqual([480, 854, 4])
  })

  test('every ratio and resolution, and a length of its own choice', async () => {
    const sides = {
      '16:9': [1280, 720],
      '4:3': [1108, 832],
      '1:1': [960, 960],
      '3:4': [832, 1108],
      '21:9': [1466, 628],
      adaptive: [1280, 720],
    }
    for (const [ratio, [width, height]] of Object.entries(sides)) {
      const task = await wait(`${TASKS}/${await create('Hills [sandbox: task-ms=0]', { ratio })}`)
      expect(await download(linkOf(task))).toEqual([width, height, 5] as number[])
    }
    const long = await wait(
      `${TASKS}/${await create('Hills [sandbox: task-ms=0]', { resolution: '1080p', duration: -1 })}`,
    )
    expect(long['duration']).toBeWithin(4, 16)
    expect(await download(linkOf(long))).toEqual([1920, 1080, long['duration'] as number])
  })

  test('the same request is the same video, another prompt another one, and silence is left out', async () => {
    const bytes = async (prompt: string, more: Json = {}): Promise<Buffer> => {
      const task = await wait(`${TASKS}/${await create(`${prompt} [sandbox: task-ms=0]`, more)}`)
      return Buffer.from(await (await fetch(linkOf(task))).arrayBuffer())
    }
    const one = await bytes('A cat')
    expect(one.equals(await bytes('A cat'))).toBe(true)
    expect(one.equals(await bytes('A dog'))).toBe(false)
    expect(one.equals(await bytes('A cat', { seed: 9 }))).toBe(false)
    expect(one.includes('mp4a')).toBe(true)
    expect((await bytes('A cat', { generate_audio: false })).includes('mp4a')).toBe(false)
  })

  test('a reference video counts, a search is reported, and the base path of the original works', async () => {
    const body = {
      model: 'sandbox-video',
      content: [text('On [sandbox: task-ms=0]'), video],
      tools: [{ type: 'web_search' }],
    }
    const { body: made } = await ask('POST', '/api/v3/contents/generations/tasks', body)
    const task = await wait(`/api/v3/contents/generations/tasks/${String(made['id'])}`)
    expect(task['usage']).toMatchObject({ completion_tokens: 216_000, tool_usage: { web_search: 1 } })
  })

  const refused: [string, unknown, number, string, string?][] = [
    ['no model', { content: [text('a')] }, 400, 'MissingParameter', 'model'],
    ['no content', { model: 'sandbox-video' }, 400, 'MissingParameter', 'content'],
    ['empty content', { model: 'sandbox-video', content: [] }, 400, 'InvalidParameter', 'content'],
    ['blank text', asked('  '), 400, 'InvalidParameter', 'content'],
    ['another model', asked('a', { model: 'sandbox-chat' }), 404, 'InvalidEndpointOrModel.NotFound'],
    ['no model of ours', asked('a', { model: 'seedance' }), 404, 'InvalidEndpointOrModel.NotFound'],
    ['too short', asked('a', { duration: 3 }), 400, 'InvalidParameter', 'duration'],
    ['too long', asked('a', { duration: 16 }), 400, 'InvalidParameter', 'duration'],
    ['a ratio', asked('a', { ratio: '2:1' }), 400, 'InvalidParameter', 'ratio'],
    ['a resolution', asked('a', { resolution: '4k' }), 400, 'InvalidParameter', 'resolution'],
    [
      'too much for fast',
      asked('a', { model: 'sandbox-video-fast', resolution: '1080p' }),
      400,
      'InvalidParameter',
      'resolution',
    ],
    ['an unknown field', asked('a', { super_resolution_config: {} }), 400, 'InvalidParameter'],
    [
      'no address',
      { ...asked('a'), content: [{ type: 'image_url', image_url: { url: 'file:///a' } }] },
      400,
      'InvalidParameter',
      'content[0].image_url.url',
    ],
    [
      'ten images',
      { ...asked('a'), content: Array.from({ length: 10 }, () => image('reference_image')) },
      400,
      'InvalidParameter',
      'content',
    ],
    ['images without roles', { ...asked('a'), content: [image(), image()] }, 400, 'InvalidParameter', 'content'],
    ['a last frame alone', { ...asked('a'), content: [image('last_frame')] }, 400, 'InvalidParameter', 'content'],
    [
      'frames and references',
      { ...asked('a'), content: [image('first_frame'), image('reference_image')] },
      400,
      'InvalidParameter',
      'content',
    ],
    ['audio alone', { ...asked('a'), content: [text('a'), audio] }, 400, 'InvalidParameter', 'content'],
    ['a misspelt fault', asked('a [sandbox: fials]'), 400, 'invalid_fault'],
  ]
  test.each(refused)('refuses %s', async (...[, body, status, code, param]) => {
    const answer = await ask('POST', TASKS, body)
    expect(answer.status).toBe(status)
    expect(answer.body['error']).toMatchObject({ code, ...(typeof param === 'string' && { param }) })
  })

  test('takes frames, references and media of each kind', async () => {
    const contents = [
      [image()],
      [text('a'), image('first_frame'), image('last_frame')],
      [text('a'), ...Array.from({ length: 9 }, () => image('reference_image')), video, video, video, audio],
    ]
    for (const content of contents)
      expect((await ask('POST', TASKS, { model: 'sandbox-video-fast', content })).status).toBe(200)
  })

  test('lists by page, status, model and id; deletes what waits or is over, not what runs', async () => {
    const slow = await create('List me [sandbox: task-ms=60000]', { model: 'sandbox-video-fast' })
    const running = await create('List me [sandbox: task-ms=2000]')
    const done = await create('List me [sandbox: task-ms=0]')
    const ids = (body: Json): unknown[] => (body['items'] as Json[]).map(({ id }) => id)
    const page = (await ask('GET', `${TASKS}?page_num=1&page_size=2`)).body
    expect(ids(page)).toEqual([done, running])
    expect(page['total']).toBeGreaterThanOrEqual(3)
    const both = `filter.task_ids=${slow}&filter.task_ids=${done}`
    const filter = `filter.model=sandbox-video-fast&filter.status=queued&${both}`
    expect(ids((await ask('GET', `${TASKS}?${filter}`)).body)).toEqual([slow])
    expect((await ask('GET', `${TASKS}?page_size=0`)).status).toBe(400)
    expect((await start(`${TASKS}/${running}`))['status']).toBe('running')
    expect((await ask('DELETE', `${TASKS}/${running}`)).status).toBe(409)
    expect(await ask('DELETE', `${TASKS}/${slow}`)).toMatchObject({ status: 200, body: {} })
    expect((await ask('GET', `${TASKS}/${slow}`)).body['status']).toBe('cancelled')
    expect((await ask('DELETE', `${TASKS}/${slow}`)).status).toBe(409)
    expect((await ask('DELETE', `${TASKS}/${done}`)).status).toBe(200)
    expect(await ask('GET', `${TASKS}/${done}`)).toMatchObject({
      status: 404,
      body: { error: { code: 'ResourceNotFound' } },
    })
  })
})

describe('AI MediaKit', () => {
  const source = async (prompt = 'Waves', more: Json = {}): Promise<string> =>
    linkOf(await wait(`${TASKS}/${await create(`${prompt} [sandbox: task-ms=0]`, more)}`))
  const enhance = async (body: Json): Promise<Json> => {
    const { status, body: made } = await ask('POST', '/v1/tools/enhance-video', body)
    expect(status).toBe(200)
    expect(made['success']).toBe(true)
    expect(made['task_id']).toMatch(/^amk-tool-/)
    return wait(`/v1/tasks/${String(made['task_id'])}`)
  }

  const raised: [Json, Json, number[]][] = [
    [{ resolution: '480p' }, { resolution: '1080p' }, [1920, 1080, 5]],
    [{}, { resolution: '4k', scene: 'aigc', tool_version: 'professional' }, [3840, 2160, 5]],
    [{ ratio: '9:16', duration: 4 }, { resolution: '2k', fps: 60 }, [1440, 2560, 4]],
    [{ ratio: '1:1' }, { resolution_limit: 1_200 }, [1200, 1200, 5]],
  ]
  test.each(raised)('%j with %j', async (made, wish, [width = 0, height = 0, seconds = 0]) => {
    const link = await source('Waves', made)
    const task = await enhance({ video_url: link, ...wish })
    expect(task['status']).toBe('completed')
    const result = task['result'] as Json
    expect(result).toMatchObject({ resolution: `${width}x${height}`, duration: seconds, fps: wish['fps'] ?? 24 })
    expect(result['play_url']).toBe(result['video_url'])
    expect(await download(result['video_url'] as string)).toEqual([width, height, seconds])
  })

  test('a token makes a second submission the first one', async () => {
    const body = { video_url: await source('Once'), resolution: '1080p', client_token: 'token-1' }
    const [one, two] = [
      await ask('POST', '/api/v1/tools/enhance-video', body),
      await ask('POST', '/v1/tools/enhance-video', body),
    ]
    expect(one.body['task_id']).toBe(two.body['task_id'])
  })

  test('what it cannot load fails, what it cannot read is refused', async () => {
    const link = await source()
    for (const bad of [
      'https://example.com/a.mp4',
      link.replace('X-Tos-Signature=', 'X-Tos-Signature=0'),
      link.replaceAll('&', '\\u0026'),
    ]) {
      const task = await enhance({ video_url: bad, resolution: '1080p' })
      expect(task).toMatchObject({ status: 'failed', error: { code: 'InvalidVideoUrl' } })
    }
    for (const wish of [
      { resolution: '1080p', resolution_limit: 720 },
      { resolution_limit: 63 },
      { fps: 121 },
      { scene: 'x' },
      { more: 1 },
    ]) {
      const answer = await ask('POST', '/v1/tools/enhance-video', { video_url: link, ...wish })
      expect(answer).toMatchObject({ status: 400, body: { success: false, error: { code: 'InvalidParameter' } } })
    }
    expect((await ask('GET', '/v1/tasks/amk-tool-0')).status).toBe(404)
  })

  test('a prompt can make the second stage fail, and only that', async () => {
    const link = await source('Sea [sandbox: upscale-fails]')
    expect(await enhance({ video_url: link, resolution: '4k' })).toMatchObject({
      status: 'failed',
      error: { code: 'InternalError' },
    })
    const busy = await source('Sea [sandbox: upscale-submit-status=503, upscale-submit-fail-times=1]')
    expect((await ask('POST', '/v1/tools/enhance-video', { video_url: busy, resolution: '4k' })).status).toBe(503)
    const done = await enhance({ video_url: busy, resolution: '4k' })
    expect(done['status']).toBe('completed')
  })
})

describe('Veo', () => {
  const GEMINI = '/v1beta/models/sandbox-video'
  const VERTEX = '/v1beta1/projects/p/locations/us-central1/publishers/google/models/sandbox-video'
  const body = (prompt: string, parameters: Json = {}): Json => ({ instances: [{ prompt }], parameters })

  test('an operation of the Gemini API ends with a file that wants a key and leads on', async () => {
    const made = await ask(
      'POST',
      `${GEMINI}:predictLongRunning`,
      body('Fog', { aspectRatio: '9:16', durationSeconds: 4 }),
    )
    const name = made.body['name'] as string
    expect(name).toMatch(/^models\/sandbox-video\/operations\/\w+$/)
    expect((await ask('GET', `/v1beta/${name}`)).body).toEqual({ name })
    const { response } = (await wait(`/v1beta/${name}`)) as { response: Json }
    const samples = (response['generateVideoResponse'] as { generatedSamples: { video: { uri: string } }[] })
      .generatedSamples
    const uri = samples[0]?.video.uri ?? ''
    expect(await ask('GET', uri)).toMatchObject({ status: 403, body: { error: { status: 'PERMISSION_DENIED' } } })
    const led = await ask('GET', uri, undefined, { 'x-goog-api-key': 'k' })
    expect(led.status).toBe(302)
    expect(await download(led.headers.get('location') ?? '')).toEqual([720, 1280, 4])
    expect(await download(uri, { 'x-goog-api-key': 'k' })).toEqual([720, 1280, 4])
  })

  test('one of Vertex AI has the video in it', async () => {
    const prompt = 'Fog [sandbox: task-ms=1000]'
    const parameters = { resolution: '1080p', generateAudio: false }
    const { body: made } = await ask('POST', `${VERTEX}:predictLongRunning`, body(prompt, parameters))
    const fetched = () => ask('POST', `${VERTEX}:fetchPredictOperation`, { operationName: made['name'] })
    expect((await fetched()).body).toEqual({ name: made['name'] })
    let over = (await fetched()).body
    while (over['done'] !== true) {
      await Bun.sleep(50)
      over = (await fetched()).body
    }
    const response = over['response'] as Json
    const [one] = response['videos'] as { bytesBase64Encoded: string; mimeType: string }[]
    expect(one?.mimeType).toBe('video/mp4')
    expect(measure(Buffer.from(one?.bytesBase64Encoded ?? '', 'base64'))).toEqual([1920, 1080, 8])
  })

  test('knobs in the model name work on looks, and are not in the name of the operation', async () => {
    const path = `/v1beta/models/${encodeURIComponent('sandbox-video!poll-status=503,poll-fail-times=1')}`
    const { name } = (await ask('POST', `${path}:predictLongRunning`, body('Dew'))).body as { name: string }
    expect(name).toMatch(/^models\/sandbox-video\/operations\/\w+$/)
    expect((await ask('GET', `/v1beta/${name}`)).body).toMatchObject({ error: { status: 'UNAVAILABLE' } })
    expect((await ask('GET', `/v1beta/${name}`)).status).toBe(200)
  })

  test('failed, filtered and unknown', async () => {
    const end = async (words: string): Promise<Json> => {
      const made = await ask('POST', `${GEMINI}:predictLongRunning`, body(`Fog [sandbox: task-ms=0, ${words}]`))
      return (await ask('GET', `/v1beta/${String(made.body['name'])}`)).body
    }
    expect(await end('fails')).toMatchObject({ done: true, error: { code: 13 } })
    expect(await end('cancels')).toMatchObject({ done: true, error: { code: 1 } })
    expect(await end('filtered')).toMatchObject({
      done: true,
      response: { generateVideoResponse: { raiMediaFilteredCount: 1 } },
    })
    expect(await end('lost')).toMatchObject({ error: { code: 404, status: 'NOT_FOUND' } })
    expect((await ask('POST', `${GEMINI}:predictLongRunning`, body('a', { durationSeconds: 5 }))).status).toBe(400)
    expect(
      (await ask('POST', `${GEMINI}:predictLongRunning`, body('a', { resolution: '4k', durationSeconds: 4 }))).status,
    ).toBe(400)
    expect((await ask('POST', '/v1beta/models/no-such:predictLongRunning', body('a'))).status).toBe(404)
  })
})

describe('faults', () => {
  const over = async (words: string): Promise<Json> =>
    wait(`${TASKS}/${await create(`Rain [sandbox: task-ms=0, ${words}]`)}`)
  const look = async (id: string): Promise<number> => (await ask('GET', `${TASKS}/${id}`)).status

  test('every end that a task can have', async () => {
    expect(await over('fails')).toMatchObject({ status: 'failed', error: { code: 'InternalServiceError' } })
    expect(await over('filtered')).toMatchObject({
      status: 'failed',
      error: { code: 'OutputVideoSensitiveContentDetected' },
    })
    expect((await over('expires'))['status']).toBe('expired')
    expect((await over('cancels'))['status']).toBe('cancelled')
    expect('usage' in (await over('poll-no-usage'))).toBe(false)
    expect((await over('poll-wrong-usage'))['usage']).toMatchObject({
      completion_tokens: 108_000,
      total_tokens: 108_007,
    })
    const hanging = await create('Rain [sandbox: task-ms=0, hangs]')
    await Bun.sleep(50)
    expect((await ask('GET', `${TASKS}/${hanging}`)).body['status']).toBe('running')
  })

  test('looks that fail so often, and tasks that get lost', async () => {
    const shaky = await create('Rain [sandbox: poll-status=503, poll-fail-times=2]')
    const other = await create('Rain [sandbox: poll-status=503, poll-fail-times=2]')
    expect([await look(shaky), await look(shaky), await look(shaky), await look(other)]).toEqual([503, 503, 200, 503])
    const blinking = await create('Rain [sandbox: poll-status=404, poll-fail-times=2]')
    expect([await look(blinking), await look(blinking), await look(blinking)]).toEqual([404, 404, 200])
    const lost = await create('Rain [sandbox: lost=2]')
    expect([await look(lost), await look(lost), await look(lost)]).toEqual([200, 404, 404])
    const junk = await create('Rain [sandbox: poll-garbage]')
    expect((await ask('GET', `${TASKS}/${junk}`)).body).toHaveProperty('text')
    const gone = await create('Rain [sandbox: poll-accept-then-close]')
    expect(await endOf(look(gone))).toBe('cut')
  })

  test('a creation that is refused, lost on the way there, or lost on the way back', async () => {
    const counts = async (): Promise<Json> => (await ask('GET', '/sandbox/videos')).body['generations'] as Json
    const before = await counts()
    const posted = (prompt: string) => ask('POST', TASKS, asked(prompt))
    expect((await posted('Snow [sandbox: status=429, retry-after=3]')).headers.get('retry-after')).toBe('3')
    expect(await endOf(posted('Snow [sandbox: accept-then-close]'))).toBe('cut')
    expect(await counts()).toEqual(before)
    expect(await endOf(posted('Snow [sandbox: answer-lost, fail-times=1]'))).toBe('cut')
    expect(await counts()).toEqual({ submitted: Number(before['submitted']) + 1, duplicates: before['duplicates'] })
    expect((await posted('Snow [sandbox: answer-lost, fail-times=1]')).status).toBe(200)
    expect(await counts()).toEqual({
      submitted: Number(before['submitted']) + 2,
      duplicates: Number(before['duplicates']) + 1,
    })
  })

  test('links that die, lead astray, or give something else', async () => {
    const link = async (words: string): Promise<string> => linkOf(await over(words))
    const dying = await link('link-ms=1')
    const id = await create('Rain [sandbox: task-ms=0, dead-links]')
    expect(await ask('GET', linkOf(await wait(`${TASKS}/${id}`)))).toMatchObject({ status: 403 })
    expect(await download(linkOf(await wait(`${TASKS}/${id}`)))).toEqual([1280, 720, 5])
    await Bun.sleep(5)
    expect(await ask('GET', dying)).toMatchObject({ status: 403 })
    expect((await ask('GET', `${(await link('link-ms=1000')).replace('Expires=1', 'Expires=9')}`)).status).toBe(403)
    const astray = await link('download-redirects=3')
    expect((await ask('GET', astray)).status).toBe(302)
    expect(await download(astray)).toEqual([1280, 720, 5])
    expect((await ask('GET', await link('download-status=500'))).status).toBe(500)
    expect((await ask('GET', await link('download-wrong-type'))).headers.get('content-type')).toBe('text/html')
    expect((await ask('GET', await link('download-empty-stream'))).body).toEqual({ text: '' })
    const garbage = await fetch(await link('download-garbage'))
    expect((await garbage.bytes()).length).toBeLessThan(100)
    const cut = await fetch(await link('download-cut-after-bytes=10000, download-fail-times=1'))
    expect(await endOf(cut.bytes())).toBe('cut')
    const stalled = await fetch(await link('download-stall-ms=80'))
    const startedMs = performance.now()
    expect(measure(Buffer.from(await stalled.bytes()))).toEqual([1280, 720, 5])
    expect(performance.now() - startedMs).toBeGreaterThan(60)
  })

  test('knobs in the model name, and for all by the control route', async () => {
    const { body } = await ask(
      'POST',
      TASKS,
      asked('Hail', { model: 'sandbox-video!task-ms=0,poll-status=500,poll-fail-times=1' }),
    )
    expect([await look(String(body['id'])), await look(String(body['id']))]).toEqual([500, 200])
    const set = await ask('POST', '/sandbox/faults', { 'poll-status': 502, taskMs: 0 })
    expect(set.body).toEqual({ faults: { poll: { status: 502 }, taskMs: 0 } })
    const id = await create('Hail')
    expect(await look(id)).toBe(502)
    await ask('DELETE', '/sandbox/faults')
    expect((await ask('GET', `${TASKS}/${id}`)).body['status']).toBe('succeeded')
    for (const misspelt of ['poll-stats', 'poll-poll-status', 'upscale-upscale-fails', 'polls-status']) {
      expect((await ask('POST', '/sandbox/faults', { [misspelt]: 500 })).status).toBe(400)
    }
  })
})

test('where a key is set, all want it but the links; who shows it to them is counted', async () => {
  const closed = startSandbox({ apiKey: 'sk-vendor', taskMs: 0 })
  const base = new URL(closed.url).origin
  try {
    const auth = { authorization: 'Bearer sk-vendor' }
    const refused = await ask('POST', base + TASKS, asked('Key'))
    expect(refused).toMatchObject({ status: 401, body: { error: { code: 'AuthenticationError' } } })
    const made = await ask('POST', base + TASKS, asked('Key'), auth)
    const { body: task } = await ask('GET', `${base}${TASKS}/${String(made.body['id'])}`, undefined, auth)
    expect(await download(linkOf(task))).toEqual([1280, 720, 5])
    expect(await download(linkOf(task), auth)).toEqual([1280, 720, 5])
    const { body } = await ask('GET', `${base}/sandbox/videos`, undefined, auth)
    expect(body).toMatchObject({
      links: { opened: 2, with_credentials: 1 },
      films: { shot: 1 },
      states: { succeeded: 1 },
    })
  } finally {
    await closed.stop()
  }
})
