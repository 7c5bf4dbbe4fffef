import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import OpenAI from 'openai-7'
import {
  chat,
  INSTANCES,
  startGateway,
  startSandboxProcess,
  TEST_STORE,
  type TestGateway,
  type TestSandbox,
} from '../support/gateway.ts'
import { rawClient } from '../support/raw-client.ts'
import { holdsEnded } from '../support/stored.ts'

let sandbox: TestSandbox
let gateway: TestGateway

beforeAll(async () => {
  sandbox = await startSandboxProcess()
  gateway = await startGateway({
    yaml: `
sandbox: false
providers:
  vendor: { base_url: '${sandbox.baseUrl}', allow_private: true }
models:
  plain: { price: { input: 1, output: 2 }, offers: [{ provider: vendor, model: sandbox-chat }] }
  slow: { price: { input: 1, output: 2 }, offers: [{ provider: vendor, model: 'sandbox-chat!pace=5' }] }
  late: { price: { input: 1, output: 2 }, offers: [{ provider: vendor, model: 'sandbox-chat!delayMs=400' }] }
  later: { price: { input: 1, output: 2 }, offers: [{ provider: vendor, model: 'sandbox-chat!delayMs=2500' }] }
  failing: { price: { input: 1, output: 2 }, offers: [{ provider: vendor, model: 'sandbox-chat!status=500' }] }
  dropping: { price: { input: 1, output: 2 }, offers: [{ provider: vendor, model: 'sandbox-chat!delayMs=300,acceptThenClose' }] }
  cut: { price: { input: 1, output: 2 }, offers: [{ provider: vendor, model: 'sandbox-chat!cutAfterBytes=2000' }] }
`,
  })
})
afterAll(async () => {
  await gateway.close()
  await sandbox.stop()
})

type Row = { id: string; charged: string; outcome: string }
type Member = { account: string; key: string; baseUrl: string; records(): Promise<Row[]> }
let serial = 0

async function member(): Promise<Member> {
  const name = `repeater-${serial++}`
  const { id } = await gateway.operate<{ id: string }>('account.create', { name, balance: '10' })
  const { secret: key } = await gateway.operate<{ secret: string }>('key.create', { account: name, name: 'k' })
  const records = (): Promise<Row[]> => gateway.operate('request.list', { account: name, limit: 100 })
  return { account: id, key, baseUrl: gateway.baseUrl, records }
}

const ask = (who: Member, key: string, body: object, signal?: AbortSignal): Promise<Response> =>
  chat(who, body, {
    headers: { authorization: `Bearer ${who.key}`, 'content-type': 'application/json', 'idempotency-key': key },
    ...(signal && { signal }),
  })

async function code(response: Response): Promise<string> {
  return ((await response.json()) as { error: { code: string } }).error.code
}

const requests = async (): Promise<number> => Number((await sandbox.stats())['requests'])

