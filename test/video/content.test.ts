/**
 * The finished video, for everyone who has its URL: in parts, for a limited time, at the reader's pace, and within
 * limits.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { INSTANCES, startGateway, type TestGateway } from '../support/gateway.ts'
import { storedFiles, storedText } from '../support/stored.ts'
import { VideoClient } from '../support/video-client.ts'
import { emptyMp4, startVideoVendor, videoYaml, type VideoVendor } from '../support/video-vendor.ts'
import { MIB } from '../../src/lib/primitives/units.ts'

const [PER_MINUTE, CONCURRENT] = [120, 60]
/** Instances keep their files in S3, and read up to a megabyte ahead of each of the fifty readers. */
const GROWN_MIB_MAX = INSTANCES === 1 ? 64 : 256
const file = emptyMp4(5, 700_001)

let gateway: TestGateway
let vendor: VideoVendor
let client: VideoClient
let id = ''
let url = ''

beforeAll(async () => {
  vendor = startVideoVendor()
  vendor.plan.file = () => new Response(file)
  gateway = await startGateway({
    yaml: videoYaml(vendor.origin),
    env: {
      TOLLGATE_VIDEO_POLL_MS: '25',
      TOLLGATE_TRUSTED_PROXIES: '127.0.0.1',
      TOLLGATE_CONTENT_PER_MINUTE: String(PER_MINUTE),
      TOLLGATE_CONTENT_CONCURRENT: String(CONCURRENT),
    },
  })
  client = new VideoClient(gateway)
  ;({ id } = await client.made())
  url = (await client.ended(id)).metadata?.url ?? ''
}, 30_000)
afterAll(async () => {
  await gateway.close()
  await vendor.stop()
}, 30_000)

type Answer = readonly [status: number, body: Buffer, contentRange: string | null]
async function ask(headers: Record<string, string> = {}, at = url): Promise<Answer> {
  const response = await fetch(at, { headers })
  return [response.status, Buffer.from(await response.arrayBuffer()), response.headers.get('content-range')]
}
const code = async (response: Response): Promise<unknown[]> => [
  response.status,
  ((await response.json()) as { error: { code: string } }).error.code,
]

test('it is the vendor’s file, without a key, and a browser may play it and do nothing else with it', async () => {
  const response = await fetch(url)
  expect(Object.fromEntries(response.headers)).toMatchObject({
    'content-type': 'video/mp4',
    'content-length': String(file.length),
    'accept-ranges': 'bytes',
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; sandbox",
    'referrer-policy': 'no-referrer',
  })
  expect(Buffer.compare(await response.bytes(), file)).toBe(0)
})

test('the address of a picture leads to no video', async () => {
  expect(await code(await fetch(`${gateway.baseUrl}/images/files/${id}.mp4`))).toEqual([404, 'not_found'])
})

test('HEAD, Range, If-Range and If-None-Match are answered', async () => {
  const head = await fetch(url, { method: 'HEAD' })
  expect([head.status, head.headers.get('content-length')]).toEqual([200, String(file.length)])
  const size = file.length
  expect(await ask({ range: 'bytes=0-9' })).toEqual([206, file.subarray(0, 10), `bytes 0-9/${size}`])
  expect(await ask({ range: 'bytes=-5' })).toEqual([206, file.subarray(-5), `bytes ${size - 5}-${size - 1}/${size}`])
  expect(await ask({ range: 'bytes=600000-' })).toEqual([
    206,
    file.subarray(600_000),
    `bytes 600000-${size - 1}/${size}`,
  ])
  const [status, body, range] = await ask({ range: `bytes=${size}-` })
  expect([status, range]).toEqual([416, `bytes */${size}`])
  const error = { type: 'invalid_request_error', param: 'range', code: 'invalid_value' }
  expect(JSON.parse(String(body))).toEqual({ error: { message: expect.any(String), ...error } })
  const etag = head.headers.get('etag') ?? ''
  expect((await ask({ range: 'bytes=0-9', 'if-range': etag }))[0]).toBe(206)
  expect((await ask({ range: 'bytes=0-9', 'if-range': '"other"' }))[0]).toBe(200)
  expect((await ask({ 'if-none-match': etag }))[0]).toBe(304)
  expect((await fetch(url, { method: 'PUT' })).status).toBe(405)
})

test('before it is there 409, without it 404, and no other variant', async () => {
  vendor.plan.looks = 6
  const running = await client.made()
  const early = await fetch(`${gateway.baseUrl}/videos/${running.id}/content`)
  vendor.plan.looks = 2
  expect([early.status, early.headers.get('x-should-retry')]).toEqual([409, 'false'])
  expect(await early.json()).toMatchObject({ error: { code: 'task_not_completed', type: 'conflict_error' } })
  await client.ended(running.id)
  for (const path of [`task_${'0'.repeat(32)}`, 'x', `${id}x`, id.slice(0, -1), '%2e%2e%2ftollgate.db']) {
    expect(await code(await fetch(`${gateway.baseUrl}/videos/${path}/content`))).toEqual([404, 'task_not_found'])
  }
  expect((await ask({}, `${url}?variant=video`))[0]).toBe(200)
  expect(await code(await fetch(`${url}?variant=thumbnail`))).toEqual([400, 'invalid_value'])
}, 20_000)

test('its id is in no log line, nor what was asked for in the store', async () => {
  const secret = `whispered-${crypto.randomUUID()}`
  const { id: other } = await client.made({ content: [{ type: 'text', text: secret }] })
  await client.ended(other)
  expect(gateway.output()).not.toContain(other.slice(5))
  const text = await storedText(gateway.folder)
  const has = [gateway.accountId, secret, `${vendor.origin.slice(7)}/files`].map((word) => text.includes(word))
  expect(has).toEqual([true, false, false])
})

