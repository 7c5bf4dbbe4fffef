import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openStore, type Store } from '../store/store.ts'
import { Sessions, sessionBounds } from './sessions.ts'
import { Throttle } from './throttle.ts'
import { Users } from './users.ts'

const folder = mkdtempSync(join(tmpdir(), 'tollgate-users-'))
let store: Store
let sessions: Sessions
let users: Users

async function open(): Promise<void> {
  store = await openStore(folder, (message) => {
    throw new Error(message)
  })
  sessions = await Sessions.open(store)
  users = await Users.open(store, (userId) => sessions.endAllOf(userId))
}
beforeAll(open)
afterAll(async () => {
  await store.close()
  rmSync(folder, { recursive: true })
})

const from = { address: '192.0.2.1', agent: 'test' }

async function member(name: string): Promise<string> {
  const user = await users.create({ name, role: 'operator', accountId: undefined })
  await users.setPassword(user?.id ?? '', 'hash')
  return user?.id ?? expect.unreachable()
}

test('a session lasts from request to request, and no longer than a day’s work', async () => {
  const { token, session } = await sessions.begin(await member('robin'), from)
  const at = (ms: number): boolean => sessions.find(token, users, { nowMs: session.createdAtMs + ms }) !== undefined
  const { idleMs, absoluteMs } = sessionBounds
  for (let ms = 0; ms < absoluteMs; ms += idleMs - 1) expect(at(ms)).toBe(true)
  expect(at(absoluteMs)).toBe(false)
  const other = await sessions.begin(await member('kim'), from)
  expect(sessions.find(other.token, users, { nowMs: other.session.createdAtMs + idleMs })).toBeUndefined()
})

test('a page that asks by itself keeps no session going', async () => {
  const { token, session } = await sessions.begin(await member('una'), from)
  const at = (ms: number, asks: 'person' | 'page'): boolean =>
    sessions.find(token, users, { nowMs: session.createdAtMs + ms, asks }) !== undefined
  const { idleMs } = sessionBounds
  expect(at(idleMs / 2, 'page')).toBe(true)
  expect(at(idleMs - 1, 'page')).toBe(true)
  expect(at(idleMs, 'page')).toBe(false)
  expect(at(idleMs - 1, 'person')).toBe(true)
  expect(at(2 * idleMs - 2, 'page')).toBe(true)
})

test('a restart signs nobody out, and whoever was barred stays out', async () => {
  const userId = await member('lee')
  const { token } = await sessions.begin(userId, from)
  await store.close()
  await open()
  expect(sessions.find(token, users)?.user.name).toBe('lee')
  await users.update(userId, { status: 'disabled' })
  expect(sessions.find(token, users)).toBeUndefined()
  await store.close()
  await open()
  expect(sessions.find(token, users)).toBeUndefined()
  expect(users.passwordOf('lee')).toBeUndefined()
})

test('what is on disk opens nothing', async () => {
  const { token } = await sessions.begin(await member('ann'), from)
  const link = await users.makeLink(undefined)
  const rows = JSON.stringify(
    [await store.query('SELECT * FROM session'), await store.query('SELECT * FROM setup_link')],
    (_, value: unknown) => (typeof value === 'bigint' ? value.toString() : value),
  )
  expect(rows).not.toContain(token)
  expect(rows).not.toContain(link)
})

test('a link is used once, however many hold it, and a newer one voids it', async () => {
  const user = await users.create({ name: 'max', role: 'operator', accountId: undefined })
  const id = user?.id ?? expect.unreachable()
  const [old, link] = [await users.makeLink(id), await users.makeLink(id)]
  expect(users.holderOf(old)).toBeUndefined()
  const redeemed = await Promise.all(
    Array.from({ length: 20 }, (_, i) => users.redeem(link, { name: undefined, hash: `hash ${i}` })),
  )
  expect(redeemed.filter(({ kind }) => kind === 'redeemed')).toHaveLength(1)
  expect(users.find(id)?.status).toBe('active')
  const late = await users.makeLink(id)
  expect(users.holderOf(late, Date.now() + 25 * 3_600_000)).toBeUndefined()
})

test('names differ in more than case', async () => {
  await member('Sam')
  expect(await users.create({ name: 'sAM', role: 'operator', accountId: undefined })).toBeUndefined()
})

test('guesses are slowed down, by name, and a good one is given back', () => {
  const throttle = new Throttle({ burst: 3, refillMs: 1_000 })
  for (let i = 0; i < 3; i++) expect(throttle.take('a', 0)).toBe(0)
  expect(throttle.take('a', 0)).toBe(1_000)
  expect(throttle.take('b', 0)).toBe(0)
  throttle.giveBack('a', 0)
  expect(throttle.take('a', 0)).toBe(0)
  expect(throttle.take('a', 1_000)).toBe(0)
  expect(throttle.take('a', 1_000)).toBe(1_000)
})
