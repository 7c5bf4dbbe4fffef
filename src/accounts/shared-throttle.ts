/**
 * Throttles for all instances together. A row has the time, by the database's clock, at which its bucket is full again.
 */
import { statement } from '../store/statement.ts'
import type { Store } from '../store/store.ts'
import { MemoryThrottle, type Throttle, type ThrottleRule } from './throttle.ts'

const ms = (parameter: string): string => `CAST(${parameter} AS double precision) * interval '1 millisecond'`
const TAKEN = `GREATEST(throttle.full_at, clock_timestamp()) + ${ms('?2')}`

/** Takes a try if the bucket has one. The last value is the time in which an empty bucket becomes full. */
const take = statement(
  `INSERT INTO throttle (name, full_at) VALUES (?1, clock_timestamp() + ${ms('?2')})
   ON CONFLICT (name) DO UPDATE SET full_at = ${TAKEN} WHERE ${TAKEN} <= clock_timestamp() + ${ms('?3')}`,
)
const giveBack = statement(`UPDATE throttle SET full_at = full_at - ${ms('?2')} WHERE name = ?1`)
/** Each try forgets more names than it adds, so that only those of the last tries are kept. */
const forget = statement(
  `WITH forgotten AS MATERIALIZED (
     SELECT name FROM throttle WHERE full_at <= clock_timestamp() LIMIT 10 FOR UPDATE SKIP LOCKED)
   DELETE FROM throttle WHERE name IN (SELECT name FROM forgotten)`,
)
/** The time until a bucket is full. */
const selectWait = `SELECT CAST(ceil(extract(epoch FROM full_at - clock_timestamp()) * 1000) AS bigint) AS full_in_ms
  FROM throttle WHERE name = ?`

/** Opens throttles: of this process if it has its store alone, of all instances otherwise. */
export const throttlesOn =
  (store: Store) =>
  (kind: string, rule: ThrottleRule): Throttle =>
    store.changes.isShared ? new SharedThrottle(store, kind, rule) : new MemoryThrottle(rule)

export class SharedThrottle implements Throttle {
  private readonly store: Store
  private readonly kind: string
  private readonly rule: ThrottleRule

  /** Throttles of different kinds do not share names. */
  constructor(store: Store, kind: string, rule: ThrottleRule) {
    this.store = store
    this.kind = kind
    this.rule = rule
  }

  async take(name: string): Promise<number> {
    const { burst, refillMs } = this.rule
    const bind = [this.rowOf(name), refillMs, burst * refillMs]
    const { lane } = this.store.changes
    const outcome = await this.store.write([{ run: take, bind, changes: 1 }], lane)
    if (outcome.kind === 'refused') return this.waitMs(name)
    await this.store.write([{ run: forget, bind: [] }], 'bulk')
    return 0
  }

  async giveBack(name: string): Promise<void> {
    await this.store.write([{ run: giveBack, bind: [this.rowOf(name), this.rule.refillMs] }], this.store.changes.lane)
  }

  private async waitMs(name: string): Promise<number> {
    const { burst, refillMs } = this.rule
    const [row] = await this.store.query(selectWait, [this.rowOf(name)])
    return Math.max(1, Number(row?.['full_in_ms'] ?? 0) - (burst - 1) * refillMs)
  }

  private rowOf(name: string): string {
    return `${this.kind} ${name}`
  }
}
