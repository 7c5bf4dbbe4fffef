/** Live requests over real sockets: who sees what, how many may watch, and when watching ends. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { SseDecoder } from '../../src/lib/http/sse.ts'
import { watchBounds } from '../../src/records/feed.ts'
import { chat, startGateway, type TestGateway } from '../support/gateway.ts'
import { PASSWORD, signedIn, type Person } from '../support/people.ts'

let gateway: TestGateway
let origin: string
let other: { id: string; key: string }

beforeAll(async () => {
  gateway = await startGateway()
  origin = new URL(gateway.baseUrl).origin
  const { id } = await gateway.operate<{ id: string }>('account.create', { name: 'other', balance: '100' })
  const { secret } = await gateway.operate<{ secret: string }>('key.create', { account: id, name: 'theirs' })
  other = { id, key: secret }
}, 30_000)
afterAll(() => gateway.close())

type Caller = Readonly<Record<string, string>>

async function call(caller: Caller, request: string, body?: object): Promise<{ status: number; headers: Headers }> {
  const [method = '', path = ''] = request.split(' ')
  const headers = { 'content-type': 'application/json', ...caller }
  const response = await fetch(`${origin}/admin/v1${path}`, {
    method,
    headers,
    ...(body ? { body: JSON.stringify(body) } : {}),
  })
  await response.arrayBuffer()
  return response
}

type Someone = { readonly id: string; readonly caller: Caller }

async function person(name: string, role: Person['role'], account = gateway.accountId): Promise<Someone> {
  const { id, cookie } = await signedIn(gateway, { name, role, ...(role === 'operator' ? {} : { account }) })
  return { id, caller: { cookie } }
}

/** People one after the other: passwords of many at once are refused. As many as it takes for so many places. */
async function crowd(name: string, places: number, role: Person['role'], account?: string): Promise<readonly Caller[]> {
  const callers: Caller[] = []
  for (let i = 0; i * watchBounds.watchersPerUserMax < places; i++) {
    callers.push((await person(`${name}${i}`, role, account)).caller)
  }
  return callers.flatMap((caller) => Array<Caller>(watchBounds.watchersPerUserMax).fill(caller))
}

type Row = { readonly id: string; readonly model: string; readonly provider?: string }
type Event = { readonly type: string; readonly data?: readonly Row[]; readonly more?: number; readonly reason?: string }

/** Somebody who watches. */
class Watch {
  readonly events: Event[] = []
  readonly stop = new AbortController()
  status = 0
  isOver = false
  private readonly opened = Promise.withResolvers<void>()

  constructor(caller: Caller, query = '', account = gateway.accountId) {
    void this.follow(`${origin}/admin/v1/accounts/${account}/requests/live${query}`, caller)
  }

  private async follow(url: string, headers: Caller): Promise<void> {
    try {
      const response = await fetch(url, { headers, signal: this.stop.signal })
      this.status = response.status
      if (response.status !== 200) return
      const decoder = new SseDecoder(1024 * 1024)
      for await (const part of response.body ?? []) {
        this.events.push(...decoder.push(part).map(({ data }) => JSON.parse(data) as Event))
        this.opened.resolve()
      }
    } catch {
      // Stopped from here, or broken off: it is over in any case.
    } finally {
      this.isOver = true
      this.opened.resolve()
    }
  }

  async open(): Promise<this> {
    await this.opened.promise
    return this
  }

  /** What came after the first event. */
  get came(): readonly Row[] {
    return this.events.filter(({ type }) => type === 'rows').flatMap(({ data = [] }) => data)
  }

  async until(holds: (watch: this) => boolean, what: string): Promise<this> {
    for (let i = 0; i < 200 && !holds(this); i++) await Bun.sleep(25)
    if (!holds(this)) throw new Error(`not ${what}: ${JSON.stringify(this.events).slice(0, 500)}`)
    return this
  }

  ended(): Promise<this> {
    return this.until(({ isOver }) => isOver, 'over')
  }
}

const ask = async (key: string, model = 'sandbox-chat'): Promise<string> => {
  const response = await chat({ baseUrl: gateway.baseUrl, key }, { model })
  await response.arrayBuffer()
  return response.headers.get('x-request-id') ?? ''
}

