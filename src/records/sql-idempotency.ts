/**
 * Idempotency keys in a database. A request locks its key in memory at once, and on disk together with its hold. Of
 * instances that share the database, each may have locked a key in its memory. The unique key of the table then lets
 * one of their holds be written, and refuses the others.
 */
import { contentBytes, type MessageContent } from '../lib/http/message-content.ts'
import type { Check } from '../lib/primitives/checks.ts'
import { KeptBytes } from '../lib/primitives/kept-bytes.ts'
import { eachDatabase, isPlaced, placeColumn, placesOf } from '../store/sql.ts'
import { racingStatement, statement, type Row, type WriteStep } from '../store/statement.ts'
import type { Store } from '../store/store.ts'
import { SWEEP_ROWS } from '../store/sweep.ts'
import {
  ANSWER_BYTES_MAX,
  ANSWER_KEPT_MS,
  type Idempotency,
  type IdempotencyKey,
  type IdempotencyLock,
  type KeptAnswer,
  type KeptBounds,
  type LockOutcome,
} from './idempotency.ts'

const forgetStale = racingStatement('DELETE FROM idempotency WHERE account_id = ? AND key = ? AND created_at = ?', 2)
const insert = racingStatement(
  `INSERT INTO idempotency (account_id, key, fingerprint, request_id, created_at) VALUES (?, ?, ?, ?, ?)
   ON CONFLICT (account_id, key) DO NOTHING`,
  2,
)
const keepText = statement('UPDATE idempotency SET status = ?, headers = ?, body = ? WHERE account_id = ? AND key = ?')
const keepBytes = statement(
  'UPDATE idempotency SET status = ?, headers = ?, body_bytes = ? WHERE account_id = ? AND key = ?',
)
/** The size of a row's answer. */
const KEPT_BYTES = 'coalesce(octet_length(body), length(body_bytes), 0)'
const KEPT_BY_ACCOUNT = `SELECT sum(${KEPT_BYTES}) AS bytes FROM idempotency WHERE account_id = ?`
const drop = statement('DELETE FROM idempotency WHERE account_id = ? AND key = ?')
const dropRunning = statement('DELETE FROM idempotency WHERE request_id = ? AND status IS NULL')
// A running request has an open hold. Its row is deleted with the hold, however long the request takes.
const STALE = 'FROM idempotency WHERE created_at < ? AND status IS NOT NULL'
const sweep = statement(eachDatabase((database) => `DELETE ${STALE} AND ${isPlaced(database, '?')}`))
const STALE_SQL = eachDatabase(
  (database) => `SELECT ${placeColumn(database)}, account_id, key, ${KEPT_BYTES} AS bytes
    ${STALE} LIMIT ${SWEEP_ROWS}`,
)

/** The steps that forget the key of an expired hold. A request that died with its process may be sent again. */
export const forgetExpired = (holdId: string): WriteStep[] => [{ run: dropRunning, bind: [holdId] }]

class SqlLock implements IdempotencyLock {
  readonly fingerprint: Uint8Array
  private readonly accountId: string
  private readonly key: string
  private readonly kept: KeptAnswers
  /** An expired answer under the same key. It is deleted when this request begins. */
  stale: { readonly createdAtMs: number; readonly bytes: number } | undefined
  /** A time of `performance.now`. */
  readonly sinceMs = performance.now()
  readonly end: () => void

  constructor(accountId: string, { key, fingerprint }: IdempotencyKey, { kept, end }: ClaimOptions) {
    this.accountId = accountId
    this.kept = kept
    this.key = key
    this.fingerprint = fingerprint
    this.end = end
  }

  begin(requestId: string): WriteStep[] {
    const { accountId, key, fingerprint, stale } = this
    const insertion = { run: insert, bind: [accountId, key, fingerprint, requestId, Date.now()], changes: 1 }
    if (!stale) return [insertion]
    this.kept.give(accountId, stale.bytes)
    // The steps are made again if the store refuses the hold.
    this.stale = { ...stale, bytes: 0 }
    return [{ run: forgetStale, bind: [accountId, key, stale.createdAtMs] }, insertion]
  }

