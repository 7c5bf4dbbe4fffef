import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { chat, startGateway, type TestGateway } from '../support/gateway.ts'
import { requestText, WireClient } from '../support/wire-client.ts'

const PAGE = 'https://app.example.com'
const WATCHED = ['/healthz', '/readyz', '/metrics']
let gateway: TestGateway
let origin: string

beforeAll(async () => {
  gateway = await startGateway({
    env: {
      TOLLGATE_CORS_ORIGINS: `${PAGE}, http://localhost:3000`,
      TOLLGATE_TRUSTED_PROXIES: '127.0.0.0/8, 10.1.0.0/16, fd00::/8',
      TOLLGATE_METRICS_PORT: '0',
    },
  })
  ;({ origin } = new URL(gateway.baseUrl))
})
afterAll(() => gateway.close())

describe('what operators watch', () => {
  test('health and readiness are for everybody, their reasons and the figures are not', async () => {
    expect(await (await fetch(`${origin}/healthz`)).json()).toEqual({ status: 'ok' })
    expect(await (await fetch(`${origin}/readyz`)).json()).toEqual({ status: 'ready' })
    expect((await fetch(`${origin}/metrics`)).status).toBe(404)
    for (const token of ['wrong', '', gateway.key]) {
      expect((await fetch(`${origin}/metrics`, { headers: { authorization: `Bearer ${token}` } })).status).toBe(404)
    }
  })

  test('the token opens /metrics', async () => {
    await (await chat(gateway, { model: 'sandbox-chat', max_tokens: 1 })).text()
    expect(await gateway.metrics()).toContain('tollgate_requests_total{model="sandbox-chat",outcome="completed"}')
  })

  test('a port of their own needs no token, and serves nothing else', async () => {
    const port = /"monitoring":"(http:[^"]+)"/.exec(gateway.output())?.[1]
    expect(await (await fetch(`${port}/metrics`)).text()).toContain('tollgate_open_holds 0')
    expect((await fetch(`${port}/readyz`)).status).toBe(200)
    expect((await fetch(`${port}/v1/models`)).status).toBe(404)
  })
})

describe('pages in a browser', () => {
  const preflight = (from: string, path = '/chat/completions'): Promise<Response> =>
    fetch(`${gateway.baseUrl}${path}`, {
      method: 'OPTIONS',
      headers: {
        origin: from,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization,content-type,x-stainless-lang',
      },
    })

  test('of a listed origin may ask first, and then call', async () => {
    const asked = await preflight(PAGE)
    expect(asked.status).toBe(204)
    expect(Object.fromEntries(asked.headers)).toMatchObject({
      'access-control-allow-origin': PAGE,
      'access-control-allow-methods': 'POST',
      'access-control-allow-headers': 'authorization,content-type,x-stainless-lang',
      'access-control-max-age': '600',
      vary: 'origin, access-control-request-method, access-control-request-headers',
    })
    expect(asked.headers.get('content-length')).toBeNull()
    for (const stream of [false, true]) {
      const headers = { origin: PAGE, authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' }
      const answer = await chat(gateway, { model: 'sandbox-chat', max_tokens: 1, stream }, { headers })
      expect(answer.headers.get('access-control-allow-origin')).toBe(PAGE)
      expect(answer.headers.get('access-control-expose-headers')).toContain('x-request-id')
      expect(answer.headers.get('vary')).toBe('origin')
      await answer.text()
    }
  })

  test('can read refusals too', async () => {
    const answer = await fetch(`${gateway.baseUrl}/models`, { headers: { origin: 'http://localhost:3000' } })
    expect(answer.status).toBe(401)
    expect(answer.headers.get('access-control-allow-origin')).toBe('http://localhost:3000')
  })

  test('read the API alone: nothing of what operators watch, and nothing on their port', async () => {
    const port = /"monitoring":"(http:[^"]+)"/.exec(gateway.output())?.[1] ?? ''
    for (const url of [
      ...WATCHED.map((path) => origin + path),
      ...WATCHED.map((path) => port + path),
      `${port}/v1/x`,
    ]) {
      const asking = { origin: PAGE, 'access-control-request-method': 'GET' }
      for (const method of ['GET', 'OPTIONS']) {
        const answer = await fetch(url, { method, headers: asking })
        await answer.text()
        const given = [...answer.headers.keys()].filter((name) => /^access-control|^vary$/.test(name))
        expect([url, method, answer.status === 204, ...given]).toEqual([url, method, false])
      }
    }
    // A wrong path under it is the API's too: a page can read why.
    const missing = await fetch(`${gateway.baseUrl}/nothing`, { headers: { origin: PAGE } })
    expect([missing.status, missing.headers.get('access-control-allow-origin')]).toEqual([404, PAGE])
  })

  test('of any other origin get nothing', async () => {
    for (const from of ['https://evil.example.com', 'null', 'https://app.example.com.evil.org', '*']) {
      const asked = await preflight(from)
      expect(asked.status).toBe(405)
      expect(asked.headers.get('access-control-allow-origin')).toBeNull()
      const read = await fetch(`${gateway.baseUrl}/models`, { headers: { origin: from } })
      expect(read.headers.get('access-control-allow-origin')).toBeNull()
      expect(read.headers.get('vary')).toBe('origin')
    }
  })
})

