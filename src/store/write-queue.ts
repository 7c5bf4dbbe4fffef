import { NOWHERE, Roster, type RosterMember } from '../lib/primitives/roster.ts'
import { MIB } from '../lib/primitives/units.ts'
import type { WriteStep, WriteOutcome } from './statement.ts'

/** A transaction in the queue, or in flight. */
export type PendingWrite = { steps: readonly WriteStep[]; resolve(outcome: WriteOutcome): void }

/**
 * - `urgent`: shares a batch with others.
 * - `alone`: has a batch of its own. It takes turns with urgent work.
 * - `bulk`: has a batch of its own, and yields to all other work.
 */
export type Lane = 'urgent' | 'alone' | 'bulk'

/** Receives an outcome. Returns the error for callers who wait for another outcome, if there is one. */
export type OutcomeListener = (outcome: WriteOutcome) => Error | undefined

/** A transaction that may wait for a short time and be replaced meanwhile. */
export type DeferredWrite = {
  /** Resolves when the transaction that was written in the end is durable. Rejects if `heard` returns an error. */
  readonly written: Promise<void>
  /** Replaces the steps and queues them at once. Returns false if the transaction is already in flight. */
  replace(steps: readonly WriteStep[]): boolean
}

const WRITTEN: WriteOutcome = { kind: 'written' }
const BATCH_MAX = 512
/**
 * A batch is one text. With 512 conversations of megabytes it would exceed the maximum length of a text. A batch with
 * this many characters of values is full. A single transaction is sent whatever its size.
 */
const BATCH_CHARS_MAX = 16 * MIB
/** How long a small batch waits for deferred transactions. Those of a fast vendor are replaced within this time. */
const COMPANY_WAIT_MS = 1
/** A batch above this size already shares its commit widely. Waiting would only leave the writer idle. */
const LARGE_BATCH = 32

/**
 * The transactions that wait for a writer. One batch is in flight, and transactions that arrive during its commit form
 * the next batch. That batch leaves when no deferred transaction is left that could join it, or after a millisecond. An
 * idle gateway pays one commit of latency. Whole replies of a fast vendor fall into step and share one commit.
 * (Waiting 2 ms between batches cost 32 clients half of their throughput and 10 % more CPU per request.)
 */
export class WriteQueue {
  private readonly urgent: PendingWrite[] = []
  private readonly alone: PendingWrite[] = []
  private readonly bulk: PendingWrite[] = []
  private readonly deferred = new Roster<DelayedWrite>()
  private readonly deferMs: number
  private readonly sendBatch: (batch: readonly PendingWrite[]) => void
  private deferTimer: Timer | undefined
  private sentMs = 0
  private inFlight: readonly PendingWrite[] = []
  private wasAlone = false
  private scheduled = false
  private companyTimer: Timer | undefined
  private isClosed = false

  /** `send` makes a batch durable and then calls `ended`. It is not called again before. */
  constructor(send: (batch: readonly PendingWrite[]) => void, deferMs: number) {
    this.sendBatch = send
    this.deferMs = deferMs
  }

  /** Resolves when all queued transactions are written. Nothing is sent afterwards. */
  async close(): Promise<void> {
    this.undefer(Number.POSITIVE_INFINITY)
    while (this.queued > 0) await new Promise((resolve) => setTimeout(resolve, 2))
    this.isClosed = true
  }

  get queued(): number {
    return this.urgent.length + this.alone.length + this.bulk.length + this.deferred.size + this.inFlight.length
  }

  get isBusy(): boolean {
    return this.inFlight.length > 0
  }

  /** How long the current batch has been in flight. A disk or a network that does not answer reports no error. */
  get waitingMs(): number {
    return this.inFlight.length === 0 ? 0 : performance.now() - this.sentMs
  }

  /** Queues one transaction. It resolves when the transaction is durable or refused. */
  write(steps: readonly WriteStep[], lane: Lane = 'urgent'): Promise<WriteOutcome> {
    return new Promise((resolve) => {
      ;(lane === 'urgent' ? this.urgent : this[lane]).push({ steps, resolve })
      this.schedule()
    })
  }

  /**
   * Queues one transaction that is written within `deferMs`, or replaced before. Most are replaced, so `stepsOf` is
   * only called for those that are not. `heard` is called at once with the outcome of the transaction that was written.
   */
  defer(stepsOf: () => readonly WriteStep[], heard: OutcomeListener): DeferredWrite {
    const waiting = new DelayedWrite(stepsOf, heard, { queue: this, untilMs: performance.now() + this.deferMs })
    this.deferred.add(waiting)
    this.deferTimer ??= setTimeout(this.undeferDue, this.deferMs)
    return waiting
  }

