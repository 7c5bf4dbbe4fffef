/** Videos over the public API, from a vendor that speaks its documented wire format on a socket. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { VideoClient, words, type Task } from '../support/video-client.ts'
import { arkError, emptyMp4, startVideoVendor, videoYaml, type VideoVendor } from '../support/video-vendor.ts'

let gateway: TestGateway
let vendor: VideoVendor
let client: VideoClient

beforeAll(async () => {
  vendor = startVideoVendor()
  gateway = await startGateway({
    yaml: videoYaml(vendor.origin),
    env: { TOLLGATE_VIDEO_POLL_MS: '25', TOLLGATE_CONTENT_PER_MINUTE: '100000' },
  })
  client = new VideoClient(gateway)
})
afterAll(async () => {
  await gateway.close()
  await vendor.stop()
})
beforeEach(() => vendor.reset())

type Line = { endpoint: string; outcome: string; charged: string; upstream_cost: string; pieces: string | null }
/** The records that the last of these requests left, the newest first. */
const lines = async (count: number): Promise<Line[]> =>
  (await gateway.operate<Line[]>('request.list', { account: gateway.accountId, limit: count })).slice(0, count)

type OrphanView = { request: string; upstream_id: string | null; why: string; offer: string | null }
const orphans = (): Promise<OrphanView[]> => gateway.operate<OrphanView[]>('video.orphans')

test('create, poll to 100, download', async () => {
  const cost = await client.cost(async () => {
    const task = await client.made()
    expect(task).toEqual({
      id: expect.stringMatching(/^task_[0-9A-Za-z]{32}$/) as string,
      task_id: task.id,
      object: 'video',
      model: 'seed',
      status: 'queued',
      progress: 0,
      created_at: expect.any(Number) as number,
    })
    const ended = await client.ended(task.id)
    expect(ended).toEqual({
      id: task.id,
      object: 'video',
      model: 'seed',
      status: 'completed',
      progress: 100,
      created_at: task['created_at'],
      completed_at: expect.any(Number) as number,
      usage: { completion_tokens: 108_900, total_tokens: 108_900 },
      metadata: { url: `${gateway.baseUrl}/videos/${task.id}/content` },
    })
    const content = await fetch(ended.metadata?.url ?? '')
    expect([content.status, content.headers.get('content-type')]).toEqual([200, 'video/mp4'])
    expect(Buffer.compare(await content.bytes(), emptyMp4(5))).toBe(0)
  })
  expect(cost).toBe('0.500000')
  expect(await lines(1)).toMatchObject([{ endpoint: 'videos', outcome: 'completed', charged: '500000000' }])
  // 108,900 tokens at 7 dollars a million.
  expect((await lines(1))[0]?.upstream_cost).toBe('762300000')
  const { pathname } = new URL(vendor.origin)
  expect(vendor.seen.filter(({ authorization }) => authorization !== null).map(({ path }) => path)).not.toContain(
    `${pathname}files`,
  )
})

test('everything a price depends on is said to the vendor, and nothing that has no effect', async () => {
  const compatible = { camera_fixed: true, frames: 29, callback_url: 'http://10.0.0.1/', return_last_frame: 'yes' }
  const content = [
    words('a boat'),
    { type: 'image_url', image_url: { url: 'https://example.com/a.png?x=1&y=2' }, role: 'reference_image' },
    words('at sea'),
    { type: 'video_url', video_url: { url: 'https://example.com/b.mp4' } },
    { type: 'audio_url', audio_url: { url: 'data:audio/mpeg;base64,AAAA' } },
  ]
  await client.ended((await client.made({ content, web_search: true, ratio: '9:16', seed: 7, ...compatible })).id)
  expect(vendor.tasks[0]?.body).toEqual({
    model: 'doubao-seedance-2-0-260128',
    content: [
      { type: 'text', text: 'a boat\nat sea' },
      { ...content[1], role: 'reference_image' },
      { ...content[3], role: 'reference_video' },
      { ...content[4], role: 'reference_audio' },
    ],
    resolution: '720p',
    ratio: '9:16',
    duration: 5,
    seed: 7,
    watermark: false,
    generate_audio: true,
    tools: [{ type: 'web_search' }],
  })
})