/** The line of the log that tells of an answer. */
async function lineOf(id: string | null | undefined): Promise<Record<string, unknown>> {
  for (let tries = 0; id && tries < 100; tries++) {
    const line = gateway
      .output()
      .split('\n')
      .find((text) => text.includes(id))
    if (line) return JSON.parse(line) as Record<string, unknown>
    await Bun.sleep(10)
  }
  throw new Error('no line in the log')
}

describe('a request that is refused is in the log with who wanted what', () => {
  let who: { account: string; key: string; secret: string }

  beforeAll(async () => {
    const { id: account } = await gateway.operate<{ id: string }>('account.create', {
      name: 'refused',
      balance: '0.00001',
    })
    const limits = { requests_per_minute: 2 }
    const made = await gateway.operate<{ id: string; secret: string }>('key.create', { account, name: 'k', limits })
    who = { account, key: made.id, secret: made.secret }
  })

  test('as far as that is known when it is refused', async () => {
    const { account, key, secret } = who
    const caller = { key: secret, baseUrl: gateway.baseUrl }
    const asked = { endpoint: 'chat.completions', model: 'sandbox-chat' }
    const costly = await chat(caller, { model: asked.model, max_tokens: 4_000, n: 128 })
    expect(await lineOf(costly.headers.get('x-request-id'))).toMatchObject({
      event: 'request.refused',
      account,
      key,
      ...asked,
      status: 401,
      code: 'insufficient_balance',
      method: 'POST',
      client: '127.0.0.1',
    })
    // A name that no model has could be anything, a prompt too.
    const unknown = await chat(caller, { model: 'my secret', max_tokens: 1 })
    const nameless = await lineOf(unknown.headers.get('x-request-id'))
    expect(nameless).toMatchObject({ account, key, endpoint: asked.endpoint, status: 404, code: 'model_not_found' })
    expect(Object.keys(nameless)).not.toContain('model')
    const early = await chat(caller, { model: asked.model, max_tokens: 1 })
    const unread = await lineOf(early.headers.get('x-request-id'))
    expect(unread).toMatchObject({ account, key, status: 429 })
    expect(Object.keys(unread)).not.toContain('endpoint')
  })

  test('and never with who came before it on its connection', async () => {
    const client = await WireClient.open(Number(new URL(origin).port))
    const ask = async (key: string): Promise<Record<string, unknown>> => {
      const headers = { authorization: `Bearer ${key}` }
      const answer = await client.ask(requestText('GET', '/v1/models/no-such-model', headers))
      return lineOf(answer?.headers.get('x-request-id'))
    }
    expect(await ask(who.secret)).toMatchObject({ account: who.account, key: who.key, status: 404 })
    const stranger = await ask(`${who.secret}x`)
    expect(stranger).toMatchObject({ event: 'request.refused', status: 401, code: 'invalid_api_key' })
    expect(Object.keys(stranger)).not.toContain('account')
    expect(Object.keys(stranger)).not.toContain('key')
    client.close()
  })
})

describe('the client behind a proxy', () => {
  const clientSeen = async (forwarded: string): Promise<unknown> => {
    const headers = { 'x-forwarded-for': forwarded }
    const answer = await fetch(`${gateway.baseUrl}/models`, { headers })
    return (await lineOf(answer.headers.get('x-request-id')))['client']
  }

  test.each([
    ['203.0.113.9', '203.0.113.9'],
    ['1.2.3.4, 203.0.113.9', '203.0.113.9'],
    ['1.2.3.4, 203.0.113.9, 10.1.2.3', '203.0.113.9'],
    ['1.2.3.4, [2001:db8::7]:4711, fd12::1', '2001:db8::7'],
    ['203.0.113.9:4711', '203.0.113.9'],
    ['::ffff:203.0.113.9', '203.0.113.9'],
    ['203.0.113.9, nonsense', '127.0.0.1'],
    ['10.1.0.1', '10.1.0.1'],
    ['', '127.0.0.1'],
  ])('%p is %p', async (forwarded, client) => {
    expect(await clientSeen(forwarded)).toBe(client)
  })
})

test('without trusted proxies the header is only a claim; wrong settings stop the start', async () => {
  const plain = await startGateway()
  await fetch(`${plain.baseUrl}/models`, { headers: { 'x-forwarded-for': '203.0.113.9' } })
  await plain.close()
  expect(plain.output()).not.toContain('203.0.113.9')
  for (const [env, complaint] of [
    [{ TOLLGATE_TRUSTED_PROXIES: '10.0.0.0/33' }, "'10.0.0.0/33' is neither"],
    [{ TOLLGATE_TRUSTED_PROXIES: 'proxy.internal' }, "'proxy.internal' is neither"],
    [{ TOLLGATE_CORS_ORIGINS: 'https://a.example.com/' }, 'is not an origin'],
  ] as const) {
    expect(String(await startGateway({ env }).catch((error: unknown) => error))).toContain(complaint)
  }
})
