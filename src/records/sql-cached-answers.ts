/** The answer cache in a database. Each row is sealed, and its key is a keyed digest. */
import { createHmac } from 'node:crypto'
import { seal, unseal } from '../lib/primitives/seal.ts'
import { SECOND_MS } from '../lib/primitives/units.ts'
import { eachDatabase, isPlaced, placeColumn, placesOf } from '../store/sql.ts'
import { racingStatement, statement, type Row } from '../store/statement.ts'
import type { Store } from '../store/store.ts'
import { SWEEP_ROWS } from '../store/sweep.ts'
import {
  UNWRITTEN_BYTES_MAX,
  type AnswerToKeep,
  type CachedAnswer,
  type CachedAnswers,
  type CachedAnswersOptions,
  type FoundAnswer,
} from './cached-answers.ts'

const put = racingStatement(
  `INSERT INTO cached_answer (account_id, key, sealed, bytes, created_at, expires_at) VALUES (?, ?, ?, ?, ?, ?)
   ON CONFLICT (account_id, key) DO UPDATE SET sealed = excluded.sealed, bytes = excluded.bytes,
     created_at = excluded.created_at, expires_at = excluded.expires_at`,
  2,
)
const SELECT = 'SELECT sealed, created_at, expires_at FROM cached_answer WHERE account_id = ? AND key = ?'
const SUM = 'SELECT CAST(coalesce(sum(bytes), 0) AS bigint) AS bytes FROM cached_answer'
const OLDEST = eachDatabase(
  (database) =>
    `SELECT ${placeColumn(database)}, bytes, created_at FROM cached_answer ORDER BY created_at LIMIT ${SWEEP_ROWS}`,
)
const evict = statement(
  eachDatabase((database) => `DELETE FROM cached_answer WHERE created_at <= ? AND ${isPlaced(database, '?')}`),
)
const STALE = eachDatabase(
  (database) => `SELECT ${placeColumn(database)} FROM cached_answer WHERE expires_at <= ? LIMIT ${SWEEP_ROWS}`,
)
const sweep = statement(
  eachDatabase((database) => `DELETE FROM cached_answer WHERE expires_at <= ? AND ${isPlaced(database, '?')}`),
)

/** A row costs this much beside its answer. */
const ROW_BYTES = 256
/** A full cache is emptied to this share, so that not every answer needs room to be made for it. */
const KEPT_PERCENT = 90
/** How old a count of the bytes may be if other instances keep answers too. */
const COUNT_MS = 10 * SECOND_MS
/** How often making room is tried for one answer. Each try deletes up to `SWEEP_ROWS` rows. */
const TRIES_MAX = 100

/** Opens the port. Reads how much is kept. */
export async function openSqlCachedAnswers(store: Store, options: CachedAnswersOptions): Promise<CachedAnswers> {
  const answers = new SqlCachedAnswers(store, options)
  // The count needs a thread of its own, which a gateway without a cache does not start.
  const [any] = await store.query('SELECT 1 AS one FROM cached_answer LIMIT 1')
  if (any) await answers.recount()
  return answers
}

class SqlCachedAnswers implements CachedAnswers {
  bytes = 0
  private readonly store: Store
  private readonly options: CachedAnswersOptions
  private readonly nameKey: Uint8Array
  private readonly sealKey: Uint8Array
  private countedMs = 0
  private waitingBytes = 0
  /** The rows that wait to be written. Equal requests at once are answered each, and the first answer is kept. */
  private readonly waiting = new Set<string>()
  private work: Promise<void> = Promise.resolve()

  constructor(store: Store, options: CachedAnswersOptions) {
    this.store = store
    this.options = options
    this.nameKey = derived(options.masterKey, 'answer cache: names of questions')
    this.sealKey = derived(options.masterKey, 'answer cache: answers')
  }

  get isOff(): boolean {
    return this.options.bytesMax === 0
  }

  keyOf(accountId: string, question: string): string {
    return createHmac('sha256', this.nameKey).update(`${accountId}\n`).update(question).digest('base64url')
  }

