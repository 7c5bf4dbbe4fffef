/**
 * Every role on every route, with ids of other accounts in the path, the query and the body. The routes come from the
 * table, and the expected answers are written here. The answer for a foreign id equals that for an unknown id, to the
 * byte.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { routes } from '../../src/console/routes.ts'
import type { ConsoleRoute } from '../../src/console/route.ts'
import { chat, startGateway, type TestGateway } from '../support/gateway.ts'
import { signedIn, type Person } from '../support/people.ts'

type HttpAnswer = { readonly status: number; readonly text: string; readonly header: (name: string) => string | null }
type Caller = Readonly<Record<string, string>>
type Ids = Readonly<Record<string, string>>

let gateway: TestGateway
let root: string
const callers: Record<string, Caller> = {}
/** Of the other account, what each parameter may name. */
let theirs: Ids
/** Of the same shape, and nobody's. */
let nobodys: Ids

async function ask(caller: Caller, request: string, body?: object): Promise<HttpAnswer> {
  const [method = '', path = ''] = request.split(' ')
  const response = await fetch(`${root}${path}`, {
    method,
    headers: { 'content-type': 'application/json', ...caller },
    ...(body === undefined || method === 'GET' ? {} : { body: JSON.stringify(body) }),
  })
  return { status: response.status, text: await response.text(), header: (name) => response.headers.get(name) }
}

async function person(
  name: string,
  input: Omit<Person, 'name'>,
): Promise<{ readonly id: string; readonly caller: Caller }> {
  const { id, cookie } = await signedIn(gateway, { name, ...input })
  return { id, caller: { cookie } }
}

const jsonOf = <T>({ text }: HttpAnswer): T => JSON.parse(text) as T

/** Everything an account can have, made as its people make it. */
async function furnish(account: string, name: string): Promise<Ids & { readonly cookie: string }> {
  const owner = await person(`${name} owner`, { role: 'owner', account })
  const { cookie = '' } = owner.caller
  const at = `/accounts/${account}`
  const key = jsonOf<{ id: string; secret: string }>(
    await ask(owner.caller, `POST ${at}/keys`, { name: `${name} key` }),
  )
  const program = jsonOf<{ id: string }>(await ask(owner.caller, `POST ${at}/management-keys`, { name: `${name} ci` }))
  const answer = await chat({ baseUrl: gateway.baseUrl, key: key.secret }, { model: 'sandbox-chat' })
  await answer.text()
  const [session] = jsonOf<{ data: { id: string }[] }>(await ask(owner.caller, 'GET /sessions')).data
  const view = jsonOf<{ id: string }>(await ask(owner.caller, 'POST /saved-views', { name: `${name} view`, query: '' }))
  const film = await fetch(`${gateway.baseUrl}/videos`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key.secret}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'sandbox-video-fast', content: [{ type: 'text', text: 'x' }], duration: 4 }),
  })
  const { id: task } = (await film.json()) as { id: string }
  const request = answer.headers.get('x-request-id') ?? ''
  const people = { user: owner.id, session: session?.id ?? '', view: view.id }
  return { account, ...people, key: key.id, program: program.id, request, task, cookie }
}

beforeAll(async () => {
  gateway = await startGateway()
  root = `${new URL(gateway.baseUrl).origin}/admin/v1`
  const other = await gateway.operate<{ id: string }>('account.create', { name: 'bee-corp', balance: '10.00' })
  const { cookie: theirCookie, ...ids } = await furnish(other.id, 'bee')
  theirs = ids
  nobodys = Object.fromEntries(Object.entries(ids).map(([name, id]) => [name, `${id.slice(0, -6)}zzzzzz`]))
  const member = await person('member', { role: 'member', account: gateway.accountId })
  const owner = await person('owner', { role: 'owner', account: gateway.accountId })
  const operator = await person('operator', { role: 'operator' })
  const viewer = await person('viewer', { role: 'operator' })
  await ask(viewer.caller, 'POST /session/view-as', { account: gateway.accountId })
  const at = `/accounts/${gateway.accountId}`
  const secretOf = (told: HttpAnswer): Caller => ({
    authorization: `Bearer ${jsonOf<{ secret: string }>(told).secret}`,
  })
  const pass = await ask(owner.caller, `POST ${at}/playground-token`)
  Object.assign(callers, {
    nobody: {},
    'an API key': { authorization: `Bearer ${gateway.key}` },
    'a playground token': { authorization: `Bearer ${jsonOf<{ token: string }>(pass).token}` },
    'a stale cookie': { cookie: `${theirCookie}x` },
    member: member.caller,
    owner: owner.caller,
    viewer: viewer.caller,
    'a program of the account': secretOf(await ask(owner.caller, `POST ${at}/management-keys`, { name: 'ci' })),
    'a program of the operator': secretOf(await ask(operator.caller, 'POST /management-keys', { name: 'ops' })),
    operator: operator.caller,
  })
}, 60_000)
afterAll(() => gateway.close())