test('so many a minute from one address, whatever others do', async () => {
  const from = (address: string): Promise<Response> =>
    fetch(url, { method: 'HEAD', headers: { 'x-forwarded-for': address } })
  const startedMs = performance.now()
  let served = 0
  let answer = await from('192.0.2.7')
  for (; answer.status === 200; served++) answer = await from('192.0.2.7')
  const refilled = (PER_MINUTE * (performance.now() - startedMs)) / 60_000
  expect([answer.status, Number(answer.headers.get('retry-after')) > 0]).toEqual([429, true])
  expect(served).toBeWithin(PER_MINUTE * INSTANCES - 1, (PER_MINUTE + 1 + refilled) * INSTANCES)
  // The other instance has one left at most.
  for (let i = 1; i < INSTANCES; i++) await from('192.0.2.7')
  const picture = `${gateway.baseUrl}/images/files/img_${'0'.repeat(27)}.png`
  expect((await fetch(picture, { headers: { 'x-forwarded-for': '192.0.2.7' } })).status).toBe(429)
  expect((await from('192.0.2.8')).status).toBe(200)
})

type SlowReader = { bytes: number; leave(): void }

/** Reads at so many bytes a second, until it leaves. */
async function readSlowly(at: string, address: string, bytesPerSecond: number): Promise<SlowReader> {
  const reader = { bytes: 0, leave: () => socket.terminate() }
  const socket = await Bun.connect({
    hostname: '127.0.0.1',
    port: Number(new URL(at).port),
    socket: {
      data(peer, chunk) {
        reader.bytes += chunk.length
        peer.pause()
        setTimeout(() => peer.resume(), (chunk.length / bytesPerSecond) * 1000)
      },
    },
  })
  socket.write(`GET ${new URL(at).pathname} HTTP/1.1\r\nhost: x\r\nx-forwarded-for: ${address}\r\n\r\n`)
  return reader
}

/** Resolves once each of some slow readers has so much. */
async function readingSlowly(at: string, address: string, count: number, bytesMin: number): Promise<SlowReader[]> {
  const readers = await Promise.all(Array.from({ length: count }, () => readSlowly(at, address, MIB)))
  while (readers.some(({ bytes }) => bytes < bytesMin)) await Bun.sleep(50)
  return readers
}

/** The memory of all instances. */
async function memoryMib(): Promise<number> {
  const [, bytes] = /^process_resident_memory_bytes (\d+)$/m.exec(await gateway.metrics()) ?? []
  return Number(bytes) / MIB
}

test('fifty slow readers of a large file are not held in memory; one too many is told to come back', async () => {
  vendor.plan.looks = 1
  vendor.plan.file = () => new Response(emptyMp4(5, 96 * MIB))
  const { id: large } = await client.made()
  const at = (await client.ended(large, 30_000)).metadata?.url ?? ''
  const before = await memoryMib()
  const readers = await readingSlowly(at, '192.0.2.50', 50, MIB)
  const grownMib = (await memoryMib()) - before
  for (const reader of readers) reader.leave()
  expect(grownMib).toBeLessThan(GROWN_MIB_MAX)
  const crowd = await readingSlowly(at, '192.0.2.51', CONCURRENT * INSTANCES, 1)
  const refused = await fetch(at, { headers: { 'x-forwarded-for': '192.0.2.51' } })
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1'])
  await refused.text()
  for (const reader of crowd) reader.leave()
}, 120_000)

test('after its time it is gone: 410, its file is swept away, and its task still says what it was', async () => {
  const keptMs = 1_500
  vendor.reset()
  const env = { TOLLGATE_VIDEO_POLL_MS: '25', TOLLGATE_VIDEO_KEPT_MS: String(keptMs) }
  const brief = await startGateway({ yaml: videoYaml(vendor.origin), env })
  const visitor = new VideoClient(brief)
  const { id: made, metadata } = await visitor.ended((await visitor.made()).id)
  const at = metadata?.url ?? ''
  expect((await ask({}, at))[0]).toBe(200)
  await Bun.sleep(keptMs + 50)
  expect(await code(await fetch(at))).toEqual([410, 'expired'])
  expect((await visitor.task(made)).status).toBe('completed')
  while ((await storedFiles(brief.folder)).length > 0) await Bun.sleep(50)
  expect(await code(await fetch(at))).toEqual([410, 'expired'])
  await brief.close()
}, 30_000)

test('so many a minute of one file, from wherever; other files are served', async () => {
  const other = (await client.ended((await client.made()).id)).metadata?.url ?? ''
  const from = (at: string, i: number): Promise<Response> => {
    const address = `198.51.${100 + (i >> 8)}.${i & 255}`
    return fetch(at, { method: 'HEAD', headers: { 'x-forwarded-for': address } })
  }
  const most = PER_MINUTE * 16 * INSTANCES
  let served = 0
  let answer = await from(url, 0)
  for (let i = 1; i < most * 1.5 && answer.status === 200; i++) {
    served++
    answer = await from(url, i)
  }
  expect([answer.status, Number(answer.headers.get('retry-after')) > 0]).toEqual([429, true])
  // Others have asked before, and it fills up again meanwhile.
  expect(served).toBeWithin(most - INSTANCES * (2 * PER_MINUTE + 100), most * 1.5)
  expect((await from(other, 0)).status).toBe(200)
}, 60_000)