test('a model priced by the token is charged what the vendor reports, and of -1 the most is held', async () => {
  vendor.plan.looks = 8
  const response = await client.create({ model: 'seed-fast', duration: -1 })
  const { id } = (await response.json()) as Task
  // 1280 × 720 × (24 × 15 + 1) / 1024 tokens, and a twentieth, at 7 dollars a million.
  expect(Number(response.headers.get('x-tollgate-held-usd'))).toBeCloseTo(2.388, 2)
  expect(Number((await client.money()).held)).toBeCloseTo(2.388, 2)
  await client.ended(id)
  expect(await lines(1)).toMatchObject([{ charged: String(21_780 * 7 * 7_000), outcome: 'completed' }])
  expect(vendor.tasks[0]?.body).toMatchObject({ duration: -1 })
})

test('a report that cannot be is not believed: the video is counted', async () => {
  Object.assign(vendor.plan.answer, { usage: { completion_tokens: 9e12 }, duration: 5 })
  await client.ended((await client.made({ model: 'seed-fast' })).id)
  const [line] = await lines(1)
  // 1280 × 720 × 121 / 1024.
  expect(line?.charged).toBe(String(108_900 * 7_000))
  expect(gateway.output()).toContain('usage.implausible')
})

describe('super-resolution', () => {
  const upscaled = { super_resolution_config: { resolution: '2k', scene: 'ugc', fps: 60 } }

  test('is a second stage of the same task, on a line of its own', async () => {
    const cost = await client.cost(async () => {
      const { id } = await client.made(upscaled)
      expect((await client.ended(id)).status).toBe('completed')
      expect((await client.call(`/videos/${id}/content`)).status).toBe(200)
    })
    expect(cost).toBe('0.650000')
    expect((await lines(2)).map(({ endpoint, charged }) => `${endpoint} ${charged}`).toSorted()).toEqual([
      'videos 500000000',
      'videos.upscale 150000000',
    ])
    const [making, upscaling] = vendor.tasks
    expect(upscaling?.body).toEqual({
      video_url: `${vendor.origin}/files/${making?.id}.mp4?X-Tos-Expires=86400`,
      scene: 'ugc',
      tool_version: 'standard',
      resolution: '2k',
      fps: 60,
      client_token: expect.stringMatching(/^req_/) as string,
    })
    const keys = (path: string): Set<string | null> =>
      new Set(vendor.seen.filter((one) => one.path.startsWith(path)).map(({ authorization }) => authorization))
    expect(keys('/kit/')).toEqual(new Set(['Bearer sk-kit-secret']))
    expect(keys('/files/')).toEqual(new Set([null]))
  })

  test('fails with the whole task, and all of it is given back', async () => {
    vendor.plan.upscaleEnd = 'failed'
    const cost = await client.cost(async () => {
      const { id } = await client.made(upscaled)
      expect(await client.ended(id)).toEqual({
        id,
        object: 'video',
        status: 'failed',
        error: { message: 'The super-resolution of the video failed.', code: 'video_generation_failed' },
      } as unknown as Task)
    })
    expect(cost).toBe('0.000000')
    // What was made is owed to its vendor all the same.
    expect(await lines(1)).toMatchObject([
      { outcome: 'failed', charged: '0', usage_source: null, upstream_cost: '762300000' },
    ])
  })

  test('is submitted again with the same token until its vendor has it', async () => {
    let tries = 0
    vendor.plan.submit = (body) => (body['client_token'] && ++tries < 3 ? arkError(500, 'Internal') : undefined)
    expect((await client.ended((await client.made(upscaled)).id)).status).toBe('completed')
    expect([tries, vendor.count('upscale')]).toEqual([3, 1])
  })
})

