/**
 * The contract of `Accounts` as tests for any store. A test file of the implementation calls `describeAccountsContract`
 * with a function that opens an empty store. The suite uses only the port.
 */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Account } from '../domain/account.ts'
import { NO_LIMITS, type Limits } from '../domain/limits.ts'
import type { AccountDraft, Accounts, AccountsOptions } from './accounts.ts'
import { makeKey } from './key-format.ts'
import type { PassTerms } from './pass.ts'

/** Accounts that one process has open. */
export type AccountsUnderTest = {
  readonly accounts: Accounts
  /** Ends this instance and begins the next one on the same store. */
  restart(options: AccountsOptions): Promise<AccountsUnderTest>
  /** Everything in the store, as text. */
  stored(): Promise<string>
  close(): Promise<void>
}

type BarredSubject = Parameters<AccountsOptions['onBarred']>[0]
type SuiteContext = {
  readonly accounts: () => Accounts
  readonly barred: BarredSubject[]
  /** Sessions whose holders have lost their rights. */
  readonly signedOut: Set<string>
  readonly stored: () => Promise<string>
  readonly restart: (pepper?: Uint8Array) => Promise<void>
}

const PEPPER = new Uint8Array(32).fill(7)

const limits: fc.Arbitrary<Limits> = fc.record(
  {
    requestsPerMinute: fc.integer({ min: 1, max: 1e9 }),
    tokensPerMinute: fc.integer({ min: 1, max: 1e9 }),
    concurrentRequests: fc.integer({ min: 1, max: 1e6 }),
    spendPerDay: fc.bigInt({ min: 0n, max: 2n ** 62n }),
    spendPerMonth: fc.bigInt({ min: 0n, max: 2n ** 62n }),
  },
  { requiredKeys: [] },
)
const models = fc.option(fc.array(fc.string(), { maxLength: 4 }), { nil: undefined })
/** Undefined leaves the value unchanged, and null allows all. */
const newModels = fc.option(models, { nil: null })

/** The error with which a promise rejects. */
const errorOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => 'no error',
    (error: unknown) => error,
  )

/** Runs the suite. `open` gives an empty store. */
export function describeAccountsContract(
  name: string,
  open: (options: AccountsOptions) => Promise<AccountsUnderTest>,
): void {
  describe(`${name} keeps the contract of accounts and keys`, () => {
    let current: AccountsUnderTest
    const barred: BarredSubject[] = []
    const signedOut = new Set<string>()
    const options: AccountsOptions = {
      pepper: PEPPER,
      onBarred: (one) => barred.push(one),
      hasRights: ({ sessionId }) => !signedOut.has(sessionId),
    }
    beforeEach(async () => {
      barred.length = 0
      signedOut.clear()
      current = await open(options)
    })
    afterEach(() => current.close())
    const context: SuiteContext = {
      accounts: () => current.accounts,
      barred,
      signedOut,
      stored: () => current.stored(),
      async restart(pepper = PEPPER) {
        current = await current.restart({ ...options, pepper })
      },
    }
    testAccounts(context)
    testKeys(context)
    testRevocations(context)
    testPlayground(context)
  })
}

/** Makes an account whose name is free. */
export async function createAccount(accounts: Accounts, draft: AccountDraft): Promise<Account> {
  return (await accounts.create(draft)) ?? expect.unreachable(`the name ${draft.name} is taken`)
}

