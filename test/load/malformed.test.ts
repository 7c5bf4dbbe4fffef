/**
 * Thousands of malformed requests, layer by layer, against the real process. It must not crash, answer 5xx, charge,
 * keep a hold open or block its thread, and it must continue to serve. `TOLLGATE_MALFORMED` sets the number and
 * `TOLLGATE_SEED` the choice.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { leftMb, quietP99Ms, rssMb, sendBombs } from '../support/bombing.ts'
import { chat, freshFolder, startGateway, type TestGateway } from '../support/gateway.ts'
import { bombs } from './malformed/bombs.ts'
import { chatText, VALID, type Case } from './malformed/case.ts'
import { headerCases } from './malformed/headers.ts'
import { jsonCases } from './malformed/json.ts'
import { schemaCases } from './malformed/schema.ts'
import { wireCases } from './malformed/wire.ts'
import { countOf } from '../support/soaks.ts'
import { TICK_MS_MAX, tickMeter, tickReport, withLongestTick } from '../support/tick-report.ts'
import { WireClient, type WireAnswer } from '../support/wire-client.ts'

const COUNT = countOf('malformed')
const SEED = Number(process.env['TOLLGATE_SEED'] ?? 4_711)
const CLIENTS = 32
const BATCH = 500
/** A connection on which nothing more comes is ended by the client. */
const QUIET_MS = 30
const CLOSE_MS = 5_000

/** What each layer gets of the whole. */
const layers = {
  wire: { share: 0.2, cases: wireCases },
  headers: { share: 0.2, cases: headerCases },
  json: { share: 0.3, cases: jsonCases },
  schema: { share: 0.3, cases: schemaCases },
} as const

/** Of the whole, for each modality: a bomb takes as long as some ten others. */
const BOMB_SHARE = 0.015
const BOMB_SENDERS = 2
const BOMB_MB_MAX = 200
/** What was loaded and compiled meanwhile stays. */
const BOMB_MB_LEFT_MAX = 60
const HEALTHY_MS_MAX = 250

const BODY_BYTES_MAX = 32 * 1024 * 1024
/** A body of so many bytes that is all of one thing. */
const filled =
  (before: string, unit: string, after: string) =>
  (bytes: number): string =>
    before + unit.repeat(Math.floor((bytes - before.length - after.length) / unit.length)) + after
const WRONG = '"model":"plain","temperature":"hot","messages":[{"role":"user","content":'
/** What is dearest to read, for one reason or another. */
const largest: Record<string, (bytes: number) => string> = {
  spaces: filled('{', ' ', '}'),
  'line ends': filled('{', '\r\n', '}'),
  'one text': filled(`{${WRONG}"`, 'a', '"}]}'),
  'one text in another script': filled(`{${WRONG}"`, '\xd0\xb6', '"}]}'),
  'one text that is no UTF-8 at its end': filled(`{${WRONG}"`, '\xe6\xbc\xa2', '\xff"}]}'),
  'one text of escapes': filled(`{${WRONG}"`, '\\u0041', '"}]}'),
  'one text of line ends': filled(`{${WRONG}"`, '\\n', '"}]}'),
  'one text of quotes': filled(`{${WRONG}"`, '\\"', '"}]}'),
  'one text of backslashes': filled(`{${WRONG}"`, '\\\\', '"}]}'),
  'one text without an end': filled(`{${WRONG}"`, '\\"', ''),
  'one key': filled('{"', 'k', '":1}'),
  'one key in another script': filled('{"', '\xef\xbd\x8d', '":1}'),
  'one key of escapes': filled('{"', '\\uff4d', '":1}'),
  'one number': filled('{"model":', '9', '}'),
  'one fraction': filled('{"model":0.', '1', '}'),
  'numbers of many digits': filled('{"model":[', `${'7'.repeat(80)},`, '1]}'),
  'long texts': filled('{"messages":[', `"${'a'.repeat(200)}",`, '1]}'),
  'as many escapes as there may be': (bytes) => filled(`{${WRONG}"${'\\n'.repeat(1_999_999)}`, 'a', '"}]}')(bytes),
  'as many digits as there may be': (bytes) => filled(`{"n":${'7'.repeat(11_999_000)},${WRONG}"`, 'a', '"}]}')(bytes),
  'as many blanks as there may be': (bytes) => filled(`{${' '.repeat(11_999_000)}${WRONG}"`, 'a', '"}]}')(bytes),
  'a model': filled('{"messages":[{"role":"user","content":"go"}],"model":"', 'm', '"}'),
  'a model of escapes': filled('{"messages":[{"role":"user","content":"go"}],"model":"', '\\u006d', '"}'),
  messages: filled('{"model":"plain","messages":[', `{"role":"user","content":"${'a'.repeat(800)}"},`, '1]}'),
  roles: filled('{"model":"plain","messages":[', `{"role":"${'a'.repeat(800)}"},`, '1]}'),
  parts: filled(`{${WRONG}[`, `{"type":"text","text":"${'a'.repeat(800)}"},`, '1]}]}'),
  depth: filled('{"messages":', '[', ''),
  'other protocols': filled('', '\xff', ''),
  'what costs too much': filled('{"model":"plain","messages":[{"role":"user","content":"', 'a', '"}],"n":1e7}'),
}

