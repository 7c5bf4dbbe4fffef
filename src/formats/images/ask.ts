import type { ImageFacts, ImageOptions } from '../../domain/image.ts'
import type { UpstreamRequest } from '../core/contract.ts'
import type { ImageBody } from './body.ts'

/** What a model gets: the request, its options for the price, and the model's abilities. */
export type ImageAsk = {
  readonly kind: 'generation' | 'edit'
  readonly body: ImageBody
  readonly wish: ImageOptions
  readonly facts: ImageFacts
  /** Writes the request for an upstream from its fields. */
  write(
    fields: ReadonlyMap<string, string | number | boolean>,
  ): Pick<UpstreamRequest, 'path' | 'headers' | 'body' | 'upload'>
}