  async find(accountId: string, key: string): Promise<FoundAnswer | undefined> {
    try {
      const [row] = await this.store.query(SELECT, [accountId, key])
      if (!row || Number(row['expires_at']) <= Date.now()) return undefined
      const opened = unseal(this.sealKey, row['sealed'] as Uint8Array, contextOf(accountId, key))
      return opened === undefined ? undefined : { ...read(opened), createdAtMs: Number(row['created_at']) }
    } catch (error) {
      this.options.log('error', 'answer_cache.unread', { message: String(error) })
      return undefined
    }
  }

  keep(answer: AnswerToKeep): void {
    const name = contextOf(answer.accountId, answer.key)
    const { bytesMax, room, log } = this.options
    const bytes = answer.bytes + ROW_BYTES
    if (this.waiting.has(name) || this.waitingBytes + bytes > UNWRITTEN_BYTES_MAX) return
    if (bytes > bytesMax || room.isShort) return
    this.waiting.add(name)
    this.waitingBytes += bytes
    this.work = this.work
      .then(() => this.write(answer))
      .catch((error: unknown) => log('error', 'answer_cache.unwritten', { message: String(error) }))
      .then(() => {
        this.waiting.delete(name)
        this.waitingBytes -= bytes
      })
  }

  settled(): Promise<void> {
    return this.work
  }

  private async write({ accountId, key, keptMs, make }: AnswerToKeep): Promise<void> {
    const answer = await make()
    if (!answer) return
    const sealed = seal(this.sealKey, written(answer), contextOf(accountId, key))
    const bytes = sealed.length + ROW_BYTES
    if (!(await this.makeRoom(bytes))) return
    const nowMs = Date.now()
    const bind = [accountId, key, sealed, bytes, nowMs, nowMs + keptMs]
    // A row that it replaces is still counted. The next count is exact.
    if ((await this.store.write([{ run: put, bind }], 'bulk')).kind === 'written') this.bytes += bytes
  }

  /** Deletes the oldest answers until this many bytes fit. */
  private async makeRoom(bytes: number): Promise<boolean> {
    const { bytesMax } = this.options
    const isOld = this.store.changes.isShared && performance.now() - this.countedMs > COUNT_MS
    if (this.bytes + bytes > bytesMax || isOld) await this.recount()
    if (this.bytes + bytes <= bytesMax) return true
    const target = (bytesMax * KEPT_PERCENT) / 100 - bytes
    for (let tries = 0; tries < TRIES_MAX && this.bytes > Math.max(target, 0); tries++) {
      const rows = await this.store.query(OLDEST)
      if (rows.length === 0) break
      await this.evict(rows, this.bytes - target)
    }
    return this.bytes + bytes <= bytesMax
  }

  /** Deletes the first of these rows that have this many bytes together. A row may have been replaced meanwhile. */
  private async evict(oldest: readonly Row[], bytes: number): Promise<void> {
    let freed = 0
    const rows: Row[] = []
    for (const row of oldest) {
      if (freed >= bytes) break
      rows.push(row)
      freed += Number(row['bytes'])
    }
    const until = Number(rows.at(-1)?.['created_at'] ?? 0)
    await this.store.write([{ run: evict, bind: [until, placesOf(rows)] }], 'bulk')
    this.bytes -= freed
  }

  async recount(): Promise<void> {
    const [row] = await this.store.aside.query(SUM)
    this.bytes = Number(row?.['bytes'] ?? 0)
    this.countedMs = performance.now()
  }

  async sweep(): Promise<void> {
    for (;;) {
      const nowMs = Date.now()
      const rows = await this.store.query(STALE, [nowMs])
      if (rows.length > 0) await this.store.write([{ run: sweep, bind: [nowMs, placesOf(rows)] }], 'bulk')
      if (rows.length < SWEEP_ROWS) break
    }
    if (this.bytes > 0) await this.recount()
  }
}

const derived = (masterKey: Uint8Array, purpose: string): Uint8Array =>
  createHmac('sha256', masterKey).update(purpose).digest()

const contextOf = (accountId: string, key: string): string => `cached_answer|${accountId}|${key}`

/** The facts are a line of JSON. The text follows as it is. */
const written = ({ text, ...facts }: CachedAnswer): string => `${JSON.stringify(facts)}\n${text}`

function read(opened: string): CachedAnswer {
  const end = opened.indexOf('\n')
  const facts = JSON.parse(opened.slice(0, end)) as Omit<CachedAnswer, 'text'>
  return { ...facts, text: opened.slice(end + 1) }
}
