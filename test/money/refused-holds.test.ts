/**
 * Holds that the store refuses when it writes them, on the whole relay. The gateway has a ledger that decides late
 * (`late/late-ledger.ts`). The client must get what a refusal at admission would say, and nothing may be charged, held,
 * recorded or left running.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { chat, freshFolder, startGateway, startSandboxProcess } from '../support/gateway.ts'
import type { TestGateway, TestSandbox } from '../support/gateway.ts'
import { words } from '../support/video-client.ts'
import { startWordVendor, type WordVendor } from '../support/word-vendor.ts'
import type { Orders } from './late/late-ledger.ts'

const folder = freshFolder()
const file = join(folder, 'orders.json')
/** How long the store takes, unless a test says otherwise. */
const DELAY_MS = 30
const order = (orders: Partial<Orders> = {}): void =>
  writeFileSync(file, JSON.stringify({ isSure: true, delayMs: DELAY_MS, ...orders } satisfies Orders))

let sandbox: TestSandbox
let vendor: WordVendor
let gateway: TestGateway

beforeAll(async () => {
  sandbox = await startSandboxProcess()
  vendor = startWordVendor({ pauseMs: 1 })
  const { origin } = new URL(sandbox.baseUrl)
  const price = '{ input: 1, output: 2 }'
  const model = (name: string): string => `{ price: ${price}, offers: [{ provider: vendor, model: '${name}' }] }`
  order()
  gateway = await startGateway({
    folder,
    yaml: `
sandbox: false
providers:
  vendor: { base_url: '${sandbox.baseUrl}', allow_private: true }
  narrow: { base_url: '${sandbox.baseUrl}', allow_private: true, concurrent_requests: 1 }
  words: { base_url: '${vendor.origin}/v1', allow_private: true }
  ark: { preset: ark, base_url: '${origin}/api/v3', allow_private: true, key: sk-x }
models:
  plain: ${model('sandbox-chat')}
  slow: ${model('sandbox-chat!delayMs=10000')}
  failing: ${model('sandbox-chat!status=400')}
  alone: { price: ${price}, offers: [{ provider: narrow, model: 'sandbox-chat!delayMs=200' }] }
  long: { price: { input: 0, output: 10 }, output_tokens_max: 128000, offers: [{ provider: words, model: 2000-words }] }
  picture: { kind: image, price: { each: { image: 0.01 } }, offers: [{ provider: vendor, model: sandbox-image-classic }] }
  film:
    kind: video
    price: { each: { second: 0.10 } }
    video: { family: seedance-2 }
    offers: [{ provider: ark, model: sandbox-video }]
`,
    preload: [join(import.meta.dir, 'late/preload.ts')],
    env: { TOLLGATE_LATE_ORDERS: file, TOLLGATE_VIDEO_POLL_MS: '30' },
  })
}, 30_000)
afterAll(async () => {
  await expectIdle()
  expect(await gateway.operate('ledger.verify')).toMatchObject({ clean: true, open_holds: 0 })
  await gateway.close()
  await sandbox.stop()
  await vendor.stop()
})
beforeEach(() => order())

type ShownLimits = Record<string, Record<string, number | string | null>>
type Balance = { readonly posted_usd: string; readonly held_usd: string; readonly limits: Record<'key', ShownLimits> }

let serial = 0

class Member {
  readonly account = `late-${serial++}`
  readonly baseUrl = gateway.baseUrl
  key = ''

  async open(limits: object = {}, balance = '10'): Promise<this> {
    await gateway.operate('account.create', { name: this.account, balance })
    const made = { account: this.account, name: 'k', limits }
    this.key = (await gateway.operate<{ secret: string }>('key.create', made)).secret
    return this
  }

  send(path: string, body: object, headers: Record<string, string> = {}, signal?: AbortSignal): Promise<Response> {
    return fetch(`${gateway.baseUrl}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${this.key}`, 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
      ...(signal && { signal }),
    })
  }

  async balance(): Promise<Balance> {
    const headers = { authorization: `Bearer ${this.key}` }
    return (await (await fetch(`${gateway.baseUrl}/balance`, { headers })).json()) as Balance
  }

  records(): Promise<{ id: string; charged: string }[]> {
    return gateway.operate('request.list', { account: this.account, limit: 1000 })
  }

  refusals(): Promise<{ id: string; code: string; status: number }[]> {
    return gateway.operate('request.refused', { account: this.account, limit: 1000 })
  }
}

const requests = async (): Promise<number> => Number((await sandbox.stats())['requests'])
const codeOf = (text: string): string => (JSON.parse(text) as { error: { code: string } }).error.code
/** What is under way: requests, videos and open holds. */
async function underWay(): Promise<number> {
  const text = await gateway.metrics()
  const gauge = (name: string): number => Number(new RegExp(`^tollgate_${name} (\\d+)$`, 'm').exec(text)?.[1])
  return gauge('live_calls') + gauge('video_tasks') + gauge('open_holds')
}

