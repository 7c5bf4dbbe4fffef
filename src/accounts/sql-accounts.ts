/**
 * Accounts and keys in SQL. All of them are in memory. A request is authenticated without a query, and a revocation is
 * in force from the tick of the call. In the database a key is the HMAC of its secret.
 */
import type { Account, ApiKey, Caller } from '../domain/account.ts'
import { limitsText, NO_LIMITS } from '../domain/limits.ts'
import { timeOrderedId } from '../lib/primitives/ids.ts'
import { violates } from '../store/constraint.ts'
import { SharedRows } from '../store/shared-rows.ts'
import type { Row } from '../store/statement.ts'
import type { Store } from '../store/store.ts'
import * as rows from './account-rows.ts'
import {
  changedAccount,
  changedKey,
  type AccountChange,
  type AccountDraft,
  type Accounts,
  type AccountsOptions,
  type KeyChange,
  type KeyDraft,
  type NewKey,
} from './accounts.ts'
import { isKeyShaped, makeKey } from './key-format.ts'
import { readPass, signPass, type PassTerms } from './pass.ts'

const NAME_KEY = 'account(name)'

/** Opens the port. Loads accounts and keys. */
export async function openSqlAccounts(store: Store, options: AccountsOptions): Promise<Accounts> {
  const accounts = new SqlAccounts(store, options)
  await accounts.open()
  return accounts
}

class SqlAccounts implements Accounts {
  private readonly store: Store
  private readonly options: AccountsOptions
  private readonly accounts = new Map<string, Account>()
  /** Names of accounts that are being written. */
  private readonly making = new Set<string>()
  private readonly keys = new Map<string, ApiKey>()
  /** The keys of each account. Without this index, a list of accounts would scan all keys for each. */
  private readonly keyIdsByAccount = new Map<string, string[]>()
  /** The index includes revoked keys, so that the answer to a client can say that its key is revoked. */
  private readonly keyIdByDigest = new Map<string, string>()
  private readonly playgroundKeys = new Map<string, Promise<NewKey>>()
  private readonly accountRows: SharedRows
  private readonly keyRows: SharedRows

  constructor(store: Store, options: AccountsOptions) {
    this.store = store
    this.options = options
    const subjectOf = (row: Row): string => row['id'] as string
    this.accountRows = new SharedRows(store, {
      kind: 'account',
      all: 'SELECT * FROM account ORDER BY id',
      one: 'SELECT * FROM account WHERE id = ?',
      subjectOf,
      take: (_, [row]) => row && this.takeAccount(rows.readAccount(row)),
    })
    this.keyRows = new SharedRows(store, {
      kind: 'api_key',
      all: 'SELECT * FROM api_key ORDER BY id',
      one: 'SELECT * FROM api_key WHERE id = ?',
      subjectOf,
      take: (_, [row]) => row && this.takeKey(rows.readKey(row), row['digest'] as Uint8Array),
    })
  }

  async open(): Promise<void> {
    await this.store.changes.watch(this.accountRows)
    await this.store.changes.watch(this.keyRows)
  }

  private takeAccount(account: Account): void {
    const before = this.accounts.get(account.id)
    // Ids sort by time.
    const isFirst = before ? before.isFirst : this.accounts.size === 0
    this.accounts.set(account.id, isFirst ? { ...account, isFirst } : account)
    const isBarred = account.status === 'suspended' && before?.status === 'active'
    if (isBarred) this.options.onBarred({ accountId: account.id })
  }

  private takeKey(key: ApiKey, digest: Uint8Array): void {
    const before = this.keys.get(key.id)
    this.addKey(key)
    this.keyIdByDigest.set(Buffer.from(digest).toString('hex'), key.id)
    const isBarred = key.revokedAtMs !== undefined && before && before.revokedAtMs === undefined
    if (isBarred) this.options.onBarred({ keyId: key.id })
  }

