/**
 * Running tasks. Each is polled when its time has come, by one poll at a time, until it has ended. Tasks that a process
 * leaves unfinished are continued from what is on disk: by the next process, or by another instance that shares the
 * store. A task is worked on by one process, as long as that lives, so there is no lease that could run out.
 */
import type { Failure, UpstreamFailure } from '../domain/failure.ts'
import { videoBounds } from '../domain/video.ts'
import type { Offer } from '../domain/catalog.ts'
import { videoFaults, type VideoTask } from '../domain/video-task.ts'
import { Slots } from '../lib/primitives/slots.ts'
import { advanceTask } from './advance.ts'
import { failTask, forgetTask } from './ending.ts'
import { AbortGroup } from './abort-group.ts'
import { jobOf, taskFields, type VideoJob, type JobStart, type Reservation, type VideoWorkerDeps } from './job.ts'
import { waitMs } from './poll-schedule.ts'
import { submitTask, type SubmissionResult } from './submission.ts'
import type { TaskScope } from './tasks.ts'
import { MINUTE_MS } from '../lib/primitives/units.ts'

export type VideosOptions = Omit<VideoWorkerDeps, 'halt' | 'polls' | 'downloads' | 'inlining'> & {
  /** The interval before the first poll of a task. Later ones are longer. */
  readonly pollMs: number
  /** Reserves the limits for a task of a former process, if its account and key still exist. */
  readonly reserve: (task: VideoTask) => Reservation | undefined
}

/** The result of a submission for the client: the task stands, or the reason why no vendor took it. */
export type Acceptance =
  | { readonly kind: 'stands' }
  | { readonly kind: 'refused'; readonly failure: UpstreamFailure; readonly offer: Offer | undefined }

const taken = ({ offer, upstreamId }: Extract<SubmissionResult, { kind: 'accepted' }>) => ({
  offerId: offer.id,
  upstreamId,
})

const NO_ROOM: Failure = {
  kind: 'unavailable',
  message: 'The gateway cannot store files at the moment, so it makes no videos.',
  retryAfterMs: MINUTE_MS,
}

const TICK_MS = 100
/** How often this instance looks for tasks of instances that have died. */
const TAKE_OVER_MS = 5_000
const STANDS: Acceptance = { kind: 'stands' }

export class Videos {
  readonly tasks: VideoWorkerDeps['tasks']
  private readonly options: VideosOptions
  private readonly deps: VideoWorkerDeps
  private readonly halt = new AbortGroup()
  /** Running tasks, with the time of their next poll. Tasks that are being worked on are kept separately. */
  private readonly due = new Map<VideoJob, number>()
  private readonly busy = new Set<Promise<void>>()
  private timer: Timer | undefined
  private takingOver: Timer | undefined

  constructor(options: VideosOptions) {
    this.options = options
    this.tasks = options.tasks
    const { pollsMax, downloadsMax, inliningMax, inliningPerAccountMax } = videoBounds
    const inlining = new Slots(inliningMax, inliningPerAccountMax)
    this.deps = {
      ...options,
      halt: this.halt,
      polls: new Slots(pollsMax),
      downloads: new Slots(downloadsMax),
      inlining,
    }
  }

  /** The number of running tasks. */
  get size(): number {
    return this.due.size + this.busy.size
  }

  /** The reason why no further task may begin at the moment, if there is one. */
  obstacle(): Failure | undefined {
    if (this.deps.blobs.isShortOfRoom) return NO_ROOM
    if (this.size < videoBounds.tasksMax) return undefined
    return { kind: 'unavailable', message: 'Too many videos are being made. Try again later.', retryAfterMs: MINUTE_MS }
  }

  /** Continues the tasks of a former process, and from now on those of instances that die. */
  async resume(): Promise<void> {
    await this.takeOver()
    if (!this.tasks.isShared) return
    this.takingOver = setInterval(() => {
      this.takeOver().catch((error: unknown) =>
        this.deps.log('error', 'video.take_over_failed', { message: String(error) }),
      )
    }, TAKE_OVER_MS)
  }

