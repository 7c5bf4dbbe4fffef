/**
 * Accounts and keys, all of them in memory: a request is authenticated without a query, and a revocation holds from
 * the tick in which it is made.
 */
import { type Account, type AccountStatus, type ApiKey, type Caller } from '../domain/account.ts'
import type { PriceOrigin } from '../domain/catalog.ts'
import { limitsOf, limitsText, NO_LIMITS, type Limits } from '../domain/limits.ts'
import type { NanoUsd } from '../domain/money.ts'
import { timeOrderedId } from '../lib/primitives/ids.ts'
import { statement, type Row, type WriteStep } from '../store/statement.ts'
import { mustWrite, type Store } from '../store/store.ts'
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

export type NewKey = {
  readonly key: ApiKey
  /** The only time the full key exists outside the client. */ readonly secret: string
}

/** Called when a key or an account stops being valid, so that its running streams can be cut. */
export type OnBarred = (barred: { readonly keyId: string } | { readonly accountId: string }) => void

export type AccountDraft = {
  readonly name: string
  readonly allowedModels?: readonly string[] | undefined
  readonly limits?: Limits | undefined
  readonly origin?: PriceOrigin | undefined
}

/** What is left out stays as it is; null allows all models, and warns of no balance. */
export type AccountChange = {
  readonly status?: AccountStatus
  readonly allowedModels?: readonly string[] | null
  readonly limits?: Limits
  readonly lowBalance?: NanoUsd | null
  readonly origin?: PriceOrigin
}

export type KeyDraft = {
  readonly accountId: string
  readonly name: string
  readonly allowedModels?: readonly string[] | undefined
  readonly limits?: Limits | undefined
  /** Left out: a client's. */
  readonly kind?: ApiKey['kind'] | undefined
}

/** What is left out stays as it is; null allows all models. */
export type KeyChange = {
  readonly name?: string | undefined
  readonly allowedModels?: readonly string[] | null | undefined
  readonly limits?: Limits | undefined
}

/** How long a token stands for a key, and while what. */
export type PassTerms = { readonly untilMs: number; readonly isValid: () => boolean }

export type Accounts = {
  /** The caller behind a presented key; undefined for a key that is malformed, unknown or revoked. */
  authenticate(presented: string): Caller | undefined
  /** The caller with a key by its id; undefined once it is revoked. */
  callerOf(keyId: string): Caller | undefined
  list(): readonly Account[]
  /** By id or name. */
  find(reference: string): Account | undefined
  /** Whether an account has this name or id, or is being made with it. To be asked in the tick of `create`. */
  isTaken(name: string): boolean
  create(account: AccountDraft): Promise<Account>
  update(id: string, change: AccountChange): Promise<Account>
  /** Clients' keys. */
  keysOf(accountId: string): readonly ApiKey[]
  findKey(id: string): ApiKey | undefined
  /** The key that was presented, also where it is revoked; undefined: it is none of ours. From memory. */
  keyPresented(presented: string): ApiKey | undefined
  /** The client's key of a secret, also where it is revoked; undefined: it is none of ours. */
  keyOfSecret(secret: string): Promise<ApiKey | undefined>
  createKey(key: KeyDraft): Promise<NewKey>
  updateKey(id: string, change: KeyChange): Promise<ApiKey>
  /** A token for the playground, which is let in as a key of the account until the terms end. In memory only. */
  passFor(accountId: string, terms: PassTerms): Promise<string>
  /** False when there was nothing to revoke. */
  revokeKey(id: string): Promise<boolean>
}

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

