/** Checks what a model can do of a request, and fits the request to the model. */
import type { Model } from '../../domain/catalog.ts'
import type { Failure } from '../../domain/failure.ts'
import { piecePrice } from '../../domain/price.ts'
import {
  DURATION_AUTO,
  shorterEdge,
  type UpscaleWish,
  type VideoFacts,
  type VideoResolution,
  type VideoOptions,
} from '../../domain/video.ts'
import { sellsVideo, upscaleUnit } from '../../domain/video-price.ts'
import type { VideoBody, VideoMedium, VideoRole } from '../core/video-body.ts'

const refuse = (param: string, message: string): Failure => ({ kind: 'invalid_value', message, param })
const unsupported = (param: string, what: string): Failure => ({
  kind: 'unsupported_parameter',
  message: `This model does not support ${what}.`,
  param,
})
const listed = (values: readonly (string | number)[]): string => values.map((value) => `'${value}'`).join(', ')

const isFrame = ({ role }: VideoMedium): boolean => role === 'first_frame' || role === 'last_frame'

/**
 * The media that the model gets, and the items that are left out. Every request that the specification allows is
 * accepted, as far as its model goes. If the model takes only frames or references, frames win. If the model takes no
 * audio alone, a text without the audio is sent.
 */
function fittedMedia(
  { media, prompt }: Pick<VideoBody, 'media' | 'prompt'>,
  { mixesFramesWithReferences, takesAudioAlone }: VideoFacts,
): { readonly media: readonly VideoMedium[]; readonly dropped: readonly string[] } {
  const framed = !mixesFramesWithReferences && media.some(isFrame) ? media.filter(isFrame) : media
  const isHeardOnly = !takesAudioAlone && prompt !== '' && framed.every(({ kind }) => kind === 'audio')
  const kept = isHeardOnly ? [] : framed
  const dropped = media.filter((one) => !kept.includes(one)).map(({ param }) => param.replace(/\..*/s, ''))
  return { media: kept, dropped }
}

/** `seed`: the seed that was drawn in case the client names none. */
export function wishOf(body: VideoBody, facts: VideoFacts, seed: number): VideoOptions {
  return {
    resolution: body.resolution ?? facts.resolutionDefault,
    ratio: body.ratio,
    seconds: body.duration ?? facts.durationDefault,
    audio: facts.audio === 'always' || (facts.audio === 'optional' && (body.audio ?? facts.audioDefault)),
    withVideo: fittedMedia(body, facts).media.some(({ kind }) => kind === 'video'),
    seed: body.seed ?? seed,
    upscale: body.upscale && fittedUpscale(body.upscale, body.resolution ?? facts.resolutionDefault, facts).upscale,
  }
}

/**
 * The super-resolution that changes something, and the names of its fields that do not. A limit or a frame rate that
 * the video does not exceed changes nothing. Undefined if nothing would change: then there is nothing to pay for.
 */
function fittedUpscale(
  wish: UpscaleWish,
  original: VideoResolution,
  { fps: originalFps }: VideoFacts,
): { readonly upscale: UpscaleWish | undefined; readonly dropped: readonly string[] } {
  const isLimit = wish.limit !== undefined && wish.limit > shorterEdge[original]
  const isFaster = wish.fps !== undefined && wish.fps > originalFps
  const fitted = { ...wish, limit: isLimit ? wish.limit : undefined, fps: isFaster ? wish.fps : undefined }
  const isNothing = wish.resolution === undefined && !isLimit && !isFaster
  const all = 'super_resolution_config'
  if (isNothing) return { upscale: undefined, dropped: [all] }
  const idle = [
    ...(wish.limit !== undefined && !isLimit ? ['resolution_limit'] : []),
    ...(wish.fps !== undefined && !isFaster ? ['fps'] : []),
  ]
  return { upscale: fitted, dropped: idle.map((name) => `${all}.${name}`) }
}

/** The request as its model gets it, and the fields that have no effect. */
export function fitted(
  body: VideoBody,
  facts: VideoFacts,
): { readonly body: VideoBody; readonly dropped: readonly string[] } {
  const { media, dropped } = fittedMedia(body, facts)
  const idle = body.upscale
    ? fittedUpscale(body.upscale, body.resolution ?? facts.resolutionDefault, facts).dropped
    : []
  return { body: { ...body, media }, dropped: [...dropped, ...idle] }
}

