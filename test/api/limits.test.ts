import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { chat, INSTANCES, startGateway, TEST_STORE, type TestGateway } from '../support/gateway.ts'

let gateway: TestGateway

beforeAll(async () => {
  gateway = await startGateway({
    yaml: `
models:
  priced:
    price: { input: 0, output: 10 } # 10 µ$ a token of output
    offers: [{ provider: sandbox, model: sandbox-chat }]
  rationed:
    price: { input: 0, output: 10 }
    requests_per_minute: 2
    offers: [{ provider: sandbox, model: sandbox-chat }]
  slow:
    price: { input: 0, output: 10 }
    offers: [{ provider: sandbox, model: 'sandbox-chat!pace=5' }]
aliases: { other: priced }
accounts:
  from-the-file:
    opening_balance: 5
    limits: { requests_per_minute: 3, spend_per_day: 0.5 }
`,
  })
})
afterAll(() => gateway.close())

type Member = { readonly account: string; readonly keyId: string; readonly key: string; readonly baseUrl: string }
let serial = 0

async function member(limits: object = {}, keyLimits: object = {}): Promise<Member> {
  const name = `limited-${serial++}`
  const { id } = await gateway.operate<{ id: string }>('account.create', { name, balance: '10', limits })
  const key = await gateway.operate<{ id: string; secret: string }>('key.create', {
    account: name,
    name: 'k',
    limits: keyLimits,
  })
  return { account: id, keyId: key.id, key: key.secret, baseUrl: gateway.baseUrl }
}

async function refusal(response: Response): Promise<{ status: number; code: string; type: string; message: string }> {
  const { error } = (await response.json()) as { error: { code: string; type: string; message: string } }
  return { status: response.status, ...error }
}

type Balance = {
  available: string
  held: string
  limits: Record<'key' | 'account', Record<string, Record<string, string | number | null>>>
}
const balance = async ({ key }: Member): Promise<Balance> =>
  (await (await fetch(`${gateway.baseUrl}/balance`, { headers: { authorization: `Bearer ${key}` } })).json()) as Balance

/** Lets every instance read the limits. One that has not read them for a while refuses in fewer words. */
async function seen(who: Member): Promise<void> {
  for (let i = 0; i < INSTANCES; i++) await balance(who)
}

describe('a model', () => {
  test('has a minute that all accounts share, and a request that holds no money takes nothing of it', async () => {
    const [one, other] = [await member(), await member()]
    const dear = await chat(one, { model: 'rationed', max_tokens: 10_000_000 })
    expect(await refusal(dear)).toMatchObject({ code: 'insufficient_balance' })
    expect((await chat(one, { model: 'rationed', max_tokens: 1 })).status).toBe(200)
    expect((await chat(other, { model: 'rationed', max_tokens: 1 })).status).toBe(200)
    const third = await chat(other, { model: 'rationed', max_tokens: 1 })
    expect(Number(third.headers.get('retry-after'))).toBeWithin(1, 31)
    expect(third.headers.get('x-ratelimit-limit-requests')).toBeNull()
    expect(await refusal(third)).toMatchObject({
      status: 429,
      type: 'rate_limit_error',
      code: 'rate_limit_exceeded',
      message: "The model 'rationed' takes 2 requests a minute for all accounts together. None are left.",
    })
    expect((await chat(other, { model: 'priced', max_tokens: 1 })).status).toBe(200)
    expect(await gateway.operate('account.show', { account: other.account })).toMatchObject({ held_nano_usd: '0' })
  })

  test('has limits of a key and of an account, by its id or an alias', async () => {
    const who = await member({ models: { other: { requests_per_minute: 2 } } })
    await gateway.operate('key.limits', { key: who.keyId, limits: { models: { priced: { requests_per_minute: 1 } } } })
    const first = await chat(who, { model: 'priced', max_tokens: 1 })
    expect([first.status, first.headers.get('x-ratelimit-limit-requests')]).toEqual([200, '1'])
    expect(await refusal(await chat(who, { model: 'other', max_tokens: 1 }))).toMatchObject({
      status: 429,
      message: "This key may use 1 requests a minute of the model 'priced'. None are left.",
    })
    const removed = await gateway.operate('key.limits', { key: who.keyId, limits: { models: { priced: null } } })
    expect(removed).toMatchObject({ limits: { models: {} } })
    expect((await chat(who, { model: 'priced', max_tokens: 1 })).status).toBe(200)
    expect((await refusal(await chat(who, { model: 'priced', max_tokens: 1 }))).message).toContain(
      'This account may use 2',
    )
    expect((await chat(who, { model: 'slow', max_tokens: 1 })).status).toBe(200)
  })

  test('must exist to get limits', async () => {
    const who = await member()
    const limits = { models: { nobody: { requests_per_minute: 1 } } }
    expect(await gateway.operate('key.limits', { key: who.keyId, limits }).catch(String)).toContain("no model 'nobody'")
  })
})

