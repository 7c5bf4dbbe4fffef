/**
 * Streams of images. Each event is inspected before it leaves, which takes time: `prepare` comes before `read`. The
 * last image is held back until it is settled.
 */
import type { Failure, UpstreamFailure } from '../../domain/failure.ts'
import { imagesOf } from '../../domain/image.ts'
import type { Usage } from '../../domain/usage.ts'
import { nextTurn } from '../../lib/runtime/end-of-tick.ts'
import { dataEvent, namedEvent, type SseEvent } from '../../lib/http/sse.ts'
import { readUpstreamError, writeFailure } from '../core/openai-failure.ts'
import { asFields, asText, numberIn, parseLongFields, type Fields } from '../core/fields.ts'
import type { AnswerFacts, DeliveredImage, ImageService, AdaptedStream, ReadEvent } from '../core/contract.ts'
import type { ImageAsk } from './ask.ts'
import {
  describe,
  factsOfReply,
  pictureOf,
  picturesOf,
  usageField,
  type DeliveredPicture,
  type ReplyFacts,
} from './reply.ts'
import { readImageUsage, sumUsage } from './usage.ts'

type PreparedEvent =
  | { readonly kind: 'partial'; readonly picture: DeliveredPicture; readonly facts: ReplyFacts; readonly index: number }
  | {
      readonly kind: 'completed'
      readonly pictures: readonly DeliveredPicture[]
      readonly facts: ReplyFacts
      readonly usage: Usage | undefined
    }
  | { readonly kind: 'done' | 'nothing' }
  | { readonly kind: 'failed'; readonly failure: UpstreamFailure }

const DONE = dataEvent('[DONE]')
const EVENTS_PER_TICK = 256
const NOTHING: ReadEvent = { kind: 'chunk', text: '', meaningful: false }

const failed = (message: string): PreparedEvent => ({
  kind: 'failed',
  failure: { kind: 'garbage', status: 200, message },
})

export class ImageStream implements AdaptedStream {
  readonly produced = ''
  readonly delivered: DeliveredImage[] = []
  usage: Usage | undefined
  /** Partial images that the client has seen of the unfinished image. */
  begun = 0
  /** Each preview is decoded at no charge. There are at most as many as the model may make. */
  private previewsLeft: number
  private readonly answer: AnswerFacts
  private readonly ask: ImageAsk
  private readonly imageService: ImageService
  private readonly name: string
  private readonly prepared = new WeakMap<SseEvent, PreparedEvent>()
  private preparedEvents = 0
  /** The image that came last. It waits for the next one or for the settlement. */
  private kept: Extract<PreparedEvent, { kind: 'completed' }> | undefined

  constructor(answer: AnswerFacts, ask: ImageAsk, imageService: ImageService) {
    this.answer = answer
    this.ask = ask
    this.imageService = imageService
    const { facts, wish } = ask
    this.previewsLeft = Math.max(facts.partialsMax, wish.partials) * imagesOf(facts, wish)
    this.name = ask.kind === 'edit' ? 'image_edit' : 'image_generation'
  }

  get finished(): boolean {
    return this.delivered.length >= imagesOf(this.ask.facts, this.ask.wish)
  }

  async prepare(event: SseEvent): Promise<void> {
    // One read may bring thousands of small events.
    if (++this.preparedEvents % EVENTS_PER_TICK === 0) await nextTurn()
    this.prepared.set(event, await this.look(event.data))
  }

  read(event: SseEvent): ReadEvent {
    const prepared = this.prepared.get(event)
    switch (prepared?.kind) {
      case 'partial':
        this.begun = 1
        return { kind: 'chunk', text: this.writePartial(prepared), meaningful: true }
      case 'completed': {
        const before = this.kept ? this.writeCompleted(this.kept, this.kept.usage) : ''
        this.kept = prepared
        this.begun = 0
        this.delivered.push(...prepared.pictures)
        this.usage =
          this.delivered.length === prepared.pictures.length ? prepared.usage : sumUsage(this.usage, prepared.usage)
        return { kind: 'chunk', text: before, meaningful: true }
      }
      case 'done':
        return this.delivered.length > 0 ? { kind: 'done' } : { kind: 'failed', failure: NO_IMAGE }
      case 'failed':
        return prepared
      default:
        return NOTHING
    }
  }

