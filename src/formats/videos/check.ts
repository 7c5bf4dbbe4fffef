/** What a model can do of a request, and what the request comes to with it. */
import type { Model } from '../../domain/catalog.ts'
import type { Failure } from '../../domain/failure.ts'
import { piecePrice } from '../../domain/price.ts'
import { DURATION_AUTO, shorterEdge, type VideoFacts, type VideoWish } from '../../domain/video.ts'
import { sellsVideo, upscaleUnit } from '../../domain/video-price.ts'
import type { VideoBody, VideoRole } from './body.ts'

const refuse = (param: string, message: string): Failure => ({ kind: 'invalid_value', message, param })
const unsupported = (param: string, what: string): Failure => ({
  kind: 'unsupported_parameter',
  message: `This model does not support ${what}.`,
  param,
})
const listed = (values: readonly (string | number)[]): string => values.map((value) => `'${value}'`).join(', ')

/** `seed`: what is drawn where the client names none. */
export function wishOf(body: VideoBody, facts: VideoFacts, seed: number): VideoWish {
  return {
    resolution: body.resolution ?? facts.resolutionDefault,
    ratio: body.ratio,
    seconds: body.duration ?? facts.durationDefault,
    audio: facts.audio === 'always' || (facts.audio === 'optional' && (body.audio ?? facts.audioDefault)),
    withVideo: body.media.some(({ kind }) => kind === 'video'),
    seed: body.seed ?? seed,
    upscale: body.upscale,
  }
}

/** What the model cannot do of a request; undefined when it can do everything. */
export function checkVideo(body: VideoBody, { limits: { video: facts }, sale }: Model): Failure | undefined {
  const wish = wishOf(body, facts, 0)
  return checkFields(body, facts) ?? checkMedia(body, facts) ?? checkUpscale(wish, facts) ?? checkPrice()

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
    return refuse('duration', "Invalid 'duration': this model does not choose it; give a number of seconds.")
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

function checkMedia({ media }: VideoBody, facts: VideoFacts): Failure | undefined {
  const count = (role: VideoRole): number => media.filter((one) => one.role === role).length
  const frames = count('first_frame') + count('last_frame')
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
  if (frames > 0 && frames < media.length && !facts.mixesFramesWithReferences) {
    return refuse('content', "Invalid 'content': this model makes a video of frames or of references, not of both.")
  }
  const isHeardOnly = media.length > 0 && media.every(({ kind }) => kind === 'audio')
  if (isHeardOnly && !facts.takesAudioAlone) {
    return refuse('content', "Invalid 'content': this model takes audio only together with an image or a video.")
  }
  return undefined
}

function checkUpscale({ resolution, upscale }: VideoWish, { upscaler }: VideoFacts): Failure | undefined {
  if (!upscale) return undefined
  if (upscaler === undefined) return unsupported('super_resolution_config', 'super-resolution')
  if (upscale.resolution === undefined || shorterEdge[upscale.resolution] > shorterEdge[resolution]) return undefined
  const param = 'super_resolution_config.resolution'
  return refuse(param, `Invalid '${param}': must be higher than the resolution of the video, which is '${resolution}'.`)
}
