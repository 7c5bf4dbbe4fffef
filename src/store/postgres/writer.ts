/**
 * The writer of PostgreSQL: the only connection of this instance that writes. One batch is in flight. It leaves in one
 * write to the socket:
 *
 * 1. `BEGIN`.
 * 2. The fence, which numbers the batch in the row of this instance (instance.ts). It sets `synchronous_commit = off`,
 *    so that rows are unlocked before the flush of the log.
 * 3. The steps of all transactions (batch.ts), and `COMMIT`.
 * 4. The barrier: a small synchronous commit. Nobody is told before it.
 *
 * Most batches are holds and settlements alone. Then 1 to 3 are one query (combined-query.ts), a transaction by itself.
 *
 * A batch with a transaction that is refused is undone and runs again with a savepoint for each transaction, so that
 * each has its own outcome. After a lost answer the number in the database says which try was committed.
 */
import type { WriteOutcome, WriteStep } from '../statement.ts'
import { WriteQueue, type DeferredWrite, type Lane, type OutcomeListener, type PendingWrite } from '../write-queue.ts'
import type { ColumnTypes } from './arrays.ts'
import { runApart } from './apart.ts'
import { BatchCompiler, lockQueries } from './batch.ts'
import type { DatabaseError } from './client.ts'
import type { FenceValues } from './combined-query.ts'
import type { WriterConnection } from './connection.ts'
import { outcomesOf, type Outcomes } from './outcomes.ts'
import { queryFailureOf } from './query-failure.ts'
import { BARRIER, FENCE, LAST_BATCH, RETIRE } from './instance.ts'
import { declaredDead, wentBack, StoreEnd, type StoreEndEvent } from './store-end.ts'

export type WriterOptions = {
  readonly types: ColumnTypes
  /** Called once nothing can be written any more, with the event to log. The caller must then stop the process. */
  readonly onFatal: (message: string, event: StoreEndEvent) => void
  /** How long a deferred transaction waits to be replaced. */
  readonly deferMs: number
  /** After this time without an answer the connection is given up. */
  readonly silenceMs?: number | undefined
}

type LastBatch = { readonly batch: bigint; readonly state: string }
/** What became of a try: durable with its outcomes, or unknown, or undone because a transaction was refused. */
type TryResult = { readonly kind: 'durable'; readonly outcomes: Outcomes } | { readonly kind: 'unknown' | 'refused' }

const NONE: Outcomes = new Map()
/** How often the connection is watched. An idle instance also gives its sign of life then. */
const WATCH_MS = 500
const IDLE_MS = 1_000
/** A server that is silent for so long is given up. Another try waits twice as long. */
const SILENCE_MS = 5_000
const SILENCE_MS_MAX = 60_000
const RETRY_MS = 20

export class PostgresWriter {
  private readonly queue: WriteQueue
  private readonly connection: WriterConnection
  private readonly compiler: BatchCompiler
  private readonly instance: string
  private readonly onFatal: WriterOptions['onFatal']
  private readonly watch: Timer
  /** The number of the last batch that is durable, and the last number of a try. Each try has its own. */
  private durable = 0n
  private last = 0n
  /** The tries of the batch in flight that may have been committed, with their outcomes. */
  private readonly tries = new Map<bigint, Outcomes>()
  /** The end of the batch before. Batches and signs of life take turns. */
  private turn: Promise<void> = Promise.resolve()
  /** When the commit in flight began. */
  private beganMs: number | undefined
  private hasEnded = false
  /** When the server was last asked and has not answered, and for how long it may be silent. */
  private askedMs: number | undefined
  private silenceMs: number
  private readonly silenceMsMin: number
  /** When the last batch that is durable was sent. */
  private provenMs = performance.now()

  constructor(connection: WriterConnection, instance: string, options: WriterOptions) {
    this.connection = connection
    this.instance = instance
    this.compiler = new BatchCompiler(options.types)
    this.onFatal = options.onFatal
    this.silenceMsMin = options.silenceMs ?? SILENCE_MS
    this.silenceMs = this.silenceMsMin
    this.queue = new WriteQueue((batch) => void this.send(batch), options.deferMs)
    this.watch = setInterval(() => this.look(), Math.min(WATCH_MS, this.silenceMsMin / 2))
  }