  private async takeOver(): Promise<void> {
    const open = await this.tasks.takeOver()
    for (const { task, attempts } of open) {
      const job = jobOf({ task, attempts, isKnown: true, reservation: this.options.reserve(task) })
      // The polls are spread out, so that a vendor does not notice the restart.
      this.schedule(job, Math.random() * this.options.pollMs * 2)
    }
    if (open.length > 0) this.deps.log('info', 'video.resumed', { tasks: open.length })
  }

  /**
   * Submits a task whose row is on disk. Resolves when a vendor has it or may have it, when no vendor takes it, or when
   * the client has waited long enough.
   */
  async begin(start: Omit<JobStart, 'attempts' | 'isKnown'> & Required<Pick<JobStart, 'body'>>): Promise<Acceptance> {
    const job = jobOf({ ...start, attempts: [], isKnown: false })
    const submission = this.submit(job)
    const late = Promise.withResolvers<Acceptance>()
    const timer = setTimeout(() => {
      job.isKnown = true
      late.resolve(STANDS)
    }, videoBounds.acceptanceMs)
    try {
      return await Promise.race([submission, late.promise])
    } finally {
      clearTimeout(timer)
    }
  }

  /** Deletes an ended task and its file. Resolves to false if there is none. */
  async delete(scope: TaskScope, id: string): Promise<boolean> {
    const { blobs } = this.deps
    if (!(await this.tasks.delete(scope, id, blobs.withdrawSteps(id)))) return false
    await blobs.deleteFile(id)
    return true
  }

  /** Stops the work at vendors. Resolves when none of it is left in this process. */
  async stop(): Promise<void> {
    clearInterval(this.timer)
    clearInterval(this.takingOver)
    this.halt.stop()
    this.due.clear()
    while (this.busy.size > 0) await Promise.all(this.busy)
  }

  private submit(job: VideoJob): Promise<Acceptance> {
    const { promise, resolve, reject } = Promise.withResolvers<Acceptance>()
    this.work(job, async () => {
      try {
        resolve(await this.submitted(job))
      } catch (error) {
        reject(error)
        throw error
      }
    })
    return promise
  }

  private async submitted(job: VideoJob): Promise<Acceptance> {
    const { deps } = this
    const { body } = job
    const result = body
      ? await submitTask(deps, job, body)
      : ({ kind: 'refused', failure: { kind: 'model_gone', message: 'nothing to send' }, offer: undefined } as const)
    // Prompts and media are only in memory, and only as long as they are needed.
    job.body = undefined
    if (result.kind === 'refused') {
      if (job.isKnown) await failTask(deps, job, { reason: videoFaults.fault })
      else await forgetTask(deps, job, result.failure)
      return result
    }
    if (result.kind === 'unknown')
      deps.log('warn', 'video.submission_unknown', { ...taskFields(job), result: result.failure.kind })
    else if (await deps.tasks.accepted(job.task, { ...taken(result), attempts: job.attempts })) {
      job.task = { ...job.task, stage: 'queued', ...taken(result) }
    } else deps.log('error', 'video.submission_unknown', { ...taskFields(job), result: 'task of another request' })
    job.isKnown = true
    return STANDS
  }

  private schedule(job: VideoJob, inMs: number): void {
    if (job.isEnded || this.halt.upstreamStopped) return
    this.due.set(job, performance.now() + inMs)
    this.timer ??= setInterval(() => this.look(), TICK_MS)
  }

  private look(): void {
    const nowMs = performance.now()
    for (const [job, dueMs] of this.due) {
      if (dueMs > nowMs) continue
      this.due.delete(job)
      this.work(job, () => advanceTask(this.deps, job))
    }
    if (this.due.size > 0 || this.busy.size > 0) return
    clearInterval(this.timer)
    this.timer = undefined
  }

  /** Works on a task, and schedules its next poll. After a programmer's error, the next poll tries again. */
  private work(job: VideoJob, step: () => Promise<void>): void {
    const done = this.worked(job, step)
    this.busy.add(done)
    void done.finally(() => this.busy.delete(done))
  }

  private async worked(job: VideoJob, step: () => Promise<void>): Promise<void> {
    try {
      await step()
    } catch (error) {
      job.failures++
      const { stack = '' } = error as Error
      this.deps.log('error', 'video.internal', { ...taskFields(job), message: String(error), stack })
    }
    const { looks, failures } = job
    this.schedule(job, waitMs({ firstMs: this.options.pollMs, looks, failures }, Math.random()))
  }
}
