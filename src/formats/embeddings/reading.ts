/** Reads replies with embeddings and writes them again. It is pure, so that a worker can do it for large ones. */
import type { UpstreamFailure } from '../../domain/failure.ts'
import type { Usage } from '../../domain/usage.ts'
import { inputTokens } from '../../domain/usage.ts'
import { hiddenError } from '../core/openai-failure.ts'
import { asFields, asList, parseFields, type Fields } from '../core/fields.ts'
import { inputUsage, readEmbeddingUsage } from './usage.ts'
import type { EmbeddingWords } from './body.ts'
import { rewritten, type Encoding } from './vector.ts'

export type EmbeddingDialect = 'openai' | 'gemini'

/** The answers to the parts of one request, and the form that they need. */
export type EmbeddingReading = {
  readonly dialect: EmbeddingDialect
  /** The format of the entries. */
  readonly client: EmbeddingWords
  readonly encoding: Encoding
  readonly dimensions: number | undefined
  /** The answers, and how many inputs each one is for. */
  readonly parts: readonly { readonly text: string; readonly inputs: number }[]
}

/** `data` is a JSON list of the vectors. */
export type ReadEmbeddings =
  | { readonly kind: 'read'; readonly data: string; readonly usage: Usage | undefined }
  | { readonly kind: 'failed'; readonly failure: UpstreamFailure }

type Part =
  | { readonly kind: 'part'; readonly vectors: readonly unknown[]; readonly usage: Usage | undefined }
  | { readonly kind: 'failed'; readonly failure: UpstreamFailure }

const garbage = (message: string) => ({ kind: 'failed', failure: { kind: 'garbage', status: 200, message } }) as const

export function readEmbeddings({ dialect, client, encoding, dimensions, parts }: EmbeddingReading): ReadEmbeddings {
  const data: string[] = []
  let usage: Usage | undefined = inputUsage(0)
  for (const { text, inputs } of parts) {
    // The reply is millions of numbers. A large one is not read on the serving thread.
    const reply = parseFields(text, JSON.parse)
    if (!reply) return garbage('the reply is not a JSON object')
    const failure = hiddenError(reply)
    if (failure) return { kind: 'failed', failure }
    const part = readers[dialect](reply, inputs)
    if (part.kind === 'failed') return part
    for (const vector of part.vectors) {
      const embedding = rewritten(vector, encoding, dimensions)
      if (embedding === undefined) return garbage('an input has no embedding')
      const entry = client === 'openai' ? { object: 'embedding', index: data.length, embedding } : { values: embedding }
      data.push(JSON.stringify(entry))
    }
    // If one part has no usage, the sum is unknown.
    usage = usage && part.usage && inputUsage(inputTokens(usage) + inputTokens(part.usage))
  }
  return { kind: 'read', data: `[${data.join(',')}]`, usage }
}

const readers: Record<EmbeddingDialect, (reply: Fields, inputs: number) => Part> = {
  openai(reply, inputs) {
    const vectors: unknown[] = Array.from({ length: inputs })
    for (const [i, entry] of asList(reply['data']).entries()) {
      const { index, embedding } = asFields(entry)
      const at = typeof index === 'number' ? index : i
      if (!Number.isInteger(at) || at < 0 || at >= inputs) return garbage('an embedding has the index of no input')
      vectors[at] = embedding
    }
    return { kind: 'part', vectors, usage: readEmbeddingUsage(reply['usage']) }
  },
  gemini(reply, inputs) {
    // The answer to one text alone is kept as its client got it.
    const one = reply['embedding'] === undefined ? [] : [reply['embedding']]
    const vectors = asList(reply['embeddings'] ?? one).map((embedding) => asFields(embedding)['values'])
    if (vectors.length !== inputs) return garbage(`${vectors.length} embeddings came for ${inputs} inputs`)
    const { promptTokenCount } = asFields(reply['usageMetadata'])
    return { kind: 'part', vectors, usage: readEmbeddingUsage({ prompt_tokens: promptTokenCount }) }
  },
}
