/** The feed of one process. It sends on what the process itself has written. Without watchers it costs a look-up. */
import type { RecordFeed, Watcher } from './feed.ts'
import type { RequestRecord } from './records.ts'

export const openLocalFeed = (): RecordFeed => new LocalFeed()

class LocalFeed implements RecordFeed {
  private readonly byAccount = new Map<string, Set<Watcher>>()
  private isClosed = false

  published(record: RequestRecord): void {
    const watchers = this.byAccount.get(record.accountId)
    if (watchers) for (const watcher of watchers) watcher.take(record)
  }

  watch(accountId: string, watcher: Watcher): (() => void) | undefined {
    if (this.isClosed) return undefined
    const watchers = this.byAccount.get(accountId) ?? new Set()
    this.byAccount.set(accountId, watchers.add(watcher))
    return () => {
      watchers.delete(watcher)
      if (watchers.size === 0 && this.byAccount.get(accountId) === watchers) this.byAccount.delete(accountId)
    }
  }

  caughtUp(): undefined {
    return undefined
  }

  close(): void {
    this.isClosed = true
    for (const watchers of this.byAccount.values()) for (const watcher of watchers) watcher.end()
  }
}
