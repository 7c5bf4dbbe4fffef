/**
 * A provider with a limit of concurrent requests: further requests go to another provider, wait a moment, or are
 * refused.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { chat, startGateway, startSandboxProcess, type TestGateway, type TestSandbox } from '../support/gateway.ts'

let sandbox: TestSandbox
let gateway: TestGateway

const offer = (provider: string, knobs: string, priority = 0): string =>
  `{ provider: ${provider}, model: 'sandbox-chat${knobs}', priority: ${priority} }`

beforeAll(async () => {
  sandbox = await startSandboxProcess()
  const at = `base_url: '${sandbox.baseUrl}', allow_private: true`
  gateway = await startGateway({
    env: { TOLLGATE_ATTEMPTS_MAX: '2' },
    yaml: `
sandbox: false
providers:
  small: { ${at}, concurrent_requests: 2 }
  tiny: { ${at}, concurrent_requests: 1 }
  large: { ${at} }
  eager: { ${at}, hang_up: bills_on }
models:
  brief: { price: { input: 1, output: 2 }, offers: [${offer('small', '!delayMs=300')}] }
  lasting: { price: { input: 1, output: 2 }, offers: [${offer('small', '!delayMs=2500')}] }
  flowing: { price: { input: 1, output: 2 }, offers: [${offer('small', '!pace=30')}] }
  shared: { price: { input: 1, output: 2 }, offers: [${offer('small', '!delayMs=2500')}, ${offer('large', '', 1)}] }
  spread: { price: { input: 1, output: 2 }, offers: [${offer('small', '')}, ${offer('tiny', '', 1)}, ${offer('large', '', 2)}] }
  either: { price: { input: 1, output: 2 }, offers: [${offer('small', '!delayMs=2500')}, ${offer('tiny', '!delayMs=300', 1)}] }
  doubtful: { price: { input: 1, output: 2 }, offers: [${offer('tiny', '!delayMs=300')}, ${offer('large', '!status=500', 1)}] }
  short: { price: { input: 1, output: 2 }, offers: [${offer('tiny', '!delayMs=700')}] }
  deserted: { price: { input: 1, output: 2 }, offers: [${offer('eager', '!status=500,delayMs=300')}, ${offer('small', '', 1)}] }
  retired: { price: { input: 1, output: 2 }, offers: [${offer('tiny', '!pace=1')}, ${offer('eager', '!status=500,delayMs=200', 1)}] }
  bereft: { price: { input: 1, output: 2 }, offers: [${offer('tiny', '!pace=1')}, ${offer('eager', '!acceptThenClose,delayMs=100', 1)}] }
  orphaned: { price: { input: 1, output: 2 }, offers: [${offer('tiny', '!pace=1')}, ${offer('large', '!acceptThenClose,delayMs=100', 1)}] }
  spent: { price: { input: 1, output: 2 }, offers: [${offer('tiny', '')}, ${offer('large', '!status=500', 1)}, ${offer('eager', '!status=500', 2)}] }
  belated: { price: { input: 1, output: 2 }, offers: [${offer('tiny', '!delayMs=200')}, ${offer('large', '!status=500,delayMs=500', 1)}] }
  rescued: { price: { input: 1, output: 2 }, offers: [${offer('small', '!delayMs=300')}, ${offer('large', '!status=500', 1)}] }
`,
  })
})
afterAll(async () => {
  await gateway.close()
  await sandbox.stop()
})

type HttpAnswer = { readonly status: number; readonly tookMs: number; readonly headers: Headers; readonly text: string }

async function ask(body: object): Promise<HttpAnswer> {
  const startedMs = performance.now()
  const answer = await chat(gateway, body)
  const text = await answer.text()
  return { status: answer.status, tookMs: performance.now() - startedMs, headers: answer.headers, text }
}

const several = (count: number, body: object): Promise<HttpAnswer[]> =>
  Promise.all(Array.from({ length: count }, () => ask(body)))

test('who finds no room waits for it, and is served', async () => {
  const told = await several(4, { model: 'brief' })
  expect(told.map(({ status }) => status)).toEqual([200, 200, 200, 200])
})

test('who waits in vain is told to come back, who finds too many waiting at once', async () => {
  const told = await several(6, { model: 'lasting' })
  const refused = told.filter(({ status }) => status !== 200)
  expect(refused.map(({ status }) => status)).toEqual([503, 503, 503, 503])
  for (const { headers, text } of refused) {
    expect([headers.get('retry-after'), headers.get('x-should-retry')]).toEqual(['1', null])
    expect(JSON.parse(text)).toMatchObject({ error: { code: 'service_unavailable' } })
  }
  const [atOnce] = refused.toSorted((a, b) => a.tookMs - b.tookMs)
  expect(atOnce?.tookMs).toBeLessThan(1_000)
  expect(await several(2, { model: 'brief' })).toMatchObject([{ status: 200 }, { status: 200 }])
})

test('a stream has its place until its end, or until its client leaves', async () => {
  const stop = new AbortController()
  const body = { model: 'flowing', stream: true, messages: [{ role: 'user', content: 'write 500 tokens' }] }
  const streams = await Promise.all([0, 1].map(() => chat(gateway, body, { signal: stop.signal })))
  for (const stream of streams) await stream.body?.getReader().read()
  expect(await ask({ model: 'brief' })).toMatchObject({ status: 503 })
  stop.abort()
  await Bun.sleep(200)
  expect(await several(2, { model: 'brief' })).toMatchObject([{ status: 200 }, { status: 200 }])
})

/** What the newest record says: who answered, and what of each attempt. */
async function lastRecord(): Promise<[provider: string | null, ...results: string[]]> {
  const [row] = await gateway.operate<{ provider_id: string | null; attempts: string }[]>('request.list', {
    account: gateway.accountId,
    limit: 1,
  })
  const attempts = JSON.parse(row?.attempts ?? '[]') as { result: string }[]
  return [row?.provider_id ?? null, ...attempts.map(({ result }) => result)]
}

