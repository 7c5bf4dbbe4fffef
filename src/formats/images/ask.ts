import type { ImageFacts, ImageOptions } from '../../domain/image.ts'
import type { UpstreamRequest } from '../core/contract.ts'
import type { ImageBody } from './body.ts'

/** What is asked of a model: the request, what it counts as, and what the model can do. */
export type ImageAsk = {
  readonly kind: 'generation' | 'edit'
  readonly body: ImageBody
  readonly wish: ImageOptions
  readonly facts: ImageFacts
  /** Writes the request for an upstream, from its fields. */
  write(
    fields: ReadonlyMap<string, string | number | boolean>,
  ): Pick<UpstreamRequest, 'path' | 'headers' | 'body' | 'upload'>
}
