/** A task under way in this process, and what the work on it touches. */
import type { Catalog } from '../catalog/catalog.ts'
import type { Blobs } from '../blobs/blobs.ts'
import type { NanoUsd } from '../domain/money.ts'
import type { UpstreamFailure } from '../domain/failure.ts'
import type { VideoTask } from '../domain/video-task.ts'
import type { VideoBody } from '../formats/core/video-body.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { Log } from '../lib/runtime/log.ts'
import type { Slots } from '../lib/primitives/slots.ts'
import type { AttemptNote, Records, RequestRecord } from '../records/records.ts'
import type { WriteStep } from '../store/statement.ts'
import type { Stoppable } from '../upstream/in-flight-attempt.ts'
import type { Tasks } from './tasks.ts'

/** What was reserved of its account's limits. */
export type Reservation = { settle(charged: NanoUsd, tokens: number): void }

export type VideoJob = {
  /** As it is on disk. */
  task: VideoTask
  readonly attempts: AttemptNote[]
  readonly reservation: Reservation | undefined
  /** What is to be sent: until a vendor has it, and never after a restart. */
  body: VideoBody | undefined
  /** Its client knows of it. */
  isKnown: boolean
  /** What goes along with its end where its client never hears of it. */
  readonly undo: readonly WriteStep[]
  /** Since the last change of stage. */
  looks: number
  failures: number
  /** Times in a row that the vendor did not know it. */
  misses: number
  downloads: number
  isEnded: boolean
}

export type JobStart = Pick<VideoJob, 'task' | 'attempts' | 'reservation' | 'isKnown'> &
  Partial<Pick<VideoJob, 'body' | 'undo'>>

export const jobOf = ({ body, undo = [], ...start }: JobStart): VideoJob => ({
  ...start,
  body,
  undo,
  looks: 0,
  failures: 0,
  misses: 0,
  downloads: 0,
  isEnded: false,
})

/** Everything the work on tasks touches. */
export type Workshop = {
  readonly tasks: Tasks
  readonly catalog: Pick<Catalog, 'provider'>
  readonly ledger: Ledger
  readonly records: Records
  readonly blobs: Blobs
  readonly log: Log
  /** How long a video can be fetched. */
  readonly keptMs: number
  /** Stops what is under way at vendors when the gateway stops. */
  readonly halt: Stoppable
  readonly polls: Slots
  readonly downloads: Slots
  /** By account. */
  readonly inlining: Slots
  /** Whether the operator wants to read what vendors say of failures. */
  readonly upstreamMessages: 'kept' | 'dropped'
  /** What an attempt taught about its offer; undefined: that it works. */
  readonly learn: (offerId: string, failure: UpstreamFailure | undefined) => void
  readonly onRecord: (record: RequestRecord) => void
}

/** For the log, where the id of a task must not be: all it takes to fetch the video. */
export const taskFields = ({ task }: VideoJob): { request: string; model: string } => ({
  request: task.requestId,
  model: task.model,
})
