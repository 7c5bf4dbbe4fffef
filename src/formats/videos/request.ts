/** Requests for videos: the fields, and the rules that hold for every model. */
import { z } from 'zod'
import type { Failure } from '../../domain/failure.ts'
import {
  DURATION_AUTO,
  SEED_MAX,
  upscaleResolutions,
  upscaleScenes,
  upscaleVersions,
  videoRatios,
  videoResolutions,
  type UpscaleWish,
} from '../../domain/video.ts'
import { refuseStrayHint } from '../core/hint-fields.ts'
import { failureOfIssue } from '../core/issue.ts'
import type { ScannedRequest } from '../core/request-json.ts'
import type { VideoBody } from '../core/video-body.ts'
import { contentItem, readContent } from './content.ts'
import { safeParse } from '../../lib/json/safe-parse.ts'

const upscaling = z.looseObject({
  resolution: z.enum(upscaleResolutions).nullish(),
  resolution_limit: z.int().min(64).max(2_160).nullish(),
  scene: z.enum(upscaleScenes).nullish(),
  tool_version: z.enum(upscaleVersions).nullish(),
  fps: z.int().min(1).max(120).nullish(),
})

const durationRule = 'must be a whole number of seconds from 4 to 15, or -1'
const duration = z
  .int()
  .refine((seconds) => seconds === DURATION_AUTO || (seconds >= 4 && seconds <= 15), { message: durationRule })
  // A refinement does not appear in a JSON schema by itself.
  .meta({ anyOf: [{ const: DURATION_AUTO }, { minimum: 4, maximum: 15 }] })

/** `camera_fixed`, `frames`, `callback_url` and `return_last_frame` may have any value. They have no effect. */
export const videoRequest = z.looseObject({
  model: z.string().min(1),
  content: z.array(contentItem).min(1),
  resolution: z.enum(videoResolutions).nullish(),
  ratio: z.enum(videoRatios).nullish(),
  duration: duration.nullish(),
  seed: z.int().min(-1).max(SEED_MAX).nullish(),
  watermark: z.boolean().nullish(),
  generate_audio: z.boolean().nullish(),
  input_type: z.enum(['reference', 'first_last_frame']).nullish(),
  web_search: z.boolean().nullish(),
  super_resolution_config: upscaling.nullish(),
})

export type ReadVideo =
  | { readonly kind: 'read'; readonly body: VideoBody }
  | { readonly kind: 'rejected'; readonly failure: Failure }

const reject = (failure: Failure): ReadVideo => ({ kind: 'rejected', failure })

/** Checks the fields of a request. */
export function readVideo(scanned: ScannedRequest): ReadVideo {
  if (scanned.kind === 'rejected') return scanned
  const checked = safeParse(videoRequest, scanned.value)
  if (!checked.success) return reject(failureOfIssue(checked.error.issues[0], scanned.value))
  const { data } = checked
  const stray = refuseStrayHint(data)
  if (stray) return reject(stray)
  const content = readContent(data.content, data.input_type ?? undefined)
  if (content.kind === 'rejected') return content
  const { super_resolution_config: upscale } = data
  if (upscale?.resolution && typeof upscale.resolution_limit === 'number') {
    const param = 'super_resolution_config.resolution_limit'
    const message = `'${param}' cannot be combined with 'super_resolution_config.resolution': give one of them.`
    return reject({ kind: 'invalid_value', message, param })
  }
  const body: VideoBody = {
    model: data.model,
    prompt: content.prompt,
    media: content.media,
    resolution: data.resolution ?? undefined,
    ratio: data.ratio ?? undefined,
    duration: data.duration ?? undefined,
    // -1 is a vendor's word for a random seed.
    seed: data.seed === -1 ? undefined : (data.seed ?? undefined),
    watermark: data.watermark ?? false,
    audio: data.generate_audio ?? undefined,
    webSearch: data.web_search ?? false,
    upscale: upscale ? upscaleOf(upscale) : undefined,
  }
  return { kind: 'read', body }
}

const upscaleOf = (stated: z.infer<typeof upscaling>): UpscaleWish => ({
  resolution: stated.resolution ?? undefined,
  limit: stated.resolution_limit ?? undefined,
  scene: stated.scene ?? undefined,
  version: stated.tool_version ?? 'standard',
  fps: stated.fps ?? undefined,
})