  keep({ status, headers, body }: KeptAnswer): WriteStep[] {
    const isKept = this.kept.take(this.accountId, body === undefined ? 0 : contentBytes(body))
    const content = body !== undefined && isKept ? body : null
    const run = typeof content === 'string' || content === null ? keepText : keepBytes
    return [{ run, bind: [status, JSON.stringify(headers), content, this.accountId, this.key], changes: 1 }]
  }

  drop(): WriteStep[] {
    return [{ run: drop, bind: [this.accountId, this.key], changes: 1 }]
  }
}

type ClaimOptions = { readonly kept: KeptAnswers; readonly end: () => void }

/** The bytes kept for each account. */
class KeptAnswers {
  private readonly bounds: KeptBounds
  private readonly bytes: KeptBytes
  /** Accounts that have used a key, even if only the charge was kept and not the answer. */
  private readonly accounts = new Set<string>()

  constructor(store: Store, bounds: KeptBounds) {
    this.bounds = bounds
    const recount = async (accountId: string): Promise<number> => {
      const [row] = await store.aside.query(KEPT_BY_ACCOUNT, [accountId], accountId)
      return Number(row?.['bytes'] ?? 0)
    }
    const { isShared } = store.changes
    this.bytes = new KeptBytes({ max: bounds.bytesPerAccountMax, recount: isShared ? recount : undefined })
  }

  /** Counts an answer that is already on disk. */
  count(accountId: string, bytes: number): void {
    this.accounts.add(accountId)
    this.bytes.count(accountId, bytes)
  }

  /** Reserves room for an answer. Returns whether it can be kept. */
  take(accountId: string, bytes: number): boolean {
    this.accounts.add(accountId)
    if (bytes > ANSWER_BYTES_MAX || this.bounds.room.isShort) return false
    return this.bytes.take(accountId, bytes)
  }

  has(accountId: string): boolean {
    return this.accounts.has(accountId)
  }

  give(accountId: string, bytes: number): void {
    if (bytes === 0) return
    this.bytes.give(accountId, bytes)
    if (this.bytes.takenBy(accountId) === 0) this.accounts.delete(accountId)
  }
}

/** Opens the port. Reads how much is kept for each account. */
export async function openSqlIdempotency(store: Store, bounds: KeptBounds): Promise<Idempotency> {
  const rows = await store.query(`SELECT account_id, sum(${KEPT_BYTES}) AS bytes FROM idempotency GROUP BY account_id`)
  const kept = new KeptAnswers(store, bounds)
  for (const row of rows) kept.count(String(row['account_id']), Number(row['bytes']))
  return new SqlIdempotency(store, kept)
}

class SqlIdempotency implements Idempotency {
  private readonly store: Store
  private readonly kept: KeptAnswers
  private readonly locks = new Map<string, SqlLock>()
  private readonly lookUps = new Map<string, Promise<Row | undefined>>()
  /** The sweeps in progress, by the keys whose rows they delete. */
  private readonly sweeping = new Map<string, Promise<unknown>>()

  constructor(store: Store, kept: KeptAnswers) {
    this.store = store
    this.kept = kept
  }

  keepsFor(accountId: string): boolean {
    // Other instances keep answers that this one has not heard of.
    return this.store.changes.isShared || this.kept.has(accountId)
  }

  /** Requests that arrive during a look-up share it. Its result is valid for all of them. */
  async lock(accountId: string, wanted: IdempotencyKey): Promise<LockOutcome> {
    const name = nameOf(accountId, wanted.key)
    const sweeping = this.sweeping.get(name)
    if (sweeping) await sweeping
    let row: Row | undefined
    if (!this.locks.has(name)) {
      const lookUp = this.lookUp(name, accountId, wanted.key)
      try {
        row = await lookUp
      } finally {
        // This is the tick in which the first of them locks the key. A look-up that began between the two could be
        // older than the lock and return after the lock has ended.
        if (this.lookUps.get(name) === lookUp) this.lookUps.delete(name)
      }
    }
    const running = this.locks.get(name)
    if (running) {
      const forMs = performance.now() - running.sinceMs
      return isSame(running.fingerprint, wanted.fingerprint) ? { kind: 'running', forMs } : { kind: 'mismatch' }
    }
    const ageMs = row ? Date.now() - Number(row['created_at']) : 0
    if (row && (row['status'] === null || ageMs <= ANSWER_KEPT_MS)) return usedIn(row, wanted, ageMs)
    const lock: SqlLock = new SqlLock(accountId, wanted, {
      kept: this.kept,
      end: () => {
        if (this.locks.get(name) === lock) this.locks.delete(name)
      },
    })
    if (row) {
      lock.stale = { createdAtMs: Number(row['created_at']), bytes: contentBytes(contentOf(row) ?? '') }
    }
    this.locks.set(name, lock)
    return { kind: 'locked', lock }
  }

