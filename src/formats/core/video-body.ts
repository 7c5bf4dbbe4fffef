import type { UpscaleWish, VideoRatio, VideoResolution } from '../../domain/video.ts'
import type { RemoteMedium } from './remote-media.ts'

export type VideoRole = 'first_frame' | 'last_frame' | 'reference_image' | 'reference_video' | 'reference_audio'

/** An image, video or sound of a request, by its address or as a `data:` URL. */
export type VideoMedium = RemoteMedium & {
  readonly kind: 'image' | 'video' | 'audio'
  readonly role: VideoRole
}

const RASTER = /^image\/(?:png|jpe?g|webp|gif|bmp|tiff?|heic|heif|avif)$/i

/**
 * Whether a media type is of a kind. Images are pixels only: an image in text, such as SVG, can run code in a viewer.
 */
export const isTypeOf = (kind: VideoMedium['kind'], type: string): boolean =>
  kind === 'image' ? RASTER.test(type) : new RegExp(`^${kind}/[\\w.+-]{1,64}$`, 'i').test(type)

/** A request for a video, checked as far as that is possible without the model. */
export type VideoBody = {
  readonly model: string
  /** All texts, joined by line ends. */
  readonly prompt: string
  /** In the order of the request, with their roles decided. */
  readonly media: readonly VideoMedium[]
  readonly resolution: VideoResolution | undefined
  readonly ratio: VideoRatio | undefined
  readonly duration: number | undefined
  readonly seed: number | undefined
  readonly watermark: boolean
  readonly audio: boolean | undefined
  readonly webSearch: boolean
  readonly upscale: UpscaleWish | undefined
}
