/** Video tasks in a database. Each transition is one conditional statement, so it holds whatever happened before it. */
import type { VideoMade, VideoStage, VideoTask } from '../domain/video-task.ts'
import type { Check } from '../lib/primitives/checks.ts'
import type { AttemptNote } from '../records/records.ts'
import { violates } from '../store/constraint.ts'
import { eachDatabase, isListed, textList } from '../store/sql.ts'
import { statement, type Row, type WriteStep } from '../store/statement.ts'
import { mustWrite, type Store } from '../store/store.ts'
import { SWEEP_ROWS } from '../store/sweep.ts'
import { packed, taskOf } from './rows.ts'
import {
  TASK_KEPT_MS,
  type OrphanTask,
  type TaskAcceptance,
  type TaskPageQuery,
  type Tasks,
  type TasksBefore,
  type TaskScope,
} from './tasks.ts'

const COLUMNS = 'id, account_id, key_id, request_id, model, wish, terms, held, created_at, deadline_at'
const insert = statement(`INSERT INTO video_task (${COLUMNS}, stage)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'submitting')`)
/** How many tasks of an instance that died another one takes over at once. */
const TAKEN_AT_ONCE = 16

/** Progress never falls. */
const raisedTo = (value: string): string => `progress = CASE WHEN progress > ${value} THEN progress ELSE ${value} END`

const accept = statement(
  `UPDATE video_task SET stage = 'queued', offer_id = ?2, upstream_id = ?3, attempts = ?4
   WHERE id = ?1 AND stage = 'submitting'`,
)
const advance = statement(`UPDATE video_task SET stage = 'running', started_at = coalesce(started_at, ?2),
  ${raisedTo('?3')} WHERE id = ?1 AND stage IN ('queued', 'running')`)
const upscale = statement(`UPDATE video_task SET stage = 'upscaling', made = ?2, started_at = coalesce(started_at, ?3),
  ${raisedTo('?4')} WHERE id = ?1 AND stage IN ('queued', 'running')`)
const acceptUpscale = statement(
  "UPDATE video_task SET upscale_id = ?2 WHERE id = ?1 AND stage = 'upscaling' AND upscale_id IS NULL",
)
const raise = statement(`UPDATE video_task SET ${raisedTo('?2')} WHERE id = ?1 AND ended_at IS NULL`)
const store = statement(`UPDATE video_task SET stage = 'storing', made = ?2, started_at = coalesce(started_at, ?3),
  ${raisedTo('?4')} WHERE id = ?1 AND stage IN ('queued', 'running', 'upscaling')`)
const complete = statement(`UPDATE video_task SET stage = 'completed', progress = 100, usage = ?2, ended_at = ?3
  WHERE id = ?1 AND stage = 'storing'`)
const fail = statement(`UPDATE video_task SET stage = 'failed', reason = ?2, orphan = ?3, ended_at = ?4
  WHERE id = ?1 AND ended_at IS NULL`)
const forget = statement("DELETE FROM video_task WHERE id = ? AND stage = 'submitting'")
const hide = statement(`UPDATE video_task SET deleted_at = ?3
  WHERE account_id = ?1 AND id = ?2 AND ended_at IS NOT NULL AND deleted_at IS NULL`)
const settleOrphan = statement('UPDATE video_task SET orphan = NULL WHERE request_id = ? AND orphan IS NOT NULL')

/** Of instances that share the table, each works on the tasks that it owns, as long as it lives. */
const insertOwned = statement(`INSERT INTO video_task (${COLUMNS}, owner, stage)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'submitting')`)
const isOwned = statement('UPDATE video_task SET owner = owner WHERE id = ? AND owner = ?')
/**
 * Two instances never wait for each other here, nor take the same task. The others get a share of many tasks.
 * The tasks are selected once: a join may run a plain subquery for each of its rows, and then take more than the limit.
 * The dead are listed first: a row that another instance has just taken is checked again before it is locked, by its
 * own columns alone.
 */
const take = statement(`WITH left_behind AS MATERIALIZED (
    SELECT id FROM video_task WHERE ended_at IS NULL AND owner = ANY (ARRAY(
      SELECT DISTINCT task.owner FROM video_task AS task
      WHERE task.ended_at IS NULL AND task.owner <> ?1 AND NOT EXISTS (
        SELECT 1 FROM instance WHERE instance.id = task.owner AND instance.state IN ('alive', 'draining'))))
    ORDER BY request_id LIMIT ${TAKEN_AT_ONCE} FOR UPDATE SKIP LOCKED)
  UPDATE video_task SET owner = ?1, taken_at = ?2 WHERE id IN (SELECT id FROM left_behind)`)
const TAKEN = `SELECT * FROM video_task WHERE ended_at IS NULL AND owner = ? AND taken_at = ? ORDER BY request_id`

