/** Answers of bytes: they pass unchanged, whole and as a stream, are charged once, and are repeated to the byte. */
import { expect, test } from 'bun:test'
import { once } from 'node:events'
import { createServer, type OutgoingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { rawClient } from '../support/raw-client.ts'
import { useGateway } from '../support/use-gateway.ts'

/** Every value of a byte, so that no way through a text keeps it. */
function audio(length: number): Uint8Array {
  const bytes = new Uint8Array(length)
  for (let i = 0; i < length; i++) bytes[i] = (i * 7 + (i >> 8)) % 256
  return bytes
}
const JSON_TYPE = { 'content-type': 'application/json' }
const AUDIO = { 'content-type': 'audio/mpeg; rate=24000' }

type UpstreamBody = { readonly model: string }
let asked = 0

/** The vendor. The model says how it answers. */
const vendor = createServer((request, response) => {
  const body: Buffer[] = []
  request.on('data', (piece: Buffer) => body.push(piece))
  request.on('end', () => {
    asked++
    const { model } = JSON.parse(Buffer.concat(body).toString()) as UpstreamBody
    void answer(model, response)
  })
})

async function answer(model: string, response: ServerResponse): Promise<void> {
  const [how = '', size = '0'] = model.split('-')
  const all = audio(Number(size))
  const send = (status: number, headers: OutgoingHttpHeaders, body: string | Uint8Array): unknown =>
    response.writeHead(status, headers).end(body)
  const error = JSON.stringify({ error: { message: 'The voice is unknown.', code: 'invalid_value' } })
  switch (how) {
    case 'whole':
      return void send(200, { ...AUDIO, 'content-length': all.length }, all)
    case 'page':
      return void send(200, { 'content-type': 'text/html' }, '<script>alert(1)</script>')
    case 'json':
      return void send(200, JSON_TYPE, error)
    case 'refused':
      return void send(400, JSON_TYPE, error)
    case 'empty':
      return void send(200, AUDIO, '')
  }
  if (how === 'late') await Bun.sleep(300)
  response.writeHead(200, AUDIO)
  for (let at = 0; at < all.length; at += all.length / 10) {
    response.write(all.subarray(at, at + all.length / 10))
    await Bun.sleep(5)
  }
  if (how === 'pieces' || how === 'late') response.end()
  if (how === 'broken') response.destroy()
}

const models = [
  'whole-5000',
  'whole-3000000',
  'pieces-5000',
  'pieces-2500000',
  'pieces-12000000',
  'pieces-40000000',
  'late-5000',
  'broken-5000',
  'hanging-5000',
]
const failing = ['page-1', 'json-1', 'refused-1', 'empty-0']
const price = 'price: { input: 1000, output: 0 }'
const offersOf = (names: readonly string[]): string =>
  `[${names.map((name, i) => `{ provider: vendor, model: ${name}, priority: ${i} }`).join(', ')}]`

const gateway = useGateway(
  async () => {
    await once(vendor.listen(0, '127.0.0.1'), 'listening')
    const { port } = vendor.address() as AddressInfo
    return {
      env: { TOLLGATE_HEARTBEAT_MS: '100' },
      preload: [join(import.meta.dir, '../support/bytes-route.ts')],
      yaml: `
sandbox: false
providers:
  vendor: { base_url: 'http://127.0.0.1:${port}/v1', allow_private: true }
models:
${[...models, ...failing].map((name) => `  ${name}: { ${price}, offers: ${offersOf([name])} }`).join('\n')}
  second: { ${price}, offers: ${offersOf(['page-1', 'empty-0', 'pieces-5000'])} }
`,
    }
  },
  () => {
    vendor.closeAllConnections()
    vendor.close()
  },
)

let serial = 0
type Member = { readonly key: string; rows(): Promise<Row[]>; balance(): Promise<bigint> }
type Row = { outcome: string; charged: string; held: string; status: string; stream: string; endpoint: string }

async function member(): Promise<Member> {
  const account = `listener-${serial++}`
  await gateway.operate('account.create', { name: account, balance: '10' })
  const { secret: key } = await gateway.operate<{ secret: string }>('key.create', { account, name: 'k' })
  return {
    key,
    rows: () => gateway.operate('request.list', { account, limit: 100 }),
    balance: async () => {
      const { posted_nano_usd: posted, held_nano_usd: held } = await gateway.operate<Record<string, string>>(
        'account.show',
        { account },
      )
      expect(held).toBe('0')
      return BigInt(posted ?? 0)
    },
  }
}

type Options = { readonly stream?: boolean; readonly key?: string; readonly signal?: AbortSignal }
const ask = (who: Member, model: string, { stream = false, key, signal }: Options = {}): Promise<Response> =>
  fetch(`${gateway.baseUrl}/test/bytes`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${who.key}`,
      ...JSON_TYPE,
      ...(key === undefined ? {} : { 'idempotency-key': key }),
    },
    body: JSON.stringify({ model, input: 'Hello there, my friend.', stream }),
    ...(signal ? { signal } : {}),
  })

const digest = (bytes: Uint8Array): string => Bun.hash(bytes).toString(16)
async function expectAudio(response: Response, length: number): Promise<void> {
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'audio/mpeg'])
  const got = await response.bytes()
  expect([got.length, digest(got)]).toEqual([length, digest(audio(length))])
}

async function settled(who: Member, count: number): Promise<Row[]> {
  for (;;) {
    const rows = await who.rows()
    if (rows.length >= count) return rows
    await Bun.sleep(10)
  }
}

test.each([
  ['whole-5000', false, 5_000],
  ['pieces-5000', false, 5_000],
  ['whole-3000000', false, 3_000_000],
  ['pieces-2500000', false, 2_500_000],
  ['whole-5000', true, 5_000],
  ['pieces-5000', true, 5_000],
  ['whole-3000000', true, 3_000_000],
  ['pieces-2500000', true, 2_500_000],
  // More than a stream of text may have for its tokens.
  ['pieces-12000000', true, 12_000_000],
  ['late-5000', true, 5_000],
])('%s, as a stream: %p', async (model, stream, length) => {
  const who = await member()
  const response = await ask(who, model, { stream })
  await expectAudio(response, length)
  expect(response.headers.get('content-length')).toBe(stream ? null : String(length))
  expect(response.headers.get('x-content-type-options')).toBe('nosniff')
  const [row] = await settled(who, 1)
  expect(row).toMatchObject({ outcome: 'completed', status: '200', stream: stream ? '1' : '0', endpoint: 'test.bytes' })
  // The input is counted, because no bytes report a usage. It costs a thousandth of a dollar per token.
  expect(10_000_000_000n - (await who.balance())).toBe(BigInt(row?.charged ?? 0))
  expect(BigInt(row?.charged ?? 0)).toBe(6_000_000n)
  if (!stream) expect(response.headers.get('x-tollgate-cost-usd')).toBe('0.006')
})

test('a stream of bytes has its first bytes before its vendor is done, and nothing between them', async () => {
  const who = await member()
  const leave = new AbortController()
  const response = await ask(who, 'hanging-5000', { stream: true, signal: leave.signal })
  const reader = (response.body as ReadableStream<Uint8Array>).getReader()
  const got: Uint8Array[] = []
  while (got.reduce((sum, { length }) => sum + length, 0) < 5_000) got.push((await reader.read()).value as Uint8Array)
  expect(digest(Buffer.concat(got))).toBe(digest(audio(5_000)))
  // A heartbeat is due every 100 ms, but would be a part of the bytes.
  expect(await Promise.race([reader.read(), Bun.sleep(300)])).toBeUndefined()
  expect(await who.rows()).toHaveLength(0)
  leave.abort()
  const [row] = await settled(who, 1)
  expect(row).toMatchObject({ outcome: 'client_closed', status: '499', charged: '6000000' })
  expect(await who.balance()).toBe(9_994_000_000n)
})

test('a stream of bytes that breaks off breaks off for its client, and is charged', async () => {
  const who = await member()
  const { host, port } = new URL(gateway.baseUrl)
  const body = JSON.stringify({ model: 'broken-5000', input: 'Hello there, my friend.', stream: true })
  const head = `POST /v1/test/bytes HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${who.key}\r\nidempotency-key: k`
  const client = await rawClient(Number(port))
  client.send(`${head}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`)
  await client.until(({ ending }) => ending !== 'open')
  expect(client.text).toStartWith('HTTP/1.1 200 OK')
  expect(client.text).not.toContain('\r\n0\r\n\r\n')
  const [row] = await settled(who, 1)
  expect(row).toMatchObject({ outcome: 'cut', charged: '6000000' })
  // A part is no answer to repeat.
  const again = await ask(who, 'broken-5000', { stream: true, key: 'k' })
  expect([again.status, ((await again.json()) as { error: { code: string } }).error.code]).toEqual([
    409,
    'idempotency_answer_not_kept',
  ])
})

test('a stream of bytes is cut off where a whole answer would be refused', async () => {
  const who = await member()
  const response = await ask(who, 'pieces-40000000', { stream: true })
  expect(response.status).toBe(200)
  expect(await response.bytes().catch(() => 'broken off')).toBe('broken off')
  expect(await settled(who, 1)).toMatchObject([{ outcome: 'cut', charged: '6000000' }])
  expect((await ask(who, 'pieces-40000000')).status).toBe(502)
})

test.each([false, true])('a repetition gets the same bytes and no second charge, as a stream: %p', async (stream) => {
  const who = await member()
  const before = asked
  await expectAudio(await ask(who, 'pieces-5000', { stream, key: 'a' }), 5_000)
  const again = await ask(who, 'pieces-5000', { stream, key: 'a' })
  expect(again.headers.get('idempotent-replayed')).toBe('true')
  await expectAudio(again, 5_000)
  expect(asked).toBe(before + 1)
  expect(await who.rows()).toHaveLength(1)
  // More than a mebibyte is not kept.
  await expectAudio(await ask(who, 'pieces-2500000', { stream, key: 'b' }), 2_500_000)
  expect((await ask(who, 'pieces-2500000', { stream, key: 'b' })).status).toBe(409)
})

test.each([false, true])(
  'an answer that is no bytes is a failure, and costs nothing, as a stream: %p',
  async (stream) => {
    const who = await member()
    for (const [model, status] of [
      ['page-1', 502],
      ['json-1', 502],
      ['refused-1', 400],
      ['empty-0', 502],
    ] as const) {
      const response = await ask(who, model, { stream })
      expect([model, response.status, response.headers.get('content-type')]).toEqual([
        model,
        status,
        'application/json; charset=utf-8',
      ])
      expect(await response.text()).not.toContain('script')
    }
    // Until the first byte, the next offer is tried.
    await expectAudio(await ask(who, 'second', { stream }), 5_000)
    expect(await who.balance()).toBe(9_994_000_000n)
  },
)