let vendor: Bun.Server<unknown>
let gateway: TestGateway
let port: number
/** Of the account that only sends what is malformed. */
let hostile: { id: string; key: string }

beforeAll(async () => {
  const choices = [{ index: 0, message: { role: 'assistant', content: 'a b c d' }, finish_reason: 'stop' }]
  const usage = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 }
  const reply = { id: 'c', object: 'chat.completion', created: 1, model: 'm', choices, usage }
  vendor = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => Response.json(reply) })
  const folder = freshFolder()
  const { preload, env } = tickMeter(folder)
  gateway = await startGateway({
    folder,
    preload,
    env: { ...env, TOLLGATE_LOG: 'error' },
    yaml: `
sandbox: false
providers: { vendor: { base_url: 'http://127.0.0.1:${vendor.port}/v1', allow_private: true } }
models: { plain: { price: { input: 1, output: 2 }, offers: [{ provider: vendor, model: m }] } }
`,
  })
  port = Number(new URL(gateway.baseUrl).port)
  const { id } = await gateway.operate<{ id: string }>('account.create', { name: 'hostile', balance: '100' })
  const { secret } = await gateway.operate<{ secret: string }>('key.create', { account: 'hostile', name: 'k' })
  hostile = { id, key: secret }
}, 30_000)
afterAll(async () => {
  await gateway.close()
  await vendor.stop(true)
}, 30_000)

class Mismatch extends Error {
  override readonly name = 'Mismatch'
}

/** A refusal as every refusal must be; says what is wrong with it otherwise. */
function faultOf({ status, headers, body }: WireAnswer): string | undefined {
  if (status < 400 || status > 499) return `status ${status}`
  if (!/^req_[\w-]{10,}$/.test(headers.get('x-request-id') ?? '')) return 'no x-request-id'
  if (!headers.get('content-type')?.startsWith('application/json')) return 'not JSON'
  const { error, ...rest } = JSON.parse(body) as { error?: Record<string, unknown> }
  const { message, type, param, code, ...more } = error ?? {}
  if (Object.keys(rest).length > 0 || Object.keys(more).length > 0) return 'more than the envelope'
  const isText = [message, type, code].every((value) => typeof value === 'string' && value !== '')
  return isText && (param === null || typeof param === 'string') ? undefined : 'not the envelope'
}

/** Sends cases over one connection at a time, as long as the gateway lets it. */
class Sender {
  readonly statuses = new Map<number | 'none', number>()
  private client: WireClient | undefined

  async send(one: Case): Promise<void> {
    if (one.kind === 'wire') await this.sendAlone(one)
    else await this.sendRequest(one)
  }

  /** A valid request on the same connection: the server still serves, and has not lost its place in the bytes. */
  async sendValid(key: string): Promise<void> {
    const client = await this.connected()
    const answer = await client.ask(chatText(key, VALID))
    if (answer?.status !== 200 || client.broken) throw new Mismatch(`a valid request got ${answer?.status}`)
  }

  close(): void {
    this.client?.close()
    this.client = undefined
  }

