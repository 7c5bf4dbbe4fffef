/** Background responses: created without their client, read, followed, cancelled, and outliving a connection. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import {
  freshFolder,
  startGateway,
  startSandboxProcess,
  TEST_STORE,
  type TestGateway,
  type TestSandbox,
} from '../support/gateway.ts'
import { expectStream, responseSchema, type ShownResponse } from '../support/response-events.ts'
import {
  create,
  failure,
  joined,
  made,
  send,
  textOf,
  until,
  yamlOf,
  type Member,
  type Who,
} from '../support/speaker.ts'

let sandbox: TestSandbox
let gateway: TestGateway
beforeAll(async () => {
  sandbox = await startSandboxProcess()
  const eager = `  eager: { base_url: '${sandbox.baseUrl}', allow_private: true, hang_up: bills_on }`
  const relieved = `  relieved:
    price: { input: 1, output: 2 }
    offers: [{ provider: eager, model: 'sandbox-chat!status=500,delayMs=300' }, { provider: vendor, model: sandbox-chat, priority: 1 }]`
  const yaml = yamlOf(sandbox.baseUrl)
  gateway = await startGateway({ yaml: `${yaml.replace('models:', `${eager}\nmodels:`)}${relieved}\n` })
}, 30_000)
afterAll(async () => {
  await gateway.close()
  await sandbox.stop()
})

const member = (limits: object = {}): Promise<Member> => joined(gateway, limits)
const background = { background: true, model: 'slow' }
const follow = async (who: Who, id: string, after?: number): Promise<string> => {
  const from = after === undefined ? '' : `&starting_after=${after}`
  const text = await (await send(who, `/responses/${id}?stream=true${from}`)).text()
  return text.replaceAll(/^: ping\n/gm, '')
}
const cancel = async (who: Who, id: string): Promise<ShownResponse> => {
  const answer = await send(who, `/responses/${id}/cancel`, { method: 'POST' })
  return responseSchema.parse(await answer.json())
}

test('answers at once, is made without its client, and is charged like any other', async () => {
  const who = await member()
  const startedMs = performance.now()
  const first = await made(who, { ...background, input: 'write 30 tokens' })
  expect(performance.now() - startedMs).toBeLessThan(400)
  expect(first).toMatchObject({ status: 'in_progress', background: true, output: [], usage: null })
  const early = await create(who, { previous_response_id: first.id })
  expect(await failure(early)).toEqual([400, 'invalid_value', 'previous_response_id'])
  const shown = await until(who, first.id, 'completed')
  expect(shown.usage?.output_tokens).toBe(30)
  const [row] = await who.records(1)
  expect(row).toMatchObject({ outcome: 'completed', endpoint: 'responses', id: first.id.replace('resp_', 'req_') })
  expect(row?.stream).toBe('0')
  expect(row?.charged).toBe(String((shown.usage?.input_tokens ?? 0) * 1_000 + 30 * 2_000))
  expect(textOf(await made(who, { input: 'What did I say?', previous_response_id: first.id }))).toContain(
    'write 30 tokens',
  )
})

test('can be followed from any event on, while it is made and after: always the same events', async () => {
  const who = await member()
  const { id } = await made(who, { ...background, input: 'write 40 tokens' })
  await Bun.sleep(150)
  const [whole, rest] = await Promise.all([follow(who, id), follow(who, id, 9)])
  expectStream(whole)
  expectStream(rest, 10)
  expect(whole.endsWith(rest.slice(rest.indexOf('event: ')))).toBe(true)
  expect(await follow(who, id)).toBe(whole)
  expect(await follow(who, id, 9)).toBe(rest)
  expect(await follow(who, id, 10_000)).toBe('data: [DONE]\n\n')
  for (const number of ['x', '', '1e3', '0x1', '-2', '1.0', '+1', '9'.repeat(16)]) {
    const refused = await send(who, `/responses/${id}?stream=true&starting_after=${encodeURIComponent(number)}`)
    expect(await failure(refused)).toEqual([400, 'invalid_value', 'starting_after'])
  }
  const plain = await made(who, {})
  const unable = await send(who, `/responses/${plain.id}?stream=true`)
  expect(await failure(unable)).toEqual([400, 'invalid_value', 'stream'])
})

test('streamed to its client: which may leave, and come back where it was', async () => {
  const who = await member()
  const leaving = new AbortController()
  const body = { ...background, stream: true, input: 'write 40 tokens' }
  const reader = (await create(who, body, { signal: leaving.signal })).body?.getReader()
  let text = ''
  while (text.split('\n\n').length < 10) text += Buffer.from((await reader?.read())?.value ?? []).toString()
  leaving.abort()
  const got = text.split(/(?<=\n\n)/).filter((event) => event.endsWith('\n\n'))
  const { id } = (JSON.parse(got[0]?.split('data: ')[1] ?? '') as { response: ShownResponse }).response
  expectStream(got.join('') + (await follow(who, id, got.length - 1)))
  expect((await until(who, id, 'completed')).usage?.output_tokens).toBe(40)
  const [row] = await who.records(1)
  expect(row?.outcome).toBe('completed')
})

describe('called off', () => {
  test('it is paid as far as it came, says so to all who listen, and stays as it is', async () => {
    const who = await member()
    const { id } = await made(who, { ...background, input: 'write 500 tokens' })
    await Bun.sleep(200)
    const listening = follow(who, id)
    await Bun.sleep(50)
    const shown = await cancel(who, id)
    expect(shown).toMatchObject({ id, status: 'cancelled', error: null, output: [{ status: 'incomplete' }] })
    expect(Number((shown as { usage?: { output_tokens?: number } }).usage?.output_tokens)).toBeGreaterThan(0)
    expect(await cancel(who, id)).toEqual(shown)
    expect(await (await send(who, `/responses/${id}`)).json()).toEqual(shown)
    const events = expectStream(await listening)
    expect(events.at(-1)).toMatchObject({ type: 'response.incomplete', response: shown })
    const [row] = await who.records(1)
    expect(row).toMatchObject({ outcome: 'client_closed', usage_source: 'estimated' })
    expect(Number(row?.charged)).toBeWithin(1, 500 * 2_000)
  })

  test('before a vendor has answered, and with a key that promises a repetition', async () => {
    const who = await member()
    const headers = { 'idempotency-key': 'off' }
    const answer = await create(who, { background: true, model: 'stuck' }, { headers })
    const { id } = (await answer.json()) as ShownResponse
    await Bun.sleep(100)
    expect((await cancel(who, id)).status).toBe('cancelled')
    expect(await who.records(1)).toHaveLength(1)
  })

  test.each([{}, { 'idempotency-key': 'relieved' }])('no other vendor is asked: %j', async (headers) => {
    const who = await member()
    const answer = await create(who, { background: true, model: 'relieved' }, { headers })
    const { id } = (await answer.json()) as ShownResponse
    await Bun.sleep(100)
    expect((await cancel(who, id)).status).toBe('cancelled')
    const [row] = await who.records(1)
    const attempts = JSON.parse(row?.attempts ?? '[]') as { result: string }[]
    expect([row?.charged, attempts.map(({ result }) => result)]).toEqual(['0', ['server']])
  })

  test('only where there is something to call off', async () => {
    const who = await member()
    const { id } = await made(who, {})
    const refused = await send(who, `/responses/${id}/cancel`, { method: 'POST' })
    expect(await failure(refused)).toEqual([400, 'invalid_value', 'response_id'])
    const done = await until(who, (await made(who, { background: true })).id, 'completed')
    expect(await cancel(who, done.id)).toEqual(done)
  })

  test('deleted while it is made it is stopped and gone', async () => {
    const who = await member()
    const { id } = await made(who, { ...background, input: 'write 500 tokens' })
    await Bun.sleep(100)
    const answer = await send(who, `/responses/${id}`, { method: 'DELETE' })
    expect(await answer.json()).toEqual({ id, object: 'response', deleted: true })
    expect((await send(who, `/responses/${id}`)).status).toBe(404)
    expect(await who.records(1)).toHaveLength(1)
    expect((await send(who, `/responses/${id}`)).status).toBe(404)
  })
})

test('what fails is kept as failed, and free where nothing came', async () => {
  const who = await member()
  const failed = await until(who, (await made(who, { background: true, model: 'failing' })).id, 'failed')
  expect(failed).toMatchObject({ error: { code: 'server_error' }, output: [], usage: null })
  const events = expectStream(await follow(who, failed.id))
  expect(events.map(({ type }) => type)).toEqual([
    'response.created',
    'response.in_progress',
    'error',
    'response.failed',
  ])
  const cut = await until(
    who,
    (await made(who, { background: true, model: 'cut', input: 'write 150 tokens' })).id,
    'failed',
  )
  expect(textOf(cut)).not.toBe('')
  expectStream(await follow(who, cut.id))
  const rows = await who.records(2)
  expect(rows.map(({ outcome, charged }) => [outcome, charged === '0'])).toEqual([
    ['cut', false],
    ['failed', true],
  ])
  const refused = await create(who, { background: true, store: false })
  expect(await failure(refused)).toEqual([400, 'invalid_value', 'background'])
})

test('an Idempotency-Key makes one of it: told to wait while it is made, then how it ended', async () => {
  const who = await member()
  const headers = { 'idempotency-key': 'b' }
  const body = { ...background, input: 'write 20 tokens' }
  const { id } = (await (await create(who, body, { headers })).json()) as ShownResponse
  expect(await failure(await create(who, body, { headers }))).toEqual([409, 'idempotency_in_progress', null])
  const shown = await until(who, id, 'completed')
  const again = await create(who, body, { headers })
  expect(again.headers.get('content-type')).toBe('application/json; charset=utf-8')
  expect(await again.json()).toEqual(shown)
  expect(await who.records(1)).toHaveLength(1)
})

test('limits hold: it counts among the requests of its key while it is made, and there are only so many', async () => {
  const limited = await member({ limits: { concurrent_requests: 1 } })
  const { id } = await made(limited, { ...background, input: 'write 20 tokens' })
  expect((await failure(await create(limited, {})))[1]).toBe('rate_limit_exceeded')
  await until(limited, id, 'completed')
  for (let tries = 0; tries < 50; tries++) {
    if ((await create(limited, {})).status === 200) break
    expect(tries).toBeLessThan(49)
    await Bun.sleep(20)
  }
  // The bound is each instance's own.
  const runsMax = TEST_STORE === 'postgres' ? 64 : 32
  const who = await member({ balance: '100' })
  const stuck = { background: true, model: 'stuck' }
  const answers = await Promise.all(Array.from({ length: runsMax + 8 }, () => create(who, stuck)))
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(runsMax)
  const refused = answers.find(({ status }) => status === 429)
  expect(refused?.headers.get('retry-after')).toBe('5')
  const begun = await Promise.all(answers.filter(({ status }) => status === 200).map((answer) => answer.json()))
  await Promise.all((begun as ShownResponse[]).map((shown) => cancel(who, shown.id)))
  expect(await who.records(runsMax)).toHaveLength(runsMax)
})

test('a revoked key stops its answers in the background too', async () => {
  const who = await member()
  const { id } = await made(who, { ...background, input: 'write 500 tokens' })
  await Bun.sleep(100)
  await gateway.operate('key.revoke', { key: await keyIdOf(who) })
  const { secret: key } = await gateway.operate<{ secret: string }>('key.create', { account: who.account, name: 'k2' })
  expect((await until({ ...who, key }, id, 'failed')).output).toHaveLength(1)
  const [row] = await who.records(1)
  expect(row?.outcome).toBe('barred')
})

test('whose key is revoked hears nothing more of an answer that another key has made', async () => {
  const who = await member()
  const { id } = await made(who, { ...background, input: 'write 150 tokens' })
  const { id: keyId, secret: key } = await gateway.operate<{ id: string; secret: string }>('key.create', {
    account: who.account,
    name: 'listener',
  })
  const following = await send({ ...who, key }, `/responses/${id}?stream=true`)
  const reader = following.body?.getReader()
  await reader?.read()
  await gateway.operate('key.revoke', { key: keyId })
  const startedMs = performance.now()
  const over = async (): Promise<string> => {
    for (let next = await reader?.read(); next && !next.done; next = await reader?.read()) continue
    return 'ended'
  }
  expect(await over().catch(() => 'broken off')).toBe('broken off')
  expect(performance.now() - startedMs).toBeLessThan(1_000)
  expect((await until(who, id, 'completed')).usage?.output_tokens).toBe(150)
}, 20_000)

async function keyIdOf({ account }: Member): Promise<string> {
  const [key] = await gateway.operate<{ id: string }[]>('key.list', { account })
  return key?.id ?? ''
}

describe('when the gateway stops', () => {
  test('one that dies with the process has failed at the next start, and cost nothing', async () => {
    const folder = freshFolder()
    const first = await startGateway({ folder, yaml: yamlOf(sandbox.baseUrl) })
    const who = { key: first.key, baseUrl: first.baseUrl }
    const { id } = await made(who, { ...background, input: 'write 500 tokens' })
    await Bun.sleep(150)
    await first.crash()
    const second = await startGateway({ folder, yaml: yamlOf(sandbox.baseUrl) })
    const again = { key: first.key, baseUrl: second.baseUrl }
    // Of instances, the others end a dead one after 20 s. Its followers wait for that.
    expectStream(await follow(again, id))
    expect(second.output()).toContain(TEST_STORE === 'postgres' ? 'instance.declared_dead' : 'ledger.expired')
    const shown = responseSchema.parse(await (await send(again, `/responses/${id}`)).json())
    expect(shown).toMatchObject({ status: 'failed', output: [], error: { code: 'server_error' } })
    expect(await cancel(again, id)).toEqual(shown)
    const account = await second.operate<{ held_nano_usd: string }>('account.show', { account: first.accountId })
    expect(account.held_nano_usd).toBe('0')
    expect(await second.operate<object[]>('request.list', { account: first.accountId, limit: 10 })).toEqual([])
    await second.close()
  }, 60_000)

  test('SIGTERM waits for it, and past the patience it is failed with what arrived, and paid', async () => {
    for (const [drainMs, status] of [
      ['20000', 'completed'],
      ['100', 'failed'],
    ] as const) {
      const folder = freshFolder()
      const options = { folder, yaml: yamlOf(sandbox.baseUrl) }
      const first = await startGateway({ ...options, env: { TOLLGATE_DRAIN_MS: drainMs } })
      const who = { key: first.key, baseUrl: first.baseUrl }
      const input = status === 'failed' ? 'write 900 tokens' : 'write 50 tokens'
      const { id } = await made(who, { ...background, input })
      await Bun.sleep(150)
      expect(await first.stop()).toBe(0)
      const second = await startGateway(options)
      expect(second.output()).not.toContain('ledger.expired')
      const shown = await until({ key: first.key, baseUrl: second.baseUrl }, id, status)
      expect(textOf(shown)).not.toBe('')
      const [row] = await second.operate<{ charged: string }[]>('request.list', { account: first.accountId, limit: 1 })
      expect(Number(row?.charged)).toBeGreaterThan(0)
      await second.close()
    }
  }, 60_000)
})
