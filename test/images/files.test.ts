/** URLs of generated images: served to everyone who has them, for a limited time. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { freePort } from '../support/free-port.ts'
import { INSTANCES, startGateway, type TestGateway } from '../support/gateway.ts'
import { readPng } from '../support/png.ts'
import { storedFiles, storedText } from '../support/stored.ts'

let gateway: TestGateway
let url = ''
let file = Buffer.alloc(0)

async function generate(from: TestGateway, body: object = {}): Promise<{ url: string }> {
  const response = await fetch(`${from.baseUrl}/images/generations`, {
    method: 'POST',
    headers: { authorization: `Bearer ${from.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'sandbox-image-classic', prompt: 'a boat', size: '512x512', ...body }),
  })
  return ((await response.json()) as { data: { url: string }[] }).data[0] ?? { url: '' }
}

beforeAll(async () => {
  gateway = await startGateway({ env: { TOLLGATE_TRUSTED_PROXIES: '127.0.0.1' } })
  ;({ url } = await generate(gateway))
  file = Buffer.from(await (await fetch(url)).arrayBuffer())
}, 30_000)
afterAll(() => gateway.close(), 30_000)

test('the address is the gateway’s own and leads to the picture, without a key', async () => {
  expect(url).toStartWith(`${gateway.baseUrl}/images/files/img_`)
  expect(readPng(file)).toMatchObject({ width: 512, height: 512 })
  const { headers } = await fetch(url)
  expect(Object.fromEntries(headers)).toMatchObject({
    'content-type': 'image/png',
    'content-length': String(file.length),
    'accept-ranges': 'bytes',
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; sandbox",
    'referrer-policy': 'no-referrer',
  })
})

test('HEAD, Range and If-None-Match are answered', async () => {
  const head = await fetch(url, { method: 'HEAD' })
  expect([head.status, head.headers.get('content-length')]).toEqual([200, String(file.length)])
  const ask = async (headers: Record<string, string>): Promise<[number, Buffer, string | null]> => {
    const response = await fetch(url, { headers })
    return [response.status, Buffer.from(await response.arrayBuffer()), response.headers.get('content-range')]
  }
  const size = file.length
  expect(await ask({ range: 'bytes=0-9' })).toEqual([206, file.subarray(0, 10), `bytes 0-9/${size}`])
  expect(await ask({ range: 'bytes=-5' })).toEqual([206, file.subarray(-5), `bytes ${size - 5}-${size - 1}/${size}`])
  expect(await ask({ range: 'bytes=100-' })).toEqual([206, file.subarray(100), `bytes 100-${size - 1}/${size}`])
  expect((await ask({ range: `bytes=${size}-` }))[0]).toBe(416)
  expect((await ask({ range: 'bytes=0-1, 3-4' }))[0]).toBe(200)
  const etag = head.headers.get('etag') ?? ''
  expect((await ask({ range: 'bytes=0-9', 'if-range': '"other"' }))[0]).toBe(200)
  for (const tags of [etag, `W/${etag}`, `"other" ,${etag}`, '*']) {
    const known = await fetch(url, { headers: { 'if-none-match': tags } })
    expect([known.status, known.headers.get('content-length')]).toEqual([304, null])
  }
  expect((await ask({ 'if-none-match': '"other", W/"one"' }))[0]).toBe(200)
})

test('the id is unguessable, and nowhere but in the answer', async () => {
  const [, id = ''] = /(img_\w+)\.png$/.exec(url) ?? []
  // 27 characters of 62: 160 bits.
  expect(id).toMatch(/^img_[0-9A-Za-z]{27}$/)
  const other = await fetch(url.replace(/.(?=\.png$)/, (last) => (last === 'a' ? 'b' : 'a')))
  expect([other.status, ((await other.json()) as { error: { code: string } }).error.code]).toEqual([404, 'not_found'])
  for (const path of ['', 'x', '../tollgate.db', '%2e%2e/tollgate.db', `${id}/x`]) {
    expect((await fetch(`${gateway.baseUrl}/images/files/${path}`)).status).toBe(404)
  }
  expect((await fetch(`${gateway.baseUrl}/videos/${id}/content`)).status).toBe(404)
  expect(gateway.output()).not.toContain(id.slice(4))
  const text = await storedText(gateway.folder)
  expect([text.includes(gateway.accountId), text.includes(id.slice(4))]).toEqual([true, false])
})

test('so many a minute from one address, whatever others do', async () => {
  const from = (client: string): Promise<number> =>
    fetch(url, { method: 'HEAD', headers: { 'x-forwarded-for': client } }).then(({ status }) => status)
  const startedMs = performance.now()
  let served = 0
  let status = await from('192.0.2.7')
  for (; status === 200; served++) status = await from('192.0.2.7')
  const refilled = (240 * (performance.now() - startedMs)) / 60_000
  expect(status).toBe(429)
  expect(served).toBeWithin(240 * INSTANCES - 1, (241 + refilled) * INSTANCES)
  expect(await from('192.0.2.8')).toBe(200)
})

test('after its time it is gone: 410, and its file is swept away', async () => {
  const brief = await startGateway({ env: { TOLLGATE_IMAGE_URL_MS: '3000' } })
  const made = await generate(brief)
  const isThere = async (): Promise<boolean> => (await fetch(made.url, { method: 'HEAD' })).ok
  expect(await isThere()).toBe(true)
  for (let tries = 0; (await isThere()) && tries < 200; tries++) await Bun.sleep(50)
  const response = await fetch(made.url)
  expect([response.status, ((await response.json()) as { error: { code: string } }).error.code]).toEqual([
    410,
    'expired',
  ])
  const files = (): Promise<readonly string[]> => storedFiles(brief.folder)
  for (let tries = 0; (await files()).length > 0 && tries < 500; tries++) await Bun.sleep(20)
  expect(await files()).toEqual([])
  expect((await fetch(made.url)).status).toBe(410)
  await brief.close()
}, 30_000)

test('an open server hands out addresses only where it knows its own', async () => {
  const open = await startGateway({ env: { HOST: '0.0.0.0' } })
  expect(await generate(open)).not.toHaveProperty('url')
  await open.close()
  const port = freePort()
  const env = { HOST: '0.0.0.0', PORT: String(port), TOLLGATE_PUBLIC_URL: 'https://models.example' }
  const named = await startGateway({ env })
  expect((await generate({ ...named, baseUrl: `http://127.0.0.1:${port}/v1` })).url).toStartWith(
    'https://models.example/v1/images/files/img_',
  )
  await named.close()
}, 30_000)