  authenticate(presented: string): Caller | undefined {
    if (!isKeyShaped(presented)) return this.callerWithPass(presented)
    const keyId = this.keyIdByDigest.get(this.digestOf(presented))
    return keyId === undefined ? undefined : this.callerOf(keyId)
  }

  awaitKey(presented: string): Promise<void> | undefined {
    const { changes } = this.store
    if (!changes.isShared) return undefined
    // Another instance may have made the account, too, and the rows of keys may arrive before those of accounts.
    const accountOf = (keyId: string): string => this.keys.get(keyId)?.accountId ?? ''
    const isKnown = isKeyShaped(presented)
      ? this.accounts.has(accountOf(this.keyIdByDigest.get(this.digestOf(presented)) ?? ''))
      : !readPass(presented, this.options.pepper) || this.callerWithPass(presented) !== undefined
    return isKnown ? undefined : changes.catchUp()
  }

  callerOf(keyId: string): Caller | undefined {
    const key = this.keys.get(keyId)
    const account = key?.revokedAtMs === undefined ? this.accounts.get(key?.accountId ?? '') : undefined
    return key && account && { key, account }
  }

  list(): readonly Account[] {
    return [...this.accounts.values()]
  }

  find(reference: string): Account | undefined {
    return this.accounts.get(reference) ?? [...this.accounts.values()].find(({ name }) => name === reference)
  }

  async create(draft: AccountDraft): Promise<Account | undefined> {
    const { name, allowedModels, limits = NO_LIMITS, origin = 'stored' } = draft
    if (this.making.has(name) || this.find(name)) return undefined
    const account: Account = {
      id: timeOrderedId('acct_'),
      name,
      status: 'active',
      allowedModels,
      limits,
      origin,
      createdAtMs: Date.now(),
      isFirst: this.accounts.size + this.making.size === 0,
    }
    const { id, status, createdAtMs } = account
    const declared = rows.declaredFlag(origin)
    const bind = [id, name, status, rows.jsonOf(allowedModels), limitsText(limits), declared, createdAtMs]
    this.making.add(name)
    try {
      const outcome = await this.accountRows.tryWrite(id, [{ run: rows.insertAccount, bind }])
      if (outcome.kind === 'written') {
        this.accounts.set(id, account)
        return account
      }
      // Another instance may have taken the name.
      if (violates(outcome, NAME_KEY)) return undefined
      throw new Error(outcome.reason)
    } finally {
      this.making.delete(name)
    }
  }

  async update(id: string, change: AccountChange): Promise<Account> {
    const before = this.accounts.get(id)
    if (!before) throw new Error(`no account ${id}`)
    const account = changedAccount(before, change)
    // Memory changes first, because a suspended account must not start another request while the disk works.
    this.accounts.set(id, account)
    if (account.status === 'suspended') this.options.onBarred({ accountId: id })
    const { status, allowedModels, limits, lowBalance, origin } = change
    const steps = rows.fieldSteps(id, rows.update.account, {
      status,
      allowedModels: allowedModels && rows.jsonOf(allowedModels),
      limits: limits && limitsText(limits),
      lowBalance,
      origin: origin && rows.declaredFlag(origin),
    })
    if (steps.length > 0) await this.accountRows.write(id, steps)
    return account
  }

  keysOf(accountId: string): readonly ApiKey[] {
    return this.allKeysOf(accountId).filter(({ kind }) => kind === 'client')
  }

  findKey(id: string): ApiKey | undefined {
    return this.keys.get(id)
  }

  keyPresented(presented: string): ApiKey | undefined {
    if (!isKeyShaped(presented)) return undefined
    return this.keys.get(this.keyIdByDigest.get(this.digestOf(presented)) ?? '')
  }

  async keyOfSecret(secret: string): Promise<ApiKey | undefined> {
    if (!isKeyShaped(secret)) return undefined
    const sql = "SELECT id FROM api_key WHERE digest = ? AND kind = 'client'"
    const [row] = await this.store.query(sql, [Buffer.from(this.digestOf(secret), 'hex')])
    return row && this.keys.get(row['id'] as string)
  }

