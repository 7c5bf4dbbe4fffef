/** Sign-in over real sockets: the first link, signing in and out, cookies, other sites, and guessing. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { runJson } from '../support/command.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'

let gateway: TestGateway
let origin: string
const PASSWORD = 'correct horse battery'

beforeAll(async () => {
  gateway = await startGateway()
  origin = new URL(gateway.baseUrl).origin
})
afterAll(() => gateway.close())

type HttpAnswer = { readonly status: number; readonly headers: Headers; readonly body: Record<string, unknown> }

async function call(
  request: string,
  { body, headers = {} }: { body?: object; headers?: object } = {},
): Promise<HttpAnswer> {
  const [method = '', path = ''] = request.split(' ')
  const response = await fetch(`${origin}/admin/v1${path}`, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    ...(body ? { body: JSON.stringify(body) } : {}),
  })
  return { status: response.status, headers: response.headers, body: (await response.json()) as HttpAnswer['body'] }
}

const cookieOf = ({ headers }: HttpAnswer): { cookie: string } => ({
  cookie: (headers.get('set-cookie') ?? '').split(';')[0] ?? '',
})
const signIn = (name: string, password: string): Promise<HttpAnswer> =>
  call('POST /session', { body: { name, password } })

/** A person of their own, as the CLI invites them. */
async function person(name: string, input: object = { role: 'operator' }): Promise<{ cookie: string }> {
  const { setup_path: path } = await gateway.operate<{ setup_path: string }>('user.create', { name, ...input })
  const [, token] = path.split('#')
  return cookieOf(await call('POST /links/redeem', { body: { token, password: PASSWORD } }))
}

describe('the first start', () => {
  test('prints a link that makes the first operator, once', async () => {
    const [, token] = /\/console\/setup#(\S+)/.exec(gateway.output()) ?? []
    expect((await call('POST /links/check', { body: { token } })).body).toEqual({ name: null, password_chars_min: 10 })
    const nameless = await call('POST /links/redeem', { body: { token, password: PASSWORD } })
    expect([nameless.status, nameless.body['error']]).toMatchObject([400, { param: 'name' }])
    const redeemed = await Promise.all(
      ['robin', 'eve', 'mallory'].map((name) =>
        call('POST /links/redeem', { body: { token, name, password: PASSWORD } }),
      ),
    )
    expect(redeemed.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 410, 410])
    expect((await call('POST /links/check', { body: { token } })).status).toBe(410)
    const users = await gateway.operate<{ role: string; status: string }[]>('user.list')
    expect(users).toMatchObject([{ role: 'operator', status: 'active' }])
  })

  test('its log knows nothing of the link', () => {
    const log = gateway.output().slice(gateway.output().indexOf('{"time"'))
    expect(log).not.toContain('setup_')
  })
})