describe('requests a minute', () => {
  test('count down in headers, then 429 with when to come back', async () => {
    const who = await member({}, { requests_per_minute: 2 })
    const first = await chat(who, { model: 'priced', max_tokens: 1 })
    expect(first.status).toBe(200)
    expect(first.headers.get('x-ratelimit-limit-requests')).toBe('2')
    expect(first.headers.get('x-ratelimit-remaining-requests')).toBe('1')
    expect(first.headers.get('x-ratelimit-reset-requests')).toMatch(/^(29\.\d|30)s$/)
    const streamed = await chat(who, { model: 'priced', max_tokens: 1, stream: true })
    expect(streamed.headers.get('x-ratelimit-remaining-requests')).toBe('0')
    await streamed.text()
    const third = await chat(who, { model: 'priced', max_tokens: 1 })
    expect(Number(third.headers.get('retry-after'))).toBeGreaterThan(25)
    expect(third.headers.get('x-ratelimit-remaining-requests')).toBe('0')
    expect(await refusal(third)).toMatchObject({
      status: 429,
      type: 'rate_limit_error',
      code: 'rate_limit_exceeded',
      message: expect.stringContaining('2 requests a minute'),
    })
    expect(await gateway.operate('account.show', { account: who.account })).toMatchObject({ held_nano_usd: '0' })
  })

  test('is refused before the body is looked at; reading costs nothing of it', async () => {
    const who = await member({ requests_per_minute: 1 })
    const read = { headers: { authorization: `Bearer ${who.key}` } }
    for (let i = 0; i < 3; i++) expect((await fetch(`${gateway.baseUrl}/models`, read)).status).toBe(200)
    // What fails before its hold counts for its instance.
    for (let i = 0; i < INSTANCES; i++)
      expect((await chat(who, { model: 'priced', temperature: 'no' })).status).toBe(400)
    expect((await chat(who, { model: 'priced', temperature: 'no' })).status).toBe(429)
    expect((await fetch(`${gateway.baseUrl}/balance`, read)).status).toBe(200)
  })

  test('a new limit holds for the next request', async () => {
    const who = await member()
    expect((await chat(who, { model: 'priced', max_tokens: 1 })).status).toBe(200)
    await gateway.operate('key.limits', { key: who.keyId, limits: { requests_per_minute: 1 } })
    expect((await chat(who, { model: 'priced', max_tokens: 1 })).status).toBe(200)
    expect((await chat(who, { model: 'priced', max_tokens: 1 })).status).toBe(429)
    await gateway.operate('key.limits', { key: who.keyId, limits: { requests_per_minute: null } })
    expect((await chat(who, { model: 'priced', max_tokens: 1 })).status).toBe(200)
  })
})

test('of many at once exactly as many get in as may be in flight', async () => {
  const who = await member({ concurrent_requests: 3 })
  const streams = await Promise.all(
    Array.from({ length: 20 }, () => chat(who, { model: 'slow', max_tokens: 60, stream: true })),
  )
  const statuses = streams.map(({ status }) => status).toSorted((a, b) => a - b)
  expect(statuses).toEqual([200, 200, 200, ...Array.from({ length: 17 }, () => 429)])
  for (const stream of streams) {
    if (stream.status === 200) expect(await stream.text()).toEndWith('data: [DONE]\n\n')
    else expect(await refusal(stream)).toMatchObject({ code: 'rate_limit_exceeded' })
  }
  expect((await balance(who)).limits['account']['concurrent_requests']).toEqual({ limit: 3, in_flight: 0 })
})

test('a client that hangs up is no longer in flight', async () => {
  const who = await member({ concurrent_requests: 1 })
  const leaving = new AbortController()
  await chat(who, { model: 'slow', max_tokens: 500, stream: true }, { signal: leaving.signal })
  leaving.abort()
  for (let tries = 0; tries < 200; tries++) {
    const { status } = await chat(who, { model: 'priced', max_tokens: 1 })
    if (status === 200) return
    await Bun.sleep(20)
  }
  throw new Error('still in flight')
})

test('tokens a minute: a forecast before, the truth after', async () => {
  const who = await member({}, { tokens_per_minute: 300 })
  expect(await refusal(await chat(who, { model: 'priced', max_tokens: 400 }))).toMatchObject({
    status: 429,
    message: expect.stringContaining('Lower max_tokens'),
  })
  const answer = await chat(who, { model: 'priced', max_tokens: 200 })
  const { usage } = (await answer.json()) as { usage: { total_tokens: number } }
  const left = [300 - usage.total_tokens, 300 - usage.total_tokens + 10] as const
  // Instances fill the headers from their last reading of the limits (docs/cluster.md).
  if (TEST_STORE === 'sqlite') expect(Number(answer.headers.get('x-ratelimit-remaining-tokens'))).toBeWithin(...left)
  expect(Number((await balance(who)).limits.key['tokens_per_minute']?.['remaining'])).toBeWithin(...left)
})