  private async sendRequest(one: Case): Promise<void> {
    const client = await this.connected()
    const answer = await client.ask(one.bytes)
    const fault = answer ? faultOf(answer) : 'no answer'
    if (fault !== undefined || !answer) return this.fail(one, fault)
    if (client.broken) return this.fail(one, String(client.broken))
    if (client.answers.length > 0) return this.fail(one, 'a second answer')
    this.count(answer.status)
    if (answer.headers.get('connection') === 'close') this.close()
    const { param } = (JSON.parse(answer.body) as { error: { param: string | null } }).error
    if (one.param !== undefined && !param?.startsWith(one.param)) this.fail(one, `param ${param}: ${answer.body}`)
  }

  private async sendAlone(one: Case): Promise<void> {
    const client = await WireClient.open(port)
    client.send(one.bytes)
    const isClosing = (): boolean => client.answers.some(({ headers }) => headers.get('connection') === 'close')
    await client.until(isClosing, QUIET_MS)
    client.end()
    await client.until(() => false, CLOSE_MS)
    const { answers, broken, left, isClosed } = client
    client.close()
    if (!isClosed) return this.fail(one, 'never closed')
    if (broken || left.length > 0) return this.fail(one, `no HTTP: ${broken?.message ?? left.toString('latin1')}`)
    if (answers.length > (one.answersMax ?? Infinity)) return this.fail(one, `${answers.length} answers`)
    if (answers.length === 0) this.count('none')
    for (const answer of answers) {
      this.count(answer.status)
      // A harmless GET in front of the garbage may be answered.
      const fault = answer.status === 200 && answer.body === '{"status":"ok"}' ? undefined : faultOf(answer)
      if (fault !== undefined) this.fail(one, fault)
    }
  }

  private async connected(): Promise<WireClient> {
    if (!this.client || this.client.isClosed) this.client = await WireClient.open(port)
    return this.client
  }

  private count(status: number | 'none'): void {
    this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1)
  }

  private fail({ name, bytes }: Case, fault: string | undefined): never {
    throw new Mismatch(`${name}: ${fault}; seed ${SEED}; sent ${JSON.stringify(bytes.slice(0, 1_500))}`)
  }
}

/** Sends so many of a kind over all connections. */
async function fire(cases: fc.Arbitrary<Case>, count: number): Promise<Map<number | 'none', number>> {
  const senders = Array.from({ length: CLIENTS }, () => new Sender())
  for (let sent = 0; sent < count; sent += BATCH) {
    const batch = fc.sample(cases, { numRuns: Math.min(BATCH, count - sent), seed: SEED + sent })
    const work = batch.values()
    await Promise.all(
      senders.map(async (sender) => {
        for (const one of work) await sender.send(one)
        await sender.sendValid(gateway.key)
      }),
    )
  }
  const all = new Map<number | 'none', number>()
  for (const { statuses } of senders) for (const [status, n] of statuses) all.set(status, (all.get(status) ?? 0) + n)
  for (const sender of senders) sender.close()
  return all
}

async function expectUntouched(): Promise<void> {
  const account = { posted_nano_usd: '100000000000', held_nano_usd: '0' }
  expect(await gateway.operate('account.show', { account: 'hostile' })).toMatchObject(account)
  expect(await gateway.operate<unknown[]>('request.list', { account: 'hostile' })).toEqual([])
  expect(await gateway.operate('ledger.verify')).toMatchObject({ clean: true, open_holds: 0 })
}

describe(`${COUNT} malformed requests`, () => {
  test.each(Object.keys(layers) as (keyof typeof layers)[])(
    '%s: refused, each of them, for nothing',
    async (name) => {
      const { share, cases } = layers[name]
      const count = Math.ceil(COUNT * share)
      await tickReport(gateway)
      const startedMs = performance.now()
      const statuses = await fire(cases(hostile.key), count)
      const tookS = ((performance.now() - startedMs) / 1_000).toFixed(1)
      const { longestMs, ticks } = await tickReport(gateway)
      const seen = [...statuses].map(([status, n]) => `${n} × ${status}`).join(', ')
      console.log(`${name}: ${count} in ${tookS} s, longest of ${ticks} ticks ${longestMs.toFixed(1)} ms; ${seen}`)
      expect(longestMs).toBeLessThan(TICK_MS_MAX)
      await expectUntouched()
    },
    60_000 + COUNT * 10,
  )

  // One at a time: two of them in one turn of the loop would be counted as one tick.
  test.each(Object.entries(largest))('as large as a body may be: %s', async (_, bodyOf) => {
    const body = bodyOf(BODY_BYTES_MAX)
    expect(body.length).toBeWithin(BODY_BYTES_MAX - 1_000, BODY_BYTES_MAX + 1)
    const { did: status, longestMs } = await withLongestTick(gateway, async () => {
      const client = await WireClient.open(port)
      const answer = await client.ask(chatText(hostile.key, body))
      expect(answer && faultOf(answer)).toBeUndefined()
      client.close()
      return answer?.status
    })
    console.log(`${status}, longest tick ${longestMs.toFixed(1)} ms`)
    expect(longestMs).toBeLessThan(TICK_MS_MAX)
    await expectUntouched()
  })

  test('nothing of it was an error of the gateway', () => {
    expect(gateway.output()).not.toContain('"level":"error"')
  })
})

