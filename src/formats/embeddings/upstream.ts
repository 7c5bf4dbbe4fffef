/** Writes requests for embeddings to vendors. */
import type { Failure } from '../../domain/failure.ts'
import { fit } from '../../vendors/fit.ts'
import { asText } from '../core/fields.ts'
import { pathOf } from '../core/model-path.ts'
import type { Destination, UpstreamRequest } from '../core/contract.ts'
import type { EmbeddingBody, EmbeddingInput } from './body.ts'
import type { EmbeddingDialect } from './reading.ts'

export type EmbeddingUpstream = {
  readonly dialect: EmbeddingDialect
  /** The most inputs in one exchange. */
  readonly inputsMax: number
  obstacle(body: EmbeddingBody): Failure | undefined
  write(batch: Batch, body: EmbeddingBody, to: Destination): UpstreamRequest
}

/** Inputs of one exchange, and the index of the first among all inputs. */
export type Batch = { readonly inputs: readonly EmbeddingInput[]; readonly from: number }

const request = (path: string, body: object, dropped: readonly string[] = []): UpstreamRequest => ({
  path,
  headers: {},
  body: JSON.stringify(body),
  dropped,
})

export const openaiEmbeddings: EmbeddingUpstream = {
  dialect: 'openai',
  inputsMax: 2_048,
  obstacle: () => undefined,
  write({ inputs }, { dimensions, encoding, others, ofInputs = [], foreign = [] }, to) {
    const { upstreamModel, quirks } = to
    const body = { ...others, model: upstreamModel, input: inputs, dimensions, encoding_format: encoding }
    // Nothing is lost by leaving these out: the gateway writes vectors as the client wants them.
    const lost = new Set([...foreign, ...ofInputs.flatMap((fields) => Object.keys(fields))])
    return request(pathOf('/embeddings', to), { ...body, ...fit(body, quirks.rules).changes }, [...lost])
  },
}

/** Gemini's batchEmbedContents takes at most 100 texts (2026-08). It takes no token numbers and reports no usage. */
export const geminiEmbeddings: EmbeddingUpstream = {
  dialect: 'gemini',
  inputsMax: 100,
  obstacle: ({ inputs }) =>
    inputs.every((input) => typeof input === 'string')
      ? undefined
      : { kind: 'unsupported_parameter', message: 'This model takes texts, not token numbers.', param: 'input' },
  write({ inputs, from }, { dimensions, ofInputs = [], foreign }, { upstreamModel }) {
    const model = `models/${upstreamModel}`
    const size = dimensions === undefined ? {} : { outputDimensionality: dimensions }
    const requests = inputs.map((text, i) => ({
      model,
      content: { parts: [{ text: asText(text) }] },
      ...ofInputs[from + i],
      ...size,
    }))
    return request(`/models/${encodeURIComponent(upstreamModel)}:batchEmbedContents`, { requests }, foreign)
  },
}