function testAccounts({ accounts, restart, barred }: SuiteContext): void {
  test('an account is found by id and by name, and the first one of a store is marked', async () => {
    const first = await createAccount(accounts(), { name: 'first' })
    const second = await createAccount(accounts(), { name: 'second', origin: 'declared', allowedModels: ['m'] })
    expect(first).toMatchObject({ status: 'active', allowedModels: undefined, limits: NO_LIMITS, origin: 'stored' })
    expect([first.isFirst, second.isFirst]).toEqual([true, false])
    expect(accounts().find('first')).toEqual(first)
    expect(accounts().find(second.id)).toEqual(second)
    expect(accounts().find('First')).toBeUndefined()
    expect(accounts().list()).toEqual([first, second])
    await restart()
    expect(
      accounts()
        .list()
        .map(({ id }) => id),
    ).toEqual([first.id, second.id])
    expect(
      accounts()
        .list()
        .filter(({ isFirst }) => isFirst),
    ).toMatchObject([{ id: first.id }])
    expect(accounts().find('second')).toMatchObject({ origin: 'declared', allowedModels: ['m'] })
  })

  test('of two concurrent calls that make an account of one name, one gets it', async () => {
    const made = await Promise.all(['same', 'same', 'same'].map((name) => accounts().create({ name })))
    const [account, ...others] = made.filter(Boolean)
    expect(accounts().list()).toMatchObject([{ id: account?.id, name: 'same' }])
    expect(others).toEqual([])
    // An id names an account too, so no other one may have it as its name.
    for (const name of ['same', account?.id ?? '']) expect(await accounts().create({ name })).toBeUndefined()
    await restart()
    expect(accounts().list()).toHaveLength(1)
    expect(await accounts().create({ name: 'Same' })).toMatchObject({ name: 'Same' })
  })

  test('a change sets what it names, leaves the rest, and survives the process', async () => {
    const lowBalance = fc.option(fc.option(fc.bigInt({ min: 1n, max: 2n ** 62n }), { nil: undefined }), { nil: null })
    const { id } = await createAccount(accounts(), { name: 'changing' })
    let wanted = accounts().find(id)
    await fc.assert(
      fc.asyncProperty(models, limits, newModels, limits, lowBalance, async (start, more, allowedModels, next, low) => {
        await accounts().update(id, { allowedModels: start ?? null, limits: more, lowBalance: 5n })
        const change = {
          limits: next,
          ...(allowedModels === undefined ? {} : { allowedModels }),
          ...(low === undefined ? {} : { lowBalance: low }),
        }
        wanted = await accounts().update(id, change)
        expect(wanted).toMatchObject({ id, name: 'changing', status: 'active', origin: 'stored', limits: next })
        expect(wanted.allowedModels).toEqual(allowedModels === undefined ? start : (allowedModels ?? undefined))
        expect(wanted.lowBalance).toBe(low === undefined ? 5n : (low ?? undefined))
        expect(accounts().find(id)).toEqual(wanted)
      }),
      { numRuns: 30 },
    )
    await restart()
    expect(accounts().find(id)).toEqual(wanted)
  })

  test('a suspension is reported and visible in the tick of the call', async () => {
    const account = await createAccount(accounts(), { name: 'late payer' })
    const { key, secret } = await accounts().createKey({ accountId: account.id, name: 'k' })
    const suspended = accounts().update(account.id, { status: 'suspended' })
    expect(barred).toEqual([{ accountId: account.id }])
    // The caller is still known, so that the answer can say why it is refused.
    expect(accounts().authenticate(secret)?.account.status).toBe('suspended')
    await suspended
    await restart()
    expect(accounts().callerOf(key.id)?.account.status).toBe('suspended')
    await accounts().update(account.id, { status: 'active' })
    expect(accounts().authenticate(secret)?.account.status).toBe('active')
    expect(barred).toHaveLength(1)
  })

  test('an unknown account or key cannot be changed', async () => {
    expect(String(await errorOf(accounts().update('acct_none', { status: 'suspended' })))).toContain('no account')
    expect(String(await errorOf(accounts().updateKey('key_none', { name: 'x' })))).toContain('no key')
    expect(await errorOf(accounts().createKey({ accountId: 'acct_none', name: 'x' }))).toBeInstanceOf(Error)
    expect(await accounts().revokeKey('key_none')).toBe(false)
    expect(accounts().find('')).toBeUndefined()
    expect(barred).toEqual([])
  })
}

