/**
 * Funds for exactly k of a thousand concurrent requests: exactly k are answered, for each kind of money limit. The
 * vendor delays its answers until all admitted requests have arrived and all others are refused, so that no released
 * money admits another request.
 */
import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { formatUsd } from '../../src/domain/money.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { countOf } from '../support/soaks.ts'
import { requestText, WireClient, type WireAnswer } from '../support/wire-client.ts'

const CROWD = Number(process.env['TOLLGATE_FUNDS_CROWD'] ?? 1_000)
const ROUNDS = countOf('funds')

const OUTPUT_TOKENS = 37
const PROMPT_TOKENS = 11
/** Nano-dollars per million tokens, odd enough for a charge to need rounding. */
const INPUT = 370_001_000n
const OUTPUT = 1_130_003_000n
const roundedUp = (nanoMillionths: bigint): bigint => (nanoMillionths + 999_999n) / 1_000_000n

/** Equally long, so that all hold the same: a byte counts as a token until the vendor has counted. */
const bodies = ['true ', 'false'].map(
  (stream) =>
    `{"model":"scarce","stream":${stream},"max_tokens":${OUTPUT_TOKENS},"messages":[{"role":"user","content":"go"}]}`,
)
const HOLD = roundedUp(BigInt(bodies[0]?.length ?? 0) * INPUT + BigInt(OUTPUT_TOKENS) * OUTPUT)
const CHARGE = roundedUp(BigInt(PROMPT_TOKENS) * INPUT + BigInt(OUTPUT_TOKENS) * OUTPUT)
/** Enough for k, and a nano-dollar too little for one more. */
const fundsFor = (k: number): bigint => BigInt(k + 1) * HOLD - 1n

/** Answers nobody before `release`. */
class Vendor {
  arrived = 0
  private gate = Promise.withResolvers<void>()
  readonly server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    fetch: async (request) => {
      const { stream, max_tokens: outputTokens } = (await request.json()) as { stream: boolean; max_tokens: number }
      this.arrived++
      await this.gate.promise
      return stream ? streamed(outputTokens) : whole(outputTokens)
    },
  })

  release(): void {
    this.gate.resolve()
    this.gate = Promise.withResolvers()
    this.arrived = 0
  }
}

const about = (object: string): object => ({ id: 'c', object, created: 1, model: 'm' })
const usageOf = (outputTokens: number): object => ({
  usage: {
    prompt_tokens: PROMPT_TOKENS,
    completion_tokens: outputTokens,
    total_tokens: PROMPT_TOKENS + outputTokens,
  },
})
const TEXT = 'word '.repeat(OUTPUT_TOKENS)

function whole(outputTokens: number): Response {
  const choices = [{ index: 0, message: { role: 'assistant', content: TEXT }, finish_reason: 'length' }]
  return Response.json({ ...about('chat.completion'), choices, ...usageOf(outputTokens) })
}

function streamed(outputTokens: number): Response {
  const chunk = (rest: object): string => `data: ${JSON.stringify({ ...about('chat.completion.chunk'), ...rest })}\n\n`
  const text =
    chunk({ choices: [{ index: 0, delta: { role: 'assistant', content: TEXT }, finish_reason: null }] }) +
    chunk({ choices: [{ index: 0, delta: {}, finish_reason: 'length' }] }) +
    chunk({ choices: [], ...usageOf(outputTokens) })
  return new Response(`${text}data: [DONE]\n\n`, { headers: { 'content-type': 'text/event-stream' } })
}

let vendor: Vendor
let gateway: TestGateway
let crowd: WireClient[]
let books: Database

beforeAll(async () => {
  vendor = new Vendor()
  gateway = await startGateway({
    yaml: `
sandbox: false
providers: { vendor: { base_url: 'http://127.0.0.1:${vendor.server.port}/v1', allow_private: true } }
models:
  scarce: { price: { input: 0.370001, output: 1.130003 }, offers: [{ provider: vendor, model: m }] }
`,
  })
  const port = Number(new URL(gateway.baseUrl).port)
  crowd = await Promise.all(Array.from({ length: CROWD }, () => WireClient.open(port)))
  books = new Database(join(gateway.folder, 'tollgate.db'), { readonly: true })
}, 30_000)
afterAll(async () => {
  for (const client of crowd) client.close()
  books.close()
  await gateway.close()
  await vendor.server.stop(true)
}, 30_000)

type Bound = {
  /** What is scarce. */
  readonly by: 'balance' | 'key' | 'account'
  readonly keys?: number
  /** Which of the bodies they send; both in turn by default. */
  readonly bodies?: readonly string[]
}

