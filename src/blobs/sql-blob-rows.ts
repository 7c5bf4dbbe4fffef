/** Rows of hosted files, in SQLite or PostgreSQL. */
import { eachDatabase, isListed, textList } from '../store/sql.ts'
import { statement, type WriteStep } from '../store/statement.ts'
import { mustWrite, type Store } from '../store/store.ts'
import { SWEEP_ROWS } from '../store/sweep.ts'
import type { BlobRow, BlobRows, FoundRow } from './blob-rows.ts'
import { blobTypes, type BlobPurpose } from './blobs.ts'

const insert = statement(
  `INSERT INTO blob (digest, account_id, purpose, content_type, bytes, created_at, expires_at)
   VALUES (?, ?, ?, ?, ?, ?, ?)`,
)
const markWithdrawn = statement('UPDATE blob SET removed_at = ? WHERE digest = ? AND removed_at IS NULL')
const forget = statement('DELETE FROM blob WHERE removed_at < ?')

const selectExpiries = eachDatabase(
  (database) => `SELECT digest, expires_at FROM blob WHERE ${isListed(database, 'digest', '?')} AND removed_at IS NULL`,
)
const selectKnown = eachDatabase(
  (database) => `SELECT digest, removed_at FROM blob WHERE ${isListed(database, 'digest', '?')}`,
)

export const openSqlBlobRows = (store: Store): BlobRows => new SqlBlobRows(store)

class SqlBlobRows implements BlobRows {
  private readonly store: Store

  constructor(store: Store) {
    this.store = store
  }

  insertStep({ digest, accountId, purpose, contentType, bytes, createdAtMs, expiresAtMs }: BlobRow): WriteStep {
    return { run: insert, bind: [digest, accountId, purpose, contentType, bytes, createdAtMs, expiresAtMs], changes: 1 }
  }

  async insert(row: BlobRow): Promise<void> {
    await mustWrite(this.store, [this.insertStep(row)])
  }

  withdrawStep(digest: string): WriteStep {
    return { run: markWithdrawn, bind: [Date.now(), digest] }
  }

  async withdraw(digests: readonly string[]): Promise<void> {
    if (digests.length === 0) return
    await this.store.write(
      digests.map((digest) => this.withdrawStep(digest)),
      'bulk',
    )
  }

  async forget(beforeMs: number): Promise<void> {
    await this.store.write([{ run: forget, bind: [beforeMs] }], 'bulk')
  }

  async find(digest: string, purpose: BlobPurpose): Promise<FoundRow | undefined> {
    const sql = `SELECT content_type, bytes, created_at, expires_at, removed_at FROM blob
      WHERE digest = ? AND purpose = ?`
    const [row] = await this.store.query(sql, [digest, purpose])
    const contentType = blobTypes.find((type) => type === row?.['content_type'])
    if (!row || !contentType) return undefined
    return {
      contentType,
      bytes: Number(row['bytes']),
      createdAtMs: Number(row['created_at']),
      expiresAtMs: Number(row['expires_at']),
      isWithdrawn: row['removed_at'] !== null,
    }
  }

  async expiries(digests: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const rows = await this.store.aside.query(selectExpiries, [textList(digests)])
    return new Map(rows.map((row) => [String(row['digest']), Number(row['expires_at'])]))
  }

  async expiredBy(nowMs: number): Promise<{ readonly digests: readonly string[]; readonly hasMore: boolean }> {
    const sql = `SELECT digest FROM blob WHERE expires_at <= ? AND removed_at IS NULL LIMIT ${SWEEP_ROWS}`
    const rows = await this.store.query(sql, [nowMs])
    return { digests: rows.map(({ digest }) => String(digest)), hasMore: rows.length === SWEEP_ROWS }
  }

  async keptDigests(): Promise<ReadonlySet<string>> {
    const rows = await this.store.query('SELECT digest FROM blob WHERE removed_at IS NULL')
    return new Set(rows.map(({ digest }) => String(digest)))
  }

  async statesOf(digests: readonly string[]): Promise<ReadonlyMap<string, 'kept' | 'withdrawn'>> {
    const rows = await this.store.aside.query(selectKnown, [textList(digests)])
    return new Map(rows.map((row) => [String(row['digest']), row['removed_at'] === null ? 'kept' : 'withdrawn']))
  }

  async keptBetween(
    { above, upTo }: { readonly above: string; readonly upTo: string | undefined },
    madeBeforeMs: number,
    rowsMax: number,
  ): Promise<readonly string[]> {
    // No digest is above `g`, because digests are hexadecimal.
    const sql = `SELECT digest FROM blob WHERE digest > ?1 AND digest <= ?2 AND removed_at IS NULL
      AND created_at < ?3 AND expires_at > ?3 ORDER BY digest LIMIT ?4`
    const rows = await this.store.aside.query(sql, [above, upTo ?? 'g', madeBeforeMs, rowsMax])
    return rows.map(({ digest }) => String(digest))
  }
}