function testKeys({ accounts, restart, stored }: SuiteContext): void {
  test('a secret admits its caller, before and after a restart, and is not stored', async () => {
    const account = await createAccount(accounts(), { name: 'a' })
    const { key, secret } = await accounts().createKey({ accountId: account.id, name: 'laptop' })
    expect(key).toMatchObject({ accountId: account.id, name: 'laptop', kind: 'client', last4: secret.slice(-4) })
    for (let life = 0; life < 2; life++) {
      expect(accounts().authenticate(secret)).toEqual({ key, account: accounts().find('a') ?? account })
      expect(accounts().keyPresented(secret)).toEqual(key)
      expect(await accounts().keyOfSecret(secret)).toEqual(key)
      expect(accounts().keysOf(account.id)).toEqual([key])
      expect(await stored()).not.toContain(secret)
      await restart()
    }
  })

  test('nothing but the secret admits anybody', async () => {
    const account = await createAccount(accounts(), { name: 'a' })
    const { key, secret } = await accounts().createKey({ accountId: account.id, name: 'k' })
    const attempts = fc.oneof(
      fc.string(),
      fc.constantFrom('', key.id, account.id, secret.toLowerCase(), `${secret} `, `${secret}\0`, secret.slice(1)),
      fc
        .nat(secret.length - 1)
        .map((at) => `${secret.slice(0, at)}${secret[at] === 'A' ? 'B' : 'A'}${secret.slice(at + 1)}`),
      fc.constant(0).map(() => makeKey()),
    )
    await fc.assert(
      fc.asyncProperty(attempts, async (presented) => {
        expect(accounts().authenticate(presented)).toBeUndefined()
        expect(accounts().keyPresented(presented)).toBeUndefined()
        expect(await accounts().keyOfSecret(presented)).toBeUndefined()
      }),
    )
  })

  test('without the pepper of the digests, no key is known', async () => {
    const { id: accountId } = await createAccount(accounts(), { name: 'a' })
    const { secret } = await accounts().createKey({ accountId, name: 'k' })
    await restart(new Uint8Array(32).fill(8))
    expect([accounts().authenticate(secret), await accounts().keyOfSecret(secret)]).toEqual([undefined, undefined])
    await restart()
    expect(accounts().authenticate(secret)?.account.id).toBe(accountId)
  })

  test('keys belong to one account, and a change of a key survives the process', async () => {
    const [one, other] = [
      await createAccount(accounts(), { name: 'one' }),
      await createAccount(accounts(), { name: 'other' }),
    ]
    const { key } = await accounts().createKey({ accountId: one.id, name: 'k', allowedModels: ['a'] })
    await accounts().createKey({ accountId: other.id, name: 'k' })
    let wanted = key
    await fc.assert(
      fc.asyncProperty(fc.string(), newModels, limits, async (name, allowedModels, next) => {
        const before = wanted
        wanted = await accounts().updateKey(key.id, { name, allowedModels, limits: next })
        const allowed = allowedModels === undefined ? before.allowedModels : (allowedModels ?? undefined)
        expect(wanted).toEqual({ ...key, name, allowedModels: allowed, limits: next })
      }),
      { numRuns: 30 },
    )
    await restart()
    expect(accounts().findKey(key.id)).toEqual(wanted)
    expect(accounts().keysOf(one.id)).toEqual([wanted])
    expect(accounts().keysOf(other.id)).toHaveLength(1)
  })
}

function testRevocations({ accounts, restart, barred }: SuiteContext): void {
  test('a revoked key is refused and reported in the tick of the call, once, and for good', async () => {
    const account = await createAccount(accounts(), { name: 'a' })
    const { key, secret } = await accounts().createKey({ accountId: account.id, name: 'k' })
    const other = await accounts().createKey({ accountId: account.id, name: 'other' })
    const revoking = [accounts().revokeKey(key.id), accounts().revokeKey(key.id)]
    expect([accounts().authenticate(secret), accounts().callerOf(key.id)]).toEqual([undefined, undefined])
    expect(barred).toEqual([{ keyId: key.id }])
    expect(await Promise.all(revoking)).toEqual([true, false])
    for (let life = 0; life < 2; life++) {
      expect(accounts().authenticate(secret)).toBeUndefined()
      // The key is still known, so that the answer can say that it is revoked.
      expect(accounts().keyPresented(secret)?.revokedAtMs).toBeNumber()
      expect((await accounts().keyOfSecret(secret))?.id).toBe(key.id)
      expect(accounts().authenticate(other.secret)?.key.id).toBe(other.key.id)
      expect(accounts().keysOf(account.id)).toHaveLength(2)
      await accounts().updateKey(key.id, { name: 'renamed' })
      expect(accounts().authenticate(secret)).toBeUndefined()
      expect(await accounts().revokeKey(key.id)).toBe(false)
      await restart()
    }
    expect(barred).toHaveLength(1)
  })
}

