/**
 * The contracts of `Users`, `Sessions`, `ManagementKeys` and `SavedViews` as tests for any store. A test file of the
 * implementation calls `describePeopleContract` with a function that opens an empty store. The suite uses only the
 * ports.
 */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { User, UserRole } from '../domain/user.ts'
import { HOUR_MS } from '../lib/primitives/units.ts'
import { keyStatus, type ManagementKeys } from './management-keys.ts'
import { SAVED_VIEWS_MAX, type SavedView, type SavedViews } from './saved-views.ts'
import { PER_USER_MAX, sessionBounds, type Sessions } from './sessions.ts'
import type { WriteStep } from '../store/statement.ts'
import type { Users } from './users.ts'

/** The ports that one process has open. A barred user loses all sessions. */
export type PeopleUnderTest = {
  readonly users: Users
  readonly sessions: Sessions
  readonly managementKeys: ManagementKeys
  readonly savedViews: SavedViews
  /** Makes an account in the store. */
  addAccount(id: string): Promise<void>
  /** Runs steps that must succeed as one transaction. */
  write(steps: readonly WriteStep[]): Promise<void>
  /** Ends this instance and begins the next one on the same store. */
  restart(): Promise<PeopleUnderTest>
  /** Everything in the store about people, as text. */
  stored(): Promise<string>
  close(): Promise<void>
}

type SuiteContext = { readonly now: () => PeopleUnderTest; readonly restart: () => Promise<void> }

const FROM = { address: '192.0.2.1', agent: 'test' }
const NOBODY = { name: undefined, hash: 'hash' }

/** Runs the suite. `open` gives an empty store. */
export function describePeopleContract(name: string, open: () => Promise<PeopleUnderTest>): void {
  describe(`${name} keep the contract of people and sessions`, () => {
    let current: PeopleUnderTest
    beforeEach(async () => {
      current = await open()
    })
    afterEach(() => current.close())
    const context: SuiteContext = {
      now: () => current,
      async restart() {
        current = await current.restart()
      },
    }
    testUsers(context)
    testLinks(context)
    testSessions(context)
    testSessionLists(context)
    testManagementKeys(context)
    testSavedViews(context)
  })
}

async function userOf(
  { now }: SuiteContext,
  name: string,
  role: UserRole = 'operator',
  accountId?: string,
): Promise<User> {
  const user = await now().users.create({ name, role, accountId })
  if (!user) throw new Error(`${name} is taken`)
  await now().users.setPassword(user.id, `hash of ${name}`)
  return now().users.find(user.id) ?? user
}

const errorOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => 'no error',
    (error: unknown) => error,
  )

