/** How a video is named on a price card, and how many tokens it comes to. */
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

/** The longest it can be. */
export const secondsMax = (
  { durations }: Pick<VideoFacts, 'durations'>,
  { seconds }: Pick<VideoOptions, 'seconds'>,
): number => (seconds === DURATION_AUTO ? Math.max(...durations) : seconds)

/** Width over height; an adaptive video has as many pixels as one of 16:9. */
function proportionOf(ratio: VideoRatio | undefined): number {
  const [width, height] = (ratio ?? '16:9').split(':').map(Number)
  return width && height ? width / height : 16 / 9
}

/** Width and height: vendors keep the number of pixels and change their proportion. */
function sidesOfVideo(resolution: VideoResolution, ratio: VideoRatio | undefined): [number, number] {
  const edge = shorterEdge[resolution]
  const pixels = (edge * edge * 16) / 9
  const proportion = proportionOf(ratio)
  const even = (side: number): number => Math.round(side / 2) * 2
  return [even(Math.sqrt(pixels * proportion)), even(Math.sqrt(pixels / proportion))]
}

/** Pixels of width × height × frames in a token, by the first vendor that billed videos so (2026-08). */
const PIXELS_PER_TOKEN = 1_024

type Shape = Pick<VideoOptions, 'resolution' | 'ratio'> & { readonly fps: number; readonly seconds: number }

/** What a video comes to whose vendor reports no tokens. There is a frame at the end, too: 121 of them in 5 s. */
export function tokensOfVideo({ resolution, ratio, fps, seconds }: Shape): number {
  const [width, height] = sidesOfVideo(resolution, ratio)
  return Math.ceil((width * height * (fps * seconds + 1)) / PIXELS_PER_TOKEN)
}

/** Vendors round sides up to what their encoders like. */
const PADDING = 1.05

/** Tokens a video can have at most, those of the videos it is made after among them. */
export function tokensMax(facts: VideoFacts, wish: VideoOptions): number {
  const seconds = secondsMax(facts, wish) + (wish.withVideo ? facts.inputVideoSecondsMax : 0)
  return Math.ceil(tokensOfVideo({ ...wish, fps: facts.fps, seconds }) * PADDING)
}

type Kind = Pick<VideoOptions, 'resolution' | 'withVideo' | 'audio'>

/** `piece:second/720p/with-video/silent`: a card names as much of it as its prices differ by. */
export function videoUnit(unit: 'second' | 'token', { resolution, withVideo, audio }: Kind): PieceUnit {
  return `piece:${unit}/${resolution}${withVideo ? '/with-video' : ''}/${audio ? 'audio' : 'silent'}`
}

/** `piece:upscale/1080p/standard/60fps`: a second of it. */
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

/** Whether what a card asks for a video depends on its tokens. */
export const sellsByToken = (card: PriceCard, wish: Kind): boolean =>
  card.nanoPerMillion.outputText > 0n || piecePrice(card, videoUnit('token', wish)) !== undefined