/** Expects that nothing of a refused request is left, except that it was refused. */
async function expectNothing(who: Member, id: string | null, code: string): Promise<void> {
  expect(await who.records()).toEqual([])
  expect(await who.refusals()).toMatchObject([{ id, code }])
  const { posted_usd, held_usd } = await gateway.operate<Balance>('account.show', { account: who.account })
  expect([posted_usd, held_usd]).toEqual(['10.00', '0.00'])
  await expectIdle()
}

async function expectIdle(): Promise<void> {
  for (let tries = 0; (await underWay()) > 0 && tries < 1_000; tries++) await Bun.sleep(20)
  expect(await underWay()).toBe(0)
}

const messages = [{ role: 'user', content: 'hello' }]
type Manner = { readonly name: string; readonly path: string; readonly body: object; readonly key?: boolean }
const failing: Manner = {
  name: 'a chat that its vendor refuses',
  path: '/chat/completions',
  body: { model: 'failing', messages },
}
/** What no vendor answers, or not soon. */
const unserved: readonly Manner[] = [
  { name: 'a whole chat of a slow vendor', path: '/chat/completions', body: { model: 'slow', messages } },
  { name: 'a stream of a slow vendor', path: '/chat/completions', body: { model: 'slow', messages, stream: true } },
  failing,
]
/** What is sent to a vendor while the hold is being written. */
const served: readonly Manner[] = [
  { name: 'a whole chat', path: '/chat/completions', body: { model: 'plain', messages } },
  { name: 'a streamed chat', path: '/chat/completions', body: { model: 'plain', messages, stream: true } },
  { name: 'a response', path: '/responses', body: { model: 'plain', input: 'hello' } },
  { name: 'a streamed response', path: '/responses', body: { model: 'plain', input: 'hello', stream: true } },
]
/** What waits for its hold. */
const waiting: readonly Manner[] = [
  { name: 'a keyed chat', path: '/chat/completions', body: { model: 'plain', messages }, key: true },
  { name: 'a keyed stream', path: '/chat/completions', body: { model: 'plain', messages, stream: true }, key: true },
  { name: 'a background response', path: '/responses', body: { model: 'plain', input: 'hello', background: true } },
  {
    name: 'a followed background response',
    path: '/responses',
    body: { model: 'plain', input: 'hello', background: true, stream: true },
  },
  { name: 'a picture', path: '/images/generations', body: { model: 'picture', prompt: 'a boat' } },
  { name: 'a video', path: '/videos', body: { model: 'film', content: [words('a boat')], duration: 5 } },
  {
    name: 'a keyed video',
    path: '/videos',
    body: { model: 'film', content: [words('a boat')], duration: 5 },
    key: true,
  },
]

const ask = (who: Member, { path, body, key = false }: Manner): Promise<Response> =>
  who.send(path, body, key ? { 'idempotency-key': `k-${serial++}` } : {})

describe.each([...unserved, ...served, ...waiting])('$name', (manner) => {
  test.each([
    ['insufficient', 401, 'insufficient_balance'],
    ['limited', 429, 'rate_limit_exceeded'],
  ] as const)('that is refused as %s gets %d, and leaves nothing', async (hold, status, code) => {
    const who = await new Member().open()
    order({ hold })
    const startedMs = performance.now()
    const answer = await ask(who, manner)
    const text = await answer.text()
    expect([answer.status, codeOf(text)]).toEqual([status, code])
    expect(answer.headers.get('content-type')).toContain('application/json')
    // A slow vendor is not waited for.
    expect(performance.now() - startedMs).toBeLessThan(5_000)
    await expectNothing(who, answer.headers.get('x-request-id'), code)
  })
})

describe.each([...served, ...waiting])('$name', (manner) => {
  test('that is accepted late is answered and charged once', async () => {
    const who = await new Member().open()
    const answer = await ask(who, manner)
    expect(answer.status).toBe(200)
    await answer.text()
    for (let tries = 0; (await who.records()).length === 0 && tries < 500; tries++) await Bun.sleep(20)
    const [record, ...more] = await who.records()
    expect(BigInt(record?.charged ?? '0')).toBeGreaterThan(0n)
    expect(more).toEqual([])
  })
})

describe.each(waiting)('$name', (manner) => {
  test('reaches no vendor before its hold is decided', async () => {
    const who = await new Member().open()
    const before = await requests()
    order({ hold: 'insufficient', delayMs: 300 })
    await (await ask(who, manner)).text()
    expect(await requests()).toBe(before)
  })
})

test('a hold that is not sure keeps a chat from its vendor, and one that is sure does not', async () => {
  const who = await new Member().open()
  for (const [isSure, reached] of [
    [false, 0],
    [true, 1],
  ] as const) {
    const before = await requests()
    order({ hold: 'insufficient', isSure, delayMs: 300 })
    expect((await chat(who, { model: 'plain' })).status).toBe(401)
    expect((await requests()) - before).toBe(reached)
  }
})

