/**
 * The adapter for embeddings. It splits the inputs into as many exchanges as the upstream needs. The vectors come back
 * in order and in the requested form.
 */
import type { Failure } from '../../domain/failure.ts'
import type { Usage } from '../../domain/usage.ts'
import { inputTokens } from '../../domain/usage.ts'
import { chatFailures } from '../core/openai-failure.ts'
import type { AnswerFacts, Destination, FirstParts, Adapter, ReadReply, UpstreamRequest } from '../core/contract.ts'
import { geminiFailures } from '../core/google-failure.ts'
import { countable, type EmbeddingBody, type EmbeddingWords } from './body.ts'
import { readLarge } from './large-readings.ts'
import { readEmbeddings, type ReadEmbeddings, type EmbeddingReading } from './reading.ts'
import type { Batch, EmbeddingUpstream } from './upstream.ts'
import { KIB } from '../../lib/primitives/units.ts'

/** A larger reply is read by another thread, because it would hold up every stream on this one. */
const LARGE_REPLY_CHARS = 256 * KIB

export class EmbeddingAdapter implements Adapter {
  readonly dialect: Adapter['dialect']
  readonly obstacle: Failure | undefined
  readonly failures: Adapter['failures']
  private readonly body: EmbeddingBody
  private readonly upstream: EmbeddingUpstream
  private readonly batches: readonly Batch[]

  constructor(body: EmbeddingBody, upstream: EmbeddingUpstream) {
    const { inputs } = body
    this.body = body
    this.upstream = upstream
    this.dialect = upstream.dialect === 'gemini' ? 'gemini' : 'chat'
    this.failures = upstream.dialect === 'gemini' ? geminiFailures : chatFailures
    this.obstacle = upstream.obstacle(body)
    this.batches = Array.from({ length: Math.ceil(inputs.length / upstream.inputsMax) }, (_, i): Batch => {
      const from = i * upstream.inputsMax
      return { inputs: inputs.slice(from, from + upstream.inputsMax), from }
    })
  }

  request(to: Destination): UpstreamRequest {
    return this.upstream.write({ inputs: this.body.inputs, from: 0 }, this.body, to)
  }

  split(to: Destination): readonly UpstreamRequest[] {
    return this.batches.map((batch) => this.upstream.write(batch, this.body, to))
  }

  readReply(): never {
    throw new Error('embeddings are joined from their parts')
  }

  async join(texts: readonly string[]): Promise<ReadReply> {
    const { client, encoding, dimensions } = this.body
    const parts = texts.map((text, i) => ({ text, inputs: this.batches[i]?.inputs.length ?? 0 }))
    const reading: EmbeddingReading = { dialect: this.upstream.dialect, client, encoding, dimensions, parts }
    const chars = texts.reduce((sum, { length }) => sum + length, 0)
    return replyOf(chars > LARGE_REPLY_CHARS ? await readLarge(reading) : readEmbeddings(reading), client)
  }

  readonly firstParts = (count: number): FirstParts => {
    const inputs = this.batches.slice(0, count).flatMap((batch) => batch.inputs)
    return { text: countable(inputs), said: `The first ${inputs.length} inputs were embedded, and are charged.` }
  }

  openStream(): never {
    throw new Error('embeddings are not streamed')
  }
}

function replyOf(read: ReadEmbeddings, client: EmbeddingWords): ReadReply {
  if (read.kind === 'failed') return read
  const { data, usage } = read
  const write = ({ publicModel }: AnswerFacts, billed: Usage): string => {
    const tokens = inputTokens(billed)
    if (client !== 'openai') {
      const usageMetadata = JSON.stringify({ promptTokenCount: tokens, totalTokenCount: tokens })
      const embeddings = client === 'gemini' ? `"embedding":${data.slice(1, -1)}` : `"embeddings":${data}`
      return `{${embeddings},"usageMetadata":${usageMetadata}}`
    }
    const rest = JSON.stringify({ model: publicModel, usage: { prompt_tokens: tokens, total_tokens: tokens } })
    return `{"object":"list","data":${data},${rest.slice(1)}`
  }
  return { kind: 'reply', reply: { usage, produced: '', write } }
}
