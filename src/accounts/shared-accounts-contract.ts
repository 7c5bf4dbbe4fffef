/**
 * The contract of `Accounts` for two instances that share a store, as tests. Both are open at once. It adds to
 * `accounts-contract.ts`, which is about one instance.
 */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { createAccount } from './accounts-contract.ts'
import type { Accounts, AccountsOptions } from './accounts.ts'
import { makeKey } from './key-format.ts'

/** One of the instances. */
export type AccountsInstance = {
  readonly accounts: Accounts
  /** Resolves once all earlier changes of the other instance are in memory. */
  catchUp(): Promise<void>
}

export type SharedAccountsUnderTest = {
  openInstance(options: AccountsOptions): Promise<AccountsInstance>
  /** From now on instances hear of changes by polling alone. */
  silence(): Promise<void>
  close(): Promise<void>
}

type BarredSubject = Parameters<AccountsOptions['onBarred']>[0]
type Instance = AccountsInstance & { readonly barred: BarredSubject[] }
type Both = { a: Instance; b: Instance; silence: () => Promise<void> }

const PEPPER = new Uint8Array(32).fill(7)
/** By this time a revocation is in force everywhere. */
const NEWS_MS = 2_000

/** Runs the suite. `open` gives an empty store. */
export function describeSharedAccountsContract(name: string, open: () => Promise<SharedAccountsUnderTest>): void {
  describe(`two instances of ${name} keep the contract of accounts and keys`, () => {
    let shared: SharedAccountsUnderTest
    const both = {} as Both
    const openInstance = async (): Promise<Instance> => {
      const barred: BarredSubject[] = []
      const options: AccountsOptions = {
        pepper: PEPPER,
        onBarred: (one) => barred.push(one),
        hasRights: () => true,
      }
      return { ...(await shared.openInstance(options)), barred }
    }
    beforeEach(async () => {
      shared = await open()
      Object.assign(both, { a: await openInstance(), b: await openInstance(), silence: () => shared.silence() })
    })
    afterEach(() => shared.close())
    testNewKeys(both)
    testRevocations(both)
    testSimultaneous(both)
  })
}

async function until(isSo: () => boolean, limitMs = NEWS_MS): Promise<void> {
  const startedMs = performance.now()
  while (!isSo()) {
    if (performance.now() - startedMs > limitMs) throw new Error(`not so after ${limitMs} ms`)
    await Bun.sleep(5)
  }
}

function testNewKeys(both: Both): void {
  test('a key of one instance is valid at the other at once', async () => {
    const { a, b } = both
    for (let i = 0; i < 10; i++) {
      const account = await createAccount(a.accounts, { name: `account ${i}` })
      const { key, secret } = await a.accounts.createKey({ accountId: account.id, name: 'k' })
      await b.accounts.awaitKey(secret)
      expect(b.accounts.authenticate(secret)).toMatchObject({ key, account: { id: account.id, name: `account ${i}` } })
      expect(b.accounts.awaitKey(secret)).toBeUndefined()
    }
    expect(b.accounts.list().map(({ isFirst }) => isFirst === true)).toEqual(a.accounts.list().map((_, i) => i === 0))
  })

  test('a playground token of one instance is valid at the other at once', async () => {
    const { a, b } = both
    const account = await createAccount(a.accounts, { name: 'a' })
    const holder = { userId: 'user_u', sessionId: 'sess_s', role: 'owner' as const, accountId: account.id }
    const token = await a.accounts.passFor(account.id, { untilMs: Date.now() + 60_000, holder })
    await b.accounts.awaitKey(token)
    expect(b.accounts.authenticate(token)).toMatchObject({ key: { kind: 'playground' }, account: { id: account.id } })
  })

  test('an unknown key stays unknown, and a text that is no key is not asked for', async () => {
    const { b } = both
    const unknown = Array.from({ length: 200 }, () => makeKey())
    await Promise.all(unknown.map(async (secret) => b.accounts.awaitKey(secret)))
    expect(unknown.filter((secret) => b.accounts.authenticate(secret))).toEqual([])
    expect([b.accounts.awaitKey(''), b.accounts.awaitKey('sk-tg-mistyped')]).toEqual([undefined, undefined])
  })
}

