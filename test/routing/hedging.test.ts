/** A second offer is asked when the first is slow. One answer reaches the client and is paid. */
import { beforeAll, expect, test } from 'bun:test'
import { chat, type TestGateway } from '../support/gateway.ts'
import { startScriptedVendors, tokensOf, type Script } from '../support/scripted-vendors.ts'
import { useGateway } from '../support/use-gateway.ts'

const vendors = startScriptedVendors()
const gateway = useGateway({ yaml: vendors.yaml('hedging: on') }, () => vendors.stop())
const unhedged = useGateway({ yaml: vendors.yaml('hedging: off') })
const impatient = useGateway({ yaml: vendors.yaml('hedging: on'), env: { TOLLGATE_WHOLE_REPLY_TIMEOUT_MS: '1500' } })
const NANO_PER_TOKEN = 1_000_000
/** Longer than the delay after answers that took no time, and short enough for a test. */
const SLOW_MS = 1_500
/** As many answers as must be known before requests are hedged. */
const KNOWN = 20

type Row = { charged: string; outcome: string; attempts: string }

const ask = (to: TestGateway, script: Script, stream: boolean, init: RequestInit = {}): Promise<Response> =>
  chat(to, { model: 'm', stream, messages: [{ role: 'user', content: JSON.stringify(script) }] }, init)

async function rowOf(to: TestGateway, response: Response): Promise<Row> {
  const id = response.headers.get('x-request-id') ?? ''
  return to.operate<Row>('request.show', { request: id })
}

const resultsOf = ({ attempts }: Row): readonly string[] =>
  (JSON.parse(attempts) as { providerId: string; result: string }[]).map(
    ({ providerId, result }) => `${providerId} ${result}`,
  )

beforeAll(async () => {
  for (const to of [gateway, unhedged]) {
    for (const stream of [false, true]) for (let i = 0; i < KNOWN; i++) await (await ask(to, {}, stream)).text()
  }
})

test.each([false, true])('the second answers for a slow first, and is paid (stream: %p)', async (stream) => {
  const left = vendors.counts.a.left
  const startedMs = performance.now()
  const response = await ask(gateway, { a: { waitMs: SLOW_MS } }, stream)
  expect(await response.text()).toContain('b says')
  expect(performance.now() - startedMs).toBeLessThan(SLOW_MS)
  const row = await rowOf(gateway, response)
  expect(resultsOf(row)).toEqual(['a outrun', 'b ok'])
  expect(row).toMatchObject({ charged: String(tokensOf.b * NANO_PER_TOKEN), outcome: 'completed' })
  while (vendors.counts.a.left === left) await Bun.sleep(5)
})

test.each([false, true])('the first answers while the second is slower still (stream: %p)', async (stream) => {
  const response = await ask(gateway, { a: { waitMs: 300 }, b: { waitMs: SLOW_MS } }, stream)
  expect(await response.text()).toContain('a says')
  const row = await rowOf(gateway, response)
  expect(resultsOf(row)).toEqual(['b outrun', 'a ok'])
  expect(row.charged).toBe(String(tokensOf.a * NANO_PER_TOKEN))
})

test('the second is asked with the fields that the first has refused', async () => {
  const script = { a: { refuses: 'seed', waitMs: SLOW_MS } }
  const messages = [{ role: 'user', content: JSON.stringify(script) }]
  const response = await chat(gateway, { model: 'm', messages, seed: 7 })
  expect(await response.text()).toContain('b says')
  expect([vendors.last.a?.['seed'], vendors.last.b?.['seed']]).toEqual([undefined, 7])
  expect(response.headers.get('x-tollgate-dropped')).toBeNull()
})

test.each([false, true])('one that fails leaves the answer to the other (stream: %p)', async (stream) => {
  const first = await ask(gateway, { a: { waitMs: 300, fails: 500 }, b: { waitMs: 500 } }, stream)
  expect(await first.text()).toContain('b says')
  expect(resultsOf(await rowOf(gateway, first))).toEqual(['a server', 'b ok'])
  const second = await ask(gateway, { a: { waitMs: 500 }, b: { fails: 503 } }, stream)
  expect(await second.text()).toContain('a says')
  expect(resultsOf(await rowOf(gateway, second))).toEqual(['b overload', 'a ok'])
})

test('if both fail, the client gets a failure and pays nothing', async () => {
  const response = await ask(gateway, { a: { waitMs: 300, fails: 500 }, b: { waitMs: 400, fails: 500 } }, false)
  expect(response.status).toBe(502)
  const row = await rowOf(gateway, response)
  expect(resultsOf(row).slice(0, 2)).toEqual(['a server', 'b server'])
  expect(row.charged).toBe('0')
})

test('a refusal of the request ends both', async () => {
  const left = vendors.counts.b.left
  const response = await ask(gateway, { a: { waitMs: 300, fails: 400 }, b: { waitMs: SLOW_MS } }, false)
  expect(response.status).toBe(400)
  expect(resultsOf(await rowOf(gateway, response))).toEqual(['b outrun', 'a bad_request'])
  while (vendors.counts.b.left === left) await Bun.sleep(5)
})

test('a client that leaves stops both', async () => {
  const before = { a: vendors.counts.a.left, b: vendors.counts.b.left }
  const got = vendors.counts.b.got
  const stop = new AbortController()
  const asked = ask(gateway, { a: { waitMs: 5_000 }, b: { waitMs: 5_000 } }, false, { signal: stop.signal })
  while (vendors.counts.b.got === got) await Bun.sleep(5)
  stop.abort()
  await asked.catch(() => undefined)
  while (vendors.counts.a.left === before.a || vendors.counts.b.left === before.b) await Bun.sleep(5)
})

test('a first that is given up leaves the answer to the second, which is asked already', async () => {
  const known = Array.from({ length: KNOWN }, () => ask(impatient, { a: { waitMs: 500 } }, false))
  for (const answer of known) await (await answer).text()
  const response = await ask(impatient, { a: { waitMs: 10_000 }, b: { untilLeft: true } }, false)
  expect(await response.text()).toContain('b says')
  expect(resultsOf(await rowOf(impatient, response))).toEqual(['a timeout', 'b ok'])
})

test('a model without hedging waits', async () => {
  const got = vendors.counts.b.got
  const response = await ask(unhedged, { a: { waitMs: 400 } }, false)
  expect(await response.text()).toContain('a says')
  expect(resultsOf(await rowOf(unhedged, response))).toEqual(['a ok'])
  expect(vendors.counts.b.got).toBe(got)
})
