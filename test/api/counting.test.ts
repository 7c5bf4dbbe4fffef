/** Token counts are free. They are limited by bytes, and do not delay paying requests. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { chat, freshFolder, INSTANCES, startGateway, type TestGateway } from '../support/gateway.ts'
import { TICK_MS_MAX, tickMeter, tickReport } from '../support/tick-report.ts'

/** A letter of three bytes that is a token of its own, or of a long one: what a tokenizer takes longest for. */
const DEAR = Array.from({ length: 40_000 }, (_, i) => String.fromCharCode(0x4e00 + ((i * 7919) % 20_000))).join('')

let vendor: Bun.Server<unknown>
let gateway: TestGateway
let origin: string

beforeAll(async () => {
  const choices = [{ index: 0, message: { role: 'assistant', content: 'a b c d' }, finish_reason: 'stop' }]
  const reply = { id: 'c', object: 'chat.completion', created: 1, model: 'm', choices }
  vendor = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => Response.json(reply) })
  const folder = freshFolder()
  const { preload, env } = tickMeter(folder)
  gateway = await startGateway({
    folder,
    preload,
    env: { ...env, TOLLGATE_LOG: 'error' },
    yaml: `
providers: { vendor: { base_url: 'http://127.0.0.1:${vendor.port}/v1', allow_private: true } }
models: { silent: { price: { input: 1, output: 2 }, offers: [{ provider: vendor, model: m }] } }
`,
  })
  origin = new URL(gateway.baseUrl).origin
}, 30_000)
afterAll(async () => {
  await gateway.close()
  await vendor.stop(true)
}, 30_000)

let accounts = 0

async function keyOf(balance: string | undefined): Promise<string> {
  const account = `counts-${accounts++}`
  await gateway.operate('account.create', { name: account, ...(balance === undefined ? {} : { balance }) })
  return (await gateway.operate<{ secret: string }>('key.create', { account, name: 'k' })).secret
}

type Dialect = readonly [path: string, body: (text: string) => object, tokens: (answer: object) => unknown]
const dialects: Readonly<Record<string, Dialect>> = {
  messages: [
    '/v1/messages/count_tokens',
    (text) => ({ model: 'silent', messages: [{ role: 'user', content: text }] }),
    (answer) => (answer as { input_tokens: unknown }).input_tokens,
  ],
  responses: [
    '/v1/responses/input_tokens',
    (text) => ({ model: 'silent', input: text }),
    (answer) => (answer as { input_tokens: unknown }).input_tokens,
  ],
  gemini: [
    '/v1beta/models/silent:countTokens',
    (text) => ({ contents: [{ parts: [{ text }] }] }),
    (answer) => (answer as { totalTokens: unknown }).totalTokens,
  ],
}

const post = (path: string, key: string, body: string | ReadableStream<Uint8Array>): Promise<Response> =>
  fetch(origin + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body,
  })

describe.each(Object.entries(dialects))('%s', (_, [path, bodyOf, tokensIn]) => {
  test.each([undefined, '10'])(
    'with a balance of %s: so many bytes a minute, then 429',
    async (balance) => {
      const key = await keyOf(balance)
      const large = JSON.stringify(bodyOf('some words '.repeat(190_000)))
      let counted = 0
      let refused: Response | undefined
      while (!refused && counted < 40 * INSTANCES) {
        const answer = await post(path, key, large)
        if (answer.status === 200) counted++
        else refused = answer
      }
      const mebibytes = (counted * large.length) / 1024 ** 2
      expect(mebibytes).toBeGreaterThan((balance === undefined ? 3 : 45) * INSTANCES)
      expect(mebibytes).toBeLessThan((balance === undefined ? 8 : 64) * INSTANCES)
      expect([refused?.status, Number(refused?.headers.get('retry-after')) > 0]).toEqual([429, true])
      expect(await refused?.json()).toMatchObject({ error: { message: expect.stringContaining('bytes') } })
      // Others are counted meanwhile, the same text alike each time.
      const other = await keyOf('10')
      const answers = await Promise.all([1, 2].map(async () => (await post(path, other, large)).json()))
      const [first, second] = answers.map((answer) => tokensIn(answer as object))
      expect(first).toBeGreaterThan(350_000)
      expect(second).toBe(first)
    },
    120_000,
  )
})

test('a body in chunks counts as well, and one that is too large costs nothing', async () => {
  const key = await keyOf(undefined)
  const [path, bodyOf] = dialects['messages'] as Dialect
  const bytes = Buffer.from(JSON.stringify(bodyOf('some words '.repeat(190_000))))
  const chunked = (): Promise<Response> => post(path, key, new Blob([bytes]).stream())
  expect((await post(path, key, ' '.repeat(33 * 1024 ** 2))).status).toBe(413)
  const statuses: number[] = []
  for (let i = 0; i < 4 * INSTANCES; i++) statuses.push((await chunked()).status)
  const counted = Array.from({ length: 3 * INSTANCES }, () => 200)
  expect(statuses).toEqual([...counted, ...Array.from({ length: INSTANCES }, () => 429)])
}, 60_000)

test('an account without money that counts what is dearest keeps nobody who pays waiting', async () => {
  const attackers = await Promise.all(Array.from({ length: 4 }, () => keyOf(undefined)))
  const [path, bodyOf] = dialects['messages'] as Dialect
  const dear = JSON.stringify(bodyOf(DEAR))
  const ask = async (): Promise<number> => {
    const startedMs = performance.now()
    const answer = await chat(gateway, { model: 'silent', max_tokens: 10 })
    expect([answer.status, answer.headers.get('x-tollgate-usage')]).toEqual([200, 'estimated'])
    await answer.text()
    return performance.now() - startedMs
  }
  const askOften = async (): Promise<number> => {
    const tookMs: number[] = []
    for (let i = 0; i < 60; i++) tookMs.push(await ask())
    return tookMs.toSorted((a, b) => a - b)[30] ?? Infinity
  }
  const aloneMs = await askOften()
  await tickReport(gateway)
  let isOver = false
  const attack = attackers.flatMap((key) =>
    Array.from({ length: 8 }, async () => {
      while (!isOver) await (await post(path, key, dear)).text()
    }),
  )
  const besideMs = await askOften()
  isOver = true
  await Promise.all(attack)
  const { longestMs } = await tickReport(gateway)
  console.log(`median of an estimated call: alone ${aloneMs.toFixed(1)} ms, beside it ${besideMs.toFixed(1)} ms`)
  expect(besideMs).toBeLessThan(10 * aloneMs + 150)
  expect(longestMs).toBeLessThan(TICK_MS_MAX)
}, 120_000)