const nobodies = ['nobody', 'an API key', 'a playground token', 'a stale cookie']
const ofAccount = ['member', 'owner', 'viewer', 'a program of the account']

/** A path with ids in it: a management key's parameter is called `key` as well. */
function pathOf({ path }: ConsoleRoute, ids: Ids, account: string): string {
  const isOfPrograms = path.includes('management-keys')
  return path.replace(/\{(\w+)\}/g, (_, name: string) =>
    name === 'account' ? account : (ids[name === 'key' && isOfPrograms ? 'program' : name] ?? 'sandbox-chat'),
  )
}

/** A body that a route takes as far as its shape goes, so that refusals come from what it asks for. */
const bodies: Readonly<Record<string, object>> = {
  'PATCH /accounts/{account}/keys/{key}': { name: 'mine now' },
  'PATCH /accounts/{account}/users/{user}': { role: 'member' },
  'PATCH /saved-views/{view}': { name: 'mine' },
  'POST /accounts/{account}/keys': { name: 'mine' },
  'POST /accounts/{account}/users': { name: 'mallory', role: 'member' },
  'POST /accounts/{account}/management-keys': { name: 'mine' },
  'POST /accounts/{account}/redemptions': { code: 'TG-00000-00000-00000-00000' },
  'POST /accounts/{account}/adjustments': { kind: 'credit', amount_nano_usd: '1', reason: 'x' },
  'PATCH /accounts/{account}': { status: 'suspended' },
  'PUT /accounts/{account}/prices': { model: null, factor: '0.9' },
}
const nameOf = ({ method, path }: ConsoleRoute): string => `${method} ${path}`
const bodyOf = (route: ConsoleRoute): object | undefined => (route.body ? (bodies[nameOf(route)] ?? {}) : undefined)

/** What is told, with the id that was asked for taken out. */
const withoutIds = ({ status, text }: HttpAnswer, ids: Ids): string =>
  Object.values(ids)
    .reduce((told, id) => told.replaceAll(id, 'ID'), `${status} ${text}`)
    .replaceAll(/"seen_at":"[^"]+"/g, '"seen_at":"now"')

async function compare(caller: Caller, request: (ids: Ids) => [string, object | undefined]): Promise<HttpAnswer> {
  const foreign = await ask(caller, ...request(theirs))
  const unknown = await ask(caller, ...request(nobodys))
  expect(withoutIds(foreign, theirs)).toBe(withoutIds(unknown, nobodys))
  return foreign
}

const inAccount = routes.filter(({ path }) => path.startsWith('/accounts/{account}'))
const elsewhere = routes.filter(({ path, access }) => !path.startsWith('/accounts/{account}') && access !== 'open')