describe('the same key and request', () => {
  test('whole: the same answer, one charge, one call of the vendor', async () => {
    const who = await member()
    const before = await requests()
    const first = await ask(who, 'a', { model: 'plain' })
    const text = await first.text()
    expect(first.headers.get('idempotent-replayed')).toBeNull()
    for (let i = 0; i < 3; i++) {
      const again = await ask(who, 'a', { model: 'plain' })
      expect(again.status).toBe(200)
      expect(await again.text()).toBe(text)
      expect(again.headers.get('idempotent-replayed')).toBe('true')
      expect(again.headers.get('x-tollgate-request')).toBe(first.headers.get('x-request-id'))
      expect(again.headers.get('x-request-id')).not.toBe(first.headers.get('x-request-id'))
      expect(again.headers.get('x-tollgate-cost-usd')).toBe(first.headers.get('x-tollgate-cost-usd'))
      expect(again.headers.get('content-type')).toBe('application/json; charset=utf-8')
    }
    expect(await who.records()).toHaveLength(1)
    expect((await requests()) - before).toBe(1)
  })

  test('streamed: the same stream, byte for byte', async () => {
    const who = await member()
    const body = { model: 'slow', stream: true, stream_options: { include_usage: true }, max_tokens: 30 }
    const text = await (await ask(who, 's', body)).text()
    expect(text).toEndWith('data: [DONE]\n\n')
    const again = await ask(who, 's', body)
    expect(again.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    expect(await again.text()).toBe(text)
    expect(await who.records()).toHaveLength(1)
  })

  test('twenty at once: one is carried out, the others are told to wait', async () => {
    const who = await member()
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask(who, 'b', { model: 'late' })))
    const waiting = answers.filter(({ status }) => status === 409)
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(waiting).toHaveLength(19)
    expect(waiting[0]?.headers.get('retry-after')).toBe('1')
    expect(waiting[0]?.headers.get('x-should-retry')).toBeNull()
    expect(waiting[0] && (await code(waiting[0]))).toBe('idempotency_in_progress')
    expect(await who.records()).toHaveLength(1)
  })

  test('an SDK whose call timed out gets the answer by its own tries', async () => {
    const who = await member()
    const client = new OpenAI({ baseURL: who.baseUrl, apiKey: who.key, timeout: 1_000 })
    const body = { model: 'later', messages: [{ role: 'user' as const, content: 'hi' }], max_tokens: 5 }
    const headers = { 'idempotency-key': 'timed-out' }
    const { data, response } = await client.chat.completions.create(body, { headers }).withResponse()
    expect(response.headers.get('idempotent-replayed')).toBe('true')
    expect(data.usage?.completion_tokens).toBe(5)
    expect(await who.records()).toHaveLength(1)
  })

  test('survives a kill: the answer is on disk with the charge', async () => {
    const first = await startGateway()
    const send = (baseUrl: string): Promise<Response> =>
      ask({ key: first.key, baseUrl } as Member, 'k', { model: 'sandbox-chat' })
    const text = await (await send(first.baseUrl)).text()
    await first.crash()
    const second = await startGateway({ folder: first.folder })
    const again = await send(second.baseUrl)
    expect(await again.text()).toBe(text)
    expect(again.headers.get('idempotent-replayed')).toBe('true')
    await second.close()
  })

  test('a request that died with the process is carried out anew', async () => {
    const yaml = `
providers: { vendor: { base_url: '${sandbox.baseUrl}', allow_private: true } }
models: { late: { price: { input: 1, output: 2 }, offers: [{ provider: vendor, model: 'sandbox-chat!delayMs=2000' }] } }
`
    const first = await startGateway({ yaml })
    const lost = ask({ key: first.key, baseUrl: first.baseUrl } as Member, 'd', { model: 'late' }).catch(() => 'lost')
    await Bun.sleep(300)
    await first.crash()
    expect(await lost).toBe('lost')
    const second = await startGateway({ yaml, folder: first.folder })
    await holdsEnded(first.folder)
    expect(second.output()).toContain(TEST_STORE === 'postgres' ? 'instance.declared_dead' : 'ledger.expired')
    const again = await ask({ key: first.key, baseUrl: second.baseUrl } as Member, 'd', { model: 'late' })
    expect(again.status).toBe(200)
    expect(again.headers.get('idempotent-replayed')).toBeNull()
    await second.close()
  }, 60_000)
})