/** A vendor's task belongs to at most one task. */
const UPSTREAM_KEY = 'video_task(offer_id, upstream_id)'
const STALE = 'FROM video_task WHERE ended_at < ? AND orphan IS NULL'
const sweep = statement(`DELETE FROM video_task WHERE id IN (SELECT id ${STALE} LIMIT ${SWEEP_ROWS})`)

const UNENDED = 'SELECT * FROM video_task WHERE ended_at IS NULL ORDER BY request_id'
const KNOWN = eachDatabase(
  (database) => `SELECT upstream_id FROM video_task WHERE ${isListed(database, 'upstream_id', '?')}`,
)

/** `instance` is the owner of the tasks that this process works on, if others share the store. */
export const openSqlTasks = (store_: Store, instance?: string): Tasks => new SqlTasks(store_, instance)

class SqlTasks implements Tasks {
  private readonly store: Store
  private readonly instance: string | undefined
  private lastTakenMs = 0

  constructor(store_: Store, instance: string | undefined) {
    this.store = store_
    this.instance = instance
  }

  get isShared(): boolean {
    return this.instance !== undefined
  }

  insertSteps(task: VideoTask): WriteStep[] {
    const { id, accountId, keyId, requestId, model, wish, terms, held, createdAtMs, deadlineAtMs } = task
    const bind = [id, accountId, keyId, requestId, model, packed(wish), packed(terms), held, createdAtMs, deadlineAtMs]
    if (this.instance === undefined) return [{ run: insert, bind, changes: 1 }]
    return [{ run: insertOwned, bind: [...bind, this.instance], changes: 1 }]
  }

  completeSteps({ id, usage, endedAtMs }: VideoTask): WriteStep[] {
    return this.own(id, { run: complete, bind: [id, packed(usage), endedAtMs ?? null], changes: 1 })
  }

  failSteps({ id, reason, endedAtMs }: VideoTask, orphan: string | undefined): WriteStep[] {
    return this.own(id, { run: fail, bind: [id, reason ?? '', orphan ?? null, endedAtMs ?? null], changes: 1 })
  }

  forgetSteps({ id }: VideoTask): WriteStep[] {
    return this.own(id, { run: forget, bind: [id], changes: 1 })
  }

  async accepted({ id }: VideoTask, { offerId, upstreamId, attempts }: TaskAcceptance): Promise<boolean> {
    const bind = [id, offerId, upstreamId, JSON.stringify(attempts)]
    const outcome = await this.store.write(this.own(id, { run: accept, bind, changes: 1 }))
    if (outcome.kind === 'refused' && !violates(outcome, UPSTREAM_KEY)) throw new Error(outcome.reason)
    return outcome.kind === 'written'
  }

  running({ id }: VideoTask, progress: number): Promise<void> {
    return this.transit(id, { run: advance, bind: [id, Date.now(), progress], changes: 1 })
  }

  upscaling({ id }: VideoTask, made: VideoMade, progress: number): Promise<void> {
    return this.transit(id, { run: upscale, bind: [id, packed(made), Date.now(), progress], changes: 1 })
  }

  acceptedUpscale({ id }: VideoTask, upscaleId: string): Promise<void> {
    return this.transit(id, { run: acceptUpscale, bind: [id, upscaleId], changes: 1 })
  }

  raised({ id }: VideoTask, progress: number): Promise<void> {
    return this.transit(id, { run: raise, bind: [id, progress], changes: 1 })
  }

  storing({ id }: VideoTask, made: VideoMade, progress: number): Promise<void> {
    return this.transit(id, { run: store, bind: [id, packed(made), Date.now(), progress], changes: 1 })
  }

  /** The step of a transition. It is refused if another instance owns the task. */
  private own(id: string, step: WriteStep): WriteStep[] {
    return this.instance === undefined ? [step] : [{ run: isOwned, bind: [id, this.instance], changes: 1 }, step]
  }

  private transit(id: string, step: WriteStep): Promise<void> {
    return mustWrite(this.store, this.own(id, step))
  }

  async takeOver(): Promise<{ task: VideoTask; attempts: AttemptNote[] }[]> {
    const rows = await (this.instance === undefined ? this.store.query(UNENDED) : this.taken(this.instance))
    return rows.map((row) => ({ task: taskOf(row), attempts: JSON.parse(row['attempts'] as string) as AttemptNote[] }))
  }

  /** Each take-over has a time of its own, by which its rows are found. */
  private async taken(instance: string): Promise<readonly Row[]> {
    this.lastTakenMs = Math.max(Date.now(), this.lastTakenMs + 1)
    const taking = [instance, this.lastTakenMs]
    await mustWrite(this.store, [{ run: take, bind: taking }])
    return this.store.query(TAKEN, taking)
  }