describe.each(inAccount.map((route) => [nameOf(route), route] as const))('%s', (_, route) => {
  test('another account is not there', async () => {
    for (const name of ofAccount) {
      const told = await compare(callers[name] ?? {}, (ids) => [
        `${route.method} ${pathOf(route, ids, ids['account'] ?? '')}`,
        bodyOf(route),
      ])
      expect([name, told.status]).toEqual([name, route.access.startsWith('account_') ? 404 : 403])
    }
  })

  test('what is in it is not in one’s own', async () => {
    if (!/\{(?!account\})/.test(route.path)) return
    // Those of the vendors are everybody's who may call them.
    if (route.path.endsWith('{model}')) return
    for (const name of [...ofAccount, 'operator']) {
      const told = await compare(callers[name] ?? {}, (ids) => [
        `${route.method} ${pathOf(route, ids, gateway.accountId)}`,
        bodyOf(route),
      ])
      expect([name, [403, 404].includes(told.status)]).toEqual([name, true])
    }
  })

  test('nobody gets further than the door', async () => {
    for (const name of nobodies) {
      const told = await ask(
        callers[name] ?? {},
        `${route.method} ${pathOf(route, theirs, theirs['account'] ?? '')}`,
        bodyOf(route),
      )
      expect([name, told.status, told.text.includes('bee')]).toEqual([name, 401, false])
    }
  })
})

describe.each(elsewhere.map((route) => [nameOf(route), route] as const))('%s', (name, route) => {
  test('tells nobody of others', async () => {
    for (const who of nobodies) {
      const told = await ask(callers[who] ?? {}, `${route.method} ${pathOf(route, theirs, '')}`, bodyOf(route))
      expect([who, told.status]).toEqual([who, 401])
    }
    if (name === 'DELETE /session' || name === 'DELETE /sessions' || name.endsWith('view-as')) return
    for (const who of ofAccount) {
      const told = await compare(callers[who] ?? {}, (ids) => [
        `${route.method} ${pathOf(route, ids, '')}`,
        bodyOf(route),
      ])
      if (route.access.startsWith('operator')) expect([who, told.status]).toEqual([who, 403])
      expect(told.text).not.toContain('bee')
    }
  })
})

test('every parameter of a path is somebody’s, and tried, or a vendor’s, a model, an alias, a code or an entry of the operator’s', () => {
  const named = routes.flatMap(({ path }) => [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name))
  const tried = Object.keys(theirs).filter((name) => name !== 'program')
  expect(Object.values(theirs).filter((id) => id === '')).toEqual([])
  expect([...new Set(named)].toSorted()).toEqual([...tried, 'alias', 'code', 'entry', 'model', 'provider'].toSorted())
})

describe('what was deleted is told of like what never was', () => {
  /** By its owner, on each route that takes such an id. */
  async function expectAlike(caller: Caller, name: 'view' | 'session', id: string): Promise<void> {
    const nobody = `${id.slice(0, -6)}zzzzzz`
    const taking = routes.filter(({ path }) => path.includes(`{${name}}`))
    expect(taking.length).toBeGreaterThan(0)
    for (const route of taking) {
      const asked = (one: string): Promise<HttpAnswer> =>
        ask(caller, `${route.method} ${pathOf(route, { [name]: one }, '')}`, bodyOf(route))
      const [gone, unknown] = [await asked(id), await asked(nobody)]
      expect([nameOf(route), gone.status]).toEqual([nameOf(route), 404])
      expect(withoutIds(gone, { id })).toBe(withoutIds(unknown, { id: nobody }))
    }
  }

  test('a view', async () => {
    const owner = callers['owner'] ?? {}
    const { id } = jsonOf<{ id: string }>(await ask(owner, 'POST /saved-views', { name: 'gone', query: '' }))
    expect((await ask(owner, `DELETE /saved-views/${id}`)).status).toBe(200)
    await expectAlike(owner, 'view', id)
  })

  test('a session', async () => {
    const { caller } = await person('leaving', { role: 'member', account: gateway.accountId })
    const [session] = jsonOf<{ data: { id: string }[] }>(await ask(caller, 'GET /sessions')).data
    const id = session?.id ?? ''
    expect((await ask(caller, `DELETE /sessions/${id}`)).status).toBe(200)
    const { caller: still } = await person('staying', { role: 'member', account: gateway.accountId })
    await expectAlike(still, 'session', id)
  })
})

