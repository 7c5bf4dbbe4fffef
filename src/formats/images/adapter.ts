/**
 * The adapter for images. It writes the request for vendors of OpenAI's format, and the answer as the client wants it.
 */
import type { Failure } from '../../domain/failure.ts'
import type { Dialect } from '../../domain/turn.ts'
import type { Usage } from '../../domain/usage.ts'
import type { SseEvent } from '../../lib/http/sse.ts'
import { pathOf } from '../core/model-path.ts'
import { chatFailures, hiddenError } from '../core/openai-failure.ts'
import { parseLongFields } from '../core/fields.ts'
import type {
  AnswerFacts,
  Destination,
  ImageService,
  Adapter,
  AdaptedStream,
  ReadReply,
  UpstreamRequest,
} from '../core/contract.ts'
import type { ImageAsk } from './ask.ts'
import { describe, factsOfReply, picturesOf, usageField } from './reply.ts'
import { ImageStream } from './stream.ts'
import { readImageUsage } from './usage.ts'

const NATIVE: Failure = {
  kind: 'model_not_supported',
  code: 'model_not_supported',
  message:
    'This model makes images on one endpoint only: POST /v1beta/models/{model}:generateContent with image output.',
  param: 'model',
}

const HOMELESS: Failure = {
  kind: 'invalid_value',
  message: "This gateway does not know its public address (TOLLGATE_PUBLIC_URL): request 'b64_json'.",
  param: 'response_format',
}

export class ImageAdapter implements Adapter {
  readonly dialect = 'chat'
  readonly failures = chatFailures
  readonly obstacle: Failure | undefined
  readonly asEvents: Adapter['asEvents']
  private readonly ask: ImageAsk
  private readonly imageService: ImageService

  constructor(ask: ImageAsk, imageService: ImageService, offered: readonly Dialect[]) {
    this.ask = ask
    this.imageService = imageService
    const isHomeless = ask.body.delivery === 'url' && !imageService.canHost
    this.obstacle = !offered.includes('chat') ? NATIVE : isHomeless ? HOMELESS : undefined
    // A model that cannot stream gets a request for the whole reply. Its answer becomes a stream of one event.
    if (!ask.facts.streams) this.asEvents = (text): readonly SseEvent[] => [{ name: undefined, data: text }]
  }

  request(to: Destination): UpstreamRequest {
    const { body, facts, wish } = this.ask
    const fields = new Map<string, string | number | boolean>([
      ['model', to.upstreamModel],
      ['prompt', body.prompt],
    ])
    const set = (name: string, value: string | number | boolean | undefined): void => {
      if (value !== undefined) fields.set(name, value)
    }
    set('n', facts.isSingle || wish.count === 1 ? undefined : wish.count)
    set('size', body.size)
    set('quality', body.quality)
    set('background', body.background)
    set('output_format', body.format)
    set('output_compression', body.compression)
    set('moderation', body.moderation)
    set('style', body.style)
    set('input_fidelity', body.fidelity)
    set('user', body.user)
    // Receiving the bytes at once saves a download. Models that can only send bytes refuse the field.
    set('response_format', facts.deliveries.includes('url') ? 'b64_json' : undefined)
    if (body.stream && facts.streams) {
      set('stream', true)
      set('partial_images', wish.partials === 0 ? undefined : wish.partials)
    }
    const passedOver = !facts.streams && body.partials ? ['partial_images'] : []
    const dropped = [...body.unknown.filter((name) => /^[\w.-]{1,64}$/.test(name)), ...passedOver]
    const { path, ...written } = this.ask.write(fields)
    return { ...written, path: pathOf(path, to), dropped }
  }

  readReply(): never {
    throw new Error('images are decoded, which takes a while: see join')
  }

  async join(texts: readonly string[]): Promise<ReadReply> {
    const [text = ''] = texts
    const reply = await parseLongFields(text)
    if (!reply) return garbage('the reply is not a JSON object')
    const failure = hiddenError(reply)
    if (failure) return { kind: 'failed', failure }
    const pictures = await picturesOf(reply, this.ask, this.imageService)
    const [first] = pictures
    if (!first) return garbage('the reply has no image that can be fetched and decoded')
    const facts = factsOfReply(reply)
    const usage = readImageUsage(reply['usage'])
    const write = ({ createdAtMs }: AnswerFacts, billed: Usage): string =>
      JSON.stringify({
        created: facts.created ?? Math.floor(createdAtMs / 1000),
        ...describe(first, facts, this.ask),
        data: pictures.map(({ entry }) => entry),
        ...usageField(billed),
      })
    return { kind: 'reply', reply: { usage, produced: '', delivered: pictures, write } }
  }

  openStream(answer: AnswerFacts): AdaptedStream {
    return new ImageStream(answer, this.ask, this.imageService)
  }
}

const garbage = (message: string): ReadReply => ({ kind: 'failed', failure: { kind: 'garbage', status: 200, message } })