function testUsers(context: SuiteContext): void {
  const { now, restart } = context
  test('a user is invited until a password is chosen, and found by id and name', async () => {
    const { users } = now()
    expect(users.hasOperator()).toBe(false)
    const made = await users.create({ name: 'Robin', role: 'operator', accountId: undefined })
    const id = made?.id ?? ''
    expect(made).toMatchObject({ name: 'Robin', role: 'operator', status: 'invited' })
    expect([users.passwordOf('Robin'), users.hasOperator()]).toEqual([undefined, false])
    await users.setPassword(id, 'hash')
    for (let life = 0; life < 2; life++) {
      expect(now().users.passwordOf('robin')).toMatchObject({ user: { id, status: 'active' }, hash: 'hash' })
      expect(now().users.findNamed(id)).toEqual(now().users.findNamed('ROBIN') ?? made)
      expect(now().users.find('Robin')).toBeUndefined()
      expect([now().users.hasOperator(), now().users.list().length]).toEqual([true, 1])
      await restart()
    }
  })

  test('a name belongs to one user whatever its case, even if two concurrent calls take it', async () => {
    const names = ['Sam', 'sAM', 'SAM', 'Samuel']
    const made = await Promise.all(
      names.map((name) => now().users.create({ name, role: 'operator', accountId: undefined })),
    )
    expect(made.map((user) => user?.name)).toEqual(['Sam', undefined, undefined, 'Samuel'])
    await restart()
    expect(await now().users.create({ name: 'sam', role: 'operator', accountId: undefined })).toBeUndefined()
    expect(now().users.list()).toHaveLength(2)
  })

  test('a disabled or changed user is signed out at once, and a renewed user keeps the password', async () => {
    await now().addAccount('acct')
    const { id } = await userOf(context, 'kim', 'owner', 'acct')
    const sessions = [await now().sessions.begin(id, FROM), await now().sessions.begin(id, FROM)]
    const changing = now().users.update(id, { role: 'member' })
    for (const { token } of sessions) expect(now().sessions.find(token, now().users)).toBeUndefined()
    expect(await changing).toMatchObject({ role: 'member', status: 'active' })
    const next = await now().sessions.begin(id, FROM)
    await now().users.update(id, { role: 'member' })
    expect(now().sessions.find(next.token, now().users)?.user.role).toBe('member')
    const link = await now().users.makeLink(id)
    await now().users.update(id, { status: 'disabled' })
    for (let life = 0; life < 2; life++) {
      expect(now().sessions.find(next.token, now().users)).toBeUndefined()
      expect(now().users.holderOf(link)).toBeUndefined()
      expect([now().users.passwordOf('kim'), now().users.find(id)?.status]).toEqual([undefined, 'disabled'])
      await restart()
    }
    expect(await now().users.update(id, { status: 'active' })).toMatchObject({ status: 'active', role: 'member' })
    expect(now().users.passwordOf('kim')?.hash).toBe('hash of kim')
    expect(await errorOf(now().users.update('user_none', {}))).toBeInstanceOf(Error)
  })

  test('an invited user who is disabled and enabled again is still invited', async () => {
    const made = await now().users.create({ name: 'lee', role: 'operator', accountId: undefined })
    await now().users.update(made?.id ?? '', { status: 'disabled' })
    expect(await now().users.update(made?.id ?? '', { status: 'active' })).toMatchObject({ status: 'invited' })
  })
}

function testLinks(context: SuiteContext): void {
  const { now, restart } = context
  test('a link is used once, even if many people have it, and a newer one voids it', async () => {
    const made = await now().users.create({ name: 'max', role: 'operator', accountId: undefined })
    const id = made?.id ?? ''
    const [old, link] = [await now().users.makeLink(id), await now().users.makeLink(id)]
    expect(now().users.holderOf(old)).toBeUndefined()
    await restart()
    expect(now().users.holderOf(old)).toBeUndefined()
    expect(now().users.holderOf(link)).toMatchObject({ kind: 'user', user: { id } })
    expect(await now().stored()).not.toContain(link)
    const redeemed = await Promise.all(
      Array.from({ length: 20 }, (_, i) => now().users.redeem(link, { ...NOBODY, hash: `hash ${i}` })),
    )
    expect(redeemed.filter(({ kind }) => kind === 'redeemed')).toHaveLength(1)
    expect(now().users.find(id)?.status).toBe('active')
    await restart()
    expect(await now().users.redeem(link, NOBODY)).toEqual({ kind: 'void' })
  })

  test('an invitation is valid for a week, any other link for a day', async () => {
    const made = await now().users.create({ name: 'una', role: 'operator', accountId: undefined })
    const id = made?.id ?? ''
    const validFor = (token: string, hours: number): boolean =>
      now().users.holderOf(token, Date.now() + hours * HOUR_MS) !== undefined
    const invitation = await now().users.makeLink(id)
    expect([validFor(invitation, 7 * 24 - 1), validFor(invitation, 7 * 24)]).toEqual([true, false])
    await now().users.setPassword(id, 'hash')
    // A new password voids the links for choosing another.
    expect(validFor(invitation, 0)).toBe(false)
    const reset = await now().users.makeLink(id)
    expect([validFor(reset, 23), validFor(reset, 24)]).toEqual([true, false])
    expect(now().users.holderOf('setup_anything')).toBeUndefined()
  })

  test('the first link makes one operator, with a name that is free', async () => {
    await now().addAccount('acct')
    await userOf(context, 'taken', 'member', 'acct')
    const link = await now().users.makeLink(undefined)
    expect(now().users.holderOf(link)).toEqual({ kind: 'first' })
    expect(await now().users.redeem(link, NOBODY)).toEqual({ kind: 'name_needed' })
    expect(await now().users.redeem(link, { ...NOBODY, name: 'TAKEN' })).toEqual({ kind: 'name_needed' })
    const ends = await Promise.all(['a', 'b'].map((name) => now().users.redeem(link, { name, hash: 'hash' })))
    expect(ends.map(({ kind }) => kind)).toEqual(['redeemed', 'void'])
    expect(now().users.findNamed('a')).toMatchObject({ role: 'operator', status: 'active' })
    // Once there is an operator, a link for the first one is void.
    expect(now().users.holderOf(await now().users.makeLink(undefined))).toBeUndefined()
  })
}

