/** A gateway whose files are in S3: the public API over a storage that works, fails, lies, and comes back. */
import { afterEach, expect, test } from 'bun:test'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { MIB } from '../../src/lib/primitives/units.ts'
import { runCommand } from '../support/command.ts'
import { freshFolder, INSTANCES, TEST_STORE, type TestGateway } from '../support/gateway.ts'
import { useGateway } from '../support/use-gateway.ts'
import { TestS3, type S3Fault, type S3Operation } from '../support/s3.ts'
import { VideoClient } from '../support/video-client.ts'
import { emptyMp4, startVideoVendor, videoYaml } from '../support/video-vendor.ts'

/** Each of several instances learns by itself that the storage fails, so what one refuses another may take. */
const isPair = TEST_STORE === 'postgres'
const PREFIX = 'tests/'
const SWEEP_MS = 4_000
const s3 = await TestS3.start()
const vendor = startVideoVendor()
const gateway = useGateway(
  {
    yaml: videoYaml(vendor.origin),
    env: {
      ...s3.env,
      TOLLGATE_S3_PREFIX: PREFIX,
      TOLLGATE_VIDEO_POLL_MS: '25',
      TOLLGATE_IMAGE_URL_MS: String(SWEEP_MS),
    },
  },
  async () => {
    await vendor.stop()
    await s3.stop()
  },
)
const client = new VideoClient(gateway)
afterEach(() => {
  s3.plan = () => undefined
  s3.requests.length = 0
  vendor.reset()
})

const always = (operation: S3Operation, fault: S3Fault): void => {
  s3.plan = (request) => (request.operation === operation ? fault : undefined)
}
const down: S3Fault = { kind: 'error', status: 503, code: 'SlowDown' }

/** Makes a video of given bytes. Returns its address and its id. */
async function madeOf(file: Buffer): Promise<{ id: string; url: string }> {
  vendor.plan.file = () => new Response(file)
  const { id } = await client.made()
  return { id, url: (await client.ended(id)).metadata?.url ?? '' }
}

