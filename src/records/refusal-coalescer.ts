/**
 * Collects refusals between two writes. It decides which get rows, and counts all of them. A flood costs one count per
 * refusal and a bounded number of rows.
 */
import type { RefusedRequest } from './refused.ts'
import { limit } from '../lib/primitives/limit.ts'
import { MINUTE_MS } from '../lib/primitives/units.ts'

/** Rows of an account per minute: this many of any sort, and some more for sorts that have none yet. */
const ROWS_PER_MINUTE = limit(
  'refusedRowsPerAccountPerMinute',
  30,
  'Further refused requests of the account are only counted.',
)
const SORTS_PER_MINUTE = 20
/** Rows of all accounts per minute. Further refusals are only counted. */
const ALL_ROWS_PER_MINUTE = limit('refusedRowsPerMinute', 1_000, 'Further refused requests are only counted.')
/** Pairs of account and code that are counted separately between two writes. */
const COUNTS_MAX = 1_000

/** A row: a refusal, and how many similar ones followed until `lastAtMs`. */
export type CoalescedRefusal = { readonly refusal: RefusedRequest; repeats: number; lastAtMs: number }
export type RefusalCount = { readonly accountId: string; readonly refusal: RefusedRequest; requests: number }
type Minute = { rows: number; readonly bySort: Map<string, CoalescedRefusal> }

/** The account of refusals whose account is not known. */
export const NOBODY = ''
const sortOf = ({ status, code, endpoint, keyId, model }: RefusedRequest): string =>
  [status, code, endpoint, keyId, model].join('\n')

/** The next write. */
export type RefusalBatch = {
  readonly rows: readonly CoalescedRefusal[]
  readonly counts: readonly RefusalCount[]
}

export class RefusalCoalescer {
  private minute = 0
  private rowsOfMinute = 0
  /** The current minute, by account. */
  private readonly minutes = new Map<string, Minute>()
  private unwritten = new Set<CoalescedRefusal>()
  private counts = new Map<string, RefusalCount>()

  note(refusal: RefusedRequest, nowMs: number): void {
    const accountId = refusal.accountId ?? NOBODY
    this.addCount(accountId, refusal)
    const noted = this.rowFor(accountId, refusal, nowMs)
    if (noted) this.unwritten.add(noted)
  }

  /** What was noted since the last call. A row may return with more repeats. */
  take(): RefusalBatch {
    const batch = { rows: [...this.unwritten], counts: [...this.counts.values()] }
    this.unwritten = new Set()
    this.counts = new Map()
    return batch
  }

  private addCount(accountId: string, refusal: RefusedRequest): void {
    const name = `${accountId}\n${refusal.status}\n${refusal.code}`
    const counted = this.counts.get(name)
    if (counted) counted.requests++
    else if (this.counts.size < COUNTS_MAX) this.counts.set(name, { accountId, refusal, requests: 1 })
  }

  /** The row that stands for a refusal, or undefined if there is no room for one. */
  private rowFor(accountId: string, refusal: RefusedRequest, nowMs: number): CoalescedRefusal | undefined {
    const minute = Math.floor(nowMs / MINUTE_MS)
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
}