describe('Veo', () => {
  test('is made, and its file is fetched with the key at the provider’s own origin', async () => {
    const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,aGVsbG8=' }, role: 'first_frame' }
    const cost = await client.cost(async () => {
      const { id } = await client.made({ model: 'veo', duration: 4, content: [words('a boat'), image] })
      expect((await client.ended(id)).status).toBe('completed')
    })
    expect(cost).toBe('1.600000')
    expect(vendor.tasks[0]?.body).toEqual({
      instances: [{ prompt: 'a boat', image: { bytesBase64Encoded: 'aGVsbG8=', mimeType: 'image/png' } }],
      parameters: { durationSeconds: 4, resolution: '720p', seed: expect.any(Number) as number, sampleCount: 1 },
    })
    expect(vendor.seen.find(({ path }) => path.endsWith(':download'))?.key).toBe('sk-video-secret')
  })

  test('what may not be made is refunded', async () => {
    vendor.plan.answer = {
      generateVideoResponse: { raiMediaFilteredCount: 1, raiMediaFilteredReasons: ['words of the prompt'] },
    }
    const ended = await client.ended((await client.made({ model: 'veo', duration: 4 })).id)
    expect(ended.error?.message).toBe('The video was refused by a content policy.')
  })
})

describe('a submission', () => {
  const refusals: [string, () => Response, number, string][] = [
    ['a bad field', () => arkError(400, 'InvalidParameter', 'ratio is odd.'), 400, 'InvalidParameter'],
    [
      'a prompt that may not be',
      () => arkError(400, 'InputTextSensitiveContentDetected'),
      400,
      'content_policy_violation',
    ],
    ['a wrong key', () => arkError(401, 'AuthenticationError'), 503, 'service_unavailable'],
    ['an unpaid bill', () => arkError(403, 'AccountOverdueError'), 503, 'service_unavailable'],
    ['a closed model', () => arkError(404, 'ModelNotOpen'), 503, 'service_unavailable'],
    ['a rate limit', () => arkError(429, 'ModelAccountRpmRateLimitExceeded'), 503, 'service_unavailable'],
    ['the vendor’s own failure', () => arkError(500, 'InternalServiceError'), 503, 'service_unavailable'],
  ]
  test.each(refusals)('refused for %s is the client’s answer, and no task', async (_, answer, status, code) => {
    vendor.plan.submit = answer
    const before = (await (await client.call('/videos')).json()) as { first_id: string | null }
    const cost = await client.cost(async () => {
      const response = await client.create()
      const { error } = (await response.json()) as { error: { code: string; message: string } }
      expect([response.status, error.code]).toEqual([status, code])
      expect(error.message).not.toMatch(/Request id|doubao/)
      if (status === 503) expect(response.headers.get('retry-after')).not.toBeNull()
    })
    expect(cost).toBe('0.000000')
    expect(((await (await client.call('/videos')).json()) as { first_id: string | null }).first_id).toBe(
      before.first_id,
    )
  })

  test('that breaks after the vendor took it stands, is found, and is not sent again', async () => {
    vendor.plan.submit = (body) => {
      vendor.make(body)
      return new Response('upstream connect error', { status: 502 })
    }
    const task = await client.made()
    expect(task.status).toBe('queued')
    expect((await client.ended(task.id)).status).toBe('completed')
    expect(vendor.count('video')).toBe(1)
    expect(await orphans()).toEqual([])
  })

  test('that is told the id of another task is not that task', async () => {
    const first = await client.made()
    const id = vendor.tasks[0]?.id
    vendor.plan.submit = () => Response.json({ id })
    const second = await client.made()
    const [one, other] = await Promise.all([client.ended(first.id), client.ended(second.id, 20_000)])
    expect([one.status, other.status]).toEqual(['completed', 'failed'])
    const [orphan] = await orphans()
    await gateway.operate('video.settle', { request: orphan?.request })
  }, 30_000)

  test('that breaks before is not found: it fails, is refunded, and listed for the operator', async () => {
    vendor.plan.submit = () => new Response('<html>bad gateway</html>', { status: 502 })
    const cost = await client.cost(async () => {
      const ended = await client.ended((await client.made()).id, 20_000)
      expect(ended.error?.message).toBe('It is not known whether the vendor has the task.')
    })
    expect([cost, vendor.count('video')]).toEqual(['0.000000', 0])
    const [orphan] = await orphans()
    expect([orphan?.request.slice(0, 4), orphan?.upstream_id]).toEqual(['req_', null])
    await gateway.operate('video.settle', { request: orphan?.request })
    expect(await orphans()).toEqual([])
  }, 30_000)
})

