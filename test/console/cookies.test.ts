/** Sessions against theft, fixation, prolongation and misuse. The test controls the clock. */
import { afterAll, afterEach, beforeAll, describe, expect, setSystemTime, test } from 'bun:test'
import { nobody, openConsole, type Answer, type Caller, type TestConsole } from '../support/console.ts'
import { MINUTE_MS } from '../../src/lib/primitives/units.ts'

const PASSWORD = 'correct horse battery'
const hash = await Bun.password.hash(PASSWORD)

let plain: TestConsole
let secure: TestConsole
const open = async (options: { publicUrl?: string } = {}): Promise<TestConsole> => {
  const context = await openConsole(undefined, options)
  await context.gateway.services.users.setPassword(context.ids.owner, hash)
  return context
}
beforeAll(async () => {
  plain = await open()
  secure = await open({ publicUrl: 'https://gate.example/x/y' })
})
afterAll(async () => {
  await plain.close()
  await secure.close()
})
afterEach(() => void setSystemTime())

const signIn = (context: TestConsole, caller: Caller = nobody): Promise<Answer> =>
  context.call(caller, 'POST /session', { name: 'kim', password: PASSWORD })
const cookieIn = ({ sent }: Answer): string => sent.headers['set-cookie'] ?? ''
const holder = (answer: Answer): Caller => ({ headers: { cookie: cookieIn(answer).split(';')[0] ?? '' } })
const statusOf = async (context: TestConsole, caller: Caller, request = 'GET /session'): Promise<number> =>
  (await context.call(caller, request)).status

describe('the cookie', () => {
  test('over https is of this host alone, whole, and never sent without TLS', async () => {
    const signed = await signIn(secure)
    expect(cookieIn(signed)).toMatch(
      /^__Host-tollgate=\w{43}; Path=\/; HttpOnly; SameSite=Strict; Secure; Max-Age=28800$/,
    )
    expect(signed.sent.headers['strict-transport-security']).toContain('max-age=')
    const ended = await secure.call(holder(signed), 'DELETE /session')
    expect(cookieIn(ended)).toBe('__Host-tollgate=; Path=/; HttpOnly; SameSite=Strict; Secure; Max-Age=0')
  })

  test('is what the public address says, whatever a header claims about TLS', async () => {
    for (const name of ['x-forwarded-proto', 'forwarded', 'x-forwarded-ssl', 'front-end-https']) {
      const claim = { headers: { [name]: name === 'forwarded' ? 'proto=https' : 'https' } }
      expect(cookieIn(await signIn(plain, claim))).not.toContain('Secure')
      const denial = { headers: { [name]: name === 'forwarded' ? 'proto=http' : 'http' } }
      expect(cookieIn(await signIn(secure, denial))).toContain('; Secure;')
    }
  })

  test('that a sibling host can set opens nothing over https', async () => {
    const { headers } = holder(await signIn(secure))
    const bare = (headers['cookie'] ?? '').replace('__Host-', '')
    expect(await statusOf(secure, { headers })).toBe(200)
    expect(await statusOf(secure, { headers: { cookie: bare } })).toBe(401)
  })

  test('that somebody planted before is another one after signing in', async () => {
    const planted = { headers: { cookie: `tollgate=${'A'.repeat(43)}` } }
    const signed = await signIn(plain, planted)
    expect(cookieIn(signed)).not.toContain('AAAA')
    expect(await statusOf(plain, planted)).toBe(401)
    const again = await signIn(plain, holder(signed))
    expect(cookieIn(again).split(';')[0]).not.toBe(cookieIn(signed).split(';')[0])
  })

  test('of a session that has ended is taken back', async () => {
    const answer = await plain.call({ headers: { cookie: 'tollgate=gone' } }, 'GET /session')
    expect([answer.status, cookieIn(answer)]).toEqual([401, 'tollgate=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0'])
  })
})