describe('ids that are not in the path', () => {
  const asked = (path: string, query: (ids: Ids) => string) => async (): Promise<void> => {
    for (const name of ofAccount) {
      const told = await compare(callers[name] ?? {}, (ids) => [
        `GET /accounts/${gateway.accountId}${path}?${query(ids)}`,
        undefined,
      ])
      expect([name, told.status]).toEqual([name, 200])
      expect(told.text).not.toContain('bee')
    }
  }
  const range = 'from=2026-01-01T00:00:00Z&to=2027-01-01T00:00:00Z'
  test(
    'the usage of a key',
    asked('/usage', ({ key }) => `${range}&by=key&key=${key}`),
  )
  test(
    'the requests of a key',
    asked('/requests', ({ key }) => `key=${key}`),
  )
  test(
    'a place among requests',
    asked('/requests', ({ request }) => `model=none&cursor=${request}`),
  )
  test(
    'a place among keys',
    asked('/keys', ({ key }) => `status=revoked&cursor=${key}`),
  )
  test(
    'a place among holds',
    asked('/holds', ({ request }) => `cursor=${request}`),
  )
  test(
    'a place among tasks',
    asked('/tasks', ({ request }) => `cursor=${request?.slice(4)}`),
  )

  test('an account in a body is refused as a word nobody knows', async () => {
    for (const route of inAccount.filter(({ body }) => body !== undefined)) {
      const body = { ...bodyOf(route), account: theirs['account'], account_id: theirs['account'] }
      const told = await ask(
        callers['owner'] ?? {},
        `${route.method} ${pathOf(route, theirs, gateway.accountId)}`,
        body,
      )
      expect([nameOf(route), told.status]).toEqual([nameOf(route), route.access === 'operator' ? 403 : 400])
    }
  })

  test('an account that comes twice, encoded, or by its name', async () => {
    const account = theirs['account'] ?? ''
    const tricks = [
      `/accounts/${gateway.accountId}/../${account}/keys`,
      `/accounts/${gateway.accountId}%2f..%2f${account}/keys`,
      `/accounts/${account}%00/keys`,
      '/accounts/bee-corp/keys',
      `/accounts/${account.toUpperCase()}/keys`,
      `/accounts//${account}/keys`,
    ]
    for (const path of tricks) {
      const told = await ask(callers['owner'] ?? {}, `GET ${path}`)
      expect([path, told.status, told.text.includes('bee key')]).toEqual([path, 404, false])
    }
    const own = await ask(callers['owner'] ?? {}, `GET /accounts/${gateway.accountId}/keys?account=${account}`)
    expect(own.status).toBe(400)
  })
})

test('nothing of all this changed anything of the other account', async () => {
  const operator = callers['operator'] ?? {}
  const at = `/accounts/${theirs['account']}`
  expect(jsonOf<object>(await ask(operator, `GET ${at}`))).toMatchObject({ status: 'active', active_keys: 1 })
  const { data } = jsonOf<{ data: object[] }>(await ask(operator, `GET ${at}/users`))
  expect(data).toMatchObject([{ id: theirs['user'], role: 'owner', status: 'active' }])
  expect(jsonOf<object>(await ask(operator, `GET ${at}/keys`))).toMatchObject({
    data: [{ id: theirs['key'], name: 'bee key', status: 'active' }],
  })
})

test('what is another’s takes as long as what never was', async () => {
  const median = (times: readonly number[]): number => times.toSorted((a, b) => a - b)[times.length >> 1] ?? 0
  for (const path of ['requests/{request}', 'keys/{key}']) {
    const times: Record<'theirs' | 'nobodys', number[]> = { theirs: [], nobodys: [] }
    for (let i = 0; i < 60; i++) {
      for (const [whose, ids] of [
        ['theirs', theirs],
        ['nobodys', nobodys],
      ] as const) {
        const startedMs = performance.now()
        const filled = path.replace(/\{(\w+)\}/, (_, name: string) => ids[name] ?? '')
        await ask(callers['owner'] ?? {}, `GET /accounts/${gateway.accountId}/${filled}`)
        times[whose].push(performance.now() - startedMs)
      }
    }
    expect(Math.abs(median(times.theirs) - median(times.nobodys))).toBeLessThan(1 + median(times.nobodys))
  }
}, 20_000)
