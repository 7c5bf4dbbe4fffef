/** Background responses of two instances on one database: followed and cancelled on the one that does not make them. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startInstances, startSandboxProcess, type RunningGateway, type TestSandbox } from '../support/gateway.ts'
import { expectStream, responseSchema, type ShownResponse } from '../support/response-events.ts'
import { failure, joined, made, send, until, yamlOf, type Member, type Who } from '../support/speaker.ts'

const CAP = 2
let sandbox: TestSandbox
let first: RunningGateway
let second: RunningGateway
beforeAll(async () => {
  sandbox = await startSandboxProcess()
  const capped = `  capped: { base_url: '${sandbox.baseUrl}', allow_private: true, concurrent_requests: ${CAP} }`
  const narrow = `  narrow: { price: { input: 1, output: 2 }, offers: [{ provider: capped, model: 'sandbox-chat!delayMs=1800' }] }`
  const yaml = `${yamlOf(sandbox.baseUrl).replace('models:', `${capped}\nmodels:`)}${narrow}\n`
  const env = { TOLLGATE_HEARTBEAT_MS: '100' }
  ;[first, second] = (await startInstances(2, { yaml, env })) as [RunningGateway, RunningGateway]
}, 60_000)
afterAll(async () => {
  await second.stop()
  await sandbox.stop()
})

/** The same caller at both instances. */
type Pair = { readonly here: Member; readonly there: Who }
async function caller(): Promise<Pair> {
  const here = await joined(first)
  return { here, there: { key: here.key, baseUrl: second.baseUrl } }
}

const slow = (who: Who, tokens: number): Promise<ShownResponse> =>
  made(who, { background: true, model: 'slow', input: `write ${tokens} tokens` })
const shown = async (who: Who, id: string): Promise<unknown> => (await send(who, `/responses/${id}`)).json()
const followed = async (who: Who, id: string, after = -1, signal?: AbortSignal): Promise<string> =>
  (await send(who, `/responses/${id}?stream=true&starting_after=${after}`, { ...(signal && { signal }) })).text()
const cancel = (who: Who, id: string): Promise<Response> => send(who, `/responses/${id}/cancel`, { method: 'POST' })
const withoutPings = (text: string): string => text.replaceAll(/^: ping\n/gm, '')

test('a follower elsewhere is kept waiting, and gets the events of the end from where it was', async () => {
  const { here, there } = await caller()
  const { id } = await slow(here, 40)
  const [live, whole, rest] = await Promise.all([followed(here, id), followed(there, id), followed(there, id, 9)])
  expect(whole).toStartWith(': ping\n')
  expect(withoutPings(whole)).toBe(withoutPings(live))
  expectStream(withoutPings(whole))
  expectStream(withoutPings(rest), 10)
  expect(await followed(there, id)).toBe(withoutPings(live))
})

test('a response is cancelled from any instance, for all followers, and paid as far as it came', async () => {
  const { here, there } = await caller()
  const { id } = await slow(here, 500)
  const left = new AbortController()
  const leaving = Array.from({ length: 20 }, () => followed(there, id, -1, left.signal).catch(() => 'left'))
  const following = Array.from({ length: 30 }, () => followed(there, id))
  await Bun.sleep(200)
  left.abort()
  expect(new Set(await Promise.all(leaving))).toEqual(new Set(['left']))
  const startedMs = performance.now()
  const answers = await Promise.all([cancel(there, id), cancel(there, id)])
  expect(performance.now() - startedMs).toBeLessThan(2_000)
  const [end, again] = await Promise.all(answers.map(async (answer) => responseSchema.parse(await answer.json())))
  expect(end).toMatchObject({ id, status: 'cancelled', error: null })
  expect(again).toEqual(end as ShownResponse)
  const texts = new Set((await Promise.all(following)).map(withoutPings))
  expect(texts.size).toBe(1)
  expect(expectStream([...texts][0] as string).at(-1)).toMatchObject({ type: 'response.incomplete', response: end })
  expect([await shown(here, id), await shown(there, id)]).toEqual([end, end])
  expect(await (await cancel(there, id)).json()).toEqual(end)
  const [row] = await here.records(1)
  expect(Number(row?.charged)).toBeWithin(1, 500 * 2_000)
})

test('nobody follows, cancels or deletes the response of another account', async () => {
  const { here } = await caller()
  const { there: stranger } = await caller()
  const { id } = await slow(here, 40)
  const tries = [
    await send(stranger, `/responses/${id}?stream=true`),
    await cancel(stranger, id),
    await send(stranger, `/responses/${id}`, { method: 'DELETE' }),
  ]
  for (const refused of tries) expect((await failure(refused))[0]).toBe(404)
  expect((await until(here, id, 'completed')).usage?.output_tokens).toBe(40)
})

test('a response that is deleted elsewhere ends, and does not come back', async () => {
  const { here, there } = await caller()
  const { id } = await slow(here, 500)
  await Bun.sleep(200)
  const deleted = await send(there, `/responses/${id}`, { method: 'DELETE' })
  expect(await deleted.json()).toEqual({ id, object: 'response', deleted: true })
  const [row] = await here.records(1)
  expect(Number(row?.charged)).toBeWithin(1, 500 * 2_000)
  for (const who of [here, there]) expect((await failure(await send(who, `/responses/${id}`)))[0]).toBe(404)
})

const ask = (who: Who): Promise<number> =>
  send(who, '/responses', { method: 'POST', body: { model: 'narrow', input: 'hello' } }).then(({ status }) => status)

test('an instance that dies leaves a failed response, a full refund, and its share of a provider', async () => {
  const { here, there } = await caller()
  // Each of the two may have one request at the provider.
  const narrow = await Promise.all([ask(here), ask(there), ask(there)])
  expect(narrow[0]).toBe(200)
  expect(narrow.slice(1).sort((a, b) => a - b)).toEqual([200, 503])
  const balance = async (): Promise<unknown> => {
    const account = await second.operate('account.show', { account: here.account })
    return [account['balance_nano_usd'], account['held_nano_usd']]
  }
  await here.records(3)
  const before = await balance()
  const { id } = await made(here, { background: true, model: 'stuck' })
  const following = followed(there, id)
  await Bun.sleep(100)
  await first.crash()
  const last = expectStream(withoutPings(await following)).at(-1)
  expect(last).toMatchObject({ type: 'response.failed', response: { id, status: 'failed' } })
  expect(await balance()).toEqual(before)
  await Bun.sleep(1_500)
  expect(await Promise.all([ask(there), ask(there)])).toEqual([200, 200])
  expect(await second.operate('ledger.verify')).toMatchObject({ clean: true, findings: [] })
}, 60_000)
