/** Usage of videos: tokens and seconds, by the units of a task's price cards. */
import { piecePrice, type PriceCard } from '../../domain/price.ts'
import type { Usage, UsageSource, PieceUnit } from '../../domain/usage.ts'
import { sellsByToken, tokensOfVideo, upscaleUnit, videoUnit } from '../../domain/video-price.ts'
import { DURATION_AUTO, type UpscaleWish, type VideoResolution, type VideoOptions } from '../../domain/video.ts'
import type { VideoMade, VideoTask } from '../../domain/video-task.ts'

export type VideoUsage = {
  readonly usage: Usage
  readonly source: UsageSource
  readonly tokens: number
  readonly seconds: number
  /** Whether the vendor reported an impossible number. */
  readonly isImplausible: boolean
}

export const NO_USAGE: Usage = {
  inputFresh: 0,
  inputCached: 0,
  cacheWrite5m: 0,
  cacheWrite1h: 0,
  outputText: 0,
  outputReasoning: 0,
}

type VideoCount = { readonly tokens: number; readonly seconds: number }

/** The usage of a video with these tokens and seconds, in the units that a card has a price for. */
export function usageOfVideo(card: PriceCard, wish: VideoOptions, { tokens, seconds }: VideoCount): Usage {
  const all: readonly (readonly [PieceUnit, number])[] = [
    [videoUnit('second', wish), seconds],
    [videoUnit('token', wish), tokens],
  ]
  const pieces = all.filter(([unit]) => piecePrice(card, unit) !== undefined).map(([unit, count]) => ({ unit, count }))
  return { ...NO_USAGE, outputText: tokens, ...(pieces.length > 0 ? { pieces } : {}) }
}

/** The usage of its upscaling. */
export function usageOfUpscaling(original: VideoResolution, wish: UpscaleWish, seconds: number): Usage {
  return { ...NO_USAGE, pieces: [{ unit: upscaleUnit(original, wish), count: seconds }] }
}

/** How far reported tokens may exceed the bound of the hold before they count as a mistake. */
const PLAUSIBLE_FACTOR = 4

const isCount = (value: number | undefined, max: number): value is number =>
  value !== undefined && Number.isFinite(value) && value > 0 && value <= max

/**
 * The usage that a finished video is charged for: tokens as the vendor reported them, and seconds as requested. If the
 * model chose the seconds, the actual number counts. `fileSeconds` is the length that the file itself states.
 */
export function meterVideo(
  { wish, terms }: Pick<VideoTask, 'wish' | 'terms'>,
  made: VideoMade,
  fileSeconds: number | undefined,
): VideoUsage {
  const { secondsMax, tokensMax, sale } = terms
  const stated = [made.seconds, fileSeconds].find((value) => isCount(value, secondsMax + 1))
  const came = stated === undefined ? secondsMax : Math.min(Math.max(Math.round(stated), 1), secondsMax)
  const seconds = wish.seconds === DURATION_AUTO ? came : Math.min(wish.seconds, came)
  const isReported = isCount(made.tokens, tokensMax * PLAUSIBLE_FACTOR)
  const tokens = isReported ? Math.round(made.tokens) : tokensOfVideo({ ...wish, fps: terms.fps, seconds })
  const isKnown = sellsByToken(sale, wish) ? isReported : stated !== undefined || wish.seconds !== DURATION_AUTO
  return {
    usage: usageOfVideo(sale, wish, { tokens, seconds }),
    source: isKnown ? 'reported' : 'estimated',
    tokens,
    seconds,
    isImplausible: made.tokens !== undefined && !isReported,
  }
}