describe('what is watched', () => {
  test('is an account’s own requests that fit, each once its charge is durable, and nothing of the operator’s', async () => {
    const before = await ask(gateway.key)
    const owner = await new Watch((await person('own', 'owner')).caller).open()
    const mini = await new Watch((await person('mini', 'member')).caller, '?model=sandbox-mini').open()
    const operator = await new Watch((await person('op', 'operator')).caller, '?provider=sandbox').open()
    const nowhere = await new Watch((await person('op2', 'operator')).caller, '?provider=none').open()
    const stranger = await new Watch((await person('ann', 'owner', other.id)).caller, '', other.id).open()
    expect(owner.events[0]).toMatchObject({ type: 'start', data: [{ id: before }] })
    expect(mini.events[0]).toMatchObject({ type: 'start', data: [] })
    const [first, second, theirs] = [
      await ask(gateway.key),
      await ask(gateway.key, 'sandbox-mini'),
      await ask(other.key),
    ]
    const has = (watch: Watch, ...ids: string[]) =>
      watch.until(({ came }) => ids.every((id) => came.some((row) => row.id === id)), `told of ${ids.join()}`)
    await Promise.all([
      has(owner, first, second),
      has(mini, second),
      has(operator, first, second),
      has(stranger, theirs),
    ])
    await Bun.sleep(2 * watchBounds.pushMs)
    expect(owner.came.map(({ id }) => id).toSorted()).toEqual([first, second].toSorted())
    expect(mini.came.map(({ id }) => id)).toEqual([second])
    expect(stranger.came.map(({ id }) => id)).toEqual([theirs])
    expect(nowhere.came).toEqual([])
    expect(operator.came.every(({ provider }) => provider === 'sandbox')).toBe(true)
    expect(JSON.stringify([owner.events, mini.events, stranger.events])).not.toContain('provider')
    for (const watch of [owner, mini, operator, nowhere, stranger]) watch.stop.abort()
  })

  test('of another account is not there, and neither is it for nobody', async () => {
    const { caller } = await person('sam', 'owner')
    expect((await new Watch(caller, '', other.id).ended()).status).toBe(404)
    expect((await new Watch({}).ended()).status).toBe(401)
    expect((await new Watch(caller, '?outcome=none').ended()).status).toBe(400)
  })
})

describe('places to watch from', () => {
  test('are so many of one person, in whatever sessions, and are given back', async () => {
    const { caller } = await person('many', 'owner')
    const { watchersPerUserMax } = watchBounds
    const all = await Promise.all(Array.from({ length: watchersPerUserMax }, () => new Watch(caller).open()))
    expect(all.map(({ status }) => status)).toEqual(Array<number>(watchersPerUserMax).fill(200))
    expect((await new Watch(caller).ended()).status).toBe(429)
    const again = await call({}, 'POST /session', { name: 'many', password: PASSWORD })
    const elsewhere = { cookie: (again.headers.get('set-cookie') ?? '').split(';')[0] ?? '' }
    expect((await new Watch(elsewhere).ended()).status).toBe(429)
    for (const watch of all) watch.stop.abort()
    await Bun.sleep(200)
    // A question after the headers alone takes no place.
    for (let i = 0; i < 2 * watchersPerUserMax; i++) {
      expect((await call(caller, `HEAD /accounts/${gateway.accountId}/requests/live`)).status).toBe(200)
    }
    const more = await Promise.all(Array.from({ length: watchersPerUserMax }, () => new Watch(caller).open()))
    expect(more.every(({ status }) => status === 200)).toBe(true)
    for (const watch of more) watch.stop.abort()
  })

  test('are so many in all', async () => {
    const { watchersMax } = watchBounds
    const places = await crowd('p', watchersMax + 1, 'operator')
    const watches = await Promise.all(places.map((caller) => new Watch(caller).open()))
    expect(watches.filter(({ status }) => status === 200)).toHaveLength(watchersMax)
    expect(watches.filter(({ status }) => status === 503)).toHaveLength(places.length - watchersMax)
    for (const watch of watches) watch.stop.abort()
    await Bun.sleep(200)
  }, 30_000)

  test('are so many of one account, whomever it invites: all others keep theirs', async () => {
    const { watchersPerAccountMax } = watchBounds
    const places = await crowd('crowd', watchersPerAccountMax + 1, 'member', other.id)
    const watches = await Promise.all(places.map((caller) => new Watch(caller, '', other.id).open()))
    expect(watches.filter(({ status }) => status === 200)).toHaveLength(watchersPerAccountMax)
    expect(watches.filter(({ status }) => status === 429)).toHaveLength(places.length - watchersPerAccountMax)
    const elsewhere = await new Watch((await person('calm', 'owner')).caller).open()
    expect(elsewhere.status).toBe(200)
    for (const watch of [...watches, elsewhere]) watch.stop.abort()
    await Bun.sleep(200)
    // All of them were given back, those of who was turned away as well.
    const again = await Promise.all(
      places.slice(0, watchersPerAccountMax).map((c) => new Watch(c, '', other.id).open()),
    )
    expect(again.every(({ status }) => status === 200)).toBe(true)
    for (const watch of again) watch.stop.abort()
  }, 30_000)
})

