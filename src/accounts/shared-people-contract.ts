/**
 * The contracts of `Users`, `Sessions` and `ManagementKeys` for two instances that share a store, as tests. Both are
 * open at once. It adds to `people-contract.ts`, which is about one instance.
 */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import type { User } from '../domain/user.ts'
import { MINUTE_MS } from '../lib/primitives/units.ts'
import type { ManagementKeys } from './management-keys.ts'
import { PER_USER_MAX, sessionBounds, type Sessions } from './sessions.ts'
import type { Users } from './users.ts'

/** One of the instances. A barred user loses all sessions. */
export type PeopleInstance = {
  readonly users: Users
  readonly sessions: Sessions
  readonly managementKeys: ManagementKeys
  /** Resolves once all earlier changes of the other instance are in memory. */
  catchUp(): Promise<void>
}

export type SharedPeopleUnderTest = {
  openInstance(): Promise<PeopleInstance>
  addAccount(id: string): Promise<void>
  /** From now on instances hear of changes by polling alone. */
  silence(): Promise<void>
  close(): Promise<void>
}

type Both = { shared: SharedPeopleUnderTest; a: PeopleInstance; b: PeopleInstance }

const FROM = { address: '192.0.2.1', agent: 'test' }

/** Runs the suite. `open` gives an empty store. */
export function describeSharedPeopleContract(name: string, open: () => Promise<SharedPeopleUnderTest>): void {
  describe(`two instances of ${name} keep the contract of people and sessions`, () => {
    const both = {} as Both
    beforeEach(async () => {
      const shared = await open()
      Object.assign(both, { shared, a: await shared.openInstance(), b: await shared.openInstance() })
    })
    afterEach(() => both.shared.close())
    testSharedSessions(both)
    testSharedUsers(both)
    testSharedLinks(both)
    testSharedManagementKeys(both)
  })
}

async function userAt({ users }: PeopleInstance, name: string): Promise<User> {
  const user = await users.create({ name, role: 'operator', accountId: undefined })
  await users.setPassword(user?.id ?? '', `hash of ${name}`)
  return users.findNamed(name) ?? expect.unreachable()
}

const catchUp = ({ a, b }: Both): Promise<unknown> => Promise.all([a.catchUp(), b.catchUp()])

function testSharedSessions(both: Both): void {
  const isIn = ({ sessions, users }: PeopleInstance, token: string, nowMs = Date.now()): boolean =>
    sessions.find(token, users, { nowMs, asks: 'page' }) !== undefined

  test('a session of one instance is one of the other, until either ends it', async () => {
    const { a, b } = both
    const { id } = await userAt(a, 'robin')
    for (const [one, other] of [
      [a, b],
      [b, a],
    ] as const) {
      const { token, session } = await one.sessions.begin(id, FROM)
      await catchUp(both)
      expect(other.sessions.find(token, other.users)).toMatchObject({ session: { id: session.id }, user: { id } })
      await other.sessions.end([session])
      await catchUp(both)
      expect([isIn(one, token), isIn(other, token)]).toEqual([false, false])
    }
  })

  test('a disabled user is signed out of both within two seconds, by polling alone', async () => {
    const { a, b, shared } = both
    const { id } = await userAt(a, 'kim')
    await b.catchUp()
    const sessions = [await a.sessions.begin(id, FROM), await b.sessions.begin(id, FROM)]
    await shared.silence()
    // Not every session of the other instance is known here.
    await a.users.update(id, { status: 'disabled' })
    await Bun.sleep(1_500)
    for (const { token } of sessions) expect([isIn(a, token), isIn(b, token)]).toEqual([false, false])
    expect([a.sessions.listOf(id), b.sessions.listOf(id)]).toEqual([[], []])
  })

  test('a session is not begun with a password that is being replaced at the other instance', async () => {
    const { a, b } = both
    const { id } = await userAt(a, 'una')
    await b.catchUp()
    for (let round = 0; round < 20; round++) {
      const before = b.users.passwordOf('una')?.hash
      const setting = a.users.setPassword(id, `hash ${round}`)
      if (round % 2 === 0) await Bun.sleep(Math.random() * 4)
      const begun = await b.sessions.begin(id, FROM, before).catch(() => undefined)
      await setting
      await catchUp(both)
      expect(begun !== undefined && (isIn(a, begun.token) || isIn(b, begun.token))).toBe(false)
      expect([a.sessions.listOf(id), b.sessions.listOf(id)]).toEqual([[], []])
    }
  })

  test('use at one instance keeps a session alive at the other, which does not sweep it', async () => {
    const { a, b, shared } = both
    const { idleMs } = sessionBounds
    const { id } = await userAt(a, 'lee')
    const { token, session } = await a.sessions.begin(id, FROM)
    await b.catchUp()
    const at = (minutes: number): number => session.createdAtMs + idleMs + minutes * MINUTE_MS
    await shared.silence()
    expect(a.sessions.find(token, a.users, { nowMs: at(-5) })).toBeDefined()
    // Use is written in the background.
    await Bun.sleep(100)
    // The sweep may come before the news, and may not end what another instance has seen.
    await b.sessions.sweep(at(5))
    await a.catchUp()
    await b.catchUp()
    expect([isIn(a, token, at(5)), isIn(b, token, at(5))]).toEqual([true, true])
    await b.sessions.sweep(at(60))
    await catchUp(both)
    expect([isIn(a, token), isIn(b, token)]).toEqual([false, false])
  })

  test('a user has a maximum of sessions at both together', async () => {
    const { a, b } = both
    const { id } = await userAt(a, 'max')
    for (let i = 0; i < PER_USER_MAX + 4; i++) {
      const { sessions } = i % 2 === 0 ? a : b
      await sessions.begin(id, FROM)
      await catchUp(both)
    }
    expect(a.sessions.listOf(id)).toHaveLength(PER_USER_MAX)
    expect(b.sessions.listOf(id).map((one) => one.id)).toEqual(a.sessions.listOf(id).map((one) => one.id))
  })
}