function testSessions(context: SuiteContext): void {
  const { now, restart } = context
  const { idleMs, absoluteMs } = sessionBounds

  test('a session is extended by requests, and lasts no longer than a working day', async () => {
    const { token, session } = await now().sessions.begin((await userOf(context, 'robin')).id, FROM)
    const at = (ms: number): boolean =>
      now().sessions.find(token, now().users, { nowMs: session.createdAtMs + ms }) !== undefined
    for (let ms = 0; ms < absoluteMs; ms += idleMs - 1) expect(at(ms)).toBe(true)
    expect(at(absoluteMs)).toBe(false)
    const other = await now().sessions.begin((await userOf(context, 'kim')).id, FROM)
    const late = { nowMs: other.session.createdAtMs + idleMs }
    expect(now().sessions.find(other.token, now().users, late)).toBeUndefined()
  })

  test('any use of a session ends it when the rule says so, and a page alone does not extend it', async () => {
    const { id } = await userOf(context, 'una')
    const step = fc.record({
      waitMs: fc.integer({ min: 0, max: idleMs + 10 }),
      asks: fc.constantFrom('person', 'page'),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
        const { token, session } = await now().sessions.begin(id, FROM)
        let [nowMs, seenMs, hasEnded] = [session.createdAtMs, session.createdAtMs, false]
        for (const { waitMs, asks } of steps) {
          nowMs += waitMs
          hasEnded ||= nowMs - seenMs >= idleMs || nowMs - session.createdAtMs >= absoluteMs
          const found = now().sessions.find(token, now().users, { nowMs, asks })
          expect(found !== undefined).toBe(!hasEnded)
          if (asks === 'person' && !hasEnded) seenMs = nowMs
        }
        await now().sessions.end([session])
      }),
      { numRuns: 30 },
    )
  })

  test('a restart ends no session, and nothing but the token is accepted', async () => {
    const { id } = await userOf(context, 'lee')
    const { token, session } = await now().sessions.begin(id, { address: '2001:db8::1', agent: 'x'.repeat(1_000) })
    expect(await now().stored()).not.toContain(token)
    await restart()
    expect(now().sessions.find(token, now().users)).toMatchObject({
      user: { id, name: 'lee' },
      session: { id: session.id, address: '2001:db8::1', agent: 'x'.repeat(200) },
    })
    for (const other of ['', session.id, token.slice(1), `${token} `]) {
      expect(now().sessions.find(other, now().users)).toBeUndefined()
    }
  })

  test('a new password ends all sessions of its user and nobody else’s', async () => {
    const [own, other] = [await userOf(context, 'ann'), await userOf(context, 'bob')]
    const tokens = [await now().sessions.begin(own.id, FROM), await now().sessions.begin(other.id, FROM)]
    const setting = now().users.setPassword(own.id, 'another')
    const isIn = () => tokens.map(({ token }) => now().sessions.find(token, now().users) !== undefined)
    expect(isIn()).toEqual([false, true])
    await setting
    await restart()
    expect(isIn()).toEqual([false, true])
  })
}

