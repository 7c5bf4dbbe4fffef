/**
 * Requests that were refused before any money was held, so that a client's request id leads somewhere. Noted in memory
 * and written once a second, behind everything else: a flood of them costs a count each, and a bounded number of rows.
 */
import { idBound, idTimeMs } from '../lib/primitives/ids.ts'
import { statement, type Row, type SqlValue, type WriteStep } from '../store/statement.ts'
import type { Store } from '../store/store.ts'
import { HOUR_MS, MINUTE_MS } from '../lib/primitives/units.ts'

export type RefusedRequest = {
  readonly id: string
  /** Undefined: nobody's that is known. */
  readonly accountId: string | undefined
  readonly keyId: string | undefined
  readonly method: string
  readonly endpoint: string
  /** The model that was asked for, also where there is none of that name. */
  readonly model: string | undefined
  readonly status: number
  readonly code: string
  readonly atMs: number
}

/** A refusal as it is kept; `repeats` like it followed until `lastAtMs`, without rows of their own. */
export type KeptRefusal = RefusedRequest & { readonly repeats: number; readonly lastAtMs: number }

export type RefusedPage = {
  readonly limit: number
  /** Only those before this id. */
  readonly before?: string | undefined
} & RefusedFilter

/** Only those of which all that is named holds. */
export type RefusedFilter = {
  readonly code?: string | undefined
  readonly status?: number | undefined
  readonly keyId?: string | undefined
  readonly model?: string | undefined
  readonly endpoint?: string | undefined
  /** Whose like came in this time, the end not included. Unix ms. */
  readonly fromMs?: number | undefined
  readonly toMs?: number | undefined
}

export type RefusedCount = { readonly status: number; readonly code: string; readonly requests: number }

/** Of an account within a minute: rows in any case, and further ones of a sort that has none yet. */
const ROWS_PER_MINUTE = 30
const SORTS_PER_MINUTE = 20
/** Of all accounts within a minute. Beyond it there are counts alone. */
const ALL_ROWS_PER_MINUTE = 1_000
/** Pairs of account and code that are counted apart between two writes. */
const COUNTS_MAX = 1_000
export const refusedBounds = { rowsPerAccountMax: 1_000, rowsMax: 100_000 }
const FLUSH_MS = 1_000
const COUNTED_HOURS = 400 * 24

const insert = statement(
  `INSERT INTO refused_request (account_id, id, key_id, method, endpoint, model, status, code, repeats, last_at, created_at)
   VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
   ON CONFLICT (account_id, id) DO UPDATE SET repeats = excluded.repeats, last_at = excluded.last_at`,
)
const count = statement(
  `INSERT INTO refused_hour (account_id, hour, status, code, requests) VALUES (?, ?, ?, ?, ?)
   ON CONFLICT (account_id, hour, status, code) DO UPDATE SET requests = requests + excluded.requests`,
)
const trim = statement(
  `DELETE FROM refused_request WHERE account_id = ?1 AND id <=
   (SELECT id FROM refused_request WHERE account_id = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2)`,
)
const trimAll = statement(
  'DELETE FROM refused_request WHERE id <= (SELECT id FROM refused_request ORDER BY id DESC LIMIT 1 OFFSET ?)',
)
const forgetCounts = statement('DELETE FROM refused_hour WHERE hour < ?')

type CoalescedRefusal = { readonly refusal: RefusedRequest; repeats: number; lastAtMs: number }
type RefusalCount = { readonly accountId: string; readonly refusal: RefusedRequest; requests: number }
type Minute = { rows: number; readonly bySort: Map<string, CoalescedRefusal> }

const NOBODY = ''
const sortOf = ({ status, code, endpoint, keyId, model }: RefusedRequest): string =>
  [status, code, endpoint, keyId, model].join('\n')

export class RefusedRequests {
  private readonly store: Store
  private readonly now: () => number
  private minute = 0
  private rowsOfMinute = 0
  /** By account, of this minute. */
  private readonly minutes = new Map<string, Minute>()
  private unwritten = new Set<CoalescedRefusal>()
  private counts = new Map<string, RefusalCount>()
  private timer: Timer | undefined
  private writing: Promise<void> = Promise.resolve()

  constructor(store: Store, now: () => number = Date.now) {
    this.store = store
    this.now = now
  }

  /** Takes one down. Costs no query and waits for nothing. */
  note(refusal: RefusedRequest): void {
    const accountId = refusal.accountId ?? NOBODY
    this.addCount(accountId, refusal)
    const noted = this.rowFor(accountId, refusal)
    if (noted) this.unwritten.add(noted)
    this.timer ??= setTimeout(() => void this.flush(), FLUSH_MS).unref()
  }

