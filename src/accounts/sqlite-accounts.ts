/**
 * Accounts and keys on SQLite. All of them are in memory. A request is authenticated without a query, and a revocation
 * is in force from the tick of the call. On disk a key is the HMAC of its secret.
 */
import type { Account, AccountStatus, ApiKey, Caller } from '../domain/account.ts'
import type { PriceOrigin } from '../domain/catalog.ts'
import { limitsOf, limitsText, NO_LIMITS } from '../domain/limits.ts'
import { timeOrderedId } from '../lib/primitives/ids.ts'
import { statement, type Row, type WriteStep } from '../store/statement.ts'
import { mustWrite, type Store } from '../store/store.ts'
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
  type PassTerms,
} from './accounts.ts'
import { isKeyShaped, makeKey } from './key-format.ts'

const insertAccount = statement(
  'INSERT INTO account (id, name, status, allowed_models, limits, declared, created_at) VALUES (?, ?, ?, ?, ?, ?, ?)',
)
const updateAccount = statement(
  'UPDATE account SET status = ?, allowed_models = ?, limits = ?, low_balance = ?, declared = ? WHERE id = ?',
)
const updateKey = statement('UPDATE api_key SET name = ?, allowed_models = ?, limits = ? WHERE id = ?')
const insertKey = statement(
  'INSERT INTO api_key (id, account_id, name, kind, digest, last4, allowed_models, limits, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)',
)
const revokeKeyStatement = statement('UPDATE api_key SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL')

const listOf = (text: unknown): readonly string[] | undefined =>
  typeof text === 'string' ? (JSON.parse(text) as string[]) : undefined
const jsonOf = (list: readonly string[] | undefined): string | null => (list ? JSON.stringify(list) : null)

const declaredFlag = (origin: PriceOrigin): 0 | 1 => (origin === 'declared' ? 1 : 0)

const accountOf = (row: Row): Account => ({
  id: row['id'] as string,
  name: row['name'] as string,
  status: row['status'] as AccountStatus,
  allowedModels: listOf(row['allowed_models']),
  limits: limitsOf(row['limits'] as string | null),
  lowBalance: (row['low_balance'] as bigint | null) ?? undefined,
  origin: row['declared'] === 1n ? 'declared' : 'stored',
  createdAtMs: Number(row['created_at']),
})

const keyOf = (row: Row): ApiKey => ({
  id: row['id'] as string,
  accountId: row['account_id'] as string,
  name: row['name'] as string,
  kind: row['kind'] as ApiKey['kind'],
  last4: row['last4'] as string,
  allowedModels: listOf(row['allowed_models']),
  limits: limitsOf(row['limits'] as string | null),
  createdAtMs: Number(row['created_at']),
  revokedAtMs: row['revoked_at'] === null ? undefined : Number(row['revoked_at']),
})

/** Opens the port. Loads accounts and keys. */
export async function openSqliteAccounts(store: Store, options: AccountsOptions): Promise<Accounts> {
  const [accounts, keys] = [await store.query('SELECT * FROM account'), await store.query('SELECT * FROM api_key')]
  return new SqliteAccounts(store, options, { accounts, keys })
}

type StoredRows = { readonly accounts: readonly Row[]; readonly keys: readonly Row[] }

class SqliteAccounts implements Accounts {
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
  private readonly passes = new Map<string, PassTerms & { readonly keyId: string }>()
  private readonly playgroundKeys = new Map<string, Promise<NewKey>>()

  constructor(store: Store, options: AccountsOptions, rows: StoredRows) {
    this.store = store
    this.options = options
    for (const row of rows.accounts) this.accounts.set(row['id'] as string, accountOf(row))
    // Ids sort by time.
    const first = this.accounts.get([...this.accounts.keys()].toSorted()[0] ?? '')
    if (first) this.accounts.set(first.id, { ...first, isFirst: true })
    for (const row of rows.keys) {
      const key = keyOf(row)
      this.addKey(key)
      this.keyIdByDigest.set(Buffer.from(row['digest'] as Uint8Array).toString('hex'), key.id)
    }
  }

  authenticate(presented: string): Caller | undefined {
    if (!isKeyShaped(presented)) return undefined
    const digest = this.digestOf(presented)
    const keyId = this.keyIdByDigest.get(digest)
    return keyId === undefined ? this.callerWithPass(digest) : this.callerOf(keyId)
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

  isTaken(name: string): boolean {
    return this.making.has(name) || this.find(name) !== undefined
  }

  async create({ name, allowedModels, limits = NO_LIMITS, origin = 'stored' }: AccountDraft): Promise<Account> {
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
    const declared = declaredFlag(origin)
    const bind = [id, name, status, jsonOf(allowedModels), limitsText(limits), declared, createdAtMs]
    this.making.add(name)
    try {
      await this.write({ run: insertAccount, bind })
      this.accounts.set(id, account)
    } finally {
      this.making.delete(name)
    }
    return account
  }

  async update(id: string, change: AccountChange): Promise<Account> {
    const before = this.accounts.get(id)
    if (!before) throw new Error(`no account ${id}`)
    const account = changedAccount(before, change)
    // Memory changes first, because a suspended account must not start another request while the disk works.
    this.accounts.set(id, account)
    if (account.status === 'suspended') this.options.onBarred({ accountId: id })
    const bind = [
      account.status,
      jsonOf(account.allowedModels),
      limitsText(account.limits),
      account.lowBalance ?? null,
      declaredFlag(account.origin),
      id,
    ]
    await this.write({ run: updateAccount, bind, changes: 1 })
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
    const allowed = jsonOf(allowedModels)
    const stored = Buffer.from(digest, 'hex')
    const bind = [key.id, accountId, name, kind, stored, key.last4, allowed, limitsText(limits), key.createdAtMs]
    await this.write({ run: insertKey, bind })
    this.addKey(key)
    if (kind === 'client') this.keyIdByDigest.set(digest, key.id)
    return { key, secret }
  }

  async updateKey(id: string, change: KeyChange): Promise<ApiKey> {
    const before = this.keys.get(id)
    if (!before) throw new Error(`no key ${id}`)
    const key = changedKey(before, change)
    this.keys.set(id, key)
    const bind = [key.name, jsonOf(key.allowedModels), limitsText(key.limits), id]
    await this.write({ run: updateKey, bind, changes: 1 })
    return key
  }

  async passFor(accountId: string, terms: PassTerms): Promise<string> {
    const keyId = await this.playgroundKey(accountId)
    for (const [digest, { untilMs }] of this.passes) if (untilMs <= Date.now()) this.passes.delete(digest)
    const token = makeKey()
    this.passes.set(this.digestOf(token), { ...terms, keyId })
    return token
  }

  async revokeKey(id: string): Promise<boolean> {
    const key = this.keys.get(id)
    if (!key || key.revokedAtMs !== undefined) return false
    const revokedAtMs = Date.now()
    this.keys.set(id, { ...key, revokedAtMs })
    this.options.onBarred({ keyId: id })
    await this.write({ run: revokeKeyStatement, bind: [revokedAtMs, id], changes: 1 })
    return true
  }

  private callerWithPass(digest: string): Caller | undefined {
    const pass = this.passes.get(digest)
    if (!pass || pass.untilMs <= Date.now() || !pass.isValid()) return undefined
    const caller = this.callerOf(pass.keyId)
    return caller && { ...caller, stands: pass.isValid }
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
    this.keys.set(key.id, key)
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

  private write(step: WriteStep): Promise<void> {
    return mustWrite(this.store, [step])
  }
}
