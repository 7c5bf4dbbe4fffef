/**
 * The feed of instances that share a PostgreSQL database. While somebody watches, it looks for new records several
 * times a second, whichever instance wrote them. Each row has the number of the transaction that wrote it. A row of a
 * lower number may be committed after one of a higher, so rows are read again from the oldest transaction that runs.
 */
import { isListed, textList } from '../store/sql.ts'
import type { Row } from '../store/statement.ts'
import type { Store } from '../store/store.ts'
import { watchBounds, type RecordFeed, type Watcher } from './feed.ts'
import { recordColumns, recordOf } from './record-row.ts'
import type { RequestRecord } from './records.ts'

type FeedOptions = {
  readonly pollMs?: number
  /** Called when the database cannot be read. The feed tries again. */
  readonly onError: (error: unknown) => void
}

/** Rows of one poll, the newest ones. A watcher is sent fewer. */
const ROWS_MAX = 5_000
/** Rows that will be read again. With more of them, a transaction runs for too long to wait for it. */
const KNOWN_MAX = 20_000

const SNAPSHOT = `SELECT CAST(pg_snapshot_xmin(pg_current_snapshot()) AS text) AS oldest,
  CAST(pg_snapshot_xmax(pg_current_snapshot()) AS text) AS next`
/** Before the first poll there is no oldest transaction. Then it is that of the snapshot. */
const NEW = `SELECT ${recordColumns}, CAST(written_by AS text) AS written_by FROM request_record
  WHERE written_by >= coalesce(CAST(CAST(?1 AS text) AS xid8), pg_snapshot_xmin(pg_current_snapshot()))
    AND ${isListed('postgres', 'account_id', '?2')}
  ORDER BY request_record.written_by DESC, id DESC LIMIT ${ROWS_MAX}`

/** Opens the feed on the database that instances share. */
export const openPostgresFeed = (store: Store, options: FeedOptions): RecordFeed => new PostgresFeed(store, options)

class PostgresFeed implements RecordFeed {
  private readonly store: Store
  private readonly options: FeedOptions
  private readonly byAccount = new Map<string, Set<Watcher>>()
  /** Watchers for whom what is there already is not new. They begin with the next poll. */
  private readonly beginning = new Set<Watcher>()
  private oldest: bigint | undefined
  /** Rows that were sent on, with their transactions, as far as they will be read again. */
  private readonly known = new Map<string, bigint>()
  private timer: Timer | undefined
  private polling: Promise<void> | undefined
  private next: Promise<void> | undefined
  private isClosed = false

  constructor(store: Store, options: FeedOptions) {
    this.store = store
    this.options = options
  }

  /** What this instance writes is on disk, too. It is only found sooner. */
  published({ accountId }: RequestRecord): void {
    if (this.byAccount.has(accountId)) void this.poll()
  }

  watch(accountId: string, watcher: Watcher): (() => void) | undefined {
    if (this.isClosed) return undefined
    const watchers = this.byAccount.get(accountId) ?? new Set()
    this.byAccount.set(accountId, watchers.add(watcher))
    this.beginning.add(watcher)
    this.timer ??= setInterval(() => void this.poll(), this.options.pollMs ?? watchBounds.pushMs)
    return () => {
      this.beginning.delete(watcher)
      watchers.delete(watcher)
      if (watchers.size === 0 && this.byAccount.get(accountId) === watchers) this.byAccount.delete(accountId)
      if (this.byAccount.size === 0) this.rest()
    }
  }

  caughtUp(): Promise<void> {
    return this.poll()
  }

  close(): void {
    this.isClosed = true
    for (const watchers of this.byAccount.values()) for (const watcher of watchers) watcher.end()
    this.byAccount.clear()
    this.rest()
  }

  /** Nobody watches. The next watch begins anew. */
  private rest(): void {
    clearInterval(this.timer)
    this.timer = undefined
    this.oldest = undefined
    this.known.clear()
  }

  /** Polls once more if a poll is under way, because that one may have read already. */
  private poll(): Promise<void> {
    if (!this.polling) {
      this.polling = this.look()
        .catch(this.options.onError)
        .finally(() => (this.polling = undefined))
      return this.polling
    }
    this.next ??= this.polling.then(() => {
      this.next = undefined
      return this.poll()
    })
    return this.next
  }

  private async look(): Promise<void> {
    const { oldest, timer } = this
    if (timer === undefined) return
    const beginning = [...this.beginning]
    const accounts = textList([...this.byAccount.keys()])
    const [[snapshot] = [], rows = []] = await this.store.aside.together([
      { sql: SNAPSHOT, bind: [] },
      { sql: NEW, bind: [oldest?.toString() ?? null, accounts] },
    ])
    // Everybody has left meanwhile, or others have come since.
    if (this.timer !== timer || !snapshot) return
    for (const row of rows.toReversed()) this.send(row)
    for (const watcher of beginning) this.beginning.delete(watcher)
    this.oldest = BigInt(String(this.known.size > KNOWN_MAX ? snapshot['next'] : snapshot['oldest']))
    for (const [id, writtenBy] of this.known) if (writtenBy < this.oldest) this.known.delete(id)
  }

  private send({ written_by: writtenBy = null, ...row }: Row): void {
    const id = String(row['id'])
    if (this.known.has(id)) return
    this.known.set(id, BigInt(String(writtenBy)))
    const watchers = this.byAccount.get(String(row['account_id'])) ?? []
    let record: RequestRecord | undefined
    for (const watcher of watchers) if (!this.beginning.has(watcher)) watcher.take((record ??= recordOf(row)))
  }
}