describe('a session', () => {
  test('is a cookie that no script reads and no other site sends', async () => {
    await person('kim')
    const signed = await signIn('KIM', PASSWORD)
    expect(signed.status).toBe(200)
    expect(signed.headers.get('set-cookie')).toMatch(
      /^tollgate=\w{43}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=28800$/,
    )
    const me = await call('GET /session', { headers: cookieOf(signed) })
    expect(me.body).toMatchObject({ user: { name: 'kim', role: 'operator' }, account: null, view_as: false })
    expect(me.headers.get('cache-control')).toBe('no-store')
    expect(me.headers.get('content-security-policy')).toContain("default-src 'none'")
    expect(me.headers.get('x-content-type-options')).toBe('nosniff')
  })

  test('does not open the API, and an API key does not open the console', async () => {
    const cookie = await person('ann')
    expect((await fetch(`${gateway.baseUrl}/models`, { headers: cookie })).status).toBe(401)
    const bearer = { authorization: `Bearer ${gateway.key}` }
    expect((await call('GET /session', { headers: bearer })).status).toBe(401)
    expect((await call('GET /session', { headers: { ...cookie, ...bearer } })).status).toBe(401)
  })

  test('ends where it is ended: here, there, everywhere', async () => {
    const first = await person('lee')
    const [second, third] = [cookieOf(await signIn('lee', PASSWORD)), cookieOf(await signIn('lee', PASSWORD))]
    const { body } = await call('GET /sessions', { headers: first })
    const data = body['data'] as { id: string; current: boolean }[]
    expect(data.map(({ current }) => current)).toEqual([true, false, false])
    expect((await call(`DELETE /sessions/${data[1]?.id}`, { headers: first })).body).toEqual({ ended: 1 })
    const open = async (): Promise<number[]> =>
      Promise.all([first, second, third].map(async (headers) => (await call('GET /session', { headers })).status))
    expect(await open()).toEqual([200, 401, 200])
    const out = await call('DELETE /sessions', { headers: third })
    expect(out.headers.get('set-cookie')).toContain('Max-Age=0')
    expect(await open()).toEqual([401, 401, 401])
  })

  test('ends with the password it was opened by', async () => {
    const old = await person('max')
    const wrong = { current: 'something else', password: 'another long one' }
    expect((await call('POST /session/password', { headers: old, body: wrong })).status).toBe(403)
    const right = { current: PASSWORD, password: 'another long one' }
    const changed = await call('POST /session/password', { headers: old, body: right })
    expect(changed.status).toBe(200)
    expect((await call('GET /session', { headers: old })).status).toBe(401)
    expect((await call('GET /session', { headers: cookieOf(changed) })).status).toBe(200)
    expect((await signIn('max', PASSWORD)).status).toBe(401)
  })

  test('ends when somebody is barred', async () => {
    const cookie = await person('sam')
    await gateway.operate('user.disable', { user: 'sam' })
    expect((await call('GET /session', { headers: cookie })).status).toBe(401)
    expect((await signIn('sam', PASSWORD)).status).toBe(401)
    await gateway.operate('user.enable', { user: 'sam' })
    expect((await signIn('sam', PASSWORD)).status).toBe(200)
  })
})

describe('other sites', () => {
  const cases: [string, object, number][] = [
    ['of the same origin', { 'sec-fetch-site': 'same-origin' }, 200],
    ['typed by the user', { 'sec-fetch-site': 'none' }, 200],
    ['from another site', { 'sec-fetch-site': 'cross-site' }, 403],
    ['from another port of this host', { 'sec-fetch-site': 'same-site' }, 403],
    ['from another origin of an old browser', { origin: 'https://evil.example' }, 403],
    ['from an unnamed origin', { origin: 'null' }, 403],
  ]
  test.each(cases)('%s', async (_, headers, status) => {
    const cookie = await person(`visitor ${String(_)}`)
    expect((await call('DELETE /session', { headers: { ...cookie, ...headers } })).status).toBe(status)
  })

  test('a form of another site has no body that is taken', async () => {
    const headers = { 'content-type': 'text/plain' }
    expect((await call('POST /session', { headers, body: { name: 'kim', password: PASSWORD } })).status).toBe(415)
  })
})