describe('bombs: valid, and all work', () => {
  let target: TestGateway
  let idleMb: number
  let quietMs: number

  beforeAll(async () => {
    const folder = freshFolder()
    const { preload, env } = tickMeter(folder)
    target = await startGateway({
      folder,
      preload,
      env: { ...env, TOLLGATE_LOG: 'error' },
      balanceUsd: '1000000',
      yaml: `
sandbox: true
providers: { vendor: { base_url: 'http://127.0.0.1:${vendor.port}/v1', allow_private: true } }
models: { plain: { price: { input: 1, output: 2 }, offers: [{ provider: vendor, model: m }] } }
`,
    })
    // What is loaded with the first call in a dialect is no bomb's.
    for (const model of ['sandbox-chat', 'plain']) await (await chat(target, { model, max_tokens: 4 })).text()
    const headers = { authorization: `Bearer ${target.key}`, 'content-type': 'application/json' }
    const messages = [{ role: 'user', content: 'Hi' }]
    for (const [path, body] of [
      ['/v1/images/generations', { model: 'sandbox-image', prompt: 'a door', quality: 'low' }],
      ['/v1/messages', { model: 'sandbox-chat', max_tokens: 4, messages }],
      ['/v1/messages', { model: 'plain', max_tokens: 4, messages }],
      ['/v1/responses', { model: 'sandbox-chat', max_output_tokens: 4, input: 'Hi' }],
      ['/v1beta/models/sandbox-chat:generateContent', { contents: [{ parts: [{ text: 'Hi' }] }] }],
      ['/v1/embeddings', { model: 'sandbox-embedding', input: 'Hi' }],
    ] as const) {
      const answer = await fetch(new URL(path, target.baseUrl), { method: 'POST', headers, body: JSON.stringify(body) })
      await answer.arrayBuffer()
    }
    quietMs = await quietP99Ms(target, 'plain')
    idleMb = rssMb(target.pid)
  }, 60_000)
  afterAll(() => target.close(), 60_000)

  test.each(Object.entries(bombs))(
    '%s: the serving thread goes on, memory is bounded and comes back',
    async (name, { known, generated }) => {
      const numRuns = Math.ceil(COUNT * BOMB_SHARE)
      const some = [...known, ...fc.sample(generated, { numRuns, seed: SEED })]
      const { did: toll, longestMs } = await withLongestTick(target, () =>
        sendBombs(target, some, { key: target.key, healthyModel: 'plain', idleMb, senders: BOMB_SENDERS }),
      )
      const { peakMb, p99Ms, statuses } = toll
      const left = await leftMb(target, idleMb, BOMB_MB_LEFT_MAX)
      const seen = [...statuses].map(([status, n]) => `${n} × ${status}`).join(', ')
      const memory = `${peakMb.toFixed(0)} MB above ${idleMb.toFixed(0)}, ${left.toFixed(0)} left`
      const waits = `p99 ${p99Ms.toFixed(0)} ms, ${quietMs.toFixed(0)} when quiet`
      console.log(`${name}: longest tick ${longestMs.toFixed(1)} ms; ${memory}; ${waits}; ${seen}; seed ${SEED}`)
      expect(longestMs).toBeLessThan(TICK_MS_MAX)
      expect(peakMb).toBeLessThan(BOMB_MB_MAX)
      expect(left).toBeLessThan(BOMB_MB_LEFT_MAX)
      // A busy machine keeps everybody waiting, bombs or not.
      expect(p99Ms).toBeLessThan(HEALTHY_MS_MAX + 10 * quietMs)
      expect(target.output()).not.toContain('sandbox.replaced')
    },
    180_000 + COUNT * 10,
  )
})
