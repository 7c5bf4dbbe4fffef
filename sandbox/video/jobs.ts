import { laterKnobs, type Knobs } from '../faults.ts'
import { randomIdOf } from '../random.ts'
import type { Film } from './film.ts'
import { DAY_MS } from '../../src/lib/primitives/units.ts'

/** The two kinds of jobs: generating a video, or upscaling one. */
export type Stage = 'generate' | 'upscale'
export type JobState = 'queued' | 'running' | 'succeeded' | 'failed' | 'expired' | 'cancelled'
export type JobEnd = 'succeeded' | 'failed' | 'filtered' | 'unreadable' | 'expired' | 'cancelled' | 'never'

export type SandboxJob = {
  readonly id: string
  readonly stage: Stage
  readonly film: Film
  readonly createdMs: number
  readonly endsMs: number
  readonly end: JobEnd
  /** The time after which an unfinished job expires. */
  readonly expiresMs: number
  /** Knobs for later requests, and the number of polls that find the job. */
  readonly later: Knobs
  readonly looksMax: number
  readonly linkMs: number
  /** The number of its first links that are dead. */
  readonly deadLinks: number
  /** Data of its dialect. */
  readonly about: Readonly<Record<string, unknown>>
  looks: number
  links: number
  isCancelled: boolean
  isDeleted: boolean
}

export type JobRequest = {
  readonly prefix: string
  readonly stage: Stage
  readonly film: Film
  /** Knobs that work on its creation, and knobs in its request. */
  readonly faults: Knobs
  readonly said: Knobs
  /** Two requests with the same fingerprint are one request that was sent twice. */
  readonly fingerprint: unknown
  readonly about: SandboxJob['about']
  readonly expiresMs?: number | undefined
  /** The input is unusable, which shows only during the work. */
  readonly isUnreadable?: boolean
}

/** Vendors keep jobs for a week. The sandbox also drops the oldest beyond this number. */
const JOBS_MAX = 20_000
const AGE_MAX_MS = 7 * DAY_MS
const LIKENESSES_MAX = 100_000
const LINK_MS = DAY_MS
const QUEUED_SHARE = 0.2
const EXPIRES_MS = 172_800_000

/** The tasks of one sandbox. They need no timers, because their state follows from the time of the poll. */
export class Jobs {
  readonly #taskMs: number
  readonly #jobs = new Map<string, SandboxJob>()
  readonly #likenesses = new Set<bigint>()
  readonly #counts = {
    generate: { submitted: 0, duplicates: 0 },
    upscale: { submitted: 0, duplicates: 0 },
  }

  constructor(taskMs: number) {
    this.#taskMs = taskMs
  }

  start({ prefix, stage, film, faults, said, fingerprint, about, ...rest }: JobRequest): SandboxJob {
    const createdMs = Date.now()
    const job: SandboxJob = {
      id: randomIdOf(prefix),
      stage,
      film,
      createdMs,
      endsMs: createdMs + (faults.taskMs ?? this.#taskMs),
      end: endOf(faults, rest.isUnreadable ?? false),
      expiresMs: rest.expiresMs ?? EXPIRES_MS,
      later: laterKnobs(said),
      looksMax: faults.lost === undefined ? Infinity : faults.lost - 1,
      linkMs: faults.linkMs ?? LINK_MS,
      deadLinks: faults.deadLinks ?? 0,
      about,
      looks: 0,
      links: 0,
      isCancelled: false,
      isDeleted: false,
    }
    this.#count(stage, fingerprint)
    this.#jobs.set(job.id, job)
    for (const [oldest, { createdMs: since }] of this.#jobs) {
      if (this.#jobs.size <= JOBS_MAX && createdMs - since <= AGE_MAX_MS) break
      this.#jobs.delete(oldest)
    }
    return job
  }

  /** Finds a job for a poll. Some jobs survive only a number of polls. */
  look(id: string, stage: Stage): SandboxJob | undefined {
    const job = this.find(id)
    if (!job || job.stage !== stage || job.isDeleted) return undefined
    job.looks += 1
    return job.looks > job.looksMax ? undefined : job
  }

  /** Finds a job of any kind, also after its deletion, because links outlive it. */
  find(id: string): SandboxJob | undefined {
    return this.#jobs.get(id)
  }

  /** Lists the jobs of a kind, newest first. */
  list(stage: Stage): SandboxJob[] {
    return [...this.#jobs.values()].filter((job) => job.stage === stage && !job.isDeleted).toReversed()
  }

  report(): object {
    const states: Record<string, number> = {}
    for (const job of this.#jobs.values()) states[jobStateOf(job)] = (states[jobStateOf(job)] ?? 0) + 1
    const { generate: generations, upscale: enhancements } = this.#counts
    return { generations: { ...generations }, enhancements: { ...enhancements }, states }
  }

  #count(stage: Stage, fingerprint: unknown): void {
    const hash = BigInt(Bun.hash(JSON.stringify([stage, fingerprint])))
    const counts = this.#counts[stage]
    counts.submitted += 1
    if (this.#likenesses.has(hash)) counts.duplicates += 1
    this.#likenesses.add(hash)
    for (const oldest of this.#likenesses) {
      if (this.#likenesses.size <= LIKENESSES_MAX) break
      this.#likenesses.delete(oldest)
    }
  }
}

function endOf(faults: Knobs, isUnreadable: boolean): JobEnd {
  if (faults.hangs) return 'never'
  if (faults.expires) return 'expired'
  if (faults.cancels) return 'cancelled'
  if (faults.filtered) return 'filtered'
  if (faults.fails) return 'failed'
  return isUnreadable ? 'unreadable' : 'succeeded'
}

export function jobStateOf({ isCancelled, createdMs, endsMs, expiresMs, end }: SandboxJob): JobState {
  const nowMs = Date.now()
  if (isCancelled) return 'cancelled'
  if (end === 'never' || nowMs < endsMs) {
    if (nowMs - createdMs >= expiresMs) return 'expired'
    return nowMs - createdMs < (endsMs - createdMs) * QUEUED_SHARE ? 'queued' : 'running'
  }
  return end === 'filtered' || end === 'unreadable' ? 'failed' : end
}

/** The time of the last change of its state. */
export function changedMs(job: SandboxJob): number {
  const state = jobStateOf(job)
  if (state === 'queued') return job.createdMs
  if (state === 'running') return Math.round(job.createdMs + (job.endsMs - job.createdMs) * QUEUED_SHARE)
  return job.endsMs
}