describe('a look at a task', () => {
  test('that brings nothing is not the task’s failure', async () => {
    let looks = 0
    const odd = [
      () => new Response('', { status: 500 }),
      () => new Response('{"status":', { status: 200 }),
      () => arkError(404, 'ResourceNotFound'),
      () => Response.json({ status: 'dancing' }),
      () => arkError(404, 'ResourceNotFound'),
      () => arkError(404, 'ResourceNotFound'),
      () => arkError(401, 'AuthenticationError'),
      () => Response.json({ status: 'succeeded', content: {} }),
    ]
    vendor.plan.poll = () => odd[looks++]?.()
    expect((await client.ended((await client.made()).id, 25_000)).status).toBe('completed')
    expect(looks).toBeGreaterThan(odd.length)
  }, 30_000)

  test('that finds it gone three times in a row is its end', async () => {
    vendor.plan.poll = () => arkError(404, 'ResourceNotFound')
    const cost = await client.cost(async () => {
      expect((await client.ended((await client.made()).id)).error?.message).toBe('The task was lost upstream.')
    })
    expect([cost, vendor.tasks[0]?.polls]).toEqual(['0.000000', 3])
    const [orphan] = await orphans()
    await gateway.operate('video.settle', { request: orphan?.request })
  })

  test.each([
    ['failed', 'OutputVideoSensitiveContentDetected', 'The video was refused by a content policy.'],
    ['failed', 'InternalServiceError', 'The video could not be made.'],
    ['cancelled', undefined, 'The making of the video was cancelled upstream.'],
    ['expired', undefined, 'The making of the video took too long upstream.'],
  ] as const)('that finds it %s (%s) refunds it', async (status, code, message) => {
    vendor.plan.end = { status, ...(code && { code }) }
    const cost = await client.cost(async () => {
      const { id } = await client.made()
      const ended = await client.ended(id)
      expect(ended).toEqual({
        id,
        object: 'video',
        status: 'failed',
        error: { message, code: 'video_generation_failed' },
      } as unknown as Task)
      expect((await client.call(`/videos/${id}/content`)).status).toBe(404)
    })
    expect(cost).toBe('0.000000')
    expect(await lines(1)).toMatchObject([{ outcome: 'failed', charged: '0' }])
  })
})

describe('the finished file', () => {
  test('is fetched again when it cannot be had, breaks off, or is none', async () => {
    let tries = 0
    const whole = emptyMp4(5, 300_000)
    const odd = [
      () => new Response('gone', { status: 404 }),
      () => new Response('<html>sign in</html>'),
      () => new Response(whole.subarray(0, 100_000)),
      () => Response.redirect('http://169.254.169.254/latest/meta-data'),
      () => Response.redirect(`http://127.0.0.1:${new URL(gateway.baseUrl).port}/healthz`),
    ]
    vendor.plan.file = () => odd[tries++]?.() ?? new Response(whole)
    const { id } = await client.made()
    expect((await client.ended(id, 20_000)).status).toBe('completed')
    expect(Buffer.compare(await (await client.call(`/videos/${id}/content`)).bytes(), whole)).toBe(0)
  }, 30_000)

  test('that never comes is a failure, with a refund', async () => {
    vendor.plan.answer = { content: { video_url: 'http://127.0.0.1:1/file.mp4' } }
    const cost = await client.cost(async () => {
      const ended = await client.ended((await client.made()).id, 40_000)
      expect(ended.error?.message).toBe('The finished video could not be fetched.')
    })
    expect(cost).toBe('0.000000')
  }, 60_000)
})

test('progress never goes back', async () => {
  vendor.plan.looks = 12
  const { id } = await client.made({ super_resolution_config: { resolution: '1080p' } })
  const seen: number[] = []
  for (;;) {
    const { status, progress } = await client.task(id)
    seen.push(progress)
    if (status === 'completed') break
    await Bun.sleep(5)
  }
  expect(seen).toEqual(seen.toSorted((a, b) => a - b))
  expect(new Set(seen).size).toBeGreaterThan(2)
})
