/** Tasks that make videos: the port that stores them. */
import type { VideoMade, VideoStage, VideoTask } from '../domain/video-task.ts'
import type { AttemptNote } from '../records/records.ts'
import type { WriteStep } from '../store/statement.ts'
import { DAY_MS } from '../lib/primitives/units.ts'

/** The account that the tasks belong to. */
export type TaskScope = { readonly accountId: string }

/** A task whose owner is gone, and the reason why a vendor may still work on it and bill for it. */
export type OrphanTask = {
  readonly requestId: string
  readonly accountId: string
  readonly model: string
  readonly offerId: string | undefined
  readonly upstreamId: string | undefined
  readonly why: string
  readonly createdAtMs: number
}

/** A vendor's confirmation that it has a task. */
export type TaskAcceptance = {
  readonly offerId: string
  readonly upstreamId: string
  readonly attempts: readonly AttemptNote[]
}

/** A page of a list, by task id. */
export type TaskPageQuery = {
  readonly limit: number
  readonly order: 'asc' | 'desc'
  /** The id of the task before the first one. Undefined means from the start. */
  readonly after: string | undefined
}

/** A page of the list for people, by request: only tasks of requests before `before`. */
export type TasksBefore = { readonly limit: number; readonly before: string | undefined }

/** How long an ended task is kept. An orphan is kept until the operator settles it. */
export const TASK_KEPT_MS = 30 * DAY_MS
/**
 * The port of video tasks. Stages are `submitting → queued → running → upscaling → storing → completed`. `failed` can
 * follow any of them but `completed`.
 *
 * - A transition is one conditional change. If it does not fit the stage, it is refused together with everything in its
 *   transaction. Methods that write reject, and steps make their transaction `refused`.
 * - The first and the last step of a task are written with the start and the end of its hold.
 * - `progress` never falls, and `startedAtMs` never changes once it is set.
 * - A vendor's task belongs to at most one task.
 * - A task is worked on by the process that made it, as long as that lives, and then by the one that took it over. The
 *   transitions of another instance are refused.
 * - A task belongs to one account. Only `stageOf` needs no account, because the id alone gives access to the video.
 * - A deleted task is gone for every reader. An orphan stays on the operator's list until it is settled.
 */
export type Tasks = {
  /** Steps that make a task in the stage `submitting`. */
  insertSteps(task: VideoTask): WriteStep[]
  /** Steps that complete a task that is `storing`. */
  completeSteps(task: VideoTask): WriteStep[]
  /** Steps that fail a task. `orphan` is the reason why a vendor may still work on it. */
  failSteps(task: VideoTask, orphan: string | undefined): WriteStep[]
  /** Steps that remove a task in the stage `submitting` whose client never learned of it. */
  forgetSteps(task: VideoTask): WriteStep[]
  /** `submitting → queued`. Resolves to false and changes nothing if the vendor's task belongs to another task. */
  accepted(task: VideoTask, acceptance: TaskAcceptance): Promise<boolean>
  /** `queued | running → running`. Progress is a percentage. */
  running(task: VideoTask, progress: number): Promise<void>
  /** `queued | running → upscaling`. */
  upscaling(task: VideoTask, made: VideoMade, progress: number): Promise<void>
  /** Notes the vendor's upscaling task, once, in the stage `upscaling`. */
  acceptedUpscale(task: VideoTask, upscaleId: string): Promise<void>
  /** Raises the progress of a task that has not ended. */
  raised(task: VideoTask, progress: number): Promise<void>
  /** `queued | running | upscaling → storing`. */
  storing(task: VideoTask, made: VideoMade, progress: number): Promise<void>
  /** Whether other instances work on tasks, too. */
  readonly isShared: boolean
  /**
   * Tasks that have not ended and that no process works on, oldest first, with the attempts of their submission. From
   * now on they are this process’s. Of instances that share the store, each gets some of them at a time.
   */
  takeOver(): Promise<{ task: VideoTask; attempts: AttemptNote[] }[]>
  find(scope: TaskScope, id: string): Promise<VideoTask | undefined>
  /** A task by its own id or by that of its request, for the console: the reads of requests go first. */
  forConsole(scope: TaskScope, id: string): Promise<VideoTask | undefined>
  stageOf(id: string): Promise<VideoStage | undefined>
  /** One more than the page has, if there is more. Undefined if `after` is no task of the account. */
  list(scope: TaskScope, page: TaskPageQuery): Promise<VideoTask[] | undefined>
  /** Tasks of an account, newest first. */
  before(scope: TaskScope, page: TasksBefore): Promise<readonly VideoTask[]>
  /** Deletes an ended task, with `also` in the same transaction. Resolves to false if there is none. */
  delete(scope: TaskScope, id: string, also: readonly WriteStep[]): Promise<boolean>
  /** Those of a vendor's task ids that belong to a task. */
  knows(upstreamIds: readonly string[]): Promise<ReadonlySet<string>>
  /** Tasks without an owner that a vendor may still work on, oldest first. */
  orphans(): Promise<readonly OrphanTask[]>
  /** Removes an orphan from the operator's list. Resolves to false if it is not on the list. */
  settleOrphan(requestId: string): Promise<boolean>
  /** Deletes tasks that ended `TASK_KEPT_MS` ago, except orphans, in small steps that requests go before. */
  sweep(): Promise<void>
}
