/** Vendors that answer with the URL of an image, and the limits of fetching it. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import sharp from 'sharp'
import { startGateway, type TestGateway } from '../support/gateway.ts'

let vendor: Bun.Server<undefined>
/** How many pictures were asked for so far, and not given. */
let hanging = 0

beforeAll(async () => {
  const picture = await sharp({ create: { width: 8, height: 8, channels: 3, background: '#a05' } })
    .png()
    .toBuffer()
  vendor = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    async fetch(request) {
      const { origin, pathname } = new URL(request.url)
      if (request.method === 'POST') {
        const named = (name: string): object => ({ url: `${origin}/${name}.png` })
        return Response.json({ created: 5, data: [named('given'), named('hangs'), named('hangs')] })
      }
      if (pathname === '/given.png') return new Response(new Uint8Array(picture))
      hanging++
      await Bun.sleep(30_000)
      return new Response('late')
    },
  })
})
afterAll(() => vendor.stop(true))

const start = (env: Record<string, string> = {}, former?: TestGateway): Promise<TestGateway> =>
  startGateway({
    env,
    ...(former && { folder: former.folder, as: former }),
    yaml: `
providers:
  vendor: { base_url: 'http://127.0.0.1:${vendor.port}/v1', allow_private: true }
models:
  by-url:
    kind: image
    price: { each: { image: 0.01 } }
    image: { n_max: 4 }
    offers: [{ provider: vendor, model: by-url }]
`,
  })

type HttpAnswer = { readonly status: number; readonly code: string | undefined; readonly images: number }

/** Three pictures, with a key under which they may be asked for again. */
async function generate(gateway: TestGateway, key: string, once: string): Promise<HttpAnswer> {
  const response = await fetch(`${gateway.baseUrl}/images/generations`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'idempotency-key': once },
    body: JSON.stringify({ model: 'by-url', prompt: 'x', n: 3 }),
  })
  const { error, data = [] } = (await response.json()) as { error?: { code: string }; data?: unknown[] }
  return { status: response.status, code: error?.code, images: data.length }
}

/** Asks for pictures, and resolves when one is being fetched that does not come. */
async function hang(gateway: TestGateway, key = gateway.key): Promise<{ once: string; told: Promise<HttpAnswer> }> {
  const before = hanging
  const once = `after ${before}`
  const told = generate(gateway, key, once)
  while (hanging === before) await Bun.sleep(10)
  return { once, told }
}

type StoredRecord = Record<'outcome' | 'charged' | 'status', string> & { readonly attempts: string }

async function lastOf(gateway: TestGateway): Promise<StoredRecord> {
  for (let tries = 0; tries < 250; tries++) {
    const [record] = await gateway.operate<StoredRecord[]>('request.list', { limit: 1 })
    if (record) return record
    await Bun.sleep(20)
  }
  throw new Error('no record')
}

test('a key that is revoked meanwhile, and a request that takes too long, get what came before', async () => {
  const gateway = await start({ TOLLGATE_REQUEST_TIMEOUT_MS: '4000' })
  const { id, secret } = await gateway.operate<{ id: string; secret: string }>('key.create', {
    account: gateway.accountId,
    name: 'gone',
  })
  const barred = await hang(gateway, secret)
  await gateway.operate('key.revoke', { key: id })
  expect(await barred.told).toEqual({ status: 200, code: undefined, images: 1 })
  expect(await lastOf(gateway)).toMatchObject({ outcome: 'barred', charged: '10000000' })
  // Both that hang are given up, not the one after the other.
  const overdue = await hang(gateway)
  expect(await overdue.told).toEqual({ status: 200, code: undefined, images: 1 })
  expect(await lastOf(gateway)).toMatchObject({ outcome: 'cut', charged: '10000000' })
  await gateway.close()
}, 30_000)

test('a shutdown does not wait for it, and leaves no hold', async () => {
  const gateway = await start({ TOLLGATE_DRAIN_MS: '300' })
  const { once, told } = await hang(gateway)
  const stopped = gateway.stop()
  expect(await told).toEqual({ status: 200, code: undefined, images: 1 })
  expect(await stopped).toBe(0)
  const again = await start({}, gateway)
  expect(await lastOf(again)).toMatchObject({ outcome: 'cut', charged: '10000000' })
  expect(again.output()).not.toContain('ledger.expired')
  // Whoever asks again is not given a part for the whole.
  const second = await generate(again, again.key, once)
  expect(second).toEqual({ status: 409, code: 'idempotency_answer_not_kept', images: 0 })
  await again.close()
}, 30_000)

test('a client that leaves pays for what is still fetched for it, and that is stopped with its key', async () => {
  const gateway = await start()
  const { id, secret } = await gateway.operate<{ id: string; secret: string }>('key.create', {
    account: gateway.accountId,
    name: 'gone',
  })
  const leaving = new AbortController()
  const before = hanging
  const gone = fetch(`${gateway.baseUrl}/images/generations`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'by-url', prompt: 'x', n: 2 }),
    signal: leaving.signal,
  }).catch(() => undefined)
  while (hanging === before) await Bun.sleep(10)
  leaving.abort()
  expect(await gone).toBeUndefined()
  await gateway.operate('key.revoke', { key: id })
  expect(await lastOf(gateway)).toMatchObject({ outcome: 'client_closed', charged: '10000000' })
  await gateway.close()
}, 30_000)
