/** Management keys on SQLite. They are in memory, and on disk by digest. */
import { timeOrderedId } from '../lib/primitives/ids.ts'
import { makeToken, tokenDigest } from '../lib/primitives/token.ts'
import { statement, type Row } from '../store/statement.ts'
import { mustWrite, type Store } from '../store/store.ts'
import {
  keyStatus,
  type ManagementKey,
  type ManagementKeyDraft,
  type ManagementKeys,
  type NewManagementKey,
} from './management-keys.ts'
import type { UserDirectory } from './users.ts'

const insert = statement(
  'INSERT INTO management_key (id, account_id, name, digest, last4, created_by, created_at) VALUES (?, ?, ?, ?, ?, ?, ?)',
)
const revoke = statement('UPDATE management_key SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL')

/** Opens the port. Loads the management keys. */
export async function openSqliteManagementKeys(store: Store): Promise<ManagementKeys> {
  return new SqliteManagementKeys(store, await store.query('SELECT * FROM management_key ORDER BY id'))
}

class SqliteManagementKeys implements ManagementKeys {
  private readonly store: Store
  private readonly keys = new Map<string, ManagementKey>()
  private readonly idByDigest = new Map<string, string>()

  constructor(store: Store, rows: readonly Row[]) {
    this.store = store
    for (const row of rows) {
      const key = keyOf(row)
      this.keys.set(key.id, key)
      if (key.revokedAtMs === undefined) this.idByDigest.set(row['digest'] as string, key.id)
    }
  }

  authenticate(secret: string, users: UserDirectory): ManagementKey | undefined {
    const key = this.keys.get(this.idByDigest.get(tokenDigest(secret)) ?? '')
    return key && keyStatus(key, users) === 'active' ? key : undefined
  }

  async keyOfSecret(secret: string): Promise<ManagementKey | undefined> {
    const [row] = await this.store.query('SELECT id FROM management_key WHERE digest = ?', [tokenDigest(secret)])
    return row && this.keys.get(row['id'] as string)
  }

  find(id: string): ManagementKey | undefined {
    return this.keys.get(id)
  }

  activeOf(makerId: string, users: UserDirectory): number {
    return [...this.keys.values()].filter((key) => key.createdBy === makerId && keyStatus(key, users) === 'active')
      .length
  }

  listOf(accountId: string | undefined): readonly ManagementKey[] {
    return [...this.keys.values()].filter((key) => key.accountId === accountId)
  }

  async create({ accountId, name, createdBy }: ManagementKeyDraft): Promise<NewManagementKey> {
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

const keyOf = (row: Row): ManagementKey => ({
  id: row['id'] as string,
  accountId: (row['account_id'] as string | null) ?? undefined,
  name: row['name'] as string,
  last4: row['last4'] as string,
  createdBy: (row['created_by'] as string | null) ?? undefined,
  createdAtMs: Number(row['created_at']),
  revokedAtMs: row['revoked_at'] === null ? undefined : Number(row['revoked_at']),
})
