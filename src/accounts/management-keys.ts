/** Keys for programs that manage: an operator's, or an account's. In memory, by digest on disk. */
import { timeOrderedId } from '../lib/primitives/ids.ts'
import { makeToken, tokenDigest } from '../lib/primitives/token.ts'
import { statement, type Row } from '../store/statement.ts'
import { mustWrite, type Store } from '../store/store.ts'
import type { Users } from './users.ts'

const insert = statement(
  'INSERT INTO management_key (id, account_id, name, digest, last4, created_by, created_at) VALUES (?, ?, ?, ?, ?, ?, ?)',
)
const revoke = statement('UPDATE management_key SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL')

export type ManagementKey = {
  readonly id: string
  /** Undefined: may do what operators may. */
  readonly accountId: string | undefined
  readonly name: string
  readonly last4: string
  /** Id of whoever made it in the console; undefined: a command of the machine's operator. */
  readonly createdBy: string | undefined
  readonly createdAtMs: number
  readonly revokedAtMs: number | undefined
}

export type ManagementKeyDraft = Pick<ManagementKey, 'accountId' | 'name' | 'createdBy'>

export class ManagementKeys {
  private readonly store: Store
  private readonly keys = new Map<string, ManagementKey>()
  private readonly idByDigest = new Map<string, string>()

  private constructor(store: Store) {
    this.store = store
  }

  static async open(store: Store): Promise<ManagementKeys> {
    const book = new ManagementKeys(store)
    for (const row of await store.query('SELECT * FROM management_key ORDER BY id')) {
      const key = keyOf(row)
      book.keys.set(key.id, key)
      if (key.revokedAtMs === undefined) book.idByDigest.set(row['digest'] as string, key.id)
    }
    return book
  }

  /** The key of a secret; undefined when there is none, or its maker may no longer do what it may. */
  authenticate(secret: string, users: Users): ManagementKey | undefined {
    const key = this.keys.get(this.idByDigest.get(tokenDigest(secret)) ?? '')
    return key && keyStatus(key, users) === 'active' ? key : undefined
  }

  /** The key of a secret, also where it is revoked; undefined: it is none of ours. */
  async keyOfSecret(secret: string): Promise<ManagementKey | undefined> {
    const [row] = await this.store.query('SELECT id FROM management_key WHERE digest = ?', [tokenDigest(secret)])
    return row && this.keys.get(row['id'] as string)
  }

  find(id: string): ManagementKey | undefined {
    return this.keys.get(id)
  }

  /** How many keys stop when somebody is barred. */
  activeOf(makerId: string, users: Users): number {
    return [...this.keys.values()].filter((key) => key.createdBy === makerId && keyStatus(key, users) === 'active')
      .length
  }

  /** Those of an account, or the operators'. */
  listOf(accountId: string | undefined): readonly ManagementKey[] {
    return [...this.keys.values()].filter((key) => key.accountId === accountId)
  }

  /** The secret is there once. */
  async create({ accountId, name, createdBy }: ManagementKeyDraft): Promise<{ key: ManagementKey; secret: string }> {
    const secret = makeToken('mk-tg-')
    const id = timeOrderedId('mkey_')
    const made = { id, accountId, name, createdBy, createdAtMs: Date.now() }
    const key = { ...made, last4: secret.slice(-4), revokedAtMs: undefined }
    const digest = tokenDigest(secret)
    const bind = [id, accountId ?? null, name, digest, key.last4, createdBy ?? null, key.createdAtMs]
    await mustWrite(this.store, [{ run: insert, bind }])
    this.keys.set(id, key)
    this.idByDigest.set(digest, id)
    return { key, secret }
  }

  async revoke(id: string): Promise<ManagementKey | undefined> {
    const key = this.keys.get(id)
    if (!key || key.revokedAtMs !== undefined) return key
    const revoked = { ...key, revokedAtMs: Date.now() }
    this.keys.set(id, revoked)
    for (const [digest, keyId] of this.idByDigest) if (keyId === id) this.idByDigest.delete(digest)
    await mustWrite(this.store, [{ run: revoke, bind: [revoked.revokedAtMs, id], changes: 1 }])
    return revoked
  }
}

export const keyStatuses = ['active', 'suspended', 'revoked'] as const

/** `suspended`: its maker is barred, or has lost the role for it. A key must not outlive the rights of its maker. */
export function keyStatus(key: ManagementKey, users: Users): (typeof keyStatuses)[number] {
  if (key.revokedAtMs !== undefined) return 'revoked'
  if (key.createdBy === undefined) return 'active'
  const maker = users.find(key.createdBy)
  if (maker?.status !== 'active') return 'suspended'
  const isOwner = maker.role === 'owner' && maker.accountId === key.accountId
  return maker.role === 'operator' || isOwner ? 'active' : 'suspended'
}

const keyOf = (row: Row): ManagementKey => ({
  id: row['id'] as string,
  accountId: (row['account_id'] as string | null) ?? undefined,
  name: row['name'] as string,
  last4: row['last4'] as string,
  createdBy: (row['created_by'] as string | null) ?? undefined,
  createdAtMs: Number(row['created_at']),
  revokedAtMs: row['revoked_at'] === null ? undefined : Number(row['revoked_at']),
})