let serial = 0
async function open(k: number, { by, keys: keyCount = 1 }: Bound): Promise<{ id: string; keys: string[] }> {
  const name = `crowd-${serial++}`
  const funds = formatUsd(fundsFor(k))
  const limits = { spend_per_day: funds }
  const { id } = await gateway.operate<{ id: string }>('account.create', {
    name,
    balance: by === 'balance' ? funds : '1000',
    limits: by === 'account' ? limits : {},
  })
  const draft = { account: name, name: 'k', limits: by === 'key' ? limits : {} }
  const made = await Promise.all(
    Array.from({ length: keyCount }, () => gateway.operate<{ secret: string }>('key.create', draft)),
  )
  return { id, keys: made.map(({ secret }) => secret) }
}

type Money = { posted: bigint; held: bigint }
const nano = (usd: string): bigint =>
  BigInt(usd.replace('.', '')) * 10n ** BigInt(9 - (usd.length - usd.indexOf('.') - 1))

/** What the public route says, and what is on disk. */
async function standing(id: string, key: string): Promise<{ told: Money; stored: Money }> {
  const response = await fetch(`${gateway.baseUrl}/balance`, { headers: { authorization: `Bearer ${key}` } })
  const said = (await response.json()) as Record<'posted' | 'held' | 'available', string>
  const told = { posted: nano(said.posted), held: nano(said.held) }
  expect(nano(said.available)).toBe(told.posted - told.held)
  const row = books.query('SELECT posted, held FROM account WHERE id = ?').get(id) as Record<keyof Money, number>
  return { told, stored: { posted: BigInt(row.posted), held: BigInt(row.held) } }
}

/** Memory knows at once; of a whole reply nothing leaves before its settlement, so its hold may take a moment. */
async function expectStanding(id: string, key: string, money: Money): Promise<void> {
  let now = await standing(id, key)
  for (let tries = 0; tries < 100 && now.stored.held !== money.held; tries++) {
    await Bun.sleep(10)
    now = await standing(id, key)
  }
  expect(now).toEqual({ told: money, stored: money })
}

/** Looks again and again, until told to stop: at no moment is more promised than there is. */
async function watch(id: string, key: string, isOver: () => boolean): Promise<number> {
  let looks = 0
  while (!isOver()) {
    const { told, stored } = await standing(id, key)
    for (const { posted, held } of [told, stored]) {
      expect(held).toBeGreaterThanOrEqual(0n)
      expect(posted - held).toBeGreaterThanOrEqual(0n)
    }
    looks++
    await Bun.sleep(2)
  }
  return looks
}

/** All ask at once. Resolves to their answers, with what had happened when the vendor let go of the first. */
async function rush(k: number, bound: Bound): Promise<WireAnswer[]> {
  const { id, keys } = await open(k, bound)
  const [key = ''] = keys
  const sent = bound.bodies ?? bodies
  let refused = 0
  let isOver = false
  const watching = watch(id, key, () => isOver)
  const asking = crowd.map(async (client, i) => {
    const headers = { authorization: `Bearer ${keys[i % keys.length]}`, 'content-type': 'application/json' }
    // With two keys and two bodies each key sends both.
    const body = sent[Math.floor(i / keys.length) % sent.length]
    const answer = await client.ask(requestText('POST', '/v1/chat/completions', headers, body), 120_000)
    if (!answer) throw new Error('a connection was closed without an answer')
    if (answer.status !== 200) refused++
    return answer
  })
  const giveUpMs = performance.now() + 30_000
  // More than k would never bring the sum about: then the equation below says what there is.
  while ((vendor.arrived < k || refused < CROWD - k) && performance.now() < giveUpMs) await Bun.sleep(5)
  isOver = true
  expect(await watching).toBeGreaterThan(0)
  expect({ arrived: vendor.arrived, refused }).toEqual({ arrived: k, refused: CROWD - k })
  const full = { posted: bound.by === 'balance' ? fundsFor(k) : 1_000_000_000_000n, held: BigInt(k) * HOLD }
  await expectStanding(id, key, full)
  vendor.release()
  const answers = await Promise.all(asking)
  const settled = { posted: full.posted - BigInt(k) * CHARGE, held: 0n }
  await expectStanding(id, key, settled)
  expectBooks(id, k)
  return answers
}

