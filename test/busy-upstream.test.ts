/** A provider that takes so many requests at once: the others go elsewhere, or wait a moment, or are told. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { chat, startGateway, startSandboxProcess, type TestGateway, type TestSandbox } from './support/gateway.ts'

let sandbox: TestSandbox
let gateway: TestGateway

const offer = (provider: string, knobs: string, priority = 0): string =>
  `{ provider: ${provider}, model: 'sandbox-chat${knobs}', priority: ${priority} }`

beforeAll(async () => {
  sandbox = await startSandboxProcess()
  const at = `base_url: '${sandbox.baseUrl}', allow_private: true`
  gateway = await startGateway({
    yaml: `
sandbox: false
providers:
  small: { ${at}, concurrent_requests: 2 }
  large: { ${at} }
models:
  brief: { price: { input: 1, output: 2 }, offers: [${offer('small', '!delayMs=300')}] }
  lasting: { price: { input: 1, output: 2 }, offers: [${offer('small', '!delayMs=2500')}] }
  flowing: { price: { input: 1, output: 2 }, offers: [${offer('small', '!pace=30')}] }
  shared: { price: { input: 1, output: 2 }, offers: [${offer('small', '!delayMs=2500')}, ${offer('large', '', 1)}] }
  rescued: { price: { input: 1, output: 2 }, offers: [${offer('small', '!delayMs=300')}, ${offer('large', '!status=500', 1)}] }
`,
  })
})
afterAll(async () => {
  await gateway.close()
  await sandbox.stop()
})

type Told = { readonly status: number; readonly tookMs: number; readonly headers: Headers; readonly text: string }

async function ask(body: object): Promise<Told> {
  const startedMs = performance.now()
  const answer = await chat(gateway, body)
  const text = await answer.text()
  return { status: answer.status, tookMs: performance.now() - startedMs, headers: answer.headers, text }
}

const several = (count: number, body: object): Promise<Told[]> =>
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

test('where somebody else can be asked nobody waits, and the full one is not blamed', async () => {
  const told = await several(8, { model: 'shared' })
  expect(told.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 200))
  expect(told.filter(({ tookMs }) => tookMs < 1_500)).toHaveLength(6)
  expect(await ask({ model: 'brief' })).toMatchObject({ status: 200 })
})

test('where the others fail, the full one is waited for after all', async () => {
  const told = await several(4, { model: 'rescued' })
  expect(told.map(({ status }) => status)).toEqual([200, 200, 200, 200])
})

test('an account leaves some room to the others', async () => {
  const few = await startGateway({
    descriptors: 256,
    yaml: `models:\n  slow: { price: { input: 1, output: 2 }, offers: [${offer('sandbox', '!delayMs=3000')}] }\n`,
  })
  try {
    const { connections_max: most, account_calls_max: own } = await few.operate<{
      connections_max: number
      account_calls_max: number
    }>('doctor')
    expect(own).toBe(Math.floor(most * 0.8))
    const { id } = await few.operate<{ id: string }>('account.create', { name: 'other', balance: '1' })
    const { secret } = await few.operate<{ secret: string }>('key.create', { account: id, name: 'k' })
    const greedy = Array.from({ length: own + 3 }, async () => {
      const answer = await chat(few, { model: 'slow' })
      return [answer.status, answer.headers.get('retry-after'), await answer.text()] as const
    })
    await Bun.sleep(700)
    expect((await chat({ baseUrl: few.baseUrl, key: secret }, { model: 'sandbox-chat' })).status).toBe(200)
    const refused = (await Promise.all(greedy)).filter(([status]) => status !== 200)
    expect(refused.map(([status, after]) => [status, after])).toEqual(Array.from({ length: 3 }, () => [429, '1']))
    expect(refused[0]?.[2]).toContain(`This account may have ${own} requests in flight at once`)
  } finally {
    await few.close()
  }
})