  get queued(): number {
    return this.queue.queued
  }

  /** How long the current batch, or the sign of life of an idle instance, has waited to be durable. */
  get waitingMs(): number {
    return this.beganMs === undefined ? this.queue.waitingMs : performance.now() - this.beganMs
  }

  write(steps: readonly WriteStep[], lane?: Lane): Promise<WriteOutcome> {
    return this.queue.write(steps, lane)
  }

  defer(stepsOf: () => readonly WriteStep[], heard: OutcomeListener): DeferredWrite {
    return this.queue.defer(stepsOf, heard)
  }

  /** Waits until everything is written, and ends the instance. */
  async close(): Promise<void> {
    await this.queue.close()
    await this.turn
    clearInterval(this.watch)
    if (!this.hasEnded) await this.retire()
    this.hasEnded = true
    await this.connection.close()
  }

  private async retire(): Promise<void> {
    try {
      await this.connection.run(RETIRE, [this.instance])
    } catch {
      // The others find the instance dead, as after a crash.
    }
  }

  private send(batch: readonly PendingWrite[]): Promise<void> {
    this.turn = this.turn.then(() => this.commit(batch)).then((outcomes) => outcomes && this.queue.ended(outcomes))
    return this.turn
  }

  /** Commits a batch, however often it takes. Resolves once it is durable, or to undefined if this instance ends. */
  private async commit(batch: readonly PendingWrite[]): Promise<Outcomes | undefined> {
    if (this.hasEnded) return undefined
    this.beganMs = performance.now()
    this.silenceMs = this.silenceMsMin
    this.tries.clear()
    try {
      let outcomes: Outcomes | undefined
      for (let way: 'together' | 'apart' = 'together'; !outcomes;) {
        const result = await this.try(batch, way)
        if (result.kind === 'durable') outcomes = result.outcomes
        else if (result.kind === 'refused') way = 'apart'
        else outcomes = await this.askForNumber()
      }
      return outcomes
    } catch (error) {
      this.end(error instanceof StoreEnd ? error : new StoreEnd('store.fatal', String(error)))
      return undefined
    } finally {
      this.beganMs = undefined
    }
  }

  private async try(batch: readonly PendingWrite[], way: 'together' | 'apart'): Promise<TryResult> {
    const number = ++this.last
    await this.connection.open()
    this.askedMs = performance.now()
    const sentMs = this.askedMs
    try {
      const outcomes = way === 'together' ? await this.together(batch, number) : await this.apart(batch, number)
      this.confirm(number, sentMs)
      return { kind: 'durable', outcomes }
    } catch (error) {
      return await this.recover(error)
    } finally {
      this.askedMs = undefined
    }
  }

  private async together(batch: readonly PendingWrite[], number: bigint): Promise<Outcomes> {
    const { queries, isWhole } = this.compiler.compile(batch, this.fenceValues(number))
    this.tries.set(number, NONE)
    const begun = isWhole ? [] : [this.connection.command('BEGIN'), this.fence(number)]
    const steps = queries.map(({ text, bind }) => this.connection.run(text, bind))
    const results = await this.ended([...begun, ...steps, ...(isWhole ? [] : [this.commitTransaction()])])
    return outcomesOf(queries, results.slice(begun.length) as (readonly unknown[])[])
  }

  private async apart(batch: readonly PendingWrite[], number: bigint): Promise<Outcomes> {
    const { connection } = this
    const begun = [connection.command('BEGIN'), this.fence(number)]
    await allEnded([...begun, ...lockQueries(batch).map(({ text, bind }) => connection.run(text, bind))])
    const outcomes = await runApart(connection, batch)
    this.tries.set(number, outcomes)
    await this.ended([this.commitTransaction()])
    return outcomes
  }

  /** Waits for queries that have been sent and commit, and for the barrier behind them. */
  private ended(sent: readonly Promise<unknown>[]): Promise<unknown[]> {
    return allEnded([...sent, this.barrier()])
  }

