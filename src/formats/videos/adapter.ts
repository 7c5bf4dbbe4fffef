/**
 * The adapter of a vendor of asynchronous video. It only writes requests and reads answers. What happens with them,
 * when and how often, is the same for all vendors (video/).
 */
import type { VideoMade } from '../../domain/video-task.ts'
import type { UpscaleWish, VideoOptions } from '../../domain/video.ts'
import type { UpstreamFailure } from '../../domain/failure.ts'
import type { FailureReader, UpstreamRequest } from '../core/contract.ts'
import type { VideoBody } from '../core/video-body.ts'

/** A video to make. */
export type VideoOrder = {
  readonly body: VideoBody
  readonly wish: VideoOptions
  readonly upstreamModel: string
}

/** A video to upscale, at an address that the vendor can reach. */
export type UpscaleOrder = {
  readonly url: string
  readonly wish: UpscaleWish
  /** The same for every submission of a task, so that the vendor carries it out once. */
  readonly token: string
}

/** A task at its vendor. */
export type VideoRef = { readonly upstreamId: string; readonly upstreamModel: string }

/** Where a finished video is. */
export type VideoSource =
  | {
      readonly kind: 'url'
      readonly url: string
      /** `same_origin`: the download has the provider's credential if it goes to the provider's own origin. */
      readonly credential: 'none' | 'same_origin'
    }
  /** In the answer itself, as base64. */
  | { readonly kind: 'inline'; readonly base64: string }

/** What a vendor says of a task. */
export type VideoState =
  | { readonly kind: 'queued' }
  | { readonly kind: 'running' }
  | { readonly kind: 'done'; readonly made: VideoMade; readonly source: VideoSource }
  | {
      readonly kind: 'failed'
      /** `policy`: the vendor's policy forbids the request or the result. */
      readonly why: 'policy' | 'fault' | 'cancelled' | 'expired'
      /** The vendor's own code, for the operator. */
      readonly code: string | undefined
    }

type FailedStep = { readonly kind: 'failed'; readonly failure: UpstreamFailure }
export type ReadSubmission = { readonly kind: 'accepted'; readonly upstreamId: string } | FailedStep
export type ReadState = { readonly kind: 'state'; readonly state: VideoState } | FailedStep

export type TaskAdapter<Order> = {
  readonly failures: FailureReader
  submit(order: Order): UpstreamRequest
  readSubmission(text: string): ReadSubmission
  poll(ref: VideoRef): UpstreamRequest
  readState(text: string): ReadState
  /** `heavy`: an answer may contain the video. */
  readonly answers: 'light' | 'heavy'
}

export type VideoAdapter = TaskAdapter<VideoOrder> & {
  /** `inline`: media must be in the request, because the vendor fetches none. */
  readonly media: 'by_address' | 'inline'
  readonly find?: VideoFinder | undefined
}

/** Finds a task that may have been submitted, at vendors that list their tasks. */
export type VideoFinder = {
  request(upstreamModel: string): UpstreamRequest
  /** The ids of tasks with these options that were created at about this time. */
  read(
    text: string,
    wanted: { readonly wish: VideoOptions; readonly createdAtMs: number },
  ): readonly string[] | undefined
}

export const readStateOf = (state: VideoState): ReadState => ({ kind: 'state', state })
export const garbage = (message: string): FailedStep => ({ kind: 'failed', failure: { kind: 'garbage', message } })

/** Whether a vendor's id may stand in a path. */
export const isPlainId = (id: string): boolean => /^[\w][\w.:-]{0,199}$/.test(id)

/**
 * The words for the phase of a task. Ark: queued, running, succeeded, failed, cancelled, expired. MediaKit: completed,
 * canceled (2026-08). Words of relays and other vendors: new-api (NOT_START, SUBMITTED, IN_PROGRESS, SUCCESS, FAILURE;
 * its dto/task.go, 2026-08), Kling (submitted, processing, succeed), Hailuo (Preparing, Queueing, Processing, Success,
 * Fail), Alibaba (PENDING, RUNNING, SUCCEEDED, CANCELED), OpenAI (in_progress, completed).
 */
const phases = {
  queued: [
    'queued',
    'queueing',
    'queuing',
    'in_queue',
    'pending',
    'submitted',
    'submitting',
    'not_start',
    'not_started',
    'waiting',
    'created',
    'preparing',
    'scheduled',
  ],
  running: ['running', 'processing', 'in_progress', 'inprogress', 'generating', 'started'],
  done: ['succeeded', 'succeed', 'success', 'successful', 'completed', 'complete', 'done', 'finished'],
  failed: ['failed', 'fail', 'failure', 'error', 'errored', 'rejected'],
  cancelled: ['cancelled', 'canceled', 'aborted', 'terminated', 'stopped'],
  expired: ['expired', 'timeout', 'timed_out', 'timedout'],
} as const
export type Phase = keyof typeof phases
const phaseByWord = new Map<string, Phase>(
  Object.entries(phases).flatMap(([phase, words]) => words.map((word) => [word, phase as Phase] as const)),
)

/** The phase of a task from its vendor's word. Case, blanks and dashes do not matter. Undefined for an unknown word. */
export const phaseOf = (word: unknown): Phase | undefined =>
  typeof word === 'string'
    ? phaseByWord.get(
        word
          .trim()
          .toLowerCase()
          .replaceAll(/[\s-]+/g, '_'),
      )
    : undefined