  async find({ accountId }: TaskScope, id: string): Promise<VideoTask | undefined> {
    const sql = 'SELECT * FROM video_task WHERE account_id = ? AND id = ? AND deleted_at IS NULL'
    const [row] = await this.store.query(sql, [accountId, id])
    return row && taskOf(row)
  }

  async forConsole({ accountId }: TaskScope, id: string): Promise<VideoTask | undefined> {
    const column = id.startsWith('req_') ? 'request_id' : 'id'
    const sql = `SELECT * FROM video_task WHERE account_id = ? AND ${column} = ? AND deleted_at IS NULL`
    const [row] = await this.store.aside.query(sql, [accountId, id], accountId)
    return row && taskOf(row)
  }

  async before({ accountId }: TaskScope, { limit, before }: TasksBefore): Promise<readonly VideoTask[]> {
    const sql = `SELECT * FROM video_task WHERE account_id = ?1 AND deleted_at IS NULL AND (CAST(?2 AS text) IS NULL OR request_id < ?2)
      ORDER BY request_id DESC LIMIT ?3`
    return (await this.store.aside.query(sql, [accountId, before ?? null, limit], accountId)).map(taskOf)
  }

  async orphans(): Promise<readonly OrphanTask[]> {
    const sql = 'SELECT * FROM video_task WHERE orphan IS NOT NULL ORDER BY request_id'
    return (await this.store.query(sql)).map((row) => {
      const { requestId, accountId, model, offerId, upstreamId, createdAtMs } = taskOf(row)
      return { requestId, accountId, model, offerId, upstreamId, createdAtMs, why: row['orphan'] as string }
    })
  }

  async settleOrphan(requestId: string): Promise<boolean> {
    return (await this.store.write([{ run: settleOrphan, bind: [requestId], changes: 1 }])).kind === 'written'
  }

  async stageOf(id: string): Promise<VideoStage | undefined> {
    const [row] = await this.store.query('SELECT stage FROM video_task WHERE id = ? AND deleted_at IS NULL', [id])
    return row?.['stage'] as VideoStage | undefined
  }

  async list({ accountId }: TaskScope, { limit, order, after }: TaskPageQuery): Promise<VideoTask[] | undefined> {
    const last = after === undefined ? undefined : await this.find({ accountId }, after)
    if (after !== undefined && !last) return undefined
    const sql = `SELECT * FROM video_task WHERE account_id = ?1 AND deleted_at IS NULL
      AND (CAST(?2 AS text) IS NULL OR request_id ${order === 'asc' ? '>' : '<'} ?2)
      ORDER BY request_id ${order === 'asc' ? 'ASC' : 'DESC'} LIMIT ?3`
    return (await this.store.query(sql, [accountId, last?.requestId ?? null, limit + 1])).map(taskOf)
  }

  async delete({ accountId }: TaskScope, id: string, also: readonly WriteStep[]): Promise<boolean> {
    const outcome = await this.store.write([{ run: hide, bind: [accountId, id, Date.now()], changes: 1 }, ...also])
    return outcome.kind === 'written'
  }

  async knows(upstreamIds: readonly string[]): Promise<ReadonlySet<string>> {
    const rows = await this.store.query(KNOWN, [textList(upstreamIds)])
    return new Set(rows.map((row) => row['upstream_id'] as string))
  }

  async sweep(): Promise<void> {
    const before = Date.now() - TASK_KEPT_MS
    const [row] = await this.store.query(`SELECT count(*) AS stale ${STALE}`, [before])
    for (let left = Number(row?.['stale'] ?? 0); left > 0; left -= SWEEP_ROWS) {
      await this.store.write([{ run: sweep, bind: [before] }], 'bulk')
    }
  }
}

const HELD = 'the hold of a video is open until its task has ended'

/** Checks that the stage of each task agrees with its hold, and that each hold has its task. */
export const taskChecks: readonly Check[] = [
  {
    code: 'task_hold',
    invariant: HELD,
    found: '{stage}, hold {state}',
    sql: `SELECT t.request_id AS subject, t.stage, coalesce(h.state, 'none') AS state
      FROM video_task t LEFT JOIN hold h ON h.id = t.request_id
      WHERE h.state IS DISTINCT FROM CASE t.stage WHEN 'completed' THEN 'settled' WHEN 'failed' THEN 'released' ELSE 'open' END`,
  },
  {
    code: 'hold_task',
    invariant: HELD,
    found: 'no task',
    sql: `SELECT h.id AS subject FROM hold h LEFT JOIN video_task t ON t.request_id = h.id
      WHERE h.state = 'open' AND h.owner = 'task' AND t.id IS NULL`,
  },
]
