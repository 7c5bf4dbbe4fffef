/** Management keys in SQL. They are in memory, and in the database by digest. */
import { timeOrderedId } from '../lib/primitives/ids.ts'
import { makeToken, tokenDigest } from '../lib/primitives/token.ts'
import { SharedRows } from '../store/shared-rows.ts'
import { statement, type Row } from '../store/statement.ts'
import type { Store } from '../store/store.ts'
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
export async function openSqlManagementKeys(store: Store): Promise<ManagementKeys> {
  const keys = new SqlManagementKeys(store)
  await keys.open()
  return keys
}

class SqlManagementKeys implements ManagementKeys {
  private readonly store: Store
  private readonly keys = new Map<string, ManagementKey>()
  private readonly idByDigest = new Map<string, string>()
  private readonly rows: SharedRows

  constructor(store: Store) {
    this.store = store
    this.rows = new SharedRows(store, {
      kind: 'management_key',
      all: 'SELECT * FROM management_key ORDER BY id',
      one: 'SELECT * FROM management_key WHERE id = ?',
      subjectOf: (row) => row['id'] as string,
      take: (_, [row]) => row && this.keep(keyOf(row), row['digest'] as string),
    })
  }

  open(): Promise<void> {
    return this.store.changes.watch(this.rows)
  }

  private keep(key: ManagementKey, digest: string): void {
    this.keys.set(key.id, key)
    if (key.revokedAtMs === undefined) this.idByDigest.set(digest, key.id)
    else this.idByDigest.delete(digest)
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
    await this.rows.write(id, [{ run: insert, bind }])
    this.keep(key, digest)
    return { key, secret }
  }

  async revoke(id: string): Promise<ManagementKey | undefined> {
    const key = this.keys.get(id)
    if (!key || key.revokedAtMs !== undefined) return key
    const revoked = { ...key, revokedAtMs: Date.now() }
    this.keys.set(id, revoked)
    for (const [digest, keyId] of this.idByDigest) if (keyId === id) this.idByDigest.delete(digest)
    // If another instance was faster, memory has its time afterwards.
    await this.rows.tryWrite(id, [{ run: revoke, bind: [revoked.revokedAtMs, id], changes: 1 }])
    return this.keys.get(id)
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