test('tokens a minute: a crowd without max_tokens does not pass them all at once', async () => {
  const who = await member({}, { tokens_per_minute: 5_000 })
  // None ends before the last one is answered, because an end makes room for another.
  const long = { model: 'slow', stream: true, messages: [{ role: 'user', content: 'write 900 tokens' }] }
  const answers = await Promise.all(Array.from({ length: 100 }, () => chat(who, long)))
  const statuses = answers.map(({ status }) => status)
  expect(statuses.filter((status) => status !== 200 && status !== 429)).toEqual([])
  expect(statuses.filter((status) => status === 200)).toHaveLength(9)
  for (const answer of answers) await answer.body?.cancel()
})

describe('spend', () => {
  test('of a day: holds count, so that no crowd passes it', async () => {
    const who = await member({ spend_per_day: '0.01' }) // a thousand tokens of output
    const answers = await Promise.all(
      Array.from({ length: 30 }, () => chat(who, { model: 'slow', max_tokens: 300, stream: true })),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(3)
    const refused = answers.find(({ status }) => status === 429)
    expect(refused?.headers.get('x-should-retry')).toBeNull()
    expect(refused && (await refusal(refused))).toMatchObject({
      type: 'billing_error',
      code: 'spend_limit_exceeded',
      message: expect.stringContaining('may spend $0.01 in a day (UTC)'),
    })
    await Promise.all(answers.map((answer) => answer.text().catch(() => '')))
    const { limits } = await balance(who)
    const day = limits['account']['spend_per_day']
    expect(Number(day?.['spent'])).toBeLessThanOrEqual(0.01)
    expect(Number(day?.['remaining'])).toBeCloseTo(0.01 - Number(day?.['spent']), 9)
    expect(day?.['held']).toBe('0.00')
  })

  test('a request without max_tokens is cut to what the limit leaves', async () => {
    const who = await member({ spend_per_month: '0.004' })
    const answer = await chat(who, { model: 'priced', messages: [{ role: 'user', content: 'write 900 tokens' }] })
    expect(answer.status).toBe(200)
    expect(await answer.json()).toMatchObject({ choices: [{ finish_reason: 'length' }] })
    expect(Number(answer.headers.get('x-tollgate-max-output-tokens'))).toBeWithin(380, 401)
    expect(Number(answer.headers.get('x-tollgate-cost-usd'))).toBeWithin(0.003, 0.004_001)
  })

  test('of a month: spent is refused until it is over', async () => {
    const who = await member({}, { spend_per_month: '0.001' })
    await (await chat(who, { model: 'priced', max_tokens: 80 })).text()
    await seen(who)
    const refused = await chat(who, { model: 'priced', max_tokens: 100 })
    expect(refused.headers.get('x-should-retry')).toBe('false')
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(2)
    const { message } = await refusal(refused)
    expect(message).toContain('may spend $0.001 in a month (UTC): spent $0.000')
    expect(message).toMatch(/, held \$0\.00, needed \$0\.001\. A max_tokens of \d+ would fit\.$/)
  })

  test('a request larger than the limit itself is not told to come back, but what would fit', async () => {
    const who = await member({ spend_per_day: '0.01' })
    const running = await chat(who, { model: 'slow', max_tokens: 400, stream: true })
    await seen(who)
    const refused = await chat(who, { model: 'priced', max_tokens: 2_000 })
    expect(refused.headers.get('x-should-retry')).toBe('false')
    expect(refused.headers.get('retry-after')).toBeNull()
    expect(await refusal(refused)).toMatchObject({
      status: 429,
      code: 'spend_limit_exceeded',
      // An instance names what it holds itself.
      message: expect.stringMatching(
        TEST_STORE === 'sqlite'
          ? /: spent \$0\.00, held \$0\.004; this request alone needs \$0\.02\. A max_tokens of 600 would fit\.$/
          : /: spent \$0\.00, held \$0\.004?; this request alone needs \$0\.02\. A max_tokens of 600 would fit\.$/,
      ),
    })
    const asked = { model: 'priced', input: 'The quick brown fox jumps over the dog.', max_output_tokens: 2_000 }
    const elsewhere = await fetch(`${who.baseUrl}/responses`, {
      method: 'POST',
      headers: { authorization: `Bearer ${who.key}`, 'content-type': 'application/json' },
      body: JSON.stringify(asked),
    })
    expect((await refusal(elsewhere)).message).toMatch(/ A max_output_tokens of \d+ would fit\.$/)
    await running.text()
    const nothing = await chat(await member({}, { spend_per_month: '0' }), { model: 'priced', max_tokens: 1 })
    expect([nothing.status, nothing.headers.get('retry-after')]).toEqual([429, null])
    expect(nothing.headers.get('x-should-retry')).toBe('false')
  })

  test('outlives a restart', async () => {
    const first = await startGateway({})
    await first.operate('account.create', { name: 'thrifty', balance: '1', limits: { spend_per_day: '0.5' } })
    const { secret: key } = await first.operate<{ secret: string }>('key.create', { account: 'thrifty', name: 'k' })
    const who = { baseUrl: first.baseUrl, key }
    await (await chat(who, { model: 'sandbox-chat', max_tokens: 50 })).text()
    const read = async (base: string): Promise<unknown> => {
      const answer = await fetch(`${base}/balance`, { headers: { authorization: `Bearer ${key}` } })
      return ((await answer.json()) as Balance).limits['account']['spend_per_day']?.['spent']
    }
    const spent = await read(first.baseUrl)
    expect(Number(spent)).toBeGreaterThan(0)
    await first.crash()
    const second = await startGateway({ folder: first.folder })
    expect(await read(second.baseUrl)).toBe(spent)
    await second.close()
  })
})

test('what the file declares holds, and is changed only there', async () => {
  const shown = await gateway.operate('account.show', { account: 'from-the-file' })
  expect(shown).toMatchObject({
    origin: 'declared',
    limits: { requests_per_minute: 3, spend_per_day_usd: '0.50', tokens_per_minute: null },
  })
  const change = gateway.operate('account.limits', { account: 'from-the-file', limits: {} })
  expect(String(await change.catch((error: unknown) => error))).toContain('declared')
})

test('what the file no longer declares keeps its limits, keys and money, and is changed by command', async () => {
  const yaml = 'accounts: { leaving: { opening_balance: 5, limits: { requests_per_minute: 3 } } }'
  const first = await startGateway({ yaml })
  const { secret: key } = await first.operate<{ secret: string }>('key.create', { account: 'leaving', name: 'k' })
  await first.crash()
  const second = await startGateway({ yaml: 'accounts: {}', folder: first.folder })
  const who = { key, baseUrl: second.baseUrl }
  const limited = { origin: 'stored', posted_usd: '5.00', limits: { requests_per_minute: 3 } }
  expect(await second.operate('account.show', { account: 'leaving' })).toMatchObject(limited)
  await second.operate('account.limits', { account: 'leaving', limits: { requests_per_minute: 1 } })
  const statuses = [await chat(who, { model: 'sandbox-mini' }), await chat(who, { model: 'sandbox-mini' })]
  expect(statuses.map(({ status }) => status)).toEqual([200, 429])
  await second.crash()
  // Back in the file it is the file's again, its balance untouched.
  const third = await startGateway({ yaml, folder: first.folder })
  const shown = await third.operate<{ posted_usd: string }>('account.show', { account: 'leaving' })
  expect(shown).toMatchObject({ origin: 'declared', limits: { requests_per_minute: 3 } })
  expect(Number(shown.posted_usd)).toBeWithin(4, 5)
  const change = third.operate('account.limits', { account: 'leaving', limits: {} })
  expect(String(await change.catch((error: unknown) => error))).toContain('declared')
  await third.close()
})

test('GET /v1/balance: money as exact text, limits and what is left of them', async () => {
  const who = await member({ requests_per_minute: 5, spend_per_day: '1.5' }, { concurrent_requests: 2 })
  expect(await balance(who)).toEqual({
    object: 'balance',
    currency: 'usd',
    account: who.account,
    available: '10.00',
    held: '0.00',
    posted: '10.00',
    limits: {
      key: {
        requests_per_minute: { limit: null, remaining: null },
        tokens_per_minute: { limit: null, remaining: null },
        concurrent_requests: { limit: 2, in_flight: 0 },
        spend_per_day: { limit: null, spent: '0.00', held: '0.00', remaining: null, resets_in_s: expect.any(Number) },
        spend_per_month: { limit: null, spent: '0.00', held: '0.00', remaining: null, resets_in_s: expect.any(Number) },
      },
      account: {
        requests_per_minute: { limit: 5, remaining: 5 },
        tokens_per_minute: { limit: null, remaining: null },
        concurrent_requests: { limit: null, in_flight: 0 },
        spend_per_day: {
          limit: '1.50',
          spent: '0.00',
          held: '0.00',
          remaining: '1.50',
          resets_in_s: expect.any(Number),
        },
        spend_per_month: { limit: null, spent: '0.00', held: '0.00', remaining: null, resets_in_s: expect.any(Number) },
      },
    },
  } as unknown as Balance)
  const none = await fetch(`${gateway.baseUrl}/balance`)
  expect(await refusal(none)).toMatchObject({ status: 401, code: 'invalid_api_key' })
})