function testSharedUsers(both: Both): void {
  test('a name belongs to one user, even if both instances take it at once', async () => {
    const { a, b } = both
    const drafts = ['Sam', 'sam', 'SAM', 'sAm'].map((name) => ({
      name,
      role: 'operator' as const,
      accountId: undefined,
    }))
    const made = await Promise.all(drafts.map((draft, i) => (i % 2 === 0 ? a : b).users.create(draft)))
    expect(made.filter((user) => user !== undefined)).toHaveLength(1)
    await catchUp(both)
    expect(a.users.list()).toHaveLength(1)
    expect(b.users.list()).toEqual(a.users.list())
  })

  test('changes at both instances do not undo each other', async () => {
    const { a, b, shared } = both
    await shared.addAccount('acct')
    const made = await a.users.create({ name: 'ann', role: 'owner', accountId: 'acct' })
    const id = made?.id ?? ''
    await b.catchUp()
    for (let round = 0; round < 10; round++) {
      const status = round % 2 === 0 ? 'disabled' : 'active'
      const role = round % 3 === 0 ? 'member' : 'owner'
      const hash = `hash ${round}`
      await Promise.all([a.users.update(id, { status }), b.users.update(id, { role }), a.users.setPassword(id, hash)])
      await catchUp(both)
      expect(a.users.find(id)).toMatchObject({ role, status })
      expect(b.users.find(id)).toEqual(a.users.find(id) ?? expect.unreachable())
      expect(b.users.passwordOf('ann')?.hash).toBe(status === 'active' ? hash : undefined)
    }
  })
}

function testSharedLinks(both: Both): void {
  test('a link is used once, even if both instances redeem it at once', async () => {
    const { a, b } = both
    for (let round = 0; round < 10; round++) {
      const made = await a.users.create({ name: `user ${round}`, role: 'operator', accountId: undefined })
      const link = await a.users.makeLink(made?.id)
      await b.catchUp()
      const password = { name: undefined, hash: 'hash' }
      const ends = await Promise.all([a, b, a, b].map(({ users }) => users.redeem(link, password)))
      expect(ends.map(({ kind }) => kind).toSorted()).toEqual(['redeemed', 'void', 'void', 'void'])
      await catchUp(both)
      expect([a.users.holderOf(link), b.users.holderOf(link)]).toEqual([undefined, undefined])
      expect(b.users.find(made?.id ?? '')?.status).toBe('active')
    }
  })

  test('a newer link of one instance voids that of the other', async () => {
    const { a, b } = both
    const user = await userAt(a, 'ann')
    const link = await a.users.makeLink(user.id)
    await b.catchUp()
    expect(b.users.holderOf(link)).toEqual({ kind: 'user', user })
    const newer = await b.users.makeLink(user.id)
    await catchUp(both)
    expect([a.users.holderOf(link), a.users.holderOf(newer)]).toEqual([undefined, { kind: 'user', user }])
  })

  test('each instance has a link for the first operator, until there is one', async () => {
    const { a, b } = both
    const links = [await a.users.makeLink(undefined), await b.users.makeLink(undefined)]
    await catchUp(both)
    const first = { kind: 'first' as const }
    expect(links.map((link) => [a.users.holderOf(link), b.users.holderOf(link)])).toEqual([
      [first, first],
      [first, first],
    ])
    const redeemed = await Promise.all([
      b.users.redeem(links[0] ?? '', { name: 'one', hash: 'hash' }),
      a.users.redeem(links[0] ?? '', { name: 'other', hash: 'hash' }),
    ])
    expect(redeemed.map(({ kind }) => kind).toSorted()).toEqual(['redeemed', 'void'])
    await catchUp(both)
    expect(links.map((link) => [a.users.holderOf(link), b.users.holderOf(link)]).flat()).toEqual(
      Array.from({ length: 4 }, () => undefined),
    )
  })
}

function testSharedManagementKeys(both: Both): void {
  test('a management key of one instance is one of the other, until either revokes it', async () => {
    const { a, b } = both
    const { key, secret } = await a.managementKeys.create({ accountId: undefined, name: 'ci', createdBy: undefined })
    await b.catchUp()
    expect(b.managementKeys.authenticate(secret, b.users)).toEqual(key)
    const revoked = await Promise.all([a.managementKeys.revoke(key.id), b.managementKeys.revoke(key.id)])
    await catchUp(both)
    expect([a, b].map(({ managementKeys, users }) => managementKeys.authenticate(secret, users))).toEqual([
      undefined,
      undefined,
    ])
    expect(revoked[0]).toEqual(revoked[1] ?? expect.unreachable())
    expect(a.managementKeys.find(key.id)).toEqual(b.managementKeys.find(key.id) ?? expect.unreachable())
  })
}