function testSessionLists(context: SuiteContext): void {
  const { now, restart } = context
  test('a user has a maximum of sessions, and a further one ends the oldest', async () => {
    const { id } = await userOf(context, 'max')
    const made = []
    for (let i = 0; i < PER_USER_MAX + 3; i++) {
      made.push(await now().sessions.begin(id, FROM))
      // Sessions of one millisecond have no order.
      await Bun.sleep(2)
    }
    const expected = made.slice(3).map(({ session }) => session.id)
    expect(
      now()
        .sessions.listOf(id)
        .map((session) => session.id),
    ).toEqual(expected)
    await restart()
    expect(
      now()
        .sessions.listOf(id)
        .map((session) => session.id),
    ).toEqual(expected)
    const isIn = made.map(({ token }) => now().sessions.find(token, now().users) !== undefined)
    expect(isIn.filter(Boolean)).toHaveLength(PER_USER_MAX)
    expect(isIn.slice(0, 3)).toEqual([false, false, false])
  })

  test('sessions end one by one, all at once, and by themselves, and a second end is no error', async () => {
    const { id } = await userOf(context, 'sam')
    const [first, second, third] = [1, 2, 3].map(() => now().sessions.begin(id, FROM))
    const [one, two, three] = [await first, await second, await third]
    if (!one || !two || !three) throw new Error('three were begun')
    await Promise.all([now().sessions.end([one.session]), now().sessions.end([one.session])])
    expect(
      now()
        .sessions.listOf(id)
        .map((session) => session.id),
    ).toEqual([two.session.id, three.session.id])
    await now().sessions.sweep(two.session.createdAtMs + sessionBounds.idleMs - 1)
    expect(now().sessions.listOf(id, two.session.createdAtMs)).toHaveLength(2)
    await now().sessions.endAllOf(id, (steps) => now().write(steps))
    await restart()
    expect(now().sessions.listOf(id)).toEqual([])
    const last = await now().sessions.begin(id, FROM)
    const afterMs = last.session.createdAtMs + sessionBounds.idleMs
    expect(now().sessions.listOf(id, afterMs)).toEqual([])
    await now().sessions.sweep(afterMs)
    expect(now().sessions.listOf(id)).toEqual([])
  })

  test('the account that an operator views is kept with the session', async () => {
    const { id } = await userOf(context, 'op')
    const { token, session } = await now().sessions.begin(id, FROM)
    const viewed = (): string | undefined => now().sessions.find(token, now().users)?.session.viewAs
    await now().addAccount('acct')
    await now().sessions.lookAs(session, 'acct')
    expect(viewed()).toBe('acct')
    await restart()
    expect(viewed()).toBe('acct')
    await now().sessions.lookAs(session, undefined)
    await restart()
    expect(viewed()).toBeUndefined()
  })
}

