/** The names of videos on a price card, and how many tokens a video has. */
import { piecePrice, type PriceCard } from './price.ts'
import type { PieceUnit } from './usage.ts'
import {
  DURATION_AUTO,
  shorterEdge,
  upscaleResolutions,
  type UpscaleWish,
  type VideoFacts,
  type VideoRatio,
  type VideoResolution,
  type VideoOptions,
} from './video.ts'

/** The longest that the video can be. */
export const secondsMax = (
  { durations }: Pick<VideoFacts, 'durations'>,
  { seconds }: Pick<VideoOptions, 'seconds'>,
): number => (seconds === DURATION_AUTO ? Math.max(...durations) : seconds)

/** Width over height. An adaptive video has as many pixels as one of 16:9. */
function proportionOf(ratio: VideoRatio | undefined): number {
  const [width, height] = (ratio ?? '16:9').split(':').map(Number)
  return width && height ? width / height : 16 / 9
}

/** Width and height. Vendors keep the number of pixels and change the proportion. */
function sidesOfVideo(resolution: VideoResolution, ratio: VideoRatio | undefined): [number, number] {
  const edge = shorterEdge[resolution]
  const pixels = (edge * edge * 16) / 9
  const proportion = proportionOf(ratio)
  const even = (side: number): number => Math.round(side / 2) * 2
  return [even(Math.sqrt(pixels * proportion)), even(Math.sqrt(pixels / proportion))]
}

/** The pixels of width × height × frames in a token, by the first vendor that billed videos this way (2026-08). */
const PIXELS_PER_TOKEN = 1_024

type Shape = Pick<VideoOptions, 'resolution' | 'ratio'> & { readonly fps: number; readonly seconds: number }

/** The tokens of a video whose vendor reports none. The last frame counts too: 5 s have 121 frames. */
export function tokensOfVideo({ resolution, ratio, fps, seconds }: Shape): number {
  const [width, height] = sidesOfVideo(resolution, ratio)
  return Math.ceil((width * height * (fps * seconds + 1)) / PIXELS_PER_TOKEN)
}

/** Vendors round sides up to suit their encoders. */
const PADDING = 1.05

/** The most tokens of a video, including those of its reference videos. */
export function tokensMax(facts: VideoFacts, wish: VideoOptions): number {
  const seconds = secondsMax(facts, wish) + (wish.withVideo ? facts.inputVideoSecondsMax : 0)
  return Math.ceil(tokensOfVideo({ ...wish, fps: facts.fps, seconds }) * PADDING)
}

type Kind = Pick<VideoOptions, 'resolution' | 'withVideo' | 'audio'>

/** `piece:second/720p/with-video/silent`. A card names as many parts of it as its prices depend on. */
export function videoUnit(unit: 'second' | 'token', { resolution, withVideo, audio }: Kind): PieceUnit {
  return `piece:${unit}/${resolution}${withVideo ? '/with-video' : ''}/${audio ? 'audio' : 'silent'}`
}

/** `piece:upscale/1080p/standard/60fps`, for one second. */
export function upscaleUnit(
  original: VideoResolution,
  { resolution, limit, version, fps = 0 }: UpscaleWish,
): PieceUnit {
  const edge = limit ?? shorterEdge[resolution ?? original]
  const grade = upscaleResolutions.find((one) => shorterEdge[one] >= edge) ?? '4k'
  const frames = fps > 60 ? '/120fps' : fps > 30 ? '/60fps' : ''
  return `piece:upscale/${grade}/${version}${frames}`
}

/** Whether a card has a price for such a video: by the second, by the token, or for tokens of its kind. */
export const sellsVideo = (card: PriceCard, wish: Kind): boolean =>
  card.nanoPerMillion.outputText > 0n ||
  (['second', 'token'] as const).some((unit) => piecePrice(card, videoUnit(unit, wish)) !== undefined)

/** Whether a card's price of a video depends on its tokens. */
export const sellsByToken = (card: PriceCard, wish: Kind): boolean =>
  card.nanoPerMillion.outputText > 0n || piecePrice(card, videoUnit('token', wish)) !== undefined
