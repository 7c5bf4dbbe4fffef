/** A client that requests images in OpenAI's format. */
import type { Model } from '../../domain/catalog.ts'
import type { Failure } from '../../domain/failure.ts'
import { soldChoice, type ImageFacts, type ImageOptions } from '../../domain/image.ts'
import type { Dialect } from '../../domain/turn.ts'
import { writeFailure } from '../core/openai-failure.ts'
import type { ClientRequest, Adapter, AdapterContext } from '../core/contract.ts'
import type { ImageAsk } from './ask.ts'
import type { ImageBody } from './body.ts'
import { ImageAdapter } from './adapter.ts'
import { checkImage, readImageJson } from './request.ts'
import { failEvent } from './stream.ts'

export type ReadImageClient =
  | { readonly kind: 'read'; readonly request: ClientRequest }
  | { readonly kind: 'rejected'; readonly failure: Failure }

/** Reads `POST /v1/images/generations`. */
export function readImageClient(text: string): ReadImageClient {
  const read = readImageJson(text)
  if (read.kind === 'rejected') return read
  const { body } = read
  const write: ImageAsk['write'] = (fields) => ({
    path: '/images/generations',
    headers: {},
    body: JSON.stringify(Object.fromEntries(fields)),
  })
  return { kind: 'read', request: new ImageClient(body, { kind: 'generation', inputs: 0, write }) }
}

type ImageSource = Pick<ImageAsk, 'kind' | 'write'> & { readonly inputs: number }

export class ImageClient implements ClientRequest {
  readonly endpoint: string
  readonly kind = 'image'
  readonly failures = { write: writeFailure }
  readonly model: string
  readonly stream: boolean
  readonly choices = 1
  readonly outputTokensMax = undefined
  readonly textBytes: number
  readonly imageParts: number
  readonly mediaBytes = 0
  readonly messages = 0
  images: ImageOptions
  readonly leavesFiles: boolean
  private body: ImageBody
  private readonly asked: { readonly body: ImageBody; readonly images: ImageOptions }
  private readonly source: ImageSource

  constructor(body: ImageBody, source: ImageSource) {
    this.body = body
    this.source = source
    this.endpoint = source.kind === 'edit' ? 'images.edits' : 'images.generations'
    this.model = body.model
    this.stream = body.stream
    this.textBytes = Buffer.byteLength(body.prompt)
    this.imageParts = source.inputs
    this.leavesFiles = body.delivery === 'url'
    const { count, size, quality, partials } = body
    this.images = { count, size, quality, partials: body.stream ? (partials ?? 0) : 0, inputs: source.inputs }
    this.asked = { body, images: this.images }
  }

  check(model: Model): Failure | undefined {
    // What was chosen for another model does not count for this one.
    const chosen = soldChoice(this.asked.images, model)
    this.body = chosen ? { ...this.asked.body, ...chosen } : this.asked.body
    this.images = chosen ? { ...this.asked.images, ...chosen } : this.asked.images
    return checkImage(this.body, this.images, model)
  }

  wholeText(): string {
    return `${this.body.prompt}\n${this.body.user ?? ''}`
  }

  promptText(): string {
    return this.body.prompt
  }

  failStream(failure: Failure): string {
    return failEvent(failure)
  }

  adapter(offered: readonly Dialect[], { model, imageService }: AdapterContext): Adapter {
    return new ImageAdapter(this.askOf(model.limits.image), imageService, offered)
  }

  private askOf(facts: ImageFacts): ImageAsk {
    const { kind, write } = this.source
    return { kind, write, body: this.body, wish: this.images, facts }
  }
}
