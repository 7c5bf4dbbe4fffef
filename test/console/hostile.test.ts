/** The console against hostile users: their access ends when it must, and what they send stays small. */
import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { openSqlManagementKeys } from '../../src/accounts/sql-management-keys.ts'
import { openSqlAudit } from '../../src/records/sql-audit.ts'
import { openStore, type Store } from '../../src/store/store.ts'
import { nobody, openConsole, type Caller, type TestConsole } from '../support/console.ts'
import { freshFolder, startGateway, type TestGateway } from '../support/gateway.ts'
import { rawClient, type RawClient } from '../support/raw-client.ts'

let gateway: TestGateway
let origin: string
const PASSWORD = 'correct horse battery'

beforeAll(async () => {
  gateway = await startGateway()
  origin = new URL(gateway.baseUrl).origin
}, 30_000)
afterAll(() => gateway.close())

type HttpAnswer = { readonly status: number; readonly cookie: string; readonly body: Record<string, unknown> }

async function call(caller: object, request: string, body?: object): Promise<HttpAnswer> {
  const [method = '', path = ''] = request.split(' ')
  const response = await fetch(`${origin}/admin/v1${path}`, {
    method,
    headers: { 'content-type': 'application/json', ...caller },
    ...(body ? { body: JSON.stringify(body) } : {}),
  })
  const cookie = (response.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
  return { status: response.status, cookie, body: (await response.json()) as HttpAnswer['body'] }
}

/** Somebody who is signed in. */
async function person(name: string, input: object): Promise<{ readonly id: string; readonly cookie: string }> {
  const made = await gateway.operate<{ id: string; setup_path: string }>('user.create', { name, ...input })
  const { cookie } = await call({}, 'POST /links/redeem', { token: made.setup_path.split('#')[1], password: PASSWORD })
  return { id: made.id, cookie }
}
const signIn = (name: string, password: string): Promise<HttpAnswer> => call({}, 'POST /session', { name, password })

describe('a password that was changed', () => {
  test('opens nothing, though it was being checked meanwhile', async () => {
    const inside = await openConsole()
    try {
      const { users } = inside.gateway.services
      const id = users.findNamed('kim')?.id ?? ''
      const enter = (): ReturnType<typeof inside.call> =>
        inside.call(nobody, 'POST /session', { name: 'kim', password: PASSWORD })
      await users.setPassword(id, await Bun.password.hash(PASSWORD))
      expect((await enter()).status).toBe(200)
      const entering = enter()
      await users.setPassword(id, await Bun.password.hash('another long one', { algorithm: 'bcrypt', cost: 4 }))
      expect((await entering).status).toBe(401)
      expect(inside.gateway.services.sessions.listOf(id)).toEqual([])
    } finally {
      await inside.close()
    }
  })

  test('is changed by one of those who ask at once', async () => {
    const { cookie } = await person('uma', { role: 'operator' })
    const other = await signIn('uma', PASSWORD)
    const changes = await Promise.all(
      [cookie, other.cookie].map((of, i) =>
        call({ cookie: of }, 'POST /session/password', { current: PASSWORD, password: `another long one ${i}` }),
      ),
    )
    expect(changes.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 403])
  })
})

