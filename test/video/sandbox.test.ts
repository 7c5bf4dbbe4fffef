/** The gateway with the built-in vendor, which is written independently: Ark, MediaKit, Veo and their failures. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { generateKeyPairSync } from 'node:crypto'
import { join } from 'node:path'
import { startGateway, startSandboxProcess, type TestGateway, type TestSandbox } from '../support/gateway.ts'
import { VideoClient, words, type Task } from '../support/video-client.ts'

const hasDecoder = Bun.which('ffprobe') !== null
if (!hasDecoder) console.warn('SKIPPED: ffprobe is not here, so no foreign decoder reads the videos')

let sandbox: TestSandbox
let gateway: TestGateway
let client: VideoClient
let tokens: Bun.Server<unknown>

/** A service account whose tokens come from a server of ours. */
function account(tokenUri: string): string {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' })
  return JSON.stringify({ client_email: 'robot@example.com', private_key: pem, token_uri: tokenUri })
}

beforeAll(async () => {
  sandbox = await startSandboxProcess()
  tokens = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: () => Response.json({ access_token: 'token', expires_in: 3_600, token_type: 'Bearer' }),
  })
  const { origin } = new URL(sandbox.baseUrl)
  const model = (kind: string, offer: string): string => `
    kind: video
    price: { each: { second: 0.10, upscale: 0.02 } }
    video: { family: ${kind}, upscaler: kit }
    offers: [{ provider: ${offer}, model: sandbox-video }]`
  gateway = await startGateway({
    yaml: `
providers:
  ark: { preset: ark, base_url: '${origin}/api/v3', allow_private: true, key: sk-x }
  kit: { preset: mediakit, base_url: '${origin}/api/v1', allow_private: true, key: sk-y }
  google: { preset: gemini, base_url: '${origin}/v1beta', allow_private: true, key: sk-z }
  cloud:
    preset: vertex
    base_url: '${origin}/v1beta1/projects/p/locations/l/publishers/google'
    allow_private: true
    key: '${account(`http://127.0.0.1:${tokens.port}/token`)}'
models:
  seed: ${model('seedance-2', 'ark')}
  veo: ${model('veo-3', 'google')}
  vertex-veo: ${model('veo-3', 'cloud')}
`,
    env: { TOLLGATE_VIDEO_POLL_MS: '30' },
  })
  client = new VideoClient(gateway)
}, 30_000)
afterAll(async () => {
  await gateway.close()
  await sandbox.stop()
  await tokens.stop(true)
}, 30_000)

const noted = (note: string, body: object = {}): object => ({ content: [words(`a boat [sandbox: ${note}]`)], ...body })

type ShownView = { codec_name: string; width: number; height: number; r_frame_rate: string; duration: string }

/** Width, height, frames a second and length, as a tool that is not ours reads them. */
async function probed(id: string): Promise<string> {
  const path = join(gateway.folder, `${id}.mp4`)
  await Bun.write(path, await (await client.call(`/videos/${id}/content`)).bytes())
  const entries = 'stream=codec_name,width,height,r_frame_rate,duration'
  const child = Bun.spawn([
    'ffprobe',
    '-v',
    'error',
    '-select_streams',
    'v',
    '-show_entries',
    entries,
    '-of',
    'json',
    path,
  ])
  const { streams } = (await new Response(child.stdout).json()) as { streams: ShownView[] }
  const [shown] = streams
  return `${shown?.codec_name} ${shown?.width}x${shown?.height} ${shown?.r_frame_rate} ${Number(shown?.duration).toFixed(1)}`
}

const video = (body: object): Promise<Task> => client.made(body).then(({ id }) => client.ended(id, 20_000))

test.skipIf(!hasDecoder).each([
  [{ duration: 5 }, 'h264 1280x720 24/1 5.0', '0.500000'],
  [{ duration: 4, resolution: '480p', ratio: '9:16' }, 'h264 480x854 24/1 4.0', '0.400000'],
  [{ duration: 4, super_resolution_config: { resolution: '1080p' } }, 'h264 1920x1080 24/1 4.0', '0.480000'],
  [{ duration: 4, super_resolution_config: { resolution: '2k', fps: 60 } }, 'h264 2560x1440 60/1 4.0', '0.480000'],
] as const)(
  '%j is what an independent tool reads, and what is paid',
  async (body, shown, cost) => {
    const paid = await client.cost(async () => {
      const { id, status } = await video(noted('task-ms=50', body))
      expect(status).toBe('completed')
      expect(await probed(id)).toBe(shown)
    })
    expect(paid).toBe(cost)
  },
  30_000,
)

const curl = Bun.which('curl')
if (curl === null) console.warn('SKIPPED: curl is not here')

test.skipIf(curl === null)(
  'curl is enough: create, poll to 100, download',
  async () => {
    const run = async (...args: string[]): Promise<string> => Bun.spawn(['curl', '-sS', ...args]).stdout.text()
    const key = `Authorization: Bearer ${gateway.key}`
    const body = JSON.stringify({ model: 'seed', duration: 4, ...noted('task-ms=300') })
    const made = await run(`${gateway.baseUrl}/videos`, '-H', key, '-H', 'Content-Type: application/json', '-d', body)
    const { id } = JSON.parse(made) as Task
    let task: Task
    do task = JSON.parse(await run(`${gateway.baseUrl}/videos/${id}`, '-H', key)) as Task
    while (task.progress < 100)
    const file = join(gateway.folder, 'curl.mp4')
    await run('-fo', file, task.metadata?.url ?? '')
    await run('-fo', `${file}.rest`, '-r', '1000-', task.metadata?.url ?? '')
    const [whole, rest] = await Promise.all([file, `${file}.rest`].map((path) => Bun.file(path).bytes()))
    expect(Buffer.compare(whole?.subarray(1_000) ?? Buffer.of(), rest ?? Buffer.of(1))).toBe(0)
  },
  30_000,
)

describe.each(['veo', 'vertex-veo'])('%s', (model) => {
  test('makes a video, and is refunded one that may not be', async () => {
    const cost = await client.cost(async () => {
      const { id, status } = await video(noted('task-ms=50', { model, duration: 4 }))
      expect(status).toBe('completed')
      if (hasDecoder) expect(await probed(id)).toBe('h264 1280x720 24/1 4.0')
      const filtered = await video(noted('filtered, task-ms=50', { model, duration: 4 }))
      expect(filtered.error?.message).toBe('The video was refused by a content policy.')
    })
    expect(cost).toBe('0.400000')
  }, 30_000)
})

describe('however it goes there', () => {
  const upscaled = { super_resolution_config: { resolution: '1080p' } }
  const good = [
    ['poll-status=503, poll-fail-times=3', {}],
    ['poll-garbage, poll-fail-times=2', {}],
    ['poll-cut-after-bytes=20, poll-fail-times=2', {}],
    ['answer-lost', {}],
    ['download-cut-after-bytes=1000, download-fail-times=2', {}],
    ['download-wrong-type, download-fail-times=1', {}],
    ['download-garbage, download-fail-times=1', {}],
    ['download-status=503, download-fail-times=2', {}],
    ['download-redirects=2', {}],
    ['dead-links=2', {}],
    ['upscale-submit-status=503, upscale-submit-fail-times=2', upscaled],
    ['upscale-submit-answer-lost, upscale-submit-fail-times=1', upscaled],
    ['upscale-poll-status=500, upscale-poll-fail-times=2', upscaled],
    ['upscale-download-cut-after-bytes=1000, upscale-download-fail-times=1', upscaled],
  ] as const
  const bad = [
    ['fails', {}, 'The video could not be made.'],
    ['filtered', {}, 'The video was refused by a content policy.'],
    ['expires', {}, 'The making of the video took too long upstream.'],
    ['cancels', {}, 'The making of the video was cancelled upstream.'],
    ['lost', {}, 'The task was lost upstream.'],
    ['accept-then-close', {}, 'It is not known whether the vendor has the task.'],
    ['download-status=410', {}, 'The finished video could not be fetched.'],
    ['upscale-fails', upscaled, 'The super-resolution of the video failed.'],
  ] as const

  test('it is made and paid once', async () => {
    const cost = await client.cost(async () => {
      const ended = await Promise.all(good.map(([note, body]) => video(noted(`task-ms=50, ${note}`, body))))
      expect(ended.map(({ status, error }, i) => [good[i]?.[0], status, error?.message])).toEqual(
        good.map(([note]) => [note, 'completed', undefined]),
      )
    })
    const [plain, larger] = [good.filter(([, body]) => body !== upscaled).length, 4]
    expect(cost).toBe((plain * 0.5 + larger * 0.6).toFixed(6))
  }, 60_000)

  test('or it fails in words of ours, and nothing is paid', async () => {
    const cost = await client.cost(async () => {
      const ended = await Promise.all(bad.map(([note, body]) => video(noted(`task-ms=50, ${note}`, body))))
      expect(ended.map(({ error }) => error?.message)).toEqual(bad.map(([, , message]) => message))
    })
    expect(cost).toBe('0.000000')
  }, 60_000)

  test('nothing was submitted twice, and no link was shown a key', async () => {
    const { origin } = new URL(sandbox.baseUrl)
    const counts: unknown = await (await fetch(`${origin}/sandbox/videos`)).json()
    // Gemini's file wants its key, and the redirect of the one above stayed at its origin.
    expect(counts).toMatchObject({
      generations: { duplicates: 0 },
      enhancements: { duplicates: 0 },
      links: { with_credentials: 1 },
    })
  })
})

test('the built-in models need no set-up', async () => {
  const plain = await startGateway({ env: { TOLLGATE_VIDEO_POLL_MS: '30' }, balanceUsd: '1' })
  const own = new VideoClient(plain)
  const made = await own.made({
    model: 'sandbox-video',
    ...noted('task-ms=50'),
    super_resolution_config: { resolution: '1080p' },
  })
  expect((await own.ended(made.id)).status).toBe('completed')
  const fast = await own.made({ model: 'sandbox-video-fast', ...noted('task-ms=50') })
  expect((await own.ended(fast.id)).status).toBe('completed')
  expect((await own.money()).posted).toBe('0.50')
  await plain.close()
}, 30_000)
