/** Rows that are in memory and that other instances may change. */
import type { ChangeKind, ChangeWatcher } from './change-log.ts'
import type { Row, Sql, WriteOutcome, WriteStep } from './statement.ts'
import type { Store } from './store.ts'

type SharedRowsOptions = {
  readonly kind: ChangeKind
  /** Reads all rows, oldest first. */
  readonly all: Sql
  /** Reads the rows of one subject, which is bound. */
  readonly one: Sql
  readonly subjectOf: (row: Row) => string
  /** Takes the rows of a subject into memory. Without rows, there are none any more. */
  readonly take: (subject: string, rows: readonly Row[]) => void
}

type PendingWrites = { count: number; readonly ended: PromiseWithResolvers<void> }

/**
 * Memory changes before the database does, in the tick of a call. So while this process writes a subject, nothing that
 * the database says of it is taken, nor what a query says that began before.
 */
export class SharedRows implements ChangeWatcher {
  readonly kind: ChangeKind
  private readonly store: Store
  private readonly options: SharedRowsOptions
  private readonly writing = new Map<string, PendingWrites>()
  private readonly reading = new Set<{ readonly subject: string; isOld: boolean }>()

  constructor(store: Store, options: SharedRowsOptions) {
    this.kind = options.kind
    this.store = store
    this.options = options
  }

  async load(): Promise<void> {
    const { all, subjectOf, take } = this.options
    for (const [subject, rows] of Map.groupBy(await this.store.query(all), subjectOf)) take(subject, rows)
  }

  async reload(subject: string): Promise<void> {
    const read = { subject, isOld: true }
    while (read.isOld) {
      for (let writes = this.writing.get(subject); writes; writes = this.writing.get(subject))
        await writes.ended.promise
      read.isOld = false
      this.reading.add(read)
      // Between the answer and its use, no write may begin unseen: both are one step.
      await this.store
        .query(this.options.one, [subject])
        .then((rows) => !read.isOld && this.options.take(subject, rows))
        .finally(() => this.reading.delete(read))
    }
  }

  /** Runs work that writes a subject. Memory already has what it writes. */
  async during<T>(subject: string, work: () => Promise<T>): Promise<T> {
    const writes = this.writing.get(subject) ?? { count: 0, ended: Promise.withResolvers<void>() }
    writes.count++
    this.writing.set(subject, writes)
    for (const read of this.reading) if (read.subject === subject) read.isOld = true
    try {
      return await work()
    } finally {
      if (--writes.count === 0) {
        this.writing.delete(subject)
        writes.ended.resolve()
      }
    }
  }

  /** Writes what memory already has, and announces it. After a refusal, memory is read again. */
  async tryWrite(subject: string, steps: readonly WriteStep[]): Promise<WriteOutcome> {
    const announced = this.announce(subject)
    const { lane } = this.store.changes
    const outcome = await this.during(subject, () => this.store.write([...steps, ...announced], lane))
    if (outcome.kind === 'refused') await this.reload(subject)
    return outcome
  }

  /** The steps that announce a change of a subject. */
  announce(subject: string): readonly WriteStep[] {
    return this.store.changes.announce(this.kind, subject)
  }

  /** Writes what must succeed. A refusal throws. */
  async write(subject: string, steps: readonly WriteStep[]): Promise<void> {
    const outcome = await this.tryWrite(subject, steps)
    if (outcome.kind === 'refused') throw new Error(`transaction refused at step ${outcome.step}: ${outcome.reason}`)
  }
}