const HOLDER = 'sess_of_robin'
const termsUntil = (untilMs: number): PassTerms => ({
  untilMs,
  holder: { userId: 'user_robin', sessionId: HOLDER, role: 'owner', accountId: 'acct_robin' },
})

function testPlayground({ accounts, restart, signedOut }: SuiteContext): void {
  test('a playground token is valid while its terms hold, as one key that no list shows', async () => {
    const { id } = await createAccount(accounts(), { name: 'a' })
    const terms = termsUntil(Date.now() + 60_000)
    const tokens = await Promise.all([accounts().passFor(id, terms), accounts().passFor(id, terms)])
    const callers = tokens.map((token) => accounts().authenticate(token))
    expect(new Set(callers.map((caller) => caller?.key.id)).size).toBe(1)
    expect(callers[0]).toMatchObject({ key: { kind: 'playground' }, account: { id } })
    expect(callers[0]?.stands?.()).toBe(true)
    expect(accounts().keysOf(id)).toEqual([])
    expect(accounts().keyPresented(tokens[0] ?? '')).toBeUndefined()
    signedOut.add(HOLDER)
    expect(callers[0]?.stands?.()).toBe(false)
    expect(accounts().authenticate(tokens[0] ?? '')).toBeUndefined()
    signedOut.clear()
    expect(accounts().authenticate(await accounts().passFor(id, { ...terms, untilMs: Date.now() }))).toBeUndefined()
    await restart()
    // No instance keeps it, so the next one accepts it, too.
    expect(accounts().authenticate(tokens[0] ?? '')?.key.id).toBe(callers[0]?.key.id as string)
    const again = accounts().authenticate(await accounts().passFor(id, terms))
    expect(again?.key.id).toBe(callers[0]?.key.id)
  })

  test('nothing but the whole token is one', async () => {
    const { id } = await createAccount(accounts(), { name: 'a' })
    const token = await accounts().passFor(id, termsUntil(Date.now() + 60_000))
    const longer = await accounts().passFor(id, termsUntil(Date.now() + 120_000))
    const end = token.length - 43
    const flipped = fc.nat(token.length - 1).map((at) => {
      const other = token[at] === 'A' ? 'B' : 'A'
      return `${token.slice(0, at)}${other}${token.slice(at + 1)}`
    })
    const attempts = fc.oneof(
      flipped,
      fc.string().map((text) => `sk-tg-play-${text}`),
      fc.nat(token.length - 1).map((length) => token.slice(0, length)),
      fc.constantFrom(`${token}=`, `${token}A`, `${longer.slice(0, end)}${token.slice(end)}`),
    )
    fc.assert(
      fc.property(attempts, (presented) => accounts().authenticate(presented) === undefined),
      { numRuns: 1_000 },
    )
    await restart(new Uint8Array(32).fill(8))
    expect(accounts().authenticate(token)).toBeUndefined()
  })

  test('a revoked playground key ends its tokens, and the next token has a new key', async () => {
    const { id } = await createAccount(accounts(), { name: 'a' })
    const terms = termsUntil(Date.now() + 60_000)
    const token = await accounts().passFor(id, terms)
    const keyId = accounts().authenticate(token)?.key.id ?? ''
    await accounts().revokeKey(keyId)
    expect(accounts().authenticate(token)).toBeUndefined()
    const next = accounts().authenticate(await accounts().passFor(id, terms))
    expect(next?.account.id).toBe(id)
    expect(next?.key.id).not.toBe(keyId)
  })
}