/** What the model cannot do of a request. Undefined if it can do everything. */
export function checkVideo(body: VideoBody, { limits: { video: facts }, sale }: Model): Failure | undefined {
  const wish = wishOf(body, facts, 0)
  return (
    checkFields(body, facts) ??
    checkMedia(fittedMedia(body, facts).media, facts) ??
    checkUpscale(wish, facts) ??
    checkPrice()
  )

  function checkPrice(): Failure | undefined {
    if (!sellsVideo(sale, wish)) return refuse('resolution', 'This model has no price for such a video.')
    const { upscale } = wish
    if (!upscale || piecePrice(sale, upscaleUnit(wish.resolution, upscale)) !== undefined) return undefined
    return refuse('super_resolution_config', 'This model has no price for such a super-resolution.')
  }
}

function checkFields(body: VideoBody, facts: VideoFacts): Failure | undefined {
  const { resolution, ratio, duration, prompt } = body
  if (resolution !== undefined && !facts.resolutions.includes(resolution)) {
    return refuse('resolution', `Invalid 'resolution': must be one of ${listed(facts.resolutions)} for this model.`)
  }
  if (ratio !== undefined && !facts.ratios.includes(ratio)) {
    return refuse('ratio', `Invalid 'ratio': must be one of ${listed(facts.ratios)} for this model.`)
  }
  if (duration === DURATION_AUTO && !facts.choosesDuration) {
    return refuse('duration', "Invalid 'duration': this model cannot choose it; give a number of seconds.")
  }
  if (duration !== undefined && duration !== DURATION_AUTO && !facts.durations.includes(duration)) {
    return refuse('duration', `Invalid 'duration': must be one of ${listed(facts.durations)} for this model.`)
  }
  if (body.audio === true && facts.audio === 'never') return unsupported('generate_audio', 'audio')
  if (body.audio === false && facts.audio === 'always') return unsupported('generate_audio', 'videos without audio')
  if (body.webSearch && !facts.webSearch) return unsupported('web_search', 'web search')
  if (body.watermark && !facts.watermark) return unsupported('watermark', 'watermarks')
  if (body.seed !== undefined && !facts.seed) return unsupported('seed', 'seeds')
  if (prompt.length > facts.promptCharsMax) {
    return refuse('content', `Invalid 'content': the text must have at most ${facts.promptCharsMax} characters.`)
  }
  return undefined
}

function checkMedia(media: readonly VideoMedium[], facts: VideoFacts): Failure | undefined {
  const count = (role: VideoRole): number => media.filter((one) => one.role === role).length
  const bounds = [
    ['reference_image', facts.referenceImagesMax, 'reference images'],
    ['reference_video', facts.referenceVideosMax, 'reference videos'],
    ['reference_audio', facts.referenceAudiosMax, 'reference audio'],
    ['first_frame', facts.frames === 'none' ? 0 : 1, 'a first frame'],
    ['last_frame', facts.frames === 'first_last' ? 1 : 0, 'a last frame'],
  ] as const
  for (const [role, max, what] of bounds) {
    if (count(role) <= max) continue
    if (max === 0) return unsupported('content', what)
    return refuse('content', `Invalid 'content': this model takes at most ${max} items with the role '${role}'.`)
  }
  const isHeardOnly = media.length > 0 && media.every(({ kind }) => kind === 'audio')
  if (isHeardOnly && !facts.takesAudioAlone) {
    return refuse('content', "Invalid 'content': this model takes audio only together with an image or a video.")
  }
  return undefined
}

function checkUpscale({ resolution, upscale }: VideoOptions, { upscaler }: VideoFacts): Failure | undefined {
  if (!upscale) return undefined
  if (upscaler === undefined) return unsupported('super_resolution_config', 'super-resolution')
  if (upscale.resolution === undefined || shorterEdge[upscale.resolution] > shorterEdge[resolution]) return undefined
  const param = 'super_resolution_config.resolution'
  return refuse(param, `Invalid '${param}': must be higher than the resolution of the video, which is '${resolution}'.`)
}