function testRevocations(both: Both): void {
  test.each(['notified', 'polled'])(
    'a revocation and a suspension are in force at the other instance, %s',
    async (how) => {
      const { a, b } = both
      const account = await createAccount(a.accounts, { name: 'a' })
      const { key, secret } = await a.accounts.createKey({ accountId: account.id, name: 'k' })
      const other = await a.accounts.createKey({ accountId: account.id, name: 'other' })
      await b.catchUp()
      if (how === 'polled') await both.silence()
      expect(b.accounts.authenticate(secret)).toBeDefined()
      await a.accounts.revokeKey(key.id)
      await until(() => b.accounts.authenticate(secret) === undefined)
      expect(b.barred).toEqual([{ keyId: key.id }])
      expect(b.accounts.keyPresented(secret)?.revokedAtMs).toBe(a.accounts.keyPresented(secret)?.revokedAtMs as number)
      await a.accounts.update(account.id, { status: 'suspended' })
      await until(() => b.accounts.authenticate(other.secret)?.account.status === 'suspended')
      expect(b.barred).toEqual([{ keyId: key.id }, { accountId: account.id }])
      // Each instance reports it once.
      expect(a.barred).toEqual(b.barred)
    },
  )

  test('a suspension holds from its tick on, whatever the other instance changes meanwhile', async () => {
    const { a, b } = both
    const { id } = await createAccount(a.accounts, { name: 'a' })
    await b.catchUp()
    for (let round = 0; round < 20; round++) {
      const changes = Array.from({ length: 5 }, (_, i) =>
        b.accounts.update(id, { limits: { requestsPerMinute: 10 * round + i + 1 } }),
      )
      const suspending = a.accounts.update(id, { status: 'suspended' })
      let isOver = false
      const done = Promise.all([...changes, suspending, a.catchUp()]).then(() => (isOver = true))
      while (!isOver) {
        expect(a.accounts.find(id)?.status).toBe('suspended')
        await Bun.sleep(1)
      }
      await done
      await Promise.all([a.catchUp(), b.catchUp()])
      const wanted = { status: 'suspended', limits: { requestsPerMinute: 10 * round + 5 } }
      expect([a.accounts.find(id), b.accounts.find(id)]).toMatchObject([wanted, wanted])
      await a.accounts.update(id, { status: 'active' })
      await b.catchUp()
    }
  })

  test('of two instances that revoke a key at once, one does it', async () => {
    const { a, b } = both
    const { id: accountId } = await createAccount(a.accounts, { name: 'a' })
    for (let i = 0; i < 10; i++) {
      const { key } = await a.accounts.createKey({ accountId, name: 'k' })
      await b.catchUp()
      const revoked = await Promise.all([a.accounts.revokeKey(key.id), b.accounts.revokeKey(key.id)])
      expect(revoked.filter(Boolean)).toHaveLength(1)
      await Promise.all([a.catchUp(), b.catchUp()])
      expect(a.accounts.findKey(key.id)).toEqual(b.accounts.findKey(key.id) ?? expect.unreachable())
    }
  })
}

function testSimultaneous(both: Both): void {
  test('of two instances that make an account of one name at once, one gets it', async () => {
    const { a, b } = both
    const made = await Promise.all([a, b, a, b].map(({ accounts }) => accounts.create({ name: 'same' })))
    expect(made.filter(Boolean)).toHaveLength(1)
    await Promise.all([a.catchUp(), b.catchUp()])
    expect(a.accounts.list()).toHaveLength(1)
    expect(b.accounts.list()).toMatchObject(a.accounts.list().map(({ id, name }) => ({ id, name })))
  })

  test('whatever both change at once, both have the same afterwards, and so has the next instance', async () => {
    const { a, b } = both
    const { id } = await createAccount(a.accounts, { name: 'a' })
    const { key } = await a.accounts.createKey({ accountId: id, name: 'k' })
    await b.catchUp()
    const change = fc.record({
      at: fc.constantFrom('a' as const, 'b' as const),
      waits: fc.boolean(),
      of: fc.oneof(
        fc.record({ status: fc.constantFrom('active' as const, 'suspended' as const) }),
        fc.record({ limits: fc.record({ requestsPerMinute: fc.integer({ min: 1, max: 9 }) }) }),
        fc.record({ allowedModels: fc.constantFrom(null, ['m'], ['n']) }),
        fc.record({ lowBalance: fc.constantFrom(null, 1n, 2n) }),
        fc.record({ name: fc.constantFrom('x', 'y') }),
      ),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 12 }), async (changes) => {
        const pending: Promise<unknown>[] = []
        for (const { at, waits, of } of changes) {
          const { accounts } = both[at]
          pending.push('name' in of ? accounts.updateKey(key.id, of) : accounts.update(id, of))
          if (waits) await pending.at(-1)
        }
        await Promise.all(pending)
        await Promise.all([a.catchUp(), b.catchUp()])
        expect(a.accounts.find(id)).toEqual(b.accounts.find(id) ?? expect.unreachable())
        expect(a.accounts.findKey(key.id)).toEqual(b.accounts.findKey(key.id) ?? expect.unreachable())
      }),
      { numRuns: 40 },
    )
  })
}
