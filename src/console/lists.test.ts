import { createAccount } from '../accounts/accounts-contract.ts'
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { openConsole, type Caller, type TestConsole } from '../../test/support/console.ts'
import type { List } from './shapes.ts'

type NamedItem = { readonly id: string; readonly name: string; readonly status: string }
type Effects = { readonly keys: number; readonly offers: number; readonly models: { readonly total: number } }

const KEYS = 450
const PEOPLE = 220
const ACCOUNTS = 230

let context: TestConsole
let operator: Caller
let secret = ''

beforeAll(async () => {
  context = await openConsole()
  const { accounts, users, ledger } = context.gateway.services
  for (let at = 0; at < KEYS; at++) {
    const made = await accounts.createKey({ accountId: context.accountId, name: `machine ${at}` })
    if (at === 7) secret = made.secret
    if (at === 9) await accounts.revokeKey(made.key.id)
  }
  for (let at = 0; at < PEOPLE; at++)
    await users.create({ name: `person ${at}`, role: 'member', accountId: context.accountId })
  for (let at = 0; at < ACCOUNTS; at++) ledger.register((await createAccount(accounts, { name: `team ${at}` })).id)
  operator = await context.as('operator')
}, 60_000)
afterAll(() => context.close())

const list = async (path: string): Promise<List<NamedItem>> => {
  const { status, body } = await context.call<List<NamedItem>>(operator, `GET ${path}`)
  expect({ path, status }).toEqual({ path, status: 200 })
  return body
}

