/**
 * The price of a video before it is requested. It is the bound that the gateway holds, and a test compares the two. The
 * generation and the super-resolution are separate charges, each rounded up by itself.
 */
import type { Model, VideoFacts } from '../../lib/api-types.gen.ts'
import { shorterEdge, upscaleResolutions, type Upscale, type VideoOptions } from './video-options.ts'

export type VideoCost = {
  readonly making: bigint
  /** Undefined: no super-resolution. */
  readonly upscaling: bigint | undefined
  /** The final price may be lower. */
  readonly isBound: boolean
}

type Each = Model['price']['each']

/** Finds a price by its own name or the nearest general one: `second/720p/audio`, `second/720p`, `second`. */
function pieceOf(each: Each, unit: string): bigint | undefined {
  for (let name = unit; ; name = name.slice(0, name.lastIndexOf('/'))) {
    const price = each[name]
    if (price !== undefined) return BigInt(price)
    if (!name.includes('/')) return undefined
  }
}

const MILLION = 1_000_000n

/** Undefined: the video has no price and cannot be requested. */
export function costOf(
  { price }: Pick<Model, 'price'>,
  facts: VideoFacts,
  { wish, withVideo }: { readonly wish: VideoOptions; readonly withVideo: boolean },
): VideoCost | undefined {
  const longest = wish.seconds === -1 ? Math.max(...facts.durations) : wish.seconds
  const kind = `${wish.resolution}${withVideo ? '/with-video' : ''}/${wish.audio ? 'audio' : 'silent'}`
  const [second, token] = [pieceOf(price.each, `second/${kind}`), pieceOf(price.each, `token/${kind}`)]
  const perMillion = BigInt(price.output)
  if (second === undefined && token === undefined && perMillion === 0n) return undefined
  const tokens = BigInt(tokensMax(facts, wish, longest + (withVideo ? facts.inputVideoSecondsMax : 0)))
  const byTokens = (token ?? 0n) * tokens + (perMillion * tokens + MILLION - 1n) / MILLION
  const making = (second ?? 0n) * BigInt(longest) + byTokens
  const upscale = wish.upscale && fittedUpscale(wish.upscale, wish.resolution, facts)
  const perSecond = upscale && pieceOf(price.each, upscaleUnit(wish.resolution, upscale))
  if (upscale && perSecond === undefined) return undefined
  const upscaling = perSecond === undefined ? undefined : perSecond * BigInt(longest)
  return { making, upscaling, isBound: wish.seconds === -1 || byTokens > 0n }
}

/** The super-resolution options that change the video. Others are neither applied nor charged. */
function fittedUpscale(wish: Upscale, original: string, facts: VideoFacts): Upscale | undefined {
  const { resolution, limit, fps, ...rest } = wish
  const isLimit = limit !== undefined && limit > (shorterEdge[original] ?? 0)
  const isFaster = fps !== undefined && fps > facts.fps
  if (resolution === undefined && !isLimit && !isFaster) return undefined
  return {
    ...rest,
    ...(resolution !== undefined && { resolution }),
    ...(isLimit && { limit }),
    ...(isFaster && { fps }),
  }
}

function upscaleUnit(original: string, { resolution, limit, version, fps = 0 }: Upscale): string {
  const edge = limit ?? shorterEdge[resolution ?? original] ?? 0
  const grade = upscaleResolutions.find((one) => (shorterEdge[one] ?? 0) >= edge) ?? '4k'
  const frames = fps > 60 ? '/120fps' : fps > 30 ? '/60fps' : ''
  return `upscale/${grade}/${version}${frames}`
}

const PIXELS_PER_TOKEN = 1_024
/** Vendors round sides up to sizes that suit their encoders. */
const PADDING = 1.05

function tokensMax({ fps }: VideoFacts, { resolution, ratio }: VideoOptions, seconds: number): number {
  const edge = shorterEdge[resolution] ?? 0
  const [width, height] = ratio.split(':').map(Number)
  const proportion = width && height ? width / height : 16 / 9
  const pixels = (edge * edge * 16) / 9
  const even = (side: number): number => Math.round(side / 2) * 2
  const sides = even(Math.sqrt(pixels * proportion)) * even(Math.sqrt(pixels / proportion))
  return Math.ceil(Math.ceil((sides * (fps * seconds + 1)) / PIXELS_PER_TOKEN) * PADDING)
}
