/** A task that makes a video: what is known of it, from its creation to its end. */
import type { Offer } from './catalog.ts'
import type { NanoUsd } from './money.ts'
import type { PriceCard } from './price.ts'
import type { VideoOptions } from './video.ts'

export const videoStages = ['submitting', 'queued', 'running', 'upscaling', 'storing', 'completed', 'failed'] as const
export type VideoStage = (typeof videoStages)[number]

/** The terms at the creation of the task. Later changes of prices and models do not affect it. */
export type VideoTerms = {
  readonly sale: PriceCard
  /** In the order of the attempts. */
  readonly offers: readonly Offer[]
  readonly upscaler: string | undefined
  readonly secondsMax: number
  readonly tokensMax: number
  readonly fps: number
}

/** What a vendor said of the video it made. Undefined for what it did not say. */
export type VideoMade = { readonly tokens: number | undefined; readonly seconds: number | undefined }

export type VideoTask = {
  /** The id is enough to fetch the video, so it is never logged. */
  readonly id: string
  readonly accountId: string
  readonly keyId: string
  /** The request that made it. Its hold has the same id. */
  readonly requestId: string
  readonly model: string
  readonly stage: VideoStage
  readonly progress: number
  readonly wish: VideoOptions
  readonly terms: VideoTerms
  readonly held: NanoUsd
  /** The offer that accepted it. */
  readonly offerId: string | undefined
  readonly upstreamId: string | undefined
  readonly upscaleId: string | undefined
  readonly made: VideoMade | undefined
  /** The tokens and seconds that were charged, once it is completed. */
  readonly usage: { readonly tokens: number; readonly seconds: number } | undefined
  /** Why it failed, for its client. */
  readonly reason: string | undefined
  readonly createdAtMs: number
  readonly deadlineAtMs: number
  readonly startedAtMs: number | undefined
  readonly endedAtMs: number | undefined
}

/** The id of a super-resolution's record. It stands next to its request's in every list that is sorted by id. */
export const upscaleLineId = (requestId: string): string => `${requestId}-upscale`

/** The four words that clients know. */
export function statusOf(stage: VideoStage): 'queued' | 'in_progress' | 'completed' | 'failed' {
  switch (stage) {
    case 'submitting':
    case 'queued':
      return 'queued'
    case 'running':
    case 'upscaling':
    case 'storing':
      return 'in_progress'
    case 'completed':
    case 'failed':
      return stage
  }
}

/** Why a video failed, as clients read it. Nothing in it names a vendor. */
export const videoFaults = {
  policy: 'The video was refused by a content policy.',
  fault: 'The video could not be made.',
  cancelled: 'The making of the video was cancelled upstream.',
  expired: 'The making of the video took too long upstream.',
  gone: 'The task was lost upstream.',
  unsure: 'It is not known whether the vendor has the task.',
  overdue: 'The video was not made in time.',
  upscaling: 'The super-resolution of the video failed.',
  unusable: 'The finished video could not be fetched.',
} as const
