/**
 * The announcements of all instances, in the table `change`. Polling is the guarantee that they are read. A
 * notification only makes it sooner, because a pooler may swallow it.
 */
import type { SQL } from 'bun'
import { HOUR_MS } from '../../lib/primitives/units.ts'
import type { ChangeKind, ChangeLog, ChangeWatcher } from '../change-log.ts'
import { addingStatement, statement, type Row, type WriteStep } from '../statement.ts'
import type { Store } from '../store.ts'
import { openClient } from './client.ts'
import { wentBack, StoreEnd, type StoreEndEvent } from './store-end.ts'

const POLL_MS = 500
/** A request with an unknown key makes an instance read the log. Such requests share a query. This is the least gap. */
const PACE_MS = 10
const PAGE = 1_000
/** An instance that has not read for this time has been declared dead. */
const KEPT_HOURS = 24

/**
 * The number comes from one row, so that the order of numbers is the order in which transactions commit. Each
 * commit makes equal announcements once, as its last step, because all instances wait for that row.
 */
const announce = addingStatement(
  `WITH counted AS (UPDATE change_seq SET n = n + 1 RETURNING n)
   INSERT INTO change (n, kind, subject) SELECT n, ?1, ?2 FROM counted`,
  2,
)
const forget = statement(`DELETE FROM change WHERE at < now() - interval '${KEPT_HOURS} hours'`)
const selectNewest = 'SELECT n FROM change_seq'
/** The newest number, and announcements after a number. */
const selectUnread = `SELECT change_seq.n AS newest, change.n, change.kind, change.subject
  FROM change_seq LEFT JOIN change ON change.n > ? ORDER BY change.n LIMIT ${PAGE}`

type ChangeLogOptions = {
  /** Called if announcements were lost, so that memory may be wrong. The caller must stop the process. */
  readonly onFatal: (message: string, event: StoreEndEvent) => void
}

export class PolledChangeLog implements ChangeLog {
  readonly isShared = true
  readonly lane = 'alone'
  private readonly store: Pick<Store, 'query' | 'write'>
  private readonly options: ChangeLogOptions
  private readonly watchers: ChangeWatcher[] = []
  private readonly loading = new Set<Promise<void>>()
  private readonly timers: readonly Timer[]
  private readonly listener: SQL
  private readonly listening: Promise<unknown>
  private seen: bigint
  private running: Promise<void> | undefined
  private waiting: Promise<void> | undefined
  private startedMs = performance.now()
  /** When the last poll began after which everything was in memory. */
  private completeMs = performance.now()

  private constructor(
    store: Pick<Store, 'query' | 'write'>,
    { listener, seen, ...options }: ChangeLogOptions & { readonly listener: SQL; readonly seen: bigint },
  ) {
    this.store = store
    this.listener = listener
    this.seen = seen
    this.options = options
    // A failed poll is tried again by the next one. Meanwhile `unreadMs` grows.
    const poll = (): void => void this.catchUp().catch(() => undefined)
    const tidy = (): void => void store.write([{ run: forget, bind: [] }], 'bulk').catch(() => undefined)
    this.timers = [setInterval(poll, POLL_MS), setInterval(tidy, HOUR_MS)]
    this.listening = listener.listen('tollgate_change', poll)
  }

  static async open(url: string, store: Pick<Store, 'query' | 'write'>, options: ChangeLogOptions): Promise<ChangeLog> {
    const [row] = await store.query(selectNewest)
    const listener = openClient(url, 'listener', { max: 1 })
    return new PolledChangeLog(store, { ...options, listener, seen: row?.['n'] as bigint })
  }

  announce(kind: ChangeKind, subject: string): readonly WriteStep[] {
    return [{ run: announce, bind: [kind, subject] }]
  }

  async watch(watcher: ChangeWatcher): Promise<void> {
    this.watchers.push(watcher)
    const loaded = watcher.load().finally(() => this.loading.delete(loaded))
    this.loading.add(loaded)
    await loaded
  }

  catchUp(): Promise<void> {
    // The poll that runs may have read before this call.
    return (this.waiting ??= this.pollAfter(this.running))
  }

  unreadMs(): number {
    return performance.now() - this.completeMs
  }

  async close(): Promise<void> {
    for (const timer of this.timers) clearInterval(timer)
    await Promise.allSettled([this.listening, this.running, this.waiting])
    await this.listener.close({ timeout: 0 })
  }

  private async pollAfter(running: Promise<void> | undefined): Promise<void> {
    await Promise.allSettled([running])
    const restMs = this.startedMs + PACE_MS - performance.now()
    if (restMs > 0) await Bun.sleep(restMs)
    this.running = this.waiting
    this.waiting = undefined
    this.startedMs = performance.now()
    await this.poll()
  }

  private async poll(): Promise<void> {
    const { startedMs } = this
    await Promise.allSettled(this.loading)
    // A watcher that is added later loads the changes of this page itself.
    const watchers = [...this.watchers]
    for (let isMore = true; isMore;) {
      const rows = await this.store.query(selectUnread, [this.seen])
      const unread = rows.filter((row) => row['n'] !== null)
      const lost = this.lostIn(rows[0]?.['newest'] as bigint, unread[0]?.['n'] as bigint | undefined)
      if (lost) return this.options.onFatal(lost.message, lost.event)
      await Promise.all(subjectsIn(unread).map((change) => reloadIn(watchers, change)))
      this.seen = (unread.at(-1)?.['n'] as bigint | undefined) ?? this.seen
      isMore = unread.length === PAGE
    }
    this.completeMs = startedMs
  }

  /** Numbers have no gap. */
  private lostIn(newest: bigint, first: bigint | undefined): StoreEnd | undefined {
    if (newest < this.seen) return wentBack('change', newest, this.seen)
    if (newest === this.seen || first === this.seen + 1n) return undefined
    return new StoreEnd('store.fatal', `changes after ${this.seen} were deleted before this process read them`)
  }
}

type Change = { readonly kind: ChangeKind; readonly subject: string }

function subjectsIn(rows: readonly Row[]): Change[] {
  const changes = rows.map((row) => ({ kind: row['kind'] as ChangeKind, subject: row['subject'] as string }))
  return [...new Map(changes.map((change) => [`${change.kind} ${change.subject}`, change])).values()]
}

const reloadIn = (watchers: readonly ChangeWatcher[], { kind, subject }: Change): Promise<unknown> =>
  Promise.all(watchers.filter((watcher) => watcher.kind === kind).map((watcher) => watcher.reload(subject)))