test('where somebody else can be asked nobody waits, and the full one is not blamed', async () => {
  const told = await several(8, { model: 'shared' })
  expect(told.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 200))
  expect(told.filter(({ headers }) => headers.get('x-tollgate-attempts') !== '1')).toEqual([])
  expect(told.filter(({ tookMs }) => tookMs < 2_000)).toHaveLength(6)
})

/** Clients that take all the room of providers, by the models that they ask for, until they leave. */
function filling(...models: readonly string[]): { leave(): Promise<void> } {
  const gone = new AbortController()
  const calls = models.map((model) => chat(gateway, { model }, { signal: gone.signal }).catch(() => undefined))
  return {
    async leave() {
      gone.abort()
      await Promise.all(calls)
      for (let tries = 0; tries < 250; tries++) {
        if ((await gateway.operate<{ live_requests: number }>('doctor')).live_requests === 0) return
        await Bun.sleep(20)
      }
      throw new Error('somebody is still there')
    },
  }
}

test('one that is full is no attempt: the next ones are asked however many are full', async () => {
  const full = filling('lasting', 'lasting', 'either')
  await Bun.sleep(150)
  // Two attempts are allowed, and two providers are full.
  expect(await ask({ model: 'spread' })).toMatchObject({ status: 200 })
  expect(await lastRecord()).toEqual(['large', 'ok'])
  await full.leave()
})

test('nothing that was sent nowhere is told as an attempt', async () => {
  const full = filling('lasting', 'lasting')
  await Bun.sleep(150)
  const { status, headers } = await ask({ model: 'brief' })
  expect([status, headers.get('x-tollgate-attempts')]).toEqual([503, null])
  expect(await lastRecord()).toEqual([null, 'full'])
  await full.leave()
})

test('of several that are full the first with room is taken', async () => {
  const full = filling('lasting', 'lasting', 'either')
  await Bun.sleep(100)
  const waited = await ask({ model: 'either' })
  expect([waited.status, waited.tookMs < 1_500]).toEqual([200, true])
  expect(await lastRecord()).toEqual(['tiny', 'ok'])
  await full.leave()
})

test('one that is full is waited for before one that has failed too often is asked', async () => {
  const failing = await several(12, { model: 'doubtful' })
  expect(failing.some(({ status }) => status !== 200)).toBe(true)
  for (let i = 0; i < 4; i++) {
    const told = await several(2, { model: 'doubtful' })
    if (i > 0) expect(told.map(({ status }) => status)).toEqual([200, 200])
  }
})

test('where the others fail, the full one is waited for after all', async () => {
  const told = await several(4, { model: 'rescued' })
  expect(told.map(({ status }) => status)).toEqual([200, 200, 200, 200])
})

test('where the others fail and the full one has room meanwhile, it is asked at once', async () => {
  const first = ask({ model: 'belated' })
  await Bun.sleep(20)
  const second = await ask({ model: 'belated' })
  expect([(await first).status, second.status]).toEqual([200, 200])
  // Nobody is there any more whose going could tell who waits.
  expect(second.tookMs).toBeLessThan(1_400)
})