describe('it ends, and tells nothing more', () => {
  let serial = 0
  const operate = (name: string, input: object) => gateway.operate(name, input)
  const ways: Readonly<Record<string, (someone: Someone) => Promise<unknown>>> = {
    'when one signs out': ({ caller }) => call(caller, 'DELETE /session'),
    'when one signs out everywhere': ({ caller }) => call(caller, 'DELETE /sessions'),
    'with the password': ({ caller }) =>
      call(caller, 'POST /session/password', { current: PASSWORD, password: 'another long one' }),
    'when one is barred': ({ id }) => operate('user.disable', { user: id }),
    'with the role': ({ id }) => operate('user.role', { user: id, role: 'member' }),
  }
  test.each(Object.entries(ways))('%s', async (_, end) => {
    const someone = await person(`ends${serial++}`, 'owner')
    const watch = await new Watch(someone.caller).open()
    await end(someone)
    const id = await ask(gateway.key)
    await watch.ended()
    expect(watch.events.at(-1)).toEqual({ type: 'end', reason: 'not_allowed' })
    expect(watch.came.map((row) => row.id)).not.toContain(id)
  })

  test('when an operator becomes a member of it for a while, and when that ends', async () => {
    const { caller } = await person('viewer', 'operator')
    const own = await new Watch(caller).open()
    await call(caller, 'POST /session/view-as', { account: gateway.accountId })
    await ask(gateway.key)
    expect((await own.ended()).events.at(-1)).toEqual({ type: 'end', reason: 'not_allowed' })
    expect(JSON.stringify(own.events.slice(1))).not.toContain('sandbox')
    const viewed = await new Watch(caller).open()
    expect(JSON.stringify(viewed.events)).not.toContain('provider')
    await call(caller, 'DELETE /session/view-as')
    expect((await viewed.ended()).events.at(-1)).toEqual({ type: 'end', reason: 'not_allowed' })
  })

  test('with the management key', async () => {
    const { id, secret } = await operate('management_key.create', { name: 'ci', account: gateway.accountId }).then(
      (made) => made as { id: string; secret: string },
    )
    const watch = await new Watch({ authorization: `Bearer ${secret}` }).open()
    await operate('management_key.revoke', { key: id })
    expect((await watch.ended()).events.at(-1)).toEqual({ type: 'end', reason: 'not_allowed' })
  })

  test('when the gateway shuts down, which does not wait for it', async () => {
    const going = await startGateway()
    const { cookie } = await signedIn(going, { name: 'last', role: 'operator' })
    const root = new URL(going.baseUrl).origin
    const url = `${root}/admin/v1/accounts/${going.accountId}/requests/live`
    const watching = await fetch(url, { headers: { cookie } })
    const startedMs = performance.now()
    const closing = going.close()
    expect(await watching.text()).toEndWith('data: {"type":"end","reason":"shutdown"}\n\n')
    await closing
    expect(performance.now() - startedMs).toBeLessThan(3_000)
  })
})

describe('saved views', () => {
  type View = { readonly id: string; readonly name: string; readonly query: string }
  const views = async (caller: Caller, request: string, body?: object): Promise<{ status: number; body: unknown }> => {
    const [method = '', path = ''] = request.split(' ')
    const headers = { 'content-type': 'application/json', ...caller }
    const init = { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) }
    const response = await fetch(`${origin}/admin/v1${path}`, init)
    return { status: response.status, body: await response.json() }
  }
  const list = async (caller: Caller): Promise<readonly View[]> =>
    ((await views(caller, 'GET /saved-views')).body as { data: View[] }).data

  test('are made, renamed and forgotten by whoever made them, and nobody else sees them', async () => {
    const [mine, yours] = [(await person('mine', 'member')).caller, (await person('yours', 'owner')).caller]
    const draft = { name: 'what failed', query: 'outcome=failed&range=7d' }
    const made = (await views(mine, 'POST /saved-views', draft)).body as View
    expect(made).toMatchObject(draft)
    expect(await list(mine)).toEqual([made])
    expect(await list(yours)).toEqual([])
    expect((await views(yours, `PATCH /saved-views/${made.id}`, { name: 'x' })).status).toBe(404)
    await views(yours, `DELETE /saved-views/${made.id}`)
    expect(await list(mine)).toHaveLength(1)
    expect((await views(mine, 'POST /saved-views', draft)).status).toBe(409)
    expect((await views(mine, `PATCH /saved-views/${made.id}`, { name: '失败' })).body).toMatchObject({ name: '失败' })
    for (const name of ['', ' ', 'x'.repeat(101), 'a\u0000b', '\u202etxt.exe']) {
      expect((await views(mine, 'POST /saved-views', { ...draft, name })).status).toBe(400)
    }
    expect((await views(mine, 'POST /saved-views', { name: 'long', query: 'x'.repeat(2_001) })).status).toBe(400)
    expect((await views(mine, `DELETE /saved-views/${made.id}`)).body).toEqual({ data: [] })
  })

  test('are so many, however fast they are made', async () => {
    const { caller } = await person('collector', 'member')
    const made = await Promise.all(
      Array.from({ length: 60 }, (_, i) => views(caller, 'POST /saved-views', { name: `v${i}`, query: '' })),
    )
    expect(made.filter(({ status }) => status === 200)).toHaveLength(50)
    expect(made.filter(({ status }) => status === 409)).toHaveLength(10)
    expect(await list(caller)).toHaveLength(50)
  })

  test('are changed so often at once and no oftener: the disk is everybody’s', async () => {
    const { caller } = await person('busy', 'member')
    const tries = await Promise.all(Array.from({ length: 220 }, () => views(caller, 'DELETE /saved-views/none')))
    expect(tries.filter(({ status }) => status === 404).length).toBeLessThan(215)
    expect(tries.filter(({ status }) => status === 429).length).toBeGreaterThan(5)
  })
})