async function everyPage(path: string): Promise<readonly NamedItem[]> {
  const all: NamedItem[] = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const more: List<NamedItem> = await list(
      `${path}?limit=100${cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`}`,
    )
    all.push(...more.data)
    cursor = more.next_cursor
  }
  return all
}

/** The most items that are made in a millisecond. */
const OF_A_MOMENT = 20

test('lists begin with the newest, have a total, and show each item on one page', async () => {
  for (const [path, newest, total] of [
    [`/accounts/${context.accountId}/keys`, `machine ${KEYS - 1}`, KEYS],
    [`/accounts/${context.accountId}/users`, `person ${PEOPLE - 1}`, PEOPLE + 2],
    ['/users', `person ${PEOPLE - 1}`, PEOPLE + 4],
    ['/accounts', `team ${ACCOUNTS - 1}`, undefined],
  ] as const) {
    const first = await list(path)
    // Items of the same millisecond have no order.
    const names = first.data.slice(0, OF_A_MOMENT).map(({ name }) => name)
    expect([path, names.includes(newest), first.data.length]).toEqual([path, true, 50])
    if (total !== undefined) expect([path, first.total]).toEqual([path, total])
    const all = await everyPage(path)
    expect([path, all.length, new Set(all.map(({ id }) => id)).size]).toEqual([path, first.total, first.total])
  }
})

test('revoked keys come last, and a revocation between two pages skips no other key', async () => {
  const path = `/accounts/${context.accountId}/keys`
  expect((await everyPage(path)).at(-1)).toMatchObject({ name: 'machine 9', status: 'revoked' })
  const first = await list(`${path}?limit=20`)
  const last = first.data.at(-1)
  await context.call(operator, `DELETE ${path}/${last?.id}`)
  const second = await list(`${path}?limit=20&cursor=${encodeURIComponent(first.next_cursor ?? '')}`)
  const before = new Set(first.data.map(({ id }) => id))
  expect(second.data.filter(({ id }) => before.has(id))).toEqual([])
  const shown = [...first.data, ...second.data].map(({ name }) => Number(name?.split(' ')[1]))
  // None of the newest forty is missing, except those of the last millisecond.
  for (let i = 1; i <= 40 - OF_A_MOMENT; i++) expect(shown).toContain(KEYS - i)
})

test('a search finds items beyond the first page by name, id, and the end of a key', async () => {
  const keys = `/accounts/${context.accountId}/keys`
  const [key] = (await list(`${keys}?q=MACHINE%207&limit=200`)).data.filter(({ name }) => name === 'machine 7')
  expect(key).toBeDefined()
  const end = encodeURIComponent(`sk-tg-…${secret.slice(-4)}`)
  for (const q of [key?.id, end]) {
    expect((await list(`${keys}?q=${q}`)).data).toMatchObject([{ id: key?.id }])
    expect((await list(`/accounts?q=${q}`)).data).toMatchObject([{ id: context.accountId }])
  }
  expect((await list('/accounts?q=team%2021')).data.map(({ name }) => name)).toContain('team 21')
  expect(await list('/users?q=person%2021&limit=1')).toMatchObject({ total: 11 })
  expect(await list('/accounts?q=nobody%20at%20all')).toMatchObject({ total: 0, data: [] })
})

test('a secret in a search is refused, and a look-up finds it if it is sent in a body', async () => {
  for (const q of [
    secret,
    secret.slice(0, 30),
    `Bearer ${secret}`,
    'mk-tg-0123456789abcdef',
    'TG-8K2M4-AAAAA-BBBBB-CCCCC',
  ]) {
    for (const path of [
      '/accounts',
      '/users',
      '/models',
      '/providers',
      '/codes',
      `/accounts/${context.accountId}/keys`,
    ]) {
      const { status, body } = await context.call<{ error: { message: string } }>(
        operator,
        `GET ${path}?q=${encodeURIComponent(q)}`,
      )
      expect({ path, q, status }).toEqual({ path, q, status: 400 })
      expect(body.error.message).not.toContain(q)
    }
  }
  const found = await context.call(operator, 'POST /secrets/lookup', { secret: ` ${secret}\n` })
  expect(found.body).toMatchObject({ kind: 'key', name: 'machine 7', account: context.accountId, account_name: 'acme' })
  const member = await context.as('member')
  const own = `POST /accounts/${context.accountId}/secrets/lookup`
  expect((await context.call(member, own, { secret })).body).toMatchObject({ kind: 'key', name: 'machine 7' })
  const stranger = await context.as('stranger')
  const theirs = `POST /accounts/${context.otherId}/secrets/lookup`
  expect((await context.call(stranger, theirs, { secret })).body).toMatchObject({ kind: 'unknown', name: null })
  expect((await context.call(stranger, 'POST /secrets/lookup', { secret })).status).toBe(403)
})

test('effects are counted before a removal', async () => {
  const { accounts, catalog, users, sessions } = context.gateway.services
  const effects = async (path: string): Promise<Effects> =>
    (await context.call<Effects>(operator, `GET ${path}/effects`)).body
  const active = accounts.keysOf(context.accountId).filter(({ revokedAtMs }) => revokedAtMs === undefined).length
  expect(await effects(`/accounts/${context.accountId}`)).toMatchObject({ keys: active, requests: 0 })
  const alone = catalog.models().filter(({ offers }) => offers.every(({ providerId }) => providerId === 'sandbox'))
  expect(await effects('/providers/sandbox')).toMatchObject({ models: { total: alone.length }, offers: 0 })
  const [model] = alone
  await accounts.createKey({ accountId: context.otherId, name: 'only', allowedModels: [model?.id ?? ''] })
  expect(await effects(`/models/${encodeURIComponent(model?.id ?? '')}`)).toMatchObject({
    keys: 1,
    models: { total: 1 },
  })
  const user = await users.create({ name: 'ned', role: 'owner', accountId: context.accountId })
  await users.setPassword(user?.id ?? '', 'no hash at all')
  await sessions.begin(user?.id ?? '', { address: '192.0.2.1', agent: 'test' })
  await context.gateway.services.managementKeys.create({
    accountId: context.accountId,
    name: 'ci',
    createdBy: user?.id,
  })
  expect(await effects(`/users/${user?.id}`)).toMatchObject({ sessions: 1, management_keys: 1 })
})

test('no list of thousands keeps the thread that serves requests', async () => {
  const { accounts } = context.gateway.services
  await Promise.all(
    Array.from({ length: 3_000 }, (_, at) => accounts.createKey({ accountId: context.otherId, name: `bulk ${at}` })),
  )
  for (const path of [
    '/accounts?limit=200',
    '/accounts?q=zzzz',
    `/accounts/${context.otherId}/keys?limit=200`,
    '/users?limit=200',
  ]) {
    await list(path)
    const before = process.threadCpuUsage()
    await list(path)
    const { user, system } = process.threadCpuUsage(before)
    expect({ path, ms: (user + system) / 1000 < 100 ? 'less than 100' : (user + system) / 1000 }).toEqual({
      path,
      ms: 'less than 100',
    })
  }
}, 60_000)

test('a provider shows the result of its last test until the connection changes', async () => {
  type ShownView = { readonly last_test: { readonly ok: boolean; readonly problem: string | null } | null }
  const draft = { id: 'dead', base_url: 'http://127.0.0.1:9/v1', allow_private: true, key: 'one' }
  expect((await context.call<ShownView>(operator, 'POST /providers', draft)).body.last_test).toBe(null)
  expect((await context.call(operator, 'POST /providers/dead/test')).body).toMatchObject({ ok: false })
  const { body } = await context.call<ShownView>(operator, 'GET /providers/dead')
  expect(body.last_test).toMatchObject({ ok: false, problem: expect.any(String) })
  expect((await context.call<ShownView>(operator, 'PATCH /providers/dead', { key: 'two' })).body.last_test).toBe(null)
})

test('the overview counts all holds, however many there are', async () => {
  const { accounts, ledger } = context.gateway.services
  const account = await createAccount(accounts, { name: 'on hold' })
  ledger.register(account.id)
  await ledger.adjust({ accountId: account.id, amount: 10_000n, kind: 'credit', ref: 'on hold', reason: 'test' })
  const holds = Array.from({ length: 1_203 }, (_, at) =>
    ledger.hold({ id: `req_held_${at}`, accountId: account.id, amount: 1n }),
  )
  await Promise.all(holds.flatMap((each) => (each.kind === 'held' ? [each.durable] : [])))
  type Overview = { readonly open_holds: number }
  expect((await context.call<Overview>(operator, `GET /accounts/${account.id}/overview`)).body.open_holds).toBe(1_203)
})