describe('an operator', () => {
  test('looks at an account as its members do, and can change nothing meanwhile', async () => {
    const cookie = await person('viewer')
    const body = { account: gateway.accountId }
    const viewing = await call('POST /session/view-as', { headers: cookie, body })
    expect(viewing.body).toMatchObject({
      account: { id: gateway.accountId },
      view_as: true,
      user: { role: 'operator' },
    })
    expect((await call('GET /users', { headers: cookie })).status).toBe(403)
    expect((await call('POST /session/view-as', { headers: cookie, body })).status).toBe(403)
    expect((await call('DELETE /session/view-as', { headers: cookie })).body).toMatchObject({ view_as: false })
    expect((await call('GET /users', { headers: cookie })).status).toBe(200)
  })

  test('invites an owner, who invites a member, who may only look', async () => {
    const { accountId } = gateway
    const operator = await person('boss')
    const input = { name: 'owner', role: 'owner', account: accountId }
    const invited = await call('POST /users', { headers: operator, body: input })
    const token = String(invited.body['setup_path']).split('#')[1]
    const owner = cookieOf(await call('POST /links/redeem', { body: { token, password: PASSWORD } }))
    const path = `/accounts/${accountId}/users`
    const member = await call(`POST ${path}`, { headers: owner, body: { name: 'member', role: 'member' } })
    expect(member.body).toMatchObject({ account: accountId, role: 'member', status: 'invited' })
    expect((await call(`POST ${path}`, { headers: owner, body: { name: 'x', role: 'operator' } })).status).toBe(400)
    const link = String(member.body['setup_path']).split('#')[1]
    const looking = cookieOf(await call('POST /links/redeem', { body: { token: link, password: PASSWORD } }))
    expect((await call(`GET ${path}`, { headers: looking })).status).toBe(403)
    expect((await call('GET /users', { headers: owner })).status).toBe(403)
  })

  test('is told by the CLI where a colleague signs in', async () => {
    const words = ['user', 'create', 'colleague', '--role', 'operator']
    const view = await runJson<{ link: string; status: string }>(gateway.folder, words)
    expect(view).toMatchObject({ status: 'invited', link: expect.stringContaining('/console/setup#setup_') })
    const reset = await runJson<{ link: string }>(gateway.folder, ['user', 'reset', 'colleague'])
    expect(reset.link).not.toBe(view.link)
  })
})

describe('guessing', () => {
  test('is slowed down, and takes as long for names that nobody has', async () => {
    await person('target')
    const times: Record<string, number[]> = { target: [], 'nobody here': [] }
    for (let i = 0; i < 4; i++) {
      for (const [name, took] of Object.entries(times)) {
        const startedMs = performance.now()
        const { status, body } = await signIn(name, 'not the password')
        took.push(performance.now() - startedMs)
        expect([status, body]).toEqual([401, { error: expect.objectContaining({ code: 'wrong_password' }) }])
      }
    }
    // A name that is looked up and refused without the work of a hash would answer in a millisecond.
    for (const took of Object.values(times)) expect(Math.min(...took)).toBeGreaterThan(8)
    let last = await signIn('target', 'not the password')
    for (let i = 0; i < 20 && last.status === 401; i++) last = await signIn('target', 'not the password')
    expect([last.status, last.body['error']]).toMatchObject([429, { code: 'rate_limit_exceeded' }])
    expect(Number(last.headers.get('retry-after'))).toBeGreaterThan(0)
    expect((await signIn('target', PASSWORD)).status).toBe(429)
  }, 20_000)
})

describe('a body', () => {
  const send = async (init: RequestInit): Promise<[number, string]> => {
    const response = await fetch(`${origin}/admin/v1/session`, { method: 'POST', ...init })
    const { error } = (await response.json()) as { error: { code: string } }
    return [response.status, error.code]
  }
  const type = { 'content-type': 'application/json' }
  const cases: [string, RequestInit, [number, string]][] = [
    ['that is too large', { headers: type, body: `"${'x'.repeat(1024 * 1024)}"` }, [413, 'request_too_large']],
    ['that is not JSON', { headers: type, body: '{' }, [400, 'invalid_json']],
    ['that is nested without end', { headers: type, body: '['.repeat(8_000) }, [400, 'invalid_json']],
    ['that is not UTF-8', { headers: type, body: new Uint8Array([0x22, 0xff, 0x22]) }, [400, 'invalid_json']],
    [
      'that is packed',
      { headers: { ...type, 'content-encoding': 'gzip' }, body: '{}' },
      [415, 'unsupported_media_type'],
    ],
    ['that is not there', { headers: type }, [400, 'invalid_json']],
    ['of another shape', { headers: type, body: '{"name":"x","password":"y","more":1}' }, [400, 'invalid_value']],
    ['with a prototype', { headers: type, body: '{"__proto__":{"name":"x","password":"y"}}' }, [400, 'invalid_value']],
  ]
  test.each(cases)('%s is refused in the envelope', async (_, init, expected) => {
    expect(await send(init)).toEqual(expected)
  })
})
