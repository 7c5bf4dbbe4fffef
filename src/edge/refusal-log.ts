/** Logs each refused request. The rate is limited, so that refusals cannot fill the disk. */
import type { Log, LogFields } from '../lib/runtime/log.ts'
import { SECOND_MS } from '../lib/primitives/units.ts'
import { limit } from '../lib/primitives/limit.ts'

/** The limit of one account, and of all unknown clients together. */
const LINES_PER_SECOND = limit(
  'refusalLinesPerSecond',
  50,
  'Further refusals of an account, or of unknown clients, are logged as one line with their number.',
)

type RefusalFields = LogFields & { readonly account?: string | undefined }
type Count = { readonly account: string | undefined; written: number; untold: number }

export class RefusalLog {
  private readonly log: Log
  /** Counts of this second, by account. */
  private readonly counts = new Map<string | undefined, Count>()
  private timer: Timer | undefined

  constructor(log: Log) {
    this.log = log
  }

  /** Returns whether the refusal has a line of its own. */
  write(refused: RefusalFields): boolean {
    const { account } = refused
    let count = this.counts.get(account)
    if (!count) this.counts.set(account, (count = { account, written: 0, untold: 0 }))
    this.timer ??= setTimeout(() => this.nextSecond(), SECOND_MS).unref()
    if (count.written === LINES_PER_SECOND) {
      count.untold++
      return false
    }
    count.written++
    this.log('info', 'request.refused', refused)
    return true
  }

  /** Logs the number of refusals that were left out. */
  private nextSecond(): void {
    this.timer = undefined
    for (const { account, untold } of this.counts.values()) {
      if (untold > 0) this.log('warn', 'request.refused_suppressed', { account, requests: untold })
    }
    this.counts.clear()
  }
}
