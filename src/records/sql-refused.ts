/** Refused requests in a database. They are noted in memory and written once a second, after everything else. */
import { idBound, idTimeMs } from '../lib/primitives/ids.ts'
import { statement, type Row, type SqlValue, type WriteStep } from '../store/statement.ts'
import type { Store } from '../store/store.ts'
import { NOBODY, RefusalCoalescer, type CoalescedRefusal } from './refusal-coalescer.ts'
import {
  COUNTED_HOURS,
  refusedBounds,
  type KeptRefusal,
  type RefusedCount,
  type RefusedPage,
  type RefusedRequest,
  type RefusedRequests,
} from './refused.ts'
import { HOUR_MS, MINUTE_MS } from '../lib/primitives/units.ts'

const FLUSH_MS = 1_000

const insert = statement(
  `INSERT INTO refused_request (account_id, id, key_id, method, endpoint, model, status, code, repeats, last_at, created_at)
   VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
   ON CONFLICT (account_id, id) DO UPDATE SET repeats = excluded.repeats, last_at = excluded.last_at`,
)
const count = statement(
  `INSERT INTO refused_hour (account_id, hour, status, code, requests) VALUES (?, ?, ?, ?, ?)
   ON CONFLICT (account_id, hour, status, code) DO UPDATE SET requests = refused_hour.requests + excluded.requests`,
)
const trim = statement(
  `DELETE FROM refused_request WHERE account_id = ?1 AND id <=
   (SELECT id FROM refused_request WHERE account_id = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2)`,
)
const trimAll = statement(
  'DELETE FROM refused_request WHERE id <= (SELECT id FROM refused_request ORDER BY id DESC LIMIT 1 OFFSET ?)',
)
const forgetCounts = statement('DELETE FROM refused_hour WHERE hour < ?')

export const openSqlRefusedRequests = (store: Store, now?: () => number): RefusedRequests =>
  new SqlRefusedRequests(store, now)

class SqlRefusedRequests implements RefusedRequests {
  private readonly store: Store
  private readonly now: () => number
  private readonly coalescer = new RefusalCoalescer()
  private timer: Timer | undefined
  private writing: Promise<void> = Promise.resolve()

  constructor(store: Store, now: () => number = () => Date.now()) {
    this.store = store
    this.now = now
  }

  note(refusal: RefusedRequest): void {
    this.coalescer.note(refusal, this.now())
    this.timer ??= setTimeout(() => void this.flush(), FLUSH_MS).unref()
  }

  flush(): Promise<void> {
    clearTimeout(this.timer)
    this.timer = undefined
    const steps = this.steps()
    if (steps.length === 0) return this.writing
    // A refusal that cannot be written is lost. Nothing depends on it, and a store that fails has stopped the process.
    const written = this.store.write(steps, 'bulk').then(() => undefined)
    this.writing = Promise.all([this.writing, written]).then(
      () => undefined,
      () => undefined,
    )
    return this.writing
  }

  private steps(): WriteStep[] {
    const { rows, counts } = this.coalescer.take()
    const accounts = new Set(rows.map(({ refusal }) => refusal.accountId ?? NOBODY))
    const counted = counts.map(({ accountId, refusal: { status, code, atMs }, requests }) => ({
      run: count,
      bind: [accountId, Math.floor(atMs / HOUR_MS), status, code, requests],
    }))
    return [
      ...rows.map((noted) => ({ run: insert, bind: valuesOf(noted) })),
      ...[...accounts].toSorted().map((id) => ({ run: trim, bind: [id, refusedBounds.rowsPerAccountMax] })),
      // In one order, so that two instances never wait for each other's counts.
      ...counted.toSorted((a, b) => (String(a.bind) < String(b.bind) ? -1 : 1)),
    ]
  }