  /** One look-up serves all concurrent requests. A second one could be older than a lock made meanwhile. */
  private lookUp(name: string, accountId: string, key: string): Promise<Row | undefined> {
    const underWay = this.lookUps.get(name)
    if (underWay) return underWay
    const sql = `SELECT fingerprint, request_id, status, headers, body, body_bytes, created_at FROM idempotency
      WHERE account_id = ? AND key = ?`
    const lookUp = this.store.query(sql, [accountId, key]).then(([row]) => row)
    this.lookUps.set(name, lookUp)
    return lookUp
  }

  async sweep(): Promise<void> {
    const before = Date.now() - ANSWER_KEPT_MS
    for (;;) {
      const found = await this.store.query(STALE_SQL, [before])
      // A request that has locked a key, or is about to, deletes and counts the old row itself.
      const rows = found.filter((row) => !this.isWanted(nameIn(row)))
      if (rows.length === 0) return
      const sweeping = this.store.write([{ run: sweep, bind: [before, placesOf(rows)], changes: rows.length }], 'bulk')
      for (const row of rows) this.sweeping.set(nameIn(row), sweeping)
      try {
        // The write is refused if one of the keys was used again during the query, because its row is then a new one.
        if ((await sweeping).kind === 'refused') continue
        for (const row of rows) this.kept.give(String(row['account_id']), Number(row['bytes']))
      } finally {
        for (const row of rows) this.sweeping.delete(nameIn(row))
      }
    }
  }

  private isWanted(name: string): boolean {
    return this.locks.has(name) || this.lookUps.has(name)
  }
}

const nameOf = (accountId: string, key: string): string => `${accountId}\n${key}`
const nameIn = (row: Row): string => nameOf(String(row['account_id']), String(row['key']))

/** The outcome for a key that has a row. Without a status, the request is carried out by another instance. */
function usedIn(row: Row, { fingerprint }: IdempotencyKey, ageMs: number): LockOutcome {
  if (!isSame(row['fingerprint'] as Uint8Array, fingerprint)) return { kind: 'mismatch' }
  if (row['status'] === null) return { kind: 'running', forMs: Math.max(0, ageMs) }
  const answer = {
    status: Number(row['status']),
    headers: JSON.parse(row['headers'] as string) as Record<string, string>,
    body: contentOf(row),
  }
  return { kind: 'kept', requestId: row['request_id'] as string, answer }
}

const contentOf = ({ body, body_bytes: bytes }: Row): MessageContent | undefined =>
  (body as string | null) ?? (bytes as Uint8Array | null) ?? undefined

const isSame = (a: Uint8Array, b: Uint8Array): boolean => Buffer.compare(a, b) === 0

export const idempotencyChecks: readonly Check[] = [
  {
    // I6, at most one charge per key, is kept by the schema: a key has one row with one request, whose charge is its
    // hold. The answer to a request for a task is the task. It exists from the start, whatever its result.
    code: 'idempotency',
    invariant: 'an idempotency key has an open hold of its account, or an answer and a charge',
    found: 'hold {state}',
    sql: `SELECT i.account_id || ' ' || i.request_id AS subject, coalesce(h.state, 'none') AS state
      FROM idempotency i LEFT JOIN hold h ON h.id = i.request_id AND h.account_id = i.account_id
      WHERE h.state IS NULL OR CASE h.owner WHEN 'task' THEN i.status IS NULL
        ELSE h.state <> CASE WHEN i.status IS NULL THEN 'open' ELSE 'settled' END END`,
  },
]