function testManagementKeys(context: SuiteContext): void {
  const { now, restart } = context
  test('a management key is valid until it is revoked, from the tick of the call and for good', async () => {
    await now().addAccount('acct')
    const { key, secret } = await now().managementKeys.create({ accountId: 'acct', name: 'ci', createdBy: undefined })
    expect(key).toMatchObject({ accountId: 'acct', name: 'ci', last4: secret.slice(-4), revokedAtMs: undefined })
    expect(await now().stored()).not.toContain(secret)
    await restart()
    expect(now().managementKeys.authenticate(secret, now().users)).toEqual(key)
    for (const other of ['', key.id, secret.slice(1), `${secret} `]) {
      expect(now().managementKeys.authenticate(other, now().users)).toBeUndefined()
      expect(await now().managementKeys.keyOfSecret(other)).toBeUndefined()
    }
    const revoking = [now().managementKeys.revoke(key.id), now().managementKeys.revoke(key.id)]
    expect(now().managementKeys.authenticate(secret, now().users)).toBeUndefined()
    const [revoked, again] = await Promise.all(revoking)
    expect(again).toEqual(revoked)
    await restart()
    expect(now().managementKeys.authenticate(secret, now().users)).toBeUndefined()
    expect(await now().managementKeys.keyOfSecret(secret)).toEqual(revoked)
    expect(now().managementKeys.find(key.id)).toEqual(revoked)
    expect(await now().managementKeys.revoke('mkey_none')).toBeUndefined()
  })

  test('a management key does not outlive the rights of its maker', async () => {
    await now().addAccount('acct')
    await now().addAccount('other')
    const maker = await userOf(context, 'owner', 'owner', 'acct')
    const own = await now().managementKeys.create({ accountId: 'acct', name: 'own', createdBy: maker.id })
    const foreign = await now().managementKeys.create({ accountId: 'other', name: 'other', createdBy: maker.id })
    const isIn = (secret: string): boolean => now().managementKeys.authenticate(secret, now().users) !== undefined
    expect([isIn(own.secret), isIn(foreign.secret)]).toEqual([true, false])
    expect(now().managementKeys.activeOf(maker.id, now().users)).toBe(1)
    for (const change of [
      { role: 'member' },
      { role: 'owner' },
      { status: 'disabled' },
      { status: 'active' },
    ] as const) {
      await now().users.update(maker.id, change)
      const isActive = change.role === 'owner' || ('status' in change && change.status === 'active')
      expect(keyStatus(own.key, now().users)).toBe(isActive ? 'active' : 'suspended')
      expect(isIn(own.secret)).toBe(isActive)
    }
    expect(
      now()
        .managementKeys.listOf('acct')
        .map(({ id }) => id),
    ).toEqual([own.key.id])
    expect(now().managementKeys.listOf(undefined)).toEqual([])
  })
}

function testSavedViews(context: SuiteContext): void {
  const { now, restart } = context
  test('views belong to one user alone, and each name is used once', async () => {
    const [own, other] = [await userOf(context, 'own'), await userOf(context, 'other')]
    const view = { name: 'failed', query: 'outcome=failed&model=größe' }
    const made = await now().savedViews.create(own.id, view)
    expect(made).toMatchObject(view)
    const { id } = made as SavedView
    expect(await now().savedViews.create(own.id, { ...view, query: '' })).toEqual({ kind: 'name_taken' })
    expect(await now().savedViews.create(other.id, view)).toMatchObject(view)
    expect(await now().savedViews.rename(other.id, id, { name: 'mine' })).toEqual({ kind: 'missing' })
    expect(await now().savedViews.remove(other.id, id)).toBe(false)
    await now().savedViews.create(own.id, { name: 'second', query: '' })
    expect(await now().savedViews.rename(own.id, id, { name: 'second' })).toEqual({ kind: 'name_taken' })
    expect(await now().savedViews.rename(own.id, id, { name: 'first' })).toBeUndefined()
    await restart()
    expect((await now().savedViews.listOf(own.id)).map(({ name }) => name)).toEqual(['first', 'second'])
    expect(await now().savedViews.remove(own.id, id)).toBe(true)
    expect(await now().savedViews.remove(own.id, id)).toBe(false)
    expect(await now().savedViews.listOf(other.id)).toHaveLength(1)
  })

  test('a user has a maximum of views, even if all are made at once', async () => {
    const { id } = await userOf(context, 'many')
    const names = Array.from({ length: SAVED_VIEWS_MAX + 5 }, (_, i) => `view ${i}`)
    const results = await Promise.all(names.map((name) => now().savedViews.create(id, { name, query: '' })))
    const refused = results.filter((result) => 'kind' in result)
    expect(refused).toEqual(Array.from({ length: 5 }, () => ({ kind: 'too_many' as const })))
    expect(await now().savedViews.listOf(id)).toHaveLength(SAVED_VIEWS_MAX)
  })
}