  async list(accountId: string, { limit, before = 'req_~', ...filter }: RefusedPage): Promise<readonly KeptRefusal[]> {
    await this.flush()
    const wanted: readonly [string, SqlValue | undefined][] = [
      ['account_id = ?', accountId],
      ['id < ?', before],
      ['code = ?', filter.code],
      ['status = ?', filter.status],
      ['key_id = ?', filter.keyId],
      ['model = ?', filter.model],
      ['endpoint = ?', filter.endpoint],
      ['last_at >= ?', filter.fromMs],
      ['created_at < ?', filter.toMs],
    ]
    const stated = wanted.filter((each): each is [string, SqlValue] => each[1] !== undefined)
    const where = stated.map(([condition]) => condition).join(' AND ')
    const sql = `SELECT * FROM refused_request WHERE ${where} ORDER BY id DESC LIMIT ?`
    const rows = await this.store.aside.query(sql, [...stated.map(([, value]) => value), limit], accountId)
    return rows.map(keptOf)
  }

  async find(id: string, accountId?: string): Promise<KeptRefusal | undefined> {
    await this.flush()
    const scope = accountId ?? null
    const whose = '(CAST(?2 AS text) IS NULL OR account_id = ?2)'
    const [own] = await this.store.aside.query(`SELECT * FROM refused_request WHERE id = ?1 AND ${whose}`, [id, scope])
    if (own || !id.startsWith('req_')) return own && keptOf(own)
    const atMs = idTimeMs('req_', id)
    const [only, other] = await this.store.aside.query(
      `SELECT * FROM refused_request
       WHERE id > ?1 AND id < ?3 AND ${whose} AND repeats > 0 AND last_at >= ?4 LIMIT 2`,
      [idBound('req_', atMs - MINUTE_MS), scope, idBound('req_', atMs + 1), atMs],
    )
    return only && !other ? keptOf(only) : undefined
  }

  async counted(
    accountId: string | undefined,
    { fromHour, toHour }: { readonly fromHour: number; readonly toHour: number },
  ): Promise<readonly RefusedCount[]> {
    await this.flush()
    // Both queries have an index of their own.
    const whose = accountId === undefined ? '' : ' AND account_id = ?'
    const rows = await this.store.aside.query(
      `SELECT status, code, CAST(sum(requests) AS bigint) AS requests FROM refused_hour
       WHERE hour >= ? AND hour < ?${whose} GROUP BY status, code ORDER BY requests DESC, code`,
      [fromHour, toHour, ...(accountId === undefined ? [] : [accountId])],
      accountId,
    )
    return rows.map((row) => ({
      status: Number(row['status']),
      code: String(row['code']),
      requests: Number(row['requests']),
    }))
  }

  async sweep(): Promise<void> {
    const beforeHour = Math.floor(this.now() / HOUR_MS) - COUNTED_HOURS
    const steps = [
      { run: trimAll, bind: [refusedBounds.rowsMax] },
      { run: forgetCounts, bind: [beforeHour] },
    ]
    await this.store.write(steps, 'bulk')
  }
}

const valuesOf = ({ refusal, repeats, lastAtMs }: CoalescedRefusal): SqlValue[] => [
  refusal.accountId ?? NOBODY,
  refusal.id,
  refusal.keyId ?? null,
  refusal.method,
  refusal.endpoint,
  refusal.model ?? null,
  refusal.status,
  refusal.code,
  repeats,
  lastAtMs,
  refusal.atMs,
]

const textIn = (value: SqlValue | undefined): string | undefined => (typeof value === 'string' ? value : undefined)

const keptOf = (row: Row): KeptRefusal => ({
  id: String(row['id']),
  accountId: row['account_id'] === NOBODY ? undefined : textIn(row['account_id']),
  keyId: textIn(row['key_id']),
  method: String(row['method']),
  endpoint: String(row['endpoint']),
  model: textIn(row['model']),
  status: Number(row['status']),
  code: String(row['code']),
  repeats: Number(row['repeats']),
  lastAtMs: Number(row['last_at']),
  atMs: Number(row['created_at']),
})