  end(billed: Usage): string {
    const { kept, delivered } = this
    if (!kept) return DONE
    // One of several images has its own usage, if the vendor stated it.
    const isAll = kept.pictures.length === delivered.length
    return this.writeCompleted(kept, isAll ? billed : (kept.usage ?? billed)) + DONE
  }

  /** The error as SDKs know it from other streams: named, with the envelope inside. */
  fail(failure: Failure): string {
    const kept = this.kept ? this.writeCompleted(this.kept, this.kept.usage) : ''
    return kept + failEvent(failure)
  }

  private async look(data: string): Promise<PreparedEvent> {
    if (data === '[DONE]') return { kind: 'done' }
    const event = await parseLongFields(data)
    if (!event) return failed('an event is not a JSON object')
    if (event['error']) return { kind: 'failed', failure: readUpstreamError(undefined, event) }
    const type = asText(event['type'])
    if (type === 'error') return { kind: 'failed', failure: readUpstreamError(undefined, { error: event }) }
    if (type.endsWith('.partial_image')) return this.previewsLeft-- > 0 ? this.partial(event) : { kind: 'nothing' }
    if (!type.endsWith('.completed') && !('data' in event)) return { kind: 'nothing' }
    const pictures = await this.pictures(event)
    if (pictures.length === 0) return failed('the image cannot be fetched and decoded')
    const usage = readImageUsage(event['usage'] ?? asFields(event['response'])['usage'])
    return { kind: 'completed', pictures, facts: factsOfReply(event), usage }
  }

  private async pictures(event: Fields): Promise<DeliveredPicture[]> {
    const left = imagesOf(this.ask.facts, this.ask.wish) - this.delivered.length
    if (left <= 0) return []
    if (event['b64_json'] === undefined) return (await picturesOf(event, this.ask, this.imageService)).slice(0, left)
    const picture = await pictureOf(event, this.ask, this.imageService)
    return picture ? [picture] : []
  }

  private async partial(event: Fields): Promise<PreparedEvent> {
    const inline: ImageAsk = { ...this.ask, body: { ...this.ask.body, delivery: 'b64_json' } }
    const picture = await pictureOf(event, inline, this.imageService)
    // A lost preview harms nobody.
    if (!picture) return { kind: 'nothing' }
    const index = numberIn(event['partial_image_index']) ?? 0
    return { kind: 'partial', picture, facts: factsOfReply(event), index }
  }

  private writePartial({ picture, facts, index }: Extract<PreparedEvent, { kind: 'partial' }>): string {
    const type = `${this.name}.partial_image`
    const event = { type, ...this.flat(picture, facts), partial_image_index: index }
    return namedEvent(type, JSON.stringify(event))
  }

  /** The flat event, with the image result inside it. */
  private writeCompleted(
    { pictures, facts }: Extract<PreparedEvent, { kind: 'completed' }>,
    usage: Usage | undefined,
  ): string {
    const [first] = pictures
    if (!first) return ''
    const type = `${this.name}.completed`
    const flat = this.flat(first, facts)
    const data = pictures.map(({ entry }) => entry)
    const event = { type, ...flat, created: this.createdOf(facts), data, ...(usage ? usageField(usage) : {}) }
    return namedEvent(type, JSON.stringify(event))
  }

  private flat(picture: DeliveredPicture, facts: ReplyFacts): object {
    const { b64_json, url } = picture.entry
    return {
      ...(b64_json === undefined ? { url } : { b64_json }),
      created_at: this.createdOf(facts),
      background: 'auto',
      ...describe(picture, facts, this.ask),
    }
  }

  private createdOf({ created }: ReplyFacts): number {
    return created ?? Math.floor(this.answer.createdAtMs / 1000)
  }
}

const NO_IMAGE: UpstreamFailure = { kind: 'garbage', status: 200, message: 'the stream ended without an image' }

export function failEvent(failure: Failure): string {
  const { error } = JSON.parse(writeFailure(failure).body) as { error: Record<string, unknown> }
  const { code, message, param } = error
  return namedEvent('error', JSON.stringify({ type: 'error', code, message, param, error }))
}