describe('a client that leaves', () => {
  test.each([false, true])('finds the answer it paid for when it asks again (stream: %p)', async (stream) => {
    const who = await member()
    const body = { model: stream ? 'slow' : 'late', stream, max_tokens: 20 }
    const leaving = new AbortController()
    const left = ask(who, 'l', body, leaving.signal)
      .then((response) => response.text())
      .catch(() => 'left')
    await Bun.sleep(80)
    leaving.abort()
    expect(await left).toBe('left')
    for (let tries = 0; tries < 100 && (await who.records()).length === 0; tries++) await Bun.sleep(20)
    const again = await ask(who, 'l', body)
    expect(again.headers.get('idempotent-replayed')).toBe('true')
    const text = await again.text()
    expect(text).toEndWith(stream ? 'data: [DONE]\n\n' : '}')
    expect(text).toContain('"finish_reason":"length"')
    expect(await who.records()).toHaveLength(1)
  })

  test('pays nothing where the vendor breaks off afterwards, and may ask again', async () => {
    const who = await member()
    const leaving = new AbortController()
    const left = ask(who, 'b', { model: 'dropping' }, leaving.signal).catch(() => 'left')
    await Bun.sleep(80)
    leaving.abort()
    expect(await left).toBe('left')
    for (let tries = 0; tries < 100 && (await who.records()).length === 0; tries++) await Bun.sleep(20)
    const [record] = await who.records()
    expect(record).toMatchObject({ outcome: 'client_closed', charged: '0' })
    expect((await ask(who, 'b', { model: 'dropping' })).status).toBe(502)
  })

  test('is waited for by so many calls of its account, and no more', async () => {
    const who = await member()
    const leaving = new AbortController()
    const before = await requests()
    const left = Array.from({ length: 70 * INSTANCES }, (_, i) =>
      ask(who, `many-${i}`, { model: 'later', max_tokens: 5 }, leaving.signal).catch(() => 'left'),
    )
    while ((await requests()) < before + 70 * INSTANCES) await Bun.sleep(20)
    leaving.abort()
    await Promise.all(left)
    for (let tries = 0; tries < 50 && (await who.records()).length < 6 * INSTANCES; tries++) await Bun.sleep(20)
    const stopped = await who.records()
    expect(stopped).toHaveLength(6 * INSTANCES)
    for (const record of stopped) expect(Number(record.charged)).toBeGreaterThan(0)
    for (let tries = 0; tries < 200 && (await who.records()).length < 70 * INSTANCES; tries++) await Bun.sleep(20)
    const answers = await Promise.all(
      Array.from(
        { length: 70 * INSTANCES },
        async (_, i) => (await ask(who, `many-${i}`, { model: 'later', max_tokens: 5 })).status,
      ),
    )
    expect([200, 409].map((status) => answers.filter((each) => each === status).length)).toEqual(
      [64, 6].map((each) => each * INSTANCES),
    )
  }, 20_000)

  test('and comes back too early is told to wait', async () => {
    const who = await member()
    const body = { model: 'slow', stream: true, max_tokens: 60 }
    const leaving = new AbortController()
    const left = await ask(who, 'e', body, leaving.signal)
    leaving.abort()
    await left.text().catch(() => '')
    expect((await ask(who, 'e', body)).status).toBe(409)
    for (let tries = 0; tries < 100 && (await who.records()).length === 0; tries++) await Bun.sleep(20)
    expect((await ask(who, 'e', body)).status).toBe(200)
  })
})