/** Loads accounts and keys. `pepper` keys the HMAC: without it, the stored digests match nothing. */
export async function openAccounts(store: Store, pepper: Uint8Array, onBarred: OnBarred): Promise<Accounts> {
  const accounts = new Map<string, Account>()
  const making = new Set<string>()
  const keys = new Map<string, ApiKey>()
  /** A list of accounts asks for the keys of each: none of them may cost a walk over all keys. */
  const keyIdsByAccount = new Map<string, string[]>()
  /** Revoked ones, too: who still sends one is to be told of it. */
  const keyIdByDigest = new Map<string, string>()
  const passes = new Map<string, PassTerms & { readonly keyId: string }>()
  const digestOf = (secret: string): string => new Bun.CryptoHasher('sha256', pepper).update(secret).digest('hex')

  const addKey = (key: ApiKey): void => {
    keys.set(key.id, key)
    const own = keyIdsByAccount.get(key.accountId)
    if (own) own.push(key.id)
    else keyIdsByAccount.set(key.accountId, [key.id])
  }
  for (const row of await store.query('SELECT * FROM account')) accounts.set(row['id'] as string, accountOf(row))
  // Ids are in the order of time.
  const first = accounts.get([...accounts.keys()].toSorted()[0] ?? '')
  if (first) accounts.set(first.id, { ...first, isFirst: true })
  for (const row of await store.query('SELECT * FROM api_key')) {
    const key = keyOf(row)
    addKey(key)
    keyIdByDigest.set(Buffer.from(row['digest'] as Uint8Array).toString('hex'), key.id)
  }
  const allKeysOf = (accountId: string): ApiKey[] =>
    (keyIdsByAccount.get(accountId) ?? []).flatMap((id) => keys.get(id) ?? [])
  const callerOf = (keyId: string): Caller | undefined => {
    const key = keys.get(keyId)
    const account = key?.revokedAtMs === undefined ? accounts.get(key?.accountId ?? '') : undefined
    return key && account && { key, account }
  }
  const callerWithPass = (digest: string): Caller | undefined => {
    const pass = passes.get(digest)
    if (!pass || pass.untilMs <= Date.now() || !pass.isValid()) return undefined
    const caller = callerOf(pass.keyId)
    return caller && { ...caller, stands: pass.isValid }
  }
  const createKey = async ({ accountId, name, allowedModels, limits = NO_LIMITS, kind = 'client' }: KeyDraft) => {
    const secret = makeKey()
    const digest = digestOf(secret)
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
    await write({ run: insertKey, bind })
    addKey(key)
    if (kind === 'client') keyIdByDigest.set(digest, key.id)
    return { key, secret }
  }
  const playgroundKeys = new Map<string, Promise<NewKey>>()
  const playgroundKey = async (accountId: string): Promise<string> => {
    const known = allKeysOf(accountId).find(({ kind }) => kind === 'playground')
    if (known && known.revokedAtMs === undefined) return known.id
    const making = playgroundKeys.get(accountId) ?? createKey({ accountId, name: 'Playground', kind: 'playground' })
    playgroundKeys.set(accountId, making)
    return making.then(({ key }) => key.id).finally(() => playgroundKeys.delete(accountId))
  }
  const write = (step: WriteStep): Promise<void> => mustWrite(store, [step])
  const find = (reference: string): Account | undefined =>
    accounts.get(reference) ?? [...accounts.values()].find(({ name }) => name === reference)

  return {
    authenticate(presented) {
      if (!isKeyShaped(presented)) return undefined
      const digest = digestOf(presented)
      const keyId = keyIdByDigest.get(digest)
      return keyId === undefined ? callerWithPass(digest) : callerOf(keyId)
    },
    callerOf,
    list: () => [...accounts.values()],
    find,
    isTaken: (name) => making.has(name) || find(name) !== undefined,
    async create({ name, allowedModels, limits = NO_LIMITS, origin = 'stored' }) {
      const account: Account = {
        id: timeOrderedId('acct_'),
        name,
        status: 'active',
        allowedModels,
        limits,
        origin,
        createdAtMs: Date.now(),
        isFirst: accounts.size + making.size === 0,
      }
      const { id, status, createdAtMs } = account
      const declared = declaredFlag(origin)
      const bind = [id, name, status, jsonOf(allowedModels), limitsText(limits), declared, createdAtMs]
      making.add(name)
      try {
        await write({ run: insertAccount, bind })
        accounts.set(id, account)
      } finally {
        making.delete(name)
      }
      return account
    },
    async update(id, { status, allowedModels, limits, lowBalance, origin }) {
      const before = accounts.get(id)
      if (!before) throw new Error(`no account ${id}`)
      const account: Account = {
        ...before,
        status: status ?? before.status,
        allowedModels: allowedModels === undefined ? before.allowedModels : (allowedModels ?? undefined),
        limits: limits ?? before.limits,
        lowBalance: lowBalance === undefined ? before.lowBalance : (lowBalance ?? undefined),
        origin: origin ?? before.origin,
      }
      // Memory first: a suspension must not admit one more request while the disk works.
      accounts.set(id, account)
      if (account.status === 'suspended') onBarred({ accountId: id })
      const bind = [
        account.status,
        jsonOf(account.allowedModels),
        limitsText(account.limits),
        account.lowBalance ?? null,
        declaredFlag(account.origin),
        id,
      ]
      await write({ run: updateAccount, bind, changes: 1 })
      return account
    },
    keysOf: (accountId) => allKeysOf(accountId).filter(({ kind }) => kind === 'client'),
    findKey: (id) => keys.get(id),
    keyPresented: (presented) =>
      isKeyShaped(presented) ? keys.get(keyIdByDigest.get(digestOf(presented)) ?? '') : undefined,
    async keyOfSecret(secret) {
      if (!isKeyShaped(secret)) return undefined
      const sql = "SELECT id FROM api_key WHERE digest = ? AND kind = 'client'"
      const [row] = await store.query(sql, [Buffer.from(digestOf(secret), 'hex')])
      return row && keys.get(row['id'] as string)
    },
    createKey,
    async updateKey(id, { name, allowedModels, limits }) {
      const before = keys.get(id)
      if (!before) throw new Error(`no key ${id}`)
      const key: ApiKey = {
        ...before,
        name: name ?? before.name,
        allowedModels: allowedModels === undefined ? before.allowedModels : (allowedModels ?? undefined),
        limits: limits ?? before.limits,
      }
      keys.set(id, key)
      const bind = [key.name, jsonOf(key.allowedModels), limitsText(key.limits), id]
      await write({ run: updateKey, bind, changes: 1 })
      return key
    },
    async passFor(accountId, terms) {
      const keyId = await playgroundKey(accountId)
      for (const [digest, { untilMs }] of passes) if (untilMs <= Date.now()) passes.delete(digest)
      const token = makeKey()
      passes.set(digestOf(token), { ...terms, keyId })
      return token
    },
    async revokeKey(id) {
      const key = keys.get(id)
      if (!key || key.revokedAtMs !== undefined) return false
      const revokedAtMs = Date.now()
      keys.set(id, { ...key, revokedAtMs })
      onBarred({ keyId: id })
      await write({ run: revokeKeyStatement, bind: [revokedAtMs, id], changes: 1 })
      return true
    },
  }
}