test('after the last attempt there is, a call waits for no room that it could not use', async () => {
  const full = ask({ model: 'short' })
  await Bun.sleep(50)
  const first = await Promise.race([full, ask({ model: 'spent' })])
  expect([first.status, first.headers.get('x-tollgate-attempts')]).toEqual([502, '2'])
  await full
})

test('a client that leaves while it waits takes up no place', async () => {
  const full = ask({ model: 'short' })
  await Bun.sleep(50)
  const stop = new AbortController()
  const gone = chat(gateway, { model: 'short' }, { signal: stop.signal }).catch(() => undefined)
  await Bun.sleep(100)
  stop.abort()
  await gone
  await Bun.sleep(100)
  // Of an account as many wait as are served.
  expect(await ask({ model: 'short' })).toMatchObject({ status: 200 })
  await full
})

type LeftClient = { readonly results: readonly string[]; readonly charged: string }

/** What became of each attempt of a call that its client leaves after so long, and what it cost. */
async function left(model: string, afterMs: number): Promise<LeftClient> {
  const stop = new AbortController()
  const gone = chat(gateway, { model }, { signal: stop.signal }).catch(() => undefined)
  await Bun.sleep(afterMs)
  stop.abort()
  await gone
  for (let i = 0; i < 100; i++) {
    const [newest] = await gateway.operate<{ model: string; attempts: string; charged: string }[]>('request.list', {
      limit: 1,
    })
    const all = JSON.parse(newest?.attempts ?? '[]') as { result: string }[]
    if (newest?.model === model) return { results: all.map(({ result }) => result), charged: newest.charged }
    await Bun.sleep(20)
  }
  return expect.unreachable()
}

test('a client that has left is asked for nowhere else, however the vendor bills that failed', async () => {
  expect(await left('deserted', 100)).toEqual({ results: ['server'], charged: '0' })
})

test('a client that leaves a wait takes up no place, however the vendor bills that failed before', async () => {
  const full = ask({ model: 'short' })
  await Bun.sleep(50)
  expect(await left('retired', 400)).toEqual({ results: ['server'], charged: '0' })
  expect(await ask({ model: 'short' })).toMatchObject({ status: 200 })
  await full
})

test.each(['bereft', 'orphaned'])(
  'a client that leaves a wait pays nothing for the break of the vendor before: %s',
  async (model) => {
    const full = ask({ model: 'short' })
    await Bun.sleep(50)
    expect(await left(model, 400)).toEqual({ results: ['network'], charged: '0' })
    await full
  },
)

test('an account leaves some room to the others', async () => {
  const silent = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data: () => undefined } })
  const few = await startGateway({
    descriptors: 256,
    yaml: `
providers: { silent: { base_url: 'http://127.0.0.1:${silent.port}/v1', allow_private: true } }
models: { waiting: { price: { input: 1, output: 2 }, offers: [{ provider: silent, model: m }] } }
`,
  })
  const stop = new AbortController()
  try {
    const { connections_max: most, account_calls_max: own } = await few.operate<{
      connections_max: number
      account_calls_max: number
    }>('doctor')
    expect(own).toBe(Math.floor(most * 0.8))
    const { id } = await few.operate<{ id: string }>('account.create', { name: 'other', balance: '1' })
    const { secret } = await few.operate<{ secret: string }>('key.create', { account: id, name: 'k' })
    const refused: HttpAnswer[] = []
    const body = { model: 'waiting', max_tokens: 1 }
    const greedy = Array.from({ length: own + 3 }, async () => {
      const answer = await chat(few, body, { signal: stop.signal }).catch(() => undefined)
      if (answer) refused.push({ status: answer.status, tookMs: 0, headers: answer.headers, text: await answer.text() })
    })
    for (let i = 0; i < 250 && refused.length < 3; i++) await Bun.sleep(20)
    expect((await chat({ baseUrl: few.baseUrl, key: secret }, { model: 'sandbox-chat' })).status).toBe(200)
    expect(refused.map(({ status, headers }) => [status, headers.get('retry-after')])).toEqual([
      [429, '1'],
      [429, '1'],
      [429, '1'],
    ])
    expect(refused[0]?.text).toContain(`This account may have ${own} requests in flight at once`)
    stop.abort()
    await Promise.all(greedy)
  } finally {
    silent.stop(true)
    await few.close()
  }
})
