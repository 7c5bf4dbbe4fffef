/**
 * What a vendor of asynchronous video is made of: it writes requests and reads answers, and does nothing else. What is
 * done with them, when, and how often, is the same for all vendors (video/).
 */
import type { VideoMade } from '../../domain/video-task.ts'
import type { UpscaleWish, VideoOptions } from '../../domain/video.ts'
import type { UpstreamFailure } from '../../domain/failure.ts'
import type { FailureReader, UpstreamRequest } from '../core/contract.ts'
import type { VideoBody } from '../core/video-body.ts'

/** A video to be made. */
export type VideoOrder = {
  readonly body: VideoBody
  readonly wish: VideoOptions
  readonly upstreamModel: string
}

/** A video to be upscaled, at an address that the vendor can reach. */
export type UpscaleOrder = {
  readonly url: string
  readonly wish: UpscaleWish
  /** The same for every submission of a task: the vendor carries it out once. */
  readonly token: string
}

/** A task at its vendor. */
export type VideoRef = { readonly upstreamId: string; readonly upstreamModel: string }

/** Where a finished video is. */
export type VideoSource =
  | {
      readonly kind: 'url'
      readonly url: string
      /** `same_origin`: it is fetched with the provider's credential, where it is at the provider's own origin. */
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
      /** `policy`: what was asked for, or what came of it, may not be made. */
      readonly why: 'policy' | 'fault' | 'cancelled' | 'expired'
      /** The vendor's own, for the operator. */
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
  /** `heavy`: an answer may have the video in it. */
  readonly answers: 'light' | 'heavy'
}

export type VideoAdapter = TaskAdapter<VideoOrder> & {
  /** Media must be in the request: the vendor fetches none. */
  readonly media: 'by_address' | 'inline'
  readonly find?: VideoFinder | undefined
}

/** For vendors that list their tasks: how one is found of which only is known that it may have been submitted. */
export type VideoFinder = {
  request(upstreamModel: string): UpstreamRequest
  /** Ids of tasks that were made of such a wish at such a time. */
  read(
    text: string,
    wanted: { readonly wish: VideoOptions; readonly createdAtMs: number },
  ): readonly string[] | undefined
}

export const readStateOf = (state: VideoState): ReadState => ({ kind: 'state', state })
export const garbage = (message: string): FailedStep => ({ kind: 'failed', failure: { kind: 'garbage', message } })

/** An id of a vendor's that may stand in a path. */
export const isPlainId = (id: string): boolean => /^[\w][\w.:-]{0,199}$/.test(id)

/**
 * The words for how far a task is: those of Ark (queued, running, succeeded, failed, cancelled, expired) and MediaKit
 * (completed, canceled; 2026-08), and what relays of theirs make of them: new-api (NOT_START, SUBMITTED, IN_PROGRESS,
 * SUCCESS, FAILURE; its dto/task.go, 2026-08), Kling (submitted, processing, succeed), Hailuo (Preparing, Queueing,
 * Processing, Success, Fail), Alibaba (PENDING, RUNNING, SUCCEEDED, CANCELED), OpenAI (in_progress, completed).
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

/** How far a task is by its vendor's word, whatever its case, blanks and dashes; undefined for a word nobody knows. */
export const phaseOf = (word: unknown): Phase | undefined =>
  typeof word === 'string'
    ? phaseByWord.get(
        word
          .trim()
          .toLowerCase()
          .replaceAll(/[\s-]+/g, '_'),
      )
    : undefined