describe('a session ends', () => {
  const startMs = Date.UTC(2030, 0, 1)
  const at = (ms: number): void => void setSystemTime(new Date(startMs + ms))

  test('after half an hour without a request, to the millisecond', async () => {
    at(0)
    const caller = holder(await signIn(plain))
    at(30 * MINUTE_MS - 1)
    expect(await statusOf(plain, caller)).toBe(200)
    at(60 * MINUTE_MS - 1)
    expect(await statusOf(plain, caller)).toBe(401)
    // A clock that goes back wakes nothing that was swept.
    await plain.gateway.services.sessions.sweep()
    at(30 * MINUTE_MS)
    expect(await statusOf(plain, caller)).toBe(401)
  })

  test('after eight hours, however busy', async () => {
    at(0)
    const caller = holder(await signIn(plain))
    for (let minutes = 20; minutes < 480; minutes += 20) {
      at(minutes * MINUTE_MS)
      expect([minutes, await statusOf(plain, caller)]).toEqual([minutes, 200])
    }
    at(480 * MINUTE_MS - 1)
    expect(await statusOf(plain, caller)).toBe(200)
    at(480 * MINUTE_MS)
    expect(await statusOf(plain, caller)).toBe(401)
  })

  test('and with it the token that the playground got by it, swept or not', async () => {
    at(0)
    const caller = holder(await signIn(plain))
    for (let minutes = 20; minutes < 480; minutes += 20) {
      at(minutes * MINUTE_MS)
      await statusOf(plain, caller)
    }
    at(479 * MINUTE_MS)
    const path = `POST /accounts/${plain.accountId}/playground-token`
    const { body } = await plain.call<{ token: string }>(caller, path)
    const isGood = (): boolean => plain.gateway.services.accounts.authenticate(body.token) !== undefined
    expect(isGood()).toBe(true)
    at(480 * MINUTE_MS)
    expect(isGood()).toBe(false)
  })
})

describe('what somebody may do', () => {
  test('is what they may do at the next request: demoted, barred, of another password', async () => {
    const { users, sessions } = plain.gateway.services
    const write = `POST /accounts/${plain.accountId}/keys`
    const enter = async (): Promise<Caller> => holder(await signIn(plain))
    const tryBoth = async (caller: Caller): Promise<number[]> => [
      await statusOf(plain, caller),
      (await plain.call(caller, write, { name: 'k' })).status,
    ]
    const owner = await enter()
    expect(await tryBoth(owner)).toEqual([200, 200])
    await users.update(plain.ids.owner, { role: 'member' })
    expect(await tryBoth(owner)).toEqual([401, 401])
    expect(await tryBoth(await enter())).toEqual([200, 403])
    await users.update(plain.ids.owner, { role: 'owner' })
    const barred = await enter()
    await users.update(plain.ids.owner, { status: 'disabled' })
    expect([await tryBoth(barred), (await signIn(plain)).status]).toEqual([[401, 401], 401])
    await users.update(plain.ids.owner, { status: 'active' })
    expect(await tryBoth(barred)).toEqual([401, 401])
    const [here, there] = [await enter(), await enter()]
    const change = { current: PASSWORD, password: PASSWORD }
    const changed = await plain.call(here, 'POST /session/password', change)
    expect([changed.status, await statusOf(plain, here), await statusOf(plain, there)]).toEqual([200, 401, 401])
    expect(await statusOf(plain, holder(changed))).toBe(200)
    expect(sessions.listOf(plain.ids.owner)).toHaveLength(1)
  })

  test('a link to choose a password is void once another way has changed it, and after a bar', async () => {
    const { users } = plain.gateway.services
    const isGood = async (token: string): Promise<boolean> =>
      (await plain.call(nobody, 'POST /links/check', { token })).status === 200
    const lost = await users.makeLink(plain.ids.owner)
    expect(await isGood(lost)).toBe(true)
    const caller = holder(await signIn(plain))
    const changed = await plain.call(caller, 'POST /session/password', { current: PASSWORD, password: PASSWORD })
    expect([changed.status, await isGood(lost)]).toEqual([200, false])
    const second = await users.makeLink(plain.ids.owner)
    await users.update(plain.ids.owner, { status: 'disabled' })
    await users.update(plain.ids.owner, { status: 'active' })
    expect(await isGood(second)).toBe(false)
  })
})

