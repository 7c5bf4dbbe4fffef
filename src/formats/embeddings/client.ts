/** A client that requests embeddings in OpenAI's or Google's format. */
import type { Model } from '../../domain/catalog.ts'
import type { Failure } from '../../domain/failure.ts'
import type { Dialect } from '../../domain/turn.ts'
import { writeFailure } from '../core/openai-failure.ts'
import type { ClientRequest, FailureWriter, Adapter } from '../core/contract.ts'
import { writeGeminiFailure } from '../core/google-failure.ts'
import { googleWords, usualWords, type RequestWords } from '../core/request-words.ts'
import { countable, type EmbeddingBody } from './body.ts'
import { EmbeddingAdapter } from './adapter.ts'
import { geminiEmbeddings, openaiEmbeddings } from './upstream.ts'

/** The tokens that an encoder adds around each input. */
const TOKENS_AN_INPUT = 4

export class EmbeddingClient implements ClientRequest {
  readonly endpoint: string
  readonly kind = 'embedding'
  readonly failures: FailureWriter
  readonly words: RequestWords
  readonly model: string
  readonly stream = false
  readonly choices = 1
  /** An embedding has no output tokens. */
  readonly outputTokensMax = 0
  readonly textBytes: number
  readonly imageParts = 0
  readonly mediaBytes = 0
  readonly messages = 0
  private readonly body: EmbeddingBody
  private readonly dimensionsParam: string

  constructor(body: EmbeddingBody) {
    this.body = body
    this.model = body.model
    const isGoogles = body.client !== 'openai'
    this.endpoint = isGoogles ? 'gemini' : 'embeddings'
    this.words = isGoogles ? googleWords : usualWords
    this.failures = { write: isGoogles ? writeGeminiFailure : writeFailure }
    this.dimensionsParam = isGoogles ? 'outputDimensionality' : 'dimensions'
    this.textBytes = body.inputs.reduce<number>(
      (sum, input) => sum + TOKENS_AN_INPUT + (typeof input === 'string' ? Buffer.byteLength(input) : input.length),
      0,
    )
  }

  /** Returns a failure if the model cannot do what the request asks for. */
  check({ limits }: Model): Failure | undefined {
    const { dimensions } = this.body
    if (dimensions === undefined || dimensions === limits.dimensions) return undefined
    const param = this.dimensionsParam
    if (!limits.dimensionsAdjustable) {
      return { kind: 'unsupported_parameter', message: 'This model does not support specifying dimensions.', param }
    }
    if (limits.dimensions === undefined || dimensions < limits.dimensions) return undefined
    return { kind: 'invalid_value', message: `This model has at most ${limits.dimensions} dimensions.`, param }
  }

  promptText(): string {
    return countable(this.body.inputs)
  }

  failStream(): string {
    throw new Error('embeddings are not streamed')
  }

  adapter(offered: readonly Dialect[]): Adapter {
    const upstream = offered.includes('chat') || !offered.includes('gemini') ? openaiEmbeddings : geminiEmbeddings
    return new EmbeddingAdapter(this.body, upstream)
  }
}
