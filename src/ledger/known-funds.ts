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
  /** Own changes that take from the balance: those that began, and those of them whose outcome is known. */
  private takesBegun = 0
  private takesDecided = 0
  /** Those who wait until so many are decided, in order. */
  private readonly waiting: { readonly until: number; readonly resolve: () => void }[] = []
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

  /** Whether the store has not decided yet on something that this process has taken. */
  get isUndecided(): boolean {
    return this.takesDecided < this.takesBegun
  }

  /** Resolves when the store has decided on what has been taken until now. */
  whenDecided(): Promise<void> {
    const until = this.takesBegun
    if (!this.isUndecided) return Promise.resolve()
    return new Promise((resolve) => this.waiting.push({ until, resolve }))
  }

  /** Counts a change that is about to be written. */
  begin(change: FundsChange): void {
    this.pendingPosted += change.posted
    this.pendingHeld += change.held
    this.pending++
    if (takes(change)) this.takesBegun++
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
    if (takes(change)) this.takesDecided++
    while (this.waiting[0] && this.waiting[0].until <= this.takesDecided) this.waiting.shift()?.resolve()
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

const takes = ({ posted, held }: FundsChange): boolean => posted < held
