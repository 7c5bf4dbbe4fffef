/** Embeddings on their way: inputs in as many exchanges as the upstream wants, vectors back in order and as asked. */
import type { Failure } from '../../domain/failure.ts'
import type { Usage } from '../../domain/usage.ts'
import { inputTokens } from '../../domain/usage.ts'
import type { AnswerFacts, Destination, FailureReader, Passage, ReadReply, UpstreamRequest } from '../format.ts'
import type { EmbeddingBody, EmbeddingInput } from './body.ts'
import type { Batch, EmbeddingUpstream } from './upstream.ts'
import { inputUsage } from './usage.ts'
import { reduced, toBase64, toNumbers } from './vector.ts'

export class EmbeddingPassage implements Passage {
  readonly dialect: EmbeddingUpstream['dialect']
  readonly obstacle: Failure | undefined
  readonly failures: FailureReader
  private readonly body: EmbeddingBody
  private readonly upstream: EmbeddingUpstream
  private readonly batches: readonly (readonly EmbeddingInput[])[]

  constructor(body: EmbeddingBody, upstream: EmbeddingUpstream) {
    const { inputs } = body
    this.body = body
    this.upstream = upstream
    this.dialect = upstream.dialect
    this.failures = upstream.failures
    this.obstacle = upstream.obstacle(body)
    this.batches = Array.from({ length: Math.ceil(inputs.length / upstream.inputsMax) }, (_, i) =>
      inputs.slice(i * upstream.inputsMax, (i + 1) * upstream.inputsMax),
    )
  }

  request(to: Destination): UpstreamRequest {
    return this.upstream.write(this.body.inputs, this.body, to.upstreamModel)
  }

  split(to: Destination): readonly UpstreamRequest[] {
    return this.batches.map((inputs) => this.upstream.write(inputs, this.body, to.upstreamModel))
  }

  readReply(text: string): ReadReply {
    return this.join([text])
  }

  join(texts: readonly string[]): ReadReply {
    const batches: Batch[] = []
    for (const [i, text] of texts.entries()) {
      const read = this.upstream.read(text, this.batches[i]?.length ?? 0)
      if (read.kind === 'failed') return read
      batches.push(read.batch)
    }
    const vectors = batches.flatMap((batch) => batch.vectors)
    const usage = totalOf(batches)
    const write = ({ publicModel }: AnswerFacts, counted: Usage): string =>
      this.write(vectors, publicModel, usage ?? counted)
    return { kind: 'reply', reply: { usage, produced: '', write } }
  }

  openStream(): never {
    throw new Error('embeddings are not streamed')
  }

  private write(vectors: readonly Float64Array[], model: string, usage: Usage): string {
    const { dimensions, encoding } = this.body
    const data = vectors.map((vector, index) => {
      const asked = dimensions === undefined ? vector : reduced(vector, dimensions)
      return { object: 'embedding', index, embedding: encoding === 'base64' ? toBase64(asked) : toNumbers(asked) }
    })
    const tokens = inputTokens(usage)
    return JSON.stringify({ object: 'list', data, model, usage: { prompt_tokens: tokens, total_tokens: tokens } })
  }
}

/** Undefined when any exchange came without usage: a part of the truth is none. */
function totalOf(batches: readonly Batch[]): Usage | undefined {
  let tokens = 0
  for (const { usage } of batches) {
    if (!usage) return undefined
    tokens += inputTokens(usage)
  }
  return inputUsage(tokens)
}
