import type { ImageDelivery, ImageFormat } from '../../domain/image.ts'

/** A request for images, checked as far as that is possible without the model. */
export type ImageBody = {
  readonly model: string
  readonly prompt: string
  readonly count: number
  readonly size: string | undefined
  readonly quality: string | undefined
  readonly background: string | undefined
  readonly format: ImageFormat | undefined
  readonly compression: number | undefined
  readonly moderation: string | undefined
  readonly style: string | undefined
  readonly delivery: ImageDelivery | undefined
  readonly fidelity: string | undefined
  readonly stream: boolean
  readonly partials: number | undefined
  readonly user: string | undefined
  /** The names of unknown fields. They are not passed on, because their cost is unknown. */
  readonly unknown: readonly string[]
}