describe('other sites', () => {
  const change = (context: TestConsole, caller: Caller, headers: Record<string, string>): Promise<number> =>
    statusOf(context, { headers: { ...caller.headers, ...headers } }, 'DELETE /session/view-as')

  test.each([
    ['the origin of the public address', { origin: 'https://gate.example' }, 200],
    ['the same host without TLS', { origin: 'http://gate.example' }, 403],
    ['another port', { origin: 'https://gate.example:8443' }, 403],
    ['a host that ends alike', { origin: 'https://evil-gate.example' }, 403],
    ['a host that begins alike', { origin: 'https://gate.example.evil' }, 403],
    ['a name before an at sign', { origin: 'https://gate.example@evil.example' }, 403],
    ['what the host header claims', { origin: 'https://evil.example', host: 'evil.example' }, 403],
    ['two origins', { origin: 'https://gate.example, https://evil.example' }, 403],
    ['a sibling', { 'sec-fetch-site': 'same-site', origin: 'https://gate.example' }, 403],
    ['a list of sites', { 'sec-fetch-site': 'same-origin, cross-site' }, 403],
    ['an empty site', { 'sec-fetch-site': '' }, 403],
  ] as [string, Record<string, string>, number][])('%s', async (_, headers, status) => {
    const caller = await secure.as('owner')
    expect(await change(secure, caller, headers)).toBe(status)
    expect(await statusOf(secure, caller)).toBe(200)
  })

  test('cannot sign anybody in either', async () => {
    const answer = await signIn(secure, { headers: { 'sec-fetch-site': 'cross-site' } })
    expect([answer.status, cookieIn(answer)]).toEqual([403, ''])
  })

  test.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/jsonx',
  ])('a body of %s is not taken', async (type) => {
    const caller = await plain.as('owner')
    const headers = { ...caller.headers, 'content-type': type }
    const path = `POST /accounts/${plain.accountId}/keys`
    expect((await plain.call({ headers }, path, { name: 'x' })).status).toBe(415)
  })

  test('a method is the one of the request line', async () => {
    const caller = await plain.as('owner')
    const tricks = ['x-http-method-override', 'x-method-override', 'x-http-method']
    for (const name of tricks) {
      const headers = { ...caller.headers, [name]: 'DELETE' }
      expect(await statusOf(plain, { headers }, 'GET /session?_method=DELETE')).toBe(200)
    }
    for (const method of ['get', 'Delete', 'TRACE', 'CONNECT', 'PROPFIND', 'OPTIONS']) {
      expect([method, await statusOf(plain, caller, `${method} /session`)]).toEqual([method, 405])
    }
    expect(await statusOf(plain, caller)).toBe(200)
  })
})

test('a token of one session is of no use beside the cookie of another', async () => {
  const [kim, ann] = [await plain.as('owner'), await plain.as('stranger')]
  const token = (ann.headers['cookie'] ?? '').split('=')[1] ?? ''
  for (const name of ['x-csrf-token', 'x-xsrf-token', 'x-session']) {
    const headers = { ...kim.headers, [name]: token }
    expect((await plain.call({ headers }, `GET /accounts/${plain.otherId}`)).status).toBe(404)
  }
  // As a bearer it is no management key, and it hides the cookie rather than adding to it.
  const headers = { ...kim.headers, authorization: `Bearer ${token}` }
  expect(await statusOf(plain, { headers })).toBe(401)
  // Of two cookies of one name the first counts, never the better.
  const two = { headers: { cookie: `tollgate=wrong; ${kim.headers['cookie']}` } }
  expect(await statusOf(plain, two)).toBe(401)
})