describe('what is not the same, or not charged', () => {
  test('another body or another stream flag under the key is a mistake, during and after', async () => {
    const who = await member()
    const running = ask(who, 'm', { model: 'late' })
    await Bun.sleep(100)
    const during = await ask(who, 'm', { model: 'late', max_tokens: 5 })
    expect([during.status, await code(during)]).toEqual([422, 'idempotency_mismatch'])
    await (await running).text()
    const after = await ask(who, 'm', { model: 'late', stream: true })
    expect([after.status, await code(after)]).toEqual([422, 'idempotency_mismatch'])
    expect(await who.records()).toHaveLength(1)
  })

  test('keys of other accounts are other keys', async () => {
    const [one, two] = [await member(), await member()]
    await (await ask(one, 'same', { model: 'plain' })).text()
    const other = await ask(two, 'same', { model: 'plain' })
    expect(other.headers.get('idempotent-replayed')).toBeNull()
    expect(await two.records()).toHaveLength(1)
  })

  test('a failure that cost nothing is not kept: the key may be used again', async () => {
    const who = await member()
    const before = await requests()
    expect((await ask(who, 'f', { model: 'failing' })).status).toBe(502)
    const again = await ask(who, 'f', { model: 'failing' })
    expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([502, null])
    // Each asks its one offer once more: what failed may pass.
    expect((await requests()) - before).toBe(4)
    expect((await ask(who, 'g', { model: 'plain', temperature: 9 })).status).toBe(400)
    expect((await ask(who, 'g', { model: 'plain' })).status).toBe(200)
    expect((await who.records()).map(({ charged }) => charged === '0')).toEqual([false, true, true])
  })

  test('an answer that broke in the middle was charged: it is kept as it was, with its error', async () => {
    const who = await member()
    const body = { model: 'cut', stream: true, max_tokens: 500 }
    const text = await (await ask(who, 'c', body)).text()
    expect(text).toContain('"code":"upstream_error"')
    const again = await ask(who, 'c', body)
    expect(await again.text()).toBe(text)
    expect(await who.records()).toHaveLength(1)
  })

  test('a key that lost its right gets nothing, also not what is kept', async () => {
    const who = await member()
    await (await ask(who, 'r', { model: 'plain' })).text()
    await gateway.operate('account.models', { account: who.account, models: ['slow'] })
    const refused = await ask(who, 'r', { model: 'plain' })
    expect([refused.status, await code(refused)]).toEqual([403, 'model_not_allowed'])
  })

  test('what ended because its key was revoked is not told to another key', async () => {
    const who = await member()
    const spare = await gateway.operate<{ secret: string }>('key.create', { account: who.account, name: 'spare' })
    const [{ id } = { id: '' }] = await gateway.operate<{ id: string }[]>('key.list', { account: who.account })
    const running = ask(who, 'v', { model: 'late' })
    await Bun.sleep(150)
    await gateway.operate('key.revoke', { key: id })
    expect((await running).status).toBe(401)
    const again = await ask({ ...who, key: spare.secret }, 'v', { model: 'late' })
    expect([again.status, await code(again)]).toEqual([409, 'idempotency_answer_not_kept'])
    expect(await who.records()).toHaveLength(1)
  })

  test('an answer too large to keep is charged once and not made again', async () => {
    const who = await member()
    const messages = [{ role: 'user', content: 'write 60000 tokens' }]
    const body = { model: 'plain', messages, max_tokens: 60_000, stream: true }
    const text = await (await ask(who, 'z', body)).text()
    expect(text.length).toBeGreaterThan(1024 * 1024)
    const again = await ask(who, 'z', body)
    expect([again.status, again.headers.get('x-should-retry')]).toEqual([409, 'false'])
    expect(await code(again)).toBe('idempotency_answer_not_kept')
    expect(await who.records()).toHaveLength(1)

    // Also where it took the last of the money.
    const { posted_nano_usd: posted } = await gateway.operate<{ posted_nano_usd: string }>('account.show', {
      account: who.account,
    })
    const amount = (Number(posted) / 1e9).toFixed(9)
    await gateway.operate('account.debit', { account: who.account, amount, ref: who.account, reason: 'test' })
    const later = await ask(who, 'z', body)
    expect([later.status, await code(later)]).toEqual([409, 'idempotency_answer_not_kept'])
  })

  // An instance does not know of all kept answers, so it looks for one after the body.
  test.skipIf(TEST_STORE === 'postgres')(
    'an account without money that has nothing kept is refused before it sends a body',
    async () => {
      const { id } = await gateway.operate<{ id: string }>('account.create', { name: `empty-${serial++}` })
      const { secret } = await gateway.operate<{ secret: string }>('key.create', { account: id, name: 'k' })
      const client = await rawClient(Number(new URL(gateway.baseUrl).port))
      client.send(
        `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${secret}\r\nidempotency-key: p\r\n` +
          'content-type: application/json\r\ncontent-length: 20000000\r\n\r\n{',
      )
      await client.has('insufficient_balance')
      client.close()
    },
  )

  test('a key that is none is refused', async () => {
    const who = await member()
    for (const key of ['', 'x'.repeat(256)]) {
      const refused = await ask(who, key, { model: 'plain' })
      expect([refused.status, await code(refused)]).toEqual([400, 'invalid_value'])
    }
  })
})