describe('a management key', () => {
  type Key = { id: string; secret: string; status: string; created_by: { id: string; name: string } | null }
  const makeKey = async (cookie: string, path: string): Promise<Key> => {
    const { status, body } = await call({ cookie }, `POST ${path}`, { name: 'ci' })
    expect(status).toBe(200)
    return body as Key
  }
  const use = async ({ secret }: Key, path: string): Promise<number> =>
    (await call({ authorization: `Bearer ${secret}` }, `GET ${path}`)).status

  test('of an owner may no more than its maker, and says who that is', async () => {
    const account = `/accounts/${gateway.accountId}`
    const maker = await person('maker', { role: 'owner', account: gateway.accountId })
    const key = await makeKey(maker.cookie, `${account}/management-keys`)
    expect(key.created_by).toEqual({ id: maker.id, name: 'maker' })
    expect(await use(key, account)).toBe(200)
    await gateway.operate('user.role', { user: 'maker', role: 'member' })
    expect(await use(key, account)).toBe(401)
    const { cookie } = await person('watcher', { role: 'owner', account: gateway.accountId })
    const { body } = await call({ cookie }, `GET ${account}/management-keys`)
    expect(body['data']).toMatchObject([{ id: key.id, status: 'suspended', created_by: { name: 'maker' } }])
    await gateway.operate('user.role', { user: 'maker', role: 'owner' })
    expect(await use(key, account)).toBe(200)
    await gateway.operate('user.disable', { user: 'maker' })
    expect(await use(key, account)).toBe(401)
  })

  test('of an operator ends with the operator', async () => {
    const boss = await person('boss', { role: 'operator' })
    const key = await makeKey(boss.cookie, '/management-keys')
    expect(await use(key, '/accounts')).toBe(200)
    await gateway.operate('user.disable', { user: 'boss' })
    expect(await use(key, '/accounts')).toBe(401)
  })

  test('made before its maker was noted gets the one that the audit log names', async () => {
    const folder = freshFolder()
    const fatal = (message: string): void => {
      throw new Error(message)
    }
    const open = (): Promise<Store> => openStore(folder, fatal)
    try {
      const before = await open()
      const { managementKeys, audit } = {
        managementKeys: await openSqlManagementKeys(before),
        audit: openSqlAudit(before),
      }
      const { key } = await managementKeys.create({ accountId: undefined, name: 'old', createdBy: undefined })
      const { key: command } = await managementKeys.create({ accountId: undefined, name: 'x', createdBy: undefined })
      const actors = [{ kind: 'user', id: 'user_7' } as const, { kind: 'command' } as const]
      for (const [i, { id }] of [key, command].entries()) {
        const action = 'management_key.create'
        const entry = await audit.begin({ actor: actors[i] ?? { kind: 'nobody' }, action, subject: 'x', input: {} })
        await audit.end(entry, { action, outcome: 'done', subject: id })
      }
      await before.close()
      const db = new Database(join(folder, 'tollgate.db'))
      // Once more, as for a database that has not had it: what comes after it has nothing to do with it.
      db.exec(readFileSync(join(import.meta.dir, '../../src/store/migrations/0012_key_makers.sql'), 'utf8'))
      db.close()
      const after = await open()
      const found = await openSqlManagementKeys(after)
      expect([key, command].map(({ id }) => found.find(id)?.createdBy)).toEqual(['user_7', undefined])
      await after.close()
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })
})

describe('an address that guessed too often', () => {
  let inside: TestConsole
  beforeAll(async () => {
    inside = await openConsole()
  })
  afterAll(() => inside.close())
  const from = (address: string): Caller => ({ headers: {}, address })
  const enter = async (caller: Caller, name: string, password = PASSWORD): Promise<number> =>
    (await inside.call(caller, 'POST /session', { name, password })).status
  const guess = async (caller: Caller): Promise<number> =>
    (await inside.call(caller, 'POST /links/check', { token: 'setup_none' })).status

  test('locks out nobody else', async () => {
    const { users } = inside.gateway.services
    await users.setPassword(users.findNamed('kim')?.id ?? '', await Bun.password.hash(PASSWORD))
    const attacker = from('198.51.100.1')
    for (let i = 0; i < 20; i++) await guess(attacker)
    for (let i = 0; i < 20; i++) expect(await enter(attacker, 'kim')).toBe(429)
    expect(await enter(from('198.51.100.2'), 'kim')).toBe(200)
  })

  test('is not charged for tries that nobody had time for', async () => {
    const caller = from('198.51.100.3')
    const tries = await Promise.all(Array.from({ length: 20 }, (_, i) => enter(caller, `nobody ${i}`)))
    const busy = tries.filter((status) => status === 503).length
    expect(busy).toBeGreaterThan(2)
    for (let i = 0; i < busy; i++) expect(await guess(caller)).toBe(410)
  }, 20_000)
})

describe('bodies that arrive', () => {
  const MIB = 1024 * 1024
  const headOf = (cookie: string, bytes: number): string =>
    `POST /admin/v1/session/password HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n${
      cookie === '' ? '' : `cookie: ${cookie}\r\n`
    }content-length: ${bytes}\r\n\r\n`
  const clients: RawClient[] = []
  /** All of a body but its end. */
  async function begin(cookie: string, bytes = MIB): Promise<RawClient> {
    const client = await rawClient(Number(new URL(origin).port))
    clients.push(client)
    return client.send(headOf(cookie, bytes)).send(Buffer.alloc(bytes - 1, ' '))
  }
  afterAll(() => clients.forEach(({ socket }) => socket.destroy()))

  test('of nobody are small, whatever cookie they show', async () => {
    for (const cookie of ['', 'tollgate=made-up']) {
      const answer = await (await begin(cookie, 9 * 1024)).ended()
      expect(answer).toMatch(/^HTTP\/1\.1 (?:401|413) /)
      expect(answer.toLowerCase()).toContain('connection: close')
    }
    const open = await call({}, 'POST /session', { name: 'x', password: 'x'.repeat(9 * 1024) })
    expect([open.status, open.body['error']]).toMatchObject([413, { code: 'request_too_large' }])
  })

  test('have so much memory in all, and of it everybody a part', async () => {
    const names = ['a', 'b', 'c', 'd', 'e']
    const people = await Promise.all(names.map((name) => person(`sender ${name}`, { role: 'operator' })))
    const cookies = people.map(({ cookie }) => cookie)
    const [first = '', , , , last = ''] = cookies
    const held: RawClient[] = []
    for (let i = 0; i < 4; i++) held.push(await begin(first))
    await Bun.sleep(300)
    expect(await (await begin(first)).ended()).toStartWith('HTTP/1.1 429 ')
    for (const cookie of cookies.slice(1, 4)) for (let i = 0; i < 4; i++) held.push(await begin(cookie))
    await Bun.sleep(300)
    expect(held.map(({ text }) => text)).toEqual(held.map(() => ''))
    const refused = await (await begin(last)).ended()
    expect(refused).toStartWith('HTTP/1.1 503 ')
    expect(refused.toLowerCase()).toContain('connection: close')
    // What comes in one piece needs no room: a sign-in works meanwhile.
    expect((await signIn('sender e', PASSWORD)).status).toBe(200)
    held[0]?.socket.destroy()
    await Bun.sleep(100)
    expect(await (await begin(last)).send('x').has('\r\n\r\n')).toStartWith('HTTP/1.1 400 ')
  }, 30_000)
})
