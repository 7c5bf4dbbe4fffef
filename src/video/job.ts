/** A running task in this process, and the parts of the gateway that work on it. */
import type { Catalog } from '../catalog/catalog.ts'
import type { Blobs, UnfinishedBlob } from '../blobs/blobs.ts'
import type { Provider } from '../domain/catalog.ts'
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

/** What the task reserves of its account's limits. */
export type Reservation = { settle(charged: NanoUsd, tokens: number): readonly WriteStep[] }

export type VideoJob = {
  /** The task as it is on disk. */
  task: VideoTask
  readonly attempts: AttemptNote[]
  readonly reservation: Reservation | undefined
  /** The body to send, until a vendor has it. There is none after a restart. */
  body: VideoBody | undefined
  /** Whether the client knows of the task. */
  isKnown: boolean
  /** Steps that are written with its end if the client never learns of it. */
  readonly undo: readonly WriteStep[]
  /** Polls since the last change of stage. */
  looks: number
  failures: number
  /** How many times in a row the vendor did not know it. */
  misses: number
  downloads: number
  /** The downloaded file, until it is stored. It is not downloaded again when its storage fails. */
  brought: DownloadedFile | undefined
  isEnded: boolean
}

export type DownloadedFile = {
  readonly blob: UnfinishedBlob
  readonly seconds: number | undefined
  readonly atMs: number
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
  brought: undefined,
  isEnded: false,
})

/** The parts of the gateway that the work on tasks uses. */
export type VideoWorkerDeps = {
  readonly tasks: Tasks
  readonly catalog: Pick<Catalog, 'provider'>
  readonly ledger: Ledger
  readonly records: Records
  readonly blobs: Blobs
  readonly log: Log
  /** How long a video can be fetched. */
  readonly keptMs: number
  /** Stops the work at vendors when the gateway stops. */
  readonly halt: Stoppable
  readonly polls: Slots
  readonly downloads: Slots
  /** Slots by account. */
  readonly inlining: Slots
  /** Whether failure messages of vendors are kept for the operator. */
  readonly upstreamMessages: 'kept' | 'dropped'
  /** The provider with the key that is to be used next, or with its only one. */
  readonly withKey: (provider: Provider, offerId: string) => Provider
  /**
   * Reports how an attempt with this provider ended. Undefined means success. Returns whether only its key is at fault,
   * and another key is ready.
   */
  readonly learn: (offerId: string, provider: Provider, failure: UpstreamFailure | undefined) => boolean
  readonly onRecord: (record: RequestRecord) => void
}

/** Fields for the log. It must not contain the id of a task, which alone gives access to the video. */
export const taskFields = ({ task }: VideoJob): { request: string; model: string } => ({
  request: task.requestId,
  model: task.model,
})
