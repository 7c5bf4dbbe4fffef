import { z } from 'zod'
import type { ErrorFields } from '../reply.ts'

const address = (schemes: RegExp) => z.strictObject({ url: z.string().regex(schemes, 'It is no address of a medium') })
const medium = address(/^(https?:\/\/|data:|asset:\/\/)/)

const item = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('text'), text: z.string() }),
  z.strictObject({
    type: z.literal('image_url'),
    image_url: medium,
    role: z.enum(['first_frame', 'last_frame', 'reference_image']).optional(),
  }),
  z.strictObject({ type: z.literal('video_url'), video_url: medium, role: z.literal('reference_video').optional() }),
  z.strictObject({ type: z.literal('audio_url'), audio_url: medium, role: z.literal('reference_audio').optional() }),
])

/**
 * The request of Seedance 2.0, without fields that the sandbox lacks (callbacks, drafts, a last frame, frames, `flex`).
 */
export const arkRequest = z.strictObject({
  model: z.string(),
  content: z.array(item).min(1),
  resolution: z.enum(['480p', '720p', '1080p']).optional(),
  ratio: z.enum(['16:9', '4:3', '1:1', '3:4', '9:16', '21:9', 'adaptive']).optional(),
  duration: z.union([z.literal(-1), z.int().min(4).max(15)]).optional(),
  seed: z.int().min(-1).max(4_294_967_295).optional(),
  watermark: z.boolean().optional(),
  generate_audio: z.boolean().optional(),
  camera_fixed: z.literal(false).optional(),
  draft: z.literal(false).optional(),
  return_last_frame: z.literal(false).optional(),
  service_tier: z.literal('default').optional(),
  execution_expires_after: z.int().min(3_600).max(259_200).optional(),
  safety_identifier: z.string().max(64).optional(),
  tools: z.array(z.strictObject({ type: z.literal('web_search') })).optional(),
})

export type ArkRequest = z.infer<typeof arkRequest>

const IMAGES_MAX = 9
const VIDEOS_MAX = 3
const AUDIOS_MAX = 3

/** Rules between the items: their numbers and their combinations. */
export function arkConflict({ content }: ArkRequest): ErrorFields | undefined {
  const refuse = (message: string): ErrorFields => ({ message, code: 'invalid_value', param: 'content' })
  const images = content.filter((one) => one.type === 'image_url')
  const videos = content.filter(({ type }) => type === 'video_url')
  const audios = content.filter(({ type }) => type === 'audio_url')
  const texts = content.filter((one) => one.type === 'text' && one.text.trim() !== '')
  if (texts.length + images.length + videos.length === 0) return refuse('A text, an image or a video is required.')
  if (images.length > IMAGES_MAX) return refuse(`At most ${IMAGES_MAX} images are taken.`)
  if (videos.length > VIDEOS_MAX) return refuse(`At most ${VIDEOS_MAX} videos are taken.`)
  if (audios.length > AUDIOS_MAX) return refuse(`At most ${AUDIOS_MAX} audio clips are taken.`)
  const roles = images.map(({ role }) => role)
  const times = (role: string | undefined): number => roles.filter((one) => one === role).length
  const frames = times('first_frame') + times('last_frame') + times(undefined)
  if (images.length > 1 && times(undefined) > 0) return refuse('Several images need their roles.')
  if (times('first_frame') > 1 || times('last_frame') > 1) return refuse('A video has one first and one last frame.')
  if (times('last_frame') > times('first_frame')) return refuse('A last frame needs a first one.')
  const references = times('reference_image') + videos.length + audios.length
  if (frames > 0 && references > 0) return refuse('First and last frames cannot be mixed with reference media.')
  if (audios.length > 0 && times('reference_image') + videos.length === 0)
    return refuse('Audio cannot be the only reference.')
  return undefined
}
