/**
 * What this process knows of the balance of an account that other processes change too: the last row that it has seen,
 * and its own changes that are not in that row.
 */
import type { NanoUsd } from '../domain/money.ts'
import type { Row } from '../store/statement.ts'
import type { Balance, Funds } from './ledger.ts'

/** A change of a balance by this process. */
export type FundsChange = { readonly posted: NanoUsd; readonly held: NanoUsd }

/** For how long memory says that a refusal is unlikely. */
const SURE_MS = 5_000
/** A hold is sure if so many like it would fit beside it. */
const SURE_TIMES = 8n

export class KnownFunds {
  private posted: NanoUsd
  private held: NanoUsd
  /** The sum of own changes whose outcome is not known yet. */
  private pendingPosted = 0n
  private pendingHeld = 0n
  private pending = 0
  /** Counts own changes, so that a row that was read meanwhile is not taken. */
  private serial = 0
  private seenMs = Number.NEGATIVE_INFINITY

  constructor({ posted, held }: Funds) {
    this.posted = posted
    this.held = held
  }

  get balance(): Balance {
    const posted = this.posted + this.pendingPosted
    const held = this.held + this.pendingHeld
    return { posted, held, available: posted - held }
  }

  get ageMs(): number {
    return performance.now() - this.seenMs
  }

  /** Whether the refusal of a hold is unlikely. */
  isAmple(amount: NanoUsd): boolean {
    return this.ageMs <= SURE_MS && this.balance.available >= amount * (1n + SURE_TIMES)
  }

  /** Counts a change that is about to be written. */
  begin(change: FundsChange): void {
    this.pendingPosted += change.posted
    this.pendingHeld += change.held
    this.pending++
    this.serial++
  }

  /** A change was written. `row` is the account at the end of the commit, if it is known. */
  written(change: FundsChange, row: Row | undefined): void {
    this.drop(change)
    if (row) this.see(row)
    else {
      this.posted += change.posted
      this.held += change.held
    }
  }

  /** A change was refused. */
  drop(change: FundsChange): void {
    this.pendingPosted -= change.posted
    this.pendingHeld -= change.held
    this.pending--
  }

  /** A mark to give to `seeSince` with a row that is read from now on. Undefined while own changes are pending. */
  mark(): number | undefined {
    return this.pending === 0 ? this.serial : undefined
  }

  /** Takes a row, unless this process has changed the account since the mark. Its next commit brings the row then. */
  seeSince(mark: number | undefined, row: Row): void {
    if (mark !== undefined && mark === this.mark()) this.see(row)
  }

  see(row: Row): void {
    this.posted = row['posted'] as NanoUsd
    this.held = row['held'] as NanoUsd
    this.seenMs = performance.now()
  }
}