const generate = (of: TestGateway, body: object = {}): Promise<Response> =>
  fetch(`${of.baseUrl}/images/generations`, {
    method: 'POST',
    headers: { authorization: `Bearer ${of.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'sandbox-image-classic', prompt: 'a boat', size: '512x512', ...body }),
  })
type ImageEntry = { readonly url?: string; readonly b64_json?: string }
const entryOf = async (response: Response): Promise<ImageEntry> =>
  ((await response.json()) as { data: ImageEntry[] }).data[0] ?? {}

const failureOf = async (response: Response): Promise<unknown[]> => [
  response.status,
  ((await response.json()) as { error: { code: string } }).error.code,
]

test('an image is in the bucket, and is deleted when it expires', async () => {
  const { url = '' } = await entryOf(await generate(gateway))
  const [[key, object] = ['', undefined]] = s3.objects
  expect(key).toMatch(/^tests\/[\da-f]{64}$/)
  expect(object?.contentType).toBe('image/png')
  expect(Buffer.compare(await (await fetch(url)).bytes(), object?.bytes ?? Buffer.alloc(0))).toBe(0)
  expect(existsSync(join(gateway.folder, 'blobs'))).toBe(false)
  await Bun.sleep(SWEEP_MS)
  expect(await failureOf(await fetch(url))).toEqual([410, 'expired'])
  while (s3.objects.size > 0) await Bun.sleep(50)
}, 30_000)

test('a video is served with HEAD, Range, If-Range and If-None-Match, and never as a redirect', async () => {
  const file = emptyMp4(5, 9 * MIB)
  const { url } = await madeOf(file)
  const size = file.length
  expect(s3.operations).toContain('CompleteMultipartUpload')
  expect(readdirSync(join(gateway.folder, 'scratch'))).toEqual([])
  s3.requests.length = 0
  const ask = async (headers: Record<string, string> = {}): Promise<[number, Buffer, string | null]> => {
    const response = await fetch(url, { headers, redirect: 'manual' })
    return [response.status, Buffer.from(await response.arrayBuffer()), response.headers.get('content-range')]
  }
  const head = await fetch(url, { method: 'HEAD' })
  expect([head.status, head.headers.get('content-length')]).toEqual([200, String(size)])
  const whole = await ask()
  expect([whole[0], Buffer.compare(whole[1], file)]).toEqual([200, 0])
  expect(await ask({ range: 'bytes=0-9' })).toEqual([206, file.subarray(0, 10), `bytes 0-9/${size}`])
  expect(await ask({ range: 'bytes=-5' })).toEqual([206, file.subarray(-5), `bytes ${size - 5}-${size - 1}/${size}`])
  const late = await ask({ range: 'bytes=9000000-' })
  expect([late[0], Buffer.compare(late[1], file.subarray(9_000_000))]).toEqual([206, 0])
  const etag = head.headers.get('etag') ?? ''
  expect((await ask({ range: 'bytes=0-9', 'if-range': etag }))[0]).toBe(206)
  expect((await ask({ range: 'bytes=0-9', 'if-range': '"other"' }))[0]).toBe(200)
  s3.requests.length = 0
  const [status, , range] = await ask({ range: `bytes=${size}-` })
  expect([status, range]).toEqual([416, `bytes */${size}`])
  expect((await ask({ 'if-none-match': etag }))[0]).toBe(304)
  // What the row answers is not asked of the storage.
  expect(s3.operations).toEqual([])
  // Only this gateway's address reaches a client.
  expect(JSON.stringify([...head.headers])).not.toContain(new URL(s3.origin).port)
}, 30_000)

test('a storage that fails before the first byte is a failure in the envelope', async () => {
  const { url } = await madeOf(emptyMp4(5))
  const [key = ''] = [...s3.objects.keys()].slice(-1)
  const object = s3.objects.get(key)
  for (const fault of [down, { kind: 'reset' }, { kind: 'error', status: 403, code: 'AccessDenied' }] as const) {
    always('GetObject', fault)
    const response = await fetch(url)
    expect(response.headers.get('retry-after')).toBe('10')
    expect(await failureOf(response)).toEqual([503, 'service_unavailable'])
    expect((await fetch(url, { headers: { range: 'bytes=0-9' } })).status).toBe(503)
  }
  s3.plan = () => undefined
  s3.store(key, Buffer.alloc(7))
  expect(await failureOf(await fetch(url))).toEqual([500, 'internal_error'])
  expect((await fetch(url, { method: 'HEAD' })).status).toBe(500)
  s3.objects.delete(key)
  expect(await failureOf(await fetch(url))).toEqual([410, 'expired'])
  s3.store(key, object?.bytes ?? Buffer.alloc(0))
  expect((await fetch(url)).status).toBe(200)
  expect(gateway.output()).toContain('blobs.file_missing')
  expect(gateway.output()).toContain('blobs.file_damaged')
}, 30_000)

test('a storage that breaks after the first byte is continued, or the client is cut', async () => {
  const file = emptyMp4(5, 2 * MIB)
  const { url } = await madeOf(file)
  const faults: (S3Fault | undefined)[] = [{ kind: 'cut', afterBytes: MIB }]
  s3.plan = () => faults.shift()
  expect(Buffer.compare(Buffer.from(await (await fetch(url)).arrayBuffer()), file)).toBe(0)
  let served = 0
  s3.plan = () => (served++ === 0 ? { kind: 'cut', afterBytes: MIB } : down)
  const response = await fetch(url)
  expect([response.status, response.headers.get('content-length')]).toEqual([200, String(file.length)])
  expect(await response.arrayBuffer().catch(() => 'cut')).toBe('cut')
}, 30_000)

test('a video that cannot be stored is kept and stored later, though its vendor forgets it; it is charged once', async () => {
  const file = emptyMp4(5, 9 * MIB)
  vendor.plan.file = () => new Response(file)
  type Money = { readonly posted_nano_usd: string; readonly held_nano_usd: string }
  const money = async (): Promise<readonly [posted: bigint, held: bigint]> => {
    const shown = await gateway.operate<Money>('account.show', { account: gateway.accountId })
    return [BigInt(shown.posted_nano_usd), BigInt(shown.held_nano_usd)]
  }
  const [before] = await money()
  always('UploadPart', down)
  const { id } = await client.made()
  while (!gateway.output().includes('video.store_failed')) await Bun.sleep(20)
  vendor.plan.poll = () => new Response('{}', { status: 404 })
  vendor.plan.file = () => new Response('gone', { status: 404 })
  expect((await client.task(id)).status).toBe('in_progress')
  const [waiting, held] = await money()
  expect([waiting, held > 0n]).toEqual([before, true])
  // Nothing that would end the same way is begun meanwhile.
  if (!isPair) expect(await failureOf(await client.create())).toEqual([503, 'service_unavailable'])
  await Bun.sleep(500)
  expect((await client.task(id)).status).toBe('in_progress')
  s3.plan = () => undefined
  const done = await client.ended(id, 20_000)
  expect(done.status).toBe('completed')
  expect(Buffer.compare(Buffer.from(await (await fetch(done.metadata?.url ?? '')).arrayBuffer()), file)).toBe(0)
  expect(vendor.seen.filter(({ path }) => path.startsWith('/files/')).length).toBe(1)
  expect(await money()).toEqual([before - 500_000_000n, 0n])
  expect(s3.uploads.size).toBe(0)
}, 60_000)

test('an image that cannot be stored comes in the answer; the next one is refused before it costs anything', async () => {
  always('PutObject', down)
  const entry = await entryOf(await generate(gateway))
  expect(entry.url).toBeUndefined()
  expect(
    Buffer.from(entry.b64_json ?? '', 'base64')
      .subarray(1, 4)
      .toString(),
  ).toBe('PNG')
  const byUrl = { response_format: 'url' }
  let refused = await generate(gateway, byUrl)
  if (isPair && refused.status === 200) refused = await generate(gateway, byUrl)
  expect(await failureOf(refused)).toEqual([503, 'service_unavailable'])
  s3.plan = () => undefined
  // Each instance tries the storage again by itself.
  for (let inTurn = 0; inTurn < INSTANCES;) {
    const { status } = await generate(gateway, byUrl)
    inTurn = status === 200 ? inTurn + 1 : 0
    if (status !== 200) await Bun.sleep(200)
  }
  expect(gateway.output()).toContain('blobs.storage_works')
}, 30_000)

test('a deleted video leaves the bucket; if that fails, it is still deleted for its client', async () => {
  const first = await madeOf(emptyMp4(5))
  const [key = ''] = [...s3.objects.keys()].slice(-1)
  const deleted = await client.call(`/videos/${first.id}`, { method: 'DELETE' })
  expect([deleted.status, s3.objects.has(key)]).toEqual([200, false])
  const second = await madeOf(emptyMp4(5))
  always('DeleteObject', down)
  expect((await client.call(`/videos/${second.id}`, { method: 'DELETE' })).status).toBe(200)
  expect((await fetch(second.url)).status).toBe(404)
}, 30_000)

test('doctor and backup tell of the bucket, and no secret is printed', async () => {
  const place = `${s3.origin}/${s3.bucket}/${PREFIX}`
  expect(await gateway.operate('doctor')).toMatchObject({ files: place, files_problem: null })
  always('GetObject', { kind: 'whole' })
  expect(await gateway.operate('doctor')).toMatchObject({
    files_problem: expect.stringContaining('cannot read a part of a file: '),
  })
  // A database of its own has backups of its own.
  if (isPair) return
  const folder = freshFolder()
  const { out } = await runCommand(gateway.folder, ['backup', join(folder, 'b.db')], { ...s3.env })
  expect(out).toContain(`not included; images and videos stay in ${place}`)
  expect(gateway.output() + out).not.toContain(s3.identity.secretAccessKey)
}, 30_000)

test('half a configuration stops the start, and says what is missing', async () => {
  const folder = freshFolder()
  const { TOLLGATE_S3_BUCKET: _, ...half } = s3.env
  const { code, err } = await runCommand(folder, ['serve'], half)
  expect([code === 0, err.includes('TOLLGATE_S3_BUCKET')]).toEqual([false, true])
  expect(err).not.toContain(s3.identity.secretAccessKey)
})