  private fenceValues(number: bigint): FenceValues {
    return [this.instance, number, this.durable]
  }

  private fence(number: bigint): Promise<unknown> {
    return this.connection.run(FENCE, this.fenceValues(number)).catch((error: Error & DatabaseError) => {
      throw queryFailureOf(error) === 'refused' ? new FenceError() : error
    })
  }

  private async commitTransaction(): Promise<void> {
    const { command } = await this.connection.command('COMMIT')
    // A transaction that has failed is rolled back by its commit, which is no error.
    if (command !== 'COMMIT') throw new RollbackError()
  }

  private async barrier(): Promise<void> {
    const { count } = await this.connection.run(BARRIER, [this.instance])
    if (count !== 1) throw declaredDead()
  }

  /** Cleans up after a failed try. Returns what is known of it. */
  private async recover(error: unknown): Promise<TryResult> {
    if (error instanceof StoreEnd) throw error
    // A former connection may have committed a try after it was given up.
    if (error instanceof FenceError) {
      await this.rollBack()
      return { kind: 'unknown' }
    }
    const kind = queryFailureOf(error as DatabaseError)
    if (kind === 'fault') throw error
    if (kind === 'lost') await this.connection.cut()
    else await this.rollBack()
    if (kind === 'again') await Bun.sleep(RETRY_MS + Math.random() * RETRY_MS)
    return { kind: kind === 'refused' ? 'refused' : 'unknown' }
  }

  private async rollBack(): Promise<void> {
    try {
      // Outside of a transaction this is only a warning.
      await this.connection.runSimple('ROLLBACK')
    } catch {
      // The connection is lost. The next query says so.
    }
  }

  /** Which try was committed? Resolves to its outcomes once it is durable, or to undefined if none was. */
  private async askForNumber(): Promise<Outcomes | undefined> {
    for (;;) {
      await this.connection.open()
      this.askedMs = performance.now()
      const sentMs = this.askedMs
      try {
        const [row] = await this.connection.run<LastBatch>(LAST_BATCH, [this.instance])
        if (row && row.state !== 'alive' && row.state !== 'draining') throw declaredDead()
        if (row?.batch === this.durable) return undefined
        const outcomes = row && this.tries.get(row.batch)
        if (!outcomes) throw wentBack('batch of this instance', row?.batch, this.durable)
        // It was seen, which does not mean that it was flushed.
        await this.barrier()
        this.confirm(row.batch, sentMs)
        return outcomes
      } catch (error) {
        await this.recover(error)
      } finally {
        this.askedMs = undefined
      }
    }
  }

  private confirm(number: bigint, sentMs: number): void {
    this.durable = number
    this.provenMs = sentMs
  }

  /** Gives up a server that is silent, and gives the sign of life of an idle instance: a batch of nothing. */
  private look(): void {
    const nowMs = performance.now()
    if (this.askedMs !== undefined && nowMs - this.askedMs > this.silenceMs) {
      this.askedMs = undefined
      this.silenceMs = Math.min(2 * this.silenceMs, SILENCE_MS_MAX)
      void this.connection.cut()
    }
    if (this.beganMs === undefined && !this.hasEnded && !this.queue.isBusy && nowMs - this.provenMs > IDLE_MS) {
      this.turn = this.turn.then(() => this.commit([])).then(() => undefined)
    }
  }

  private end({ message, event }: StoreEnd): void {
    this.hasEnded = true
    clearInterval(this.watch)
    this.onFatal(message, event)
  }
}

/** Another batch of this instance has its place, or this instance was declared dead. */
class FenceError extends Error {}

/** The transaction failed before its commit. The error of the failed query has the reason. */
class RollbackError extends Error {}

/** Waits for the ends of all. Throws the first error, which is the cause of the others. */
async function allEnded(all: readonly Promise<unknown>[]): Promise<unknown[]> {
  return (await Promise.allSettled(all)).map((result) => {
    if (result.status === 'rejected') throw result.reason
    return result.value
  })
}
