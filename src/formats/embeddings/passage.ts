/** Embeddings on their way: inputs in as many exchanges as the upstream wants, vectors back in order and as asked. */
import type { Failure } from '../../domain/failure.ts'
import type { Usage } from '../../domain/usage.ts'
import { inputTokens } from '../../domain/usage.ts'
import { chatFailures } from '../chat/failure.ts'
import type { AnswerFacts, Destination, FirstParts, Passage, ReadReply, UpstreamRequest } from '../format.ts'
import { geminiFailures } from '../gemini/failure.ts'
import { countable, type EmbeddingBody, type EmbeddingInput } from './body.ts'
import { readLarge } from './large-readings.ts'
import { readEmbeddings, type ReadEmbeddings, type Reading } from './reading.ts'
import type { EmbeddingUpstream } from './upstream.ts'

/** Replies above this are read by another thread: here they would hold up everybody's streams. */
const LARGE_REPLY_CHARS = 256 * 1024

export class EmbeddingPassage implements Passage {
  readonly dialect: Passage['dialect']
  readonly obstacle: Failure | undefined
  readonly failures: Passage['failures']
  private readonly body: EmbeddingBody
  private readonly upstream: EmbeddingUpstream
  private readonly batches: readonly (readonly EmbeddingInput[])[]

  constructor(body: EmbeddingBody, upstream: EmbeddingUpstream) {
    const { inputs } = body
    this.body = body
    this.upstream = upstream
    this.dialect = upstream.dialect === 'gemini' ? 'gemini' : 'chat'
    this.failures = upstream.dialect === 'gemini' ? geminiFailures : chatFailures
    this.obstacle = upstream.obstacle(body)
    this.batches = Array.from({ length: Math.ceil(inputs.length / upstream.inputsMax) }, (_, i) =>
      inputs.slice(i * upstream.inputsMax, (i + 1) * upstream.inputsMax),
    )
  }

  request(to: Destination): UpstreamRequest {
    return this.upstream.write(this.body.inputs, this.body, to)
  }

  split(to: Destination): readonly UpstreamRequest[] {
    return this.batches.map((inputs) => this.upstream.write(inputs, this.body, to))
  }

  readReply(): never {
    throw new Error('embeddings are joined from their parts')
  }

  async join(texts: readonly string[]): Promise<ReadReply> {
    const { encoding, dimensions } = this.body
    const parts = texts.map((text, i) => ({ text, inputs: this.batches[i]?.length ?? 0 }))
    const reading: Reading = { dialect: this.upstream.dialect, encoding, dimensions, parts }
    const chars = texts.reduce((sum, { length }) => sum + length, 0)
    return replyOf(chars > LARGE_REPLY_CHARS ? await readLarge(reading) : readEmbeddings(reading))
  }

  readonly firstParts = (count: number): FirstParts => {
    const inputs = this.batches.slice(0, count).flat()
    return { text: countable(inputs), said: `The first ${inputs.length} inputs were embedded, and are charged.` }
  }

  openStream(): never {
    throw new Error('embeddings are not streamed')
  }
}

function replyOf(read: ReadEmbeddings): ReadReply {
  if (read.kind === 'failed') return read
  const { data, usage } = read
  const write = ({ publicModel }: AnswerFacts, billed: Usage): string => {
    const tokens = inputTokens(billed)
    const rest = JSON.stringify({ model: publicModel, usage: { prompt_tokens: tokens, total_tokens: tokens } })
    return `{"object":"list","data":${data},${rest.slice(1)}`
  }
  return { kind: 'reply', reply: { usage, produced: '', write } }
}
