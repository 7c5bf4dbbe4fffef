/**
 * Turns that another instance makes. A request to cancel one is announced like any change, and the instance that makes
 * the turn acts on it. Whether a turn has ended is read from the database: its hold is then no longer open.
 */
import type { ChangeWatcher } from '../store/change-log.ts'
import { textList } from '../store/sql.ts'
import type { Store } from '../store/store.ts'
import { OPEN_HOLDS, RUN_BY } from './turn-statements.ts'
import type { RemoteTurns, TurnScope } from './turns.ts'

/** One query serves all watched turns. It reads their keys alone. */
const POLL_MS = 200
/** The instance that makes the turn may be frozen or cut off. */
const CANCEL_WAIT_MS = 5_000

type CancelListener = (scope: TurnScope, id: string) => void
type SharedStore = Pick<Store, 'query' | 'write' | 'changes'>

/** Opens the port on a store that instances share. */
export async function openRemoteTurns(store: SharedStore): Promise<RemoteTurns> {
  const turns = new SqlRemoteTurns(store)
  await store.changes.watch(turns)
  return turns
}

class SqlRemoteTurns implements RemoteTurns, ChangeWatcher {
  readonly kind = 'response'
  private readonly store: SharedStore
  private listener: CancelListener = () => undefined
  /** By hold: the listeners for the end of its turn. */
  private readonly watched = new Map<string, Set<() => void>>()
  /** By turn: the cancellation that runs. A client that repeats it waits for the same one. */
  private readonly cancelling = new Map<string, Promise<void>>()
  private isPolling = false

  constructor(store: SharedStore) {
    this.store = store
  }

  /** What was asked before this instance began does not concern it. */
  load(): Promise<void> {
    return Promise.resolve()
  }

  reload(subject: string): Promise<void> {
    const [accountId = '', id = ''] = subject.split(' ')
    this.listener({ accountId }, id)
    return Promise.resolve()
  }

  onCancel(listener: CancelListener): void {
    this.listener = listener
  }

  cancel({ accountId }: TurnScope, id: string): Promise<void> {
    const subject = `${accountId} ${id}`
    const running = this.cancelling.get(subject)
    if (running) return running
    const cancelled = this.askToCancel(accountId, id).finally(() => this.cancelling.delete(subject))
    this.cancelling.set(subject, cancelled)
    return cancelled
  }

  onEnd(id: string, ended: () => void): () => void {
    const holdId = id.replace(/^resp_/, 'req_')
    const listeners = this.watched.get(holdId) ?? new Set()
    this.watched.set(holdId, listeners.add(ended))
    if (!this.isPolling) void this.poll()
    return () => {
      listeners.delete(ended)
      if (listeners.size === 0 && this.watched.get(holdId) === listeners) this.watched.delete(holdId)
    }
  }

  private async askToCancel(accountId: string, id: string): Promise<void> {
    const [running] = await this.store.query(RUN_BY, [accountId, id], accountId)
    if (!running) return
    const { changes } = this.store
    await this.store.write(changes.announce(this.kind, `${accountId} ${id}`), changes.lane)
    const { promise, resolve } = Promise.withResolvers<void>()
    const leave = this.onEnd(id, resolve)
    const timer = setTimeout(resolve, CANCEL_WAIT_MS)
    await promise
    clearTimeout(timer)
    leave()
  }

  /** Runs while a turn is watched. It never rejects: a query that failed is tried again. */
  private async poll(): Promise<void> {
    this.isPolling = true
    while (this.watched.size > 0) {
      const watched = [...this.watched.keys()]
      const rows = await this.store.query(OPEN_HOLDS, [textList(watched)]).catch(() => undefined)
      const open = rows && new Set(rows.map((row) => row['id'] as string))
      for (const holdId of watched) if (open?.has(holdId) === false) this.tellEnd(holdId)
      await Bun.sleep(POLL_MS)
    }
    this.isPolling = false
  }

  private tellEnd(holdId: string): void {
    const listeners = this.watched.get(holdId) ?? []
    this.watched.delete(holdId)
    for (const ended of listeners) ended()
  }
}
