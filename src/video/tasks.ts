/** Tasks that make videos: the port that keeps them. */
import type { VideoMade, VideoStage, VideoTask } from '../domain/video-task.ts'
import type { AttemptNote } from '../records/records.ts'
import type { WriteStep } from '../store/statement.ts'
import { DAY_MS } from '../lib/primitives/units.ts'

/** Whose tasks are meant. */
export type TaskScope = { readonly accountId: string }

/** Why a vendor may be at work, and bill, for nobody. */
export type OrphanTask = {
  readonly requestId: string
  readonly accountId: string
  readonly model: string
  readonly offerId: string | undefined
  readonly upstreamId: string | undefined
  readonly why: string
  readonly createdAtMs: number
}

/** A vendor's word that it has a task. */
export type TaskAcceptance = {
  readonly offerId: string
  readonly upstreamId: string
  readonly attempts: readonly AttemptNote[]
}

/** The page of a list. */
export type TaskPageQuery = {
  readonly limit: number
  readonly order: 'asc' | 'desc'
  /** The id of the task before the first; undefined: from the start. */
  readonly after: string | undefined
}

/** A page of the list for people, who page by requests: those of requests before one. */
export type TasksBefore = { readonly limit: number; readonly before: string | undefined }

/** How long a task that has ended is remembered; an orphan until the operator has looked at it. */
export const TASK_KEPT_MS = 30 * DAY_MS
/**
 * The port of video tasks. Stages are `submitting → queued → running → upscaling → storing → completed`; `failed` is
 * reached from any of them but `completed`.
 *
 * - A transition is one conditional change. One that does not fit the stage is refused, with everything that goes along
 *   with it: the methods that write reject, and steps make their transaction `refused`.
 * - The first and the last step of a task go along with the making and the end of its hold.
 * - `progress` never falls, and `startedAtMs` never changes once it is set.
 * - A vendor's task is one task at most.
 * - A task belongs to one account. Only `stageOf` asks by the id alone: the id is all it takes to fetch the video.
 * - A deleted task is gone for every reader. A task that is an orphan stays on the operator's list until it is settled.
 */
export type Tasks = {
  /** Steps that make a task, `submitting`. */
  insertSteps(task: VideoTask): WriteStep[]
  /** Steps that complete a task that is `storing`. */
  completeSteps(task: VideoTask): WriteStep[]
  /** Steps that fail a task. `orphan`: why a vendor may be at work for nobody. */
  failSteps(task: VideoTask, orphan: string | undefined): WriteStep[]
  /** Steps that remove a task whose client never heard of it, while it is `submitting`. */
  forgetSteps(task: VideoTask): WriteStep[]
  /** `submitting → queued`. False, and nothing changed, where the vendor's task is another task's. */
  accepted(task: VideoTask, acceptance: TaskAcceptance): Promise<boolean>
  /** `queued | running → running`. Progress is a percentage. */
  running(task: VideoTask, progress: number): Promise<void>
  /** `queued | running → upscaling`. */
  upscaling(task: VideoTask, made: VideoMade, progress: number): Promise<void>
  /** Notes the vendor's task that upscales, once, while the stage is `upscaling`. */
  acceptedUpscale(task: VideoTask, upscaleId: string): Promise<void>
  /** Raises the progress of a task that has not ended. */
  raised(task: VideoTask, progress: number): Promise<void>
  /** `queued | running | upscaling → storing`. */
  storing(task: VideoTask, made: VideoMade, progress: number): Promise<void>
  /** Tasks that have not ended, oldest first, with what their submission went through. */
  open(): Promise<{ task: VideoTask; attempts: AttemptNote[] }[]>
  find(scope: TaskScope, id: string): Promise<VideoTask | undefined>
  /** The task of a request, whose id may be said aloud: nothing can be fetched by it. */
  ofRequest(scope: TaskScope, requestId: string): Promise<VideoTask | undefined>
  stageOf(id: string): Promise<VideoStage | undefined>
  /** One more than the page has, where there is more. Undefined where `after` is no task of the account. */
  list(scope: TaskScope, page: TaskPageQuery): Promise<VideoTask[] | undefined>
  /** Tasks of an account, newest first. */
  before(scope: TaskScope, page: TasksBefore): Promise<readonly VideoTask[]>
  /** Deletes a task that has ended, with `also` in the same transaction; false where there is none. */
  delete(scope: TaskScope, id: string, also: readonly WriteStep[]): Promise<boolean>
  /** Which tasks at a vendor are tasks of ours. */
  knows(upstreamIds: readonly string[]): Promise<ReadonlySet<string>>
  /** Tasks that may be at work at a vendor for nobody, oldest first. */
  orphans(): Promise<readonly OrphanTask[]>
  /** Takes an orphan off the list: the operator has looked after it. False where it is not on it. */
  settleOrphan(requestId: string): Promise<boolean>
  /** Forgets tasks that ended `TASK_KEPT_MS` ago, except orphans, in small steps behind the requests. */
  sweep(): Promise<void>
}