test('a key that another instance has locked is answered like one of a running request', async () => {
  const who = await new Member().open()
  order({ hold: 'key_taken' })
  const body = { model: 'plain', messages }
  const answer = await who.send('/chat/completions', body, { 'idempotency-key': 'a' })
  expect([answer.status, codeOf(await answer.text())]).toEqual([409, 'idempotency_in_progress'])
  expect(answer.headers.get('retry-after')).not.toBeNull()
  await expectNothing(who, answer.headers.get('x-request-id'), 'idempotency_in_progress')
  order()
  const second = await who.send('/chat/completions', body, { 'idempotency-key': 'a' })
  expect([second.status, second.headers.get('idempotent-replayed')]).toEqual([200, null])
  const third = await who.send('/chat/completions', body, { 'idempotency-key': 'a' })
  expect([third.status, third.headers.get('idempotent-replayed')]).toEqual([200, 'true'])
  expect(await who.records()).toHaveLength(1)
})

test('a refusal gives back the permit of the provider, the seat of the key, its tokens and its spend', async () => {
  const limits = { concurrent_requests: 1, tokens_per_minute: 50_000, spend_per_day: '1' }
  const who = await new Member().open(limits)
  for (const stream of [false, true]) {
    for (let i = 0; i < 3; i++) {
      order({ hold: 'insufficient', delayMs: 5 })
      expect((await chat(who, { model: 'alone', stream })).status).toBe(401)
      const { key } = (await who.balance()).limits
      expect(key['concurrent_requests']).toMatchObject({ limit: 1, in_flight: 0 })
      expect(key['tokens_per_minute']).toMatchObject({ remaining: 50_000 })
      expect(key['spend_per_day']).toMatchObject({ held: '0.00' })
    }
    order()
    const answer = await chat(who, { model: 'alone', stream })
    expect(answer.status).toBe(200)
    await answer.text()
  }
  expect(await who.records()).toHaveLength(2)
})

describe.each([true, false])('a growing hold, streamed: %p', (stream) => {
  test('whose extension is refused ends the answer where it is paid, and charges that', async () => {
    const who = await new Member().open({}, '0.004')
    order({ extension: 'insufficient' })
    const answer = await who.send('/chat/completions', { model: 'long', messages, stream })
    expect(answer.status).toBe(200)
    const text = await answer.text()
    expect(text).toContain('"length"')
    const said = text.match(/ ?word/g)?.length ?? 0
    expect(said).toBeWithin(1, 400)
    const [record] = await who.records()
    expect(BigInt(record?.charged ?? 0)).toBe(BigInt(said) * 10_000n)
  })

  test('whose extensions are sometimes refused goes on as long as there is money', async () => {
    const who = await new Member().open({}, '1')
    order({ extension: 'limited', share: 0.3, delayMs: 1 })
    const answer = await who.send('/chat/completions', { model: 'long', messages, stream })
    const said = (await answer.text()).match(/ ?word/g)?.length ?? 0
    expect(answer.status).toBe(200)
    const [record] = await who.records()
    expect(BigInt(record?.charged ?? 0)).toBe(BigInt(said) * 10_000n)
  })
})

test('clients that leave, and holds that are refused at random, leave exact books and nothing running', async () => {
  const who = await new Member().open()
  const kinds = [failing, ...served, ...waiting]
  const refusals = ['insufficient', 'limited', 'key_taken'] as const
  const seen = new Map<number, number>()
  const client = async (at: number): Promise<void> => {
    for (let i = 0; i < 25; i++) {
      order({
        hold: refusals[(at + i) % refusals.length] ?? 'limited',
        share: 0.4,
        isSure: i % 3 !== 0,
        delayMs: (at * 7 + i * 5) % 40,
      })
      const manner = kinds[(at * 5 + i) % kinds.length] ?? kinds[0]
      if (!manner) return
      const leaves = new AbortController()
      const timer = i % 4 === 0 ? setTimeout(() => leaves.abort(), (i * 13) % 60) : undefined
      try {
        const headers: Record<string, string> = manner.key ? { 'idempotency-key': `r-${serial++}` } : {}
        const answer = await who.send(manner.path, manner.body, headers, leaves.signal)
        await answer.text()
        seen.set(answer.status, (seen.get(answer.status) ?? 0) + 1)
      } catch {
        // It left.
      } finally {
        clearTimeout(timer)
      }
    }
  }
  await Promise.all(Array.from({ length: 6 }, (_, at) => client(at)))
  for (const status of [200, 401, 429, 409]) expect(seen.get(status)).toBeGreaterThan(0)
  expect([...seen.keys()].filter((status) => ![200, 400, 401, 409, 429].includes(status))).toEqual([])
  await expectIdle()
  type Shown = { held_nano_usd: string; posted_nano_usd: string }
  const { held_nano_usd, posted_nano_usd } = await gateway.operate<Shown>('account.show', { account: who.account })
  const charged = (await who.records()).reduce((sum, record) => sum + BigInt(record.charged), 0n)
  expect([held_nano_usd, BigInt(posted_nano_usd)]).toEqual(['0', 10_000_000_000n - charged])
  expect((await who.balance()).limits.key).toBeDefined()
  expect(await gateway.operate('ledger.verify')).toMatchObject({ clean: true, open_holds: 0, findings: [] })
}, 120_000)