  private addCount(accountId: string, refusal: RefusedRequest): void {
    const name = `${accountId}\n${refusal.status}\n${refusal.code}`
    const counted = this.counts.get(name)
    if (counted) counted.requests++
    else if (this.counts.size < COUNTS_MAX) this.counts.set(name, { accountId, refusal, requests: 1 })
  }

  /** The row that stands for a refusal; undefined where there is no room for one. */
  private rowFor(accountId: string, refusal: RefusedRequest): CoalescedRefusal | undefined {
    const minute = Math.floor(this.now() / MINUTE_MS)
    if (minute !== this.minute) {
      this.minute = minute
      this.rowsOfMinute = 0
      this.minutes.clear()
    }
    let of = this.minutes.get(accountId)
    if (!of && this.rowsOfMinute < ALL_ROWS_PER_MINUTE)
      this.minutes.set(accountId, (of = { rows: 0, bySort: new Map() }))
    if (!of) return undefined
    const sort = sortOf(refusal)
    const like = of.bySort.get(sort)
    const isNew = like === undefined && of.bySort.size < ROWS_PER_MINUTE + SORTS_PER_MINUTE
    if (this.rowsOfMinute < ALL_ROWS_PER_MINUTE && (of.rows < ROWS_PER_MINUTE || isNew)) {
      const noted: CoalescedRefusal = { refusal, repeats: 0, lastAtMs: refusal.atMs }
      of.rows++
      this.rowsOfMinute++
      of.bySort.set(sort, noted)
      return noted
    }
    if (!like) return undefined
    like.repeats++
    like.lastAtMs = refusal.atMs
    return like
  }

  /** Writes what was noted. Whoever reads afterwards finds it. */
  flush(): Promise<void> {
    clearTimeout(this.timer)
    this.timer = undefined
    const steps = this.steps()
    if (steps.length === 0) return this.writing
    // What cannot be written is lost: nothing depends on it, and a store that fails has stopped the process.
    const written = this.store.write(steps, 'bulk').then(() => undefined)
    this.writing = Promise.all([this.writing, written]).then(
      () => undefined,
      () => undefined,
    )
    return this.writing
  }

  private steps(): WriteStep[] {
    const [rows, counts] = [this.unwritten, this.counts]
    this.unwritten = new Set()
    this.counts = new Map()
    const accounts = new Set([...rows].map(({ refusal }) => refusal.accountId ?? NOBODY))
    return [
      ...[...rows].map((noted) => ({ run: insert, bind: valuesOf(noted) })),
      ...[...accounts].map((id) => ({ run: trim, bind: [id, refusedBounds.rowsPerAccountMax] })),
      ...[...counts.values()].map(({ accountId, refusal: { status, code, atMs }, requests }) => ({
        run: count,
        bind: [accountId, Math.floor(atMs / HOUR_MS), status, code, requests],
      })),
    ]
  }

  /** The newest first, of one account. */
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

  /**
   * A refusal by its id; where it has no row of its own, the one that stands for it, as far as the time of the id
   * tells. Of one account, or of whichever.
   */
  async find(id: string, accountId?: string): Promise<KeptRefusal | undefined> {
    await this.flush()
    const scope = accountId ?? null
    const whose = '(? IS NULL OR account_id = ?)'
    const [own] = await this.store.aside.query(`SELECT * FROM refused_request WHERE id = ? AND ${whose}`, [
      id,
      scope,
      scope,
    ])
    if (own || !id.startsWith('req_')) return own && keptOf(own)
    const atMs = idTimeMs('req_', id)
    const [only, other] = await this.store.aside.query(
      `SELECT * FROM refused_request WHERE id > ? AND id < ? AND ${whose} AND repeats > 0 AND last_at >= ? LIMIT 2`,
      [idBound('req_', atMs - MINUTE_MS), idBound('req_', atMs + 1), scope, scope, atMs],
    )
    return only && !other ? keptOf(only) : undefined
  }

  /** How many an account had, or all did, by status and code, the most first. Unix hours. */
  async counted(
    accountId: string | undefined,
    { fromHour, toHour }: { readonly fromHour: number; readonly toHour: number },
  ): Promise<readonly RefusedCount[]> {
    await this.flush()
    // Either has an index of its own.
    const whose = accountId === undefined ? '' : ' AND account_id = ?'
    const rows = await this.store.aside.query(
      `SELECT status, code, sum(requests) AS requests FROM refused_hour
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

  /** Forgets what is more than may be kept. */
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