  /** Queues a deferred transaction with other steps. Returns false if it is already in flight. */
  hurry(pending: DelayedWrite, steps: readonly WriteStep[]): boolean {
    if (!this.deferred.delete(pending)) return false
    pending.steps = steps
    this.urgent.push(pending)
    this.schedule()
    return true
  }

  /**
   * Queues transactions that have waited long enough. Their order does not matter: they are the first of their
   * requests, and no other transaction waits for one of them. One timer serves all. It runs again for those that
   * arrived meanwhile.
   */
  private undefer(nowMs: number): void {
    clearTimeout(this.deferTimer)
    this.deferTimer = undefined
    let soonestMs = Number.POSITIVE_INFINITY
    for (const waiting of this.deferred) {
      if (waiting.untilMs > nowMs) soonestMs = Math.min(soonestMs, waiting.untilMs)
      else {
        this.deferred.delete(waiting)
        this.urgent.push(waiting)
      }
    }
    if (this.deferred.size > 0) this.deferTimer = setTimeout(this.undeferDue, Math.ceil(soonestMs - nowMs))
    this.schedule()
  }

  private readonly undeferDue = (): void => this.undefer(performance.now())

  /** Sends at the end of the tick or a little later, so that all transactions of one tick share a commit. */
  private schedule(): void {
    if (this.scheduled || this.inFlight.length > 0 || this.queued === this.deferred.size) return
    const count = this.urgent.length
    if (this.deferred.size > 0 && count > 0 && count <= LARGE_BATCH)
      this.companyTimer ??= setTimeout(this.sendScheduled, COMPANY_WAIT_MS)
    else {
      this.scheduled = true
      setImmediate(this.sendScheduled)
    }
  }

  private readonly sendScheduled = (): void => {
    this.scheduled = false
    clearTimeout(this.companyTimer)
    this.companyTimer = undefined
    this.send()
  }

  private send(): void {
    if (this.inFlight.length > 0 || this.isClosed) return
    const lane = this.nextLane()
    if (this[lane].length === 0) return
    this.wasAlone = lane === 'alone'
    this.inFlight = this[lane].splice(0, lane === 'urgent' ? fitting(this.urgent) : 1)
    this.sentMs = performance.now()
    this.sendBatch(this.inFlight)
  }

  private nextLane(): Lane {
    if (this.alone.length > 0 && (!this.wasAlone || this.urgent.length === 0)) return 'alone'
    return this.urgent.length > 0 ? 'urgent' : 'bulk'
  }

  /** Ends the batch in flight. `outcomes` has those that are more than plainly written, by their place. */
  ended(outcomes?: ReadonlyMap<number, WriteOutcome>): void {
    const done = this.inFlight
    this.inFlight = []
    done.forEach((pending, i) => pending.resolve(outcomes?.get(i) ?? WRITTEN))
    this.schedule()
  }
}

class DelayedWrite implements DeferredWrite, PendingWrite, RosterMember {
  place = NOWHERE
  /** The time at which it is queued if it was not replaced. */
  readonly untilMs: number
  private readonly stepsOf: () => readonly WriteStep[]
  private readonly heard: OutcomeListener
  private readonly queue: WriteQueue
  private given: readonly WriteStep[] | undefined
  private ended: { readonly error: Error | undefined } | undefined
  /** Made when first needed. Otherwise an error that nobody waits for would be an unhandled rejection. */
  private asked: PromiseWithResolvers<void> | undefined

  constructor(
    stepsOf: () => readonly WriteStep[],
    heard: OutcomeListener,
    { queue, untilMs }: { readonly queue: WriteQueue; readonly untilMs: number },
  ) {
    this.stepsOf = stepsOf
    this.heard = heard
    this.queue = queue
    this.untilMs = untilMs
  }

  get written(): Promise<void> {
    if (!this.asked) {
      this.asked = Promise.withResolvers()
      this.tell()
    }
    return this.asked.promise
  }

  get steps(): readonly WriteStep[] {
    return (this.given ??= this.stepsOf())
  }

  set steps(steps: readonly WriteStep[]) {
    this.given = steps
  }

  resolve(outcome: WriteOutcome): void {
    this.ended = { error: this.heard(outcome) }
    this.tell()
  }

  private tell(): void {
    if (!this.ended) return
    const { error } = this.ended
    if (error) this.asked?.reject(error)
    else this.asked?.resolve()
  }

  replace(steps: readonly WriteStep[]): boolean {
    return this.queue.hurry(this, steps)
  }
}

/** How many transactions from the front of the queue fit into a batch. */
function fitting(queue: readonly PendingWrite[]): number {
  let chars = 0
  let count = 0
  for (const { steps } of queue) {
    for (const { bind } of steps) for (const value of bind) if (typeof value === 'string') chars += value.length
    if (count === BATCH_MAX || (count > 0 && chars > BATCH_CHARS_MAX)) break
    count++
  }
  return count
}
