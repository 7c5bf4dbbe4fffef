/** The writer of PostgreSQL. It has the only connection of this instance that writes. */
import type { ReservedSQL, SQL } from 'bun'
import type { WriteOutcome, WriteStep } from '../statement.ts'
import { WriteQueue, type DeferredWrite, type Lane, type OutcomeListener, type PendingWrite } from '../write-queue.ts'
import type { DatabaseError } from './client.ts'
import { violationOf } from './constraints.ts'
import { textOfStatement } from './text.ts'
import { toBound } from './values.ts'

export class PostgresWriter {
  private readonly queue: WriteQueue
  private readonly connection: ReservedSQL
  private readonly onFatal: (message: string) => void

  constructor(
    connection: ReservedSQL,
    { onFatal, deferMs }: { readonly onFatal: (message: string) => void; readonly deferMs: number },
  ) {
    this.connection = connection
    this.onFatal = onFatal
    this.queue = new WriteQueue((batch) => void this.send(batch), deferMs)
  }

  get queued(): number {
    return this.queue.queued
  }

  get waitingMs(): number {
    return this.queue.waitingMs
  }

  write(steps: readonly WriteStep[], lane?: Lane): Promise<WriteOutcome> {
    return this.queue.write(steps, lane)
  }

  defer(stepsOf: () => readonly WriteStep[], heard: OutcomeListener): DeferredWrite {
    return this.queue.defer(stepsOf, heard)
  }

  async close(): Promise<void> {
    await this.queue.close()
    await this.connection.release()
  }

  private async send(batch: readonly PendingWrite[]): Promise<void> {
    try {
      this.queue.ended(await this.runApart(batch))
    } catch (error) {
      this.onFatal(String(error))
    }
  }

  /** Each transaction has its own savepoint, so that it can fail alone. */
  private async runApart(batch: readonly PendingWrite[]): Promise<Map<number, WriteOutcome>> {
    const refused = new Map<number, WriteOutcome>()
    await this.run('BEGIN')
    for (const [i, { steps }] of batch.entries()) {
      await this.run('SAVEPOINT tx')
      const outcome = await this.runGuarded(steps)
      if (outcome) {
        await this.run('ROLLBACK TO tx')
        refused.set(i, outcome)
      }
      await this.run('RELEASE tx')
    }
    await this.run('COMMIT')
    return refused
  }

  private async runGuarded(steps: readonly WriteStep[]): Promise<WriteOutcome | undefined> {
    try {
      return await this.runSteps(steps)
    } catch (error) {
      const known = error as DatabaseError
      if (!isRefusal(known)) throw error
      return { kind: 'refused', step: -1, reason: known.message, violation: violationOf(known) }
    }
  }

  private async runSteps(steps: readonly WriteStep[]): Promise<WriteOutcome | undefined> {
    for (const [step, { run, bind, changes: expected }] of steps.entries()) {
      const { count } = await this.connection.unsafe(textOfStatement(run), bind.map(toBound))
      if (expected !== undefined && count !== expected) {
        return { kind: 'refused', step, reason: `changed ${count} rows instead of ${expected}` }
      }
    }
    return undefined
  }

  private run(text: string): SQL.Query<unknown> {
    return this.connection.unsafe(text).simple()
  }
}

/**
 * Whether the error concerns the rows of one transaction: an integrity constraint (class 23), a value out of range
 * (class 22), or a trigger that refuses a change (P0001).
 */
const isRefusal = ({ errno }: DatabaseError): boolean =>
  errno !== undefined && (/^2[23]/.test(errno) || errno === 'P0001')