function expectBooks(id: string, k: number): void {
  const holds = books.query('SELECT state, count(*) AS n, sum(amount) AS sum FROM hold WHERE account_id = ? GROUP BY 1')
  expect(holds.all(id)).toEqual(k === 0 ? [] : [{ state: 'settled', n: k, sum: k * Number(HOLD) }])
  const records = books.query(
    'SELECT outcome, usage_source, charged, written_off, count(*) AS n FROM request_record WHERE account_id = ? GROUP BY 1, 2, 3, 4',
  )
  const record = { outcome: 'completed', usage_source: 'reported', charged: Number(CHARGE), written_off: 0, n: k }
  expect(records.all(id)).toEqual(k === 0 ? [] : [record])
}

function expectAnswers(answers: readonly WireAnswer[], k: number): WireAnswer[] {
  const served = answers.filter(({ status }) => status === 200)
  expect(served).toHaveLength(k)
  for (const { headers, body } of served) {
    expect(headers.get('x-tollgate-held-usd')).toBe(formatUsd(HOLD))
    if (headers.get('content-type')?.startsWith('text/event-stream')) expect(body).toEndWith('data: [DONE]\n\n')
    else expect(JSON.parse(body)).toMatchObject({ usage: { completion_tokens: OUTPUT_TOKENS } })
  }
  expect(new Set(answers.map(({ headers }) => headers.get('x-request-id'))).size).toBe(CROWD)
  return answers.filter(({ status }) => status !== 200)
}

/** With holds in the way it is worth coming back, which SDKs have to be told at a 401; without, only money helps. */
const hintsFor = (k: number): object => (k > 0 ? { retry: '2', should: 'true' } : { retry: undefined, should: 'false' })
const hintsOf = ({ headers }: WireAnswer): object => ({
  retry: headers.get('retry-after'),
  should: headers.get('x-should-retry'),
})

function expectInsufficient(refusals: readonly WireAnswer[], k: number): void {
  const available = formatUsd(HOLD - 1n)
  const amounts = `available $${available}, held $${formatUsd(BigInt(k) * HOLD)}, needed $${formatUsd(HOLD)}`
  for (const refusal of refusals) {
    expect(refusal.status).toBe(401)
    expect(JSON.parse(refusal.body)).toEqual({
      error: {
        message: `The account balance does not cover this request: ${amounts}. A max_tokens of ${OUTPUT_TOKENS - 1} would fit.`,
        type: 'billing_error',
        param: null,
        code: 'insufficient_balance',
      },
    })
    expect(hintsOf(refusal)).toEqual(hintsFor(k))
  }
}

const counts = [0, 1, 7, 100, 500, 999, 1_000].filter((k) => k <= CROWD)

describe(`a balance for exactly k of ${CROWD} at once`, () => {
  test.each(counts)('answers %d, whole and streamed', async (k) => {
    expectInsufficient(expectAnswers(await rush(k, { by: 'balance' }), k), k)
  })

  test.each([
    ['whole', 1],
    ['streamed', 0],
  ] as const)('answers as many when all are %s', async (_, which) => {
    const k = Math.min(100, CROWD)
    expectInsufficient(expectAnswers(await rush(k, { by: 'balance', bodies: [bodies[which] as string] }), k), k)
  })

  test.each(counts)('answers %d whichever of two keys asks', async (k) => {
    expectInsufficient(expectAnswers(await rush(k, { by: 'balance', keys: 2 }), k), k)
  })

  test(
    `answers as many ${ROUNDS} times in a row`,
    async () => {
      for (let round = 0; round < ROUNDS; round++) {
        const k = counts[round % counts.length] as number
        expectInsufficient(expectAnswers(await rush(k, { by: 'balance' }), k), k)
      }
    },
    20_000 + ROUNDS * 10_000,
  )
})

describe(`a day's spend limit for exactly k of ${CROWD} at once`, () => {
  const cases = (['key', 'account'] as const).flatMap((by) =>
    [1, 100, 999].map((k) => [by, Math.min(k, CROWD)] as const),
  )
  test.each(cases)('of the %s answers %d', async (by, k) => {
    const refusals = expectAnswers(await rush(k, { by }), k)
    const held = `spent $0.00, held $${formatUsd(BigInt(k) * HOLD)}, needed $${formatUsd(HOLD)}`
    for (const refusal of refusals) {
      expect(refusal.status).toBe(429)
      expect(JSON.parse(refusal.body)).toMatchObject({
        error: {
          message: expect.stringContaining(`This ${by} may spend $${formatUsd(fundsFor(k))} in a day (UTC): ${held}`),
          type: 'billing_error',
          code: 'spend_limit_exceeded',
        },
      })
      expect(hintsOf(refusal)).toEqual({ retry: '2', should: undefined })
    }
  })
})
