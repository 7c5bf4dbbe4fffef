/** How vendors are asked for embeddings, and how they answer. */
import type { Failure, UpstreamFailure } from '../../domain/failure.ts'
import type { Usage } from '../../domain/usage.ts'
import { chatFailures } from '../chat/failure.ts'
import { asFields, asList, asText, parseFields } from '../fields.ts'
import type { FailureReader, UpstreamRequest } from '../format.ts'
import type { EmbeddingBody, EmbeddingInput } from './body.ts'
import { readEmbeddingUsage } from './usage.ts'
import { vectorOf } from './vector.ts'

/** What one exchange brought: a vector for each input, in order. */
export type Batch = { readonly vectors: readonly Float64Array[]; readonly usage: Usage | undefined }
export type ReadBatch =
  | { readonly kind: 'batch'; readonly batch: Batch }
  | { readonly kind: 'failed'; readonly failure: UpstreamFailure }

export type EmbeddingUpstream = {
  readonly dialect: 'chat' | 'gemini'
  /** The most inputs one exchange may have. */
  readonly inputsMax: number
  readonly failures: FailureReader
  obstacle(body: EmbeddingBody): Failure | undefined
  write(inputs: readonly EmbeddingInput[], body: EmbeddingBody, upstreamModel: string): UpstreamRequest
  read(text: string, inputs: number): ReadBatch
}

const garbage = (message: string): ReadBatch => ({ kind: 'failed', failure: { kind: 'garbage', status: 200, message } })

const request = (path: string, body: object): UpstreamRequest => ({
  path,
  headers: {},
  body: JSON.stringify(body),
  dropped: [],
})

export const openaiEmbeddings: EmbeddingUpstream = {
  dialect: 'chat',
  inputsMax: 2_048,
  failures: chatFailures,
  obstacle: () => undefined,
  write(inputs, { dimensions, others }, upstreamModel) {
    // Base64 is a third of the bytes of decimal numbers; vendors that do not know it answer with numbers.
    const encoding = { encoding_format: 'base64' }
    const size = dimensions === undefined ? {} : { dimensions }
    return request('/embeddings', { ...others, model: upstreamModel, input: inputs, ...size, ...encoding })
  },
  read(text, inputs) {
    const reply = parseFields(text)
    if (!reply) return garbage('the reply is not a JSON object')
    const failure = chatFailures.hidden(text)
    if (failure) return { kind: 'failed', failure }
    const vectors: (Float64Array | undefined)[] = Array.from({ length: inputs })
    for (const [i, entry] of asList(reply['data']).entries()) {
      const { index, embedding } = asFields(entry)
      const at = typeof index === 'number' ? index : i
      if (!Number.isInteger(at) || at < 0 || at >= inputs) return garbage('an embedding has an index of no input')
      vectors[at] = vectorOf(embedding)
    }
    return batchOf(vectors, readEmbeddingUsage(reply['usage']))
  },
}

/** Gemini's batchEmbedContents, 100 texts at most (2026-08). It takes no token numbers and reports no usage. */
export const geminiEmbeddings: EmbeddingUpstream = {
  dialect: 'gemini',
  inputsMax: 100,
  failures: {
    response: (status, headers, body) => chatFailures.response(status, headers, body),
    hidden: (body) => chatFailures.hidden(body),
  },
  obstacle: ({ inputs }) =>
    inputs.every((input) => typeof input === 'string')
      ? undefined
      : { kind: 'unsupported_parameter', message: 'This model takes texts, not token numbers.', param: 'input' },
  write(inputs, { dimensions }, upstreamModel) {
    const model = `models/${upstreamModel}`
    const size = dimensions === undefined ? {} : { outputDimensionality: dimensions }
    const requests = inputs.map((text) => ({ model, content: { parts: [{ text: asText(text) }] }, ...size }))
    return request(`/models/${encodeURIComponent(upstreamModel)}:batchEmbedContents`, { requests })
  },
  read(text, inputs) {
    const reply = parseFields(text)
    if (!reply) return garbage('the reply is not a JSON object')
    const vectors = asList(reply['embeddings']).map((embedding) => vectorOf(asFields(embedding)['values']))
    if (vectors.length !== inputs) return garbage(`${vectors.length} embeddings came for ${inputs} inputs`)
    return batchOf(vectors, undefined)
  },
}

function batchOf(vectors: readonly (Float64Array | undefined)[], usage: Usage | undefined): ReadBatch {
  const whole = vectors.filter((vector) => vector !== undefined)
  if (whole.length < vectors.length) return garbage('an input has no embedding')
  return { kind: 'batch', batch: { vectors: whole, usage } }
}