  async createKey({ accountId, name, allowedModels, limits = NO_LIMITS, kind = 'client' }: KeyDraft): Promise<NewKey> {
    const secret = makeKey()
    const digest = this.digestOf(secret)
    const key: ApiKey = {
      id: timeOrderedId('key_'),
      accountId,
      name,
      kind,
      last4: secret.slice(-4),
      allowedModels,
      limits,
      createdAtMs: Date.now(),
      revokedAtMs: undefined,
    }
    const allowed = rows.jsonOf(allowedModels)
    const stored = Buffer.from(digest, 'hex')
    const bind = [key.id, accountId, name, kind, stored, key.last4, allowed, limitsText(limits), key.createdAtMs]
    await this.keyRows.write(key.id, [{ run: rows.insertKey, bind }])
    this.addKey(key)
    if (kind === 'client') this.keyIdByDigest.set(digest, key.id)
    return { key, secret }
  }

  async updateKey(id: string, change: KeyChange): Promise<ApiKey> {
    const before = this.keys.get(id)
    if (!before) throw new Error(`no key ${id}`)
    const key = changedKey(before, change)
    this.keys.set(id, key)
    const { name, allowedModels, limits } = change
    const steps = rows.fieldSteps(id, rows.update.key, {
      name,
      allowedModels: allowedModels && rows.jsonOf(allowedModels),
      limits: limits && limitsText(limits),
    })
    if (steps.length > 0) await this.keyRows.write(id, steps)
    return key
  }

  async passFor(accountId: string, terms: PassTerms): Promise<string> {
    const keyId = await this.playgroundKey(accountId)
    return signPass({ ...terms, keyId }, this.options.pepper)
  }

  async revokeKey(id: string): Promise<boolean> {
    const key = this.keys.get(id)
    if (!key || key.revokedAtMs !== undefined) return false
    const revokedAtMs = Date.now()
    this.keys.set(id, { ...key, revokedAtMs })
    this.options.onBarred({ keyId: id })
    // Another instance may have been faster.
    const outcome = await this.keyRows.tryWrite(id, [{ run: rows.revokeKey, bind: [revokedAtMs, id], changes: 1 }])
    return outcome.kind === 'written'
  }

  private callerWithPass(token: string): Caller | undefined {
    const pass = readPass(token, this.options.pepper)
    if (!pass || pass.untilMs <= Date.now()) return undefined
    const stands = (): boolean => this.options.hasRights(pass.holder)
    const caller = stands() ? this.callerOf(pass.keyId) : undefined
    return caller && { ...caller, stands }
  }

  /** The playground key of an account. It is made once, even by two concurrent calls. */
  private async playgroundKey(accountId: string): Promise<string> {
    const known = this.allKeysOf(accountId).find(({ kind }) => kind === 'playground')
    if (known && known.revokedAtMs === undefined) return known.id
    const making =
      this.playgroundKeys.get(accountId) ?? this.createKey({ accountId, name: 'Playground', kind: 'playground' })
    this.playgroundKeys.set(accountId, making)
    return making.then(({ key }) => key.id).finally(() => this.playgroundKeys.delete(accountId))
  }

  private addKey(key: ApiKey): void {
    const isNew = !this.keys.has(key.id)
    this.keys.set(key.id, key)
    if (!isNew) return
    const own = this.keyIdsByAccount.get(key.accountId)
    if (own) own.push(key.id)
    else this.keyIdsByAccount.set(key.accountId, [key.id])
  }

  private allKeysOf(accountId: string): ApiKey[] {
    return (this.keyIdsByAccount.get(accountId) ?? []).flatMap((id) => this.keys.get(id) ?? [])
  }

  private digestOf(secret: string): string {
    return new Bun.CryptoHasher('sha256', this.options.pepper).update(secret).digest('hex')
  }
}
