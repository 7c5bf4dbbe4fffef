import { z } from 'zod'
import { complain } from '../complaint.ts'
import { declareModels, findModel, refuseModel } from '../models.ts'
import { refuse, type SandboxReply } from '../reply.ts'
import type { SandboxCall, VendorRoute } from '../route.ts'
import { turn } from '../sleeper.ts'
import { countTokens } from '../tokens.ts'
import { embed, toBase64 } from './vector.ts'
import { safeParse } from '../../src/lib/json/safe-parse.ts'

declareModels([
  { id: 'sandbox-embedding', contextTokensMax: 8_192, dimensions: 3_072 },
  { id: 'sandbox-embedding-small', contextTokensMax: 8_192, dimensions: 1_536 },
  { id: 'sandbox-embedding-large', contextTokensMax: 8_192, dimensions: 3_072 },
])

export const embeddingRoutes: readonly VendorRoute[] = [
  { kind: 'vendor', method: 'POST', path: '/v1/embeddings', answer: answerEmbeddings },
]

/** OpenAI's bound (2026-11). */
const INPUTS_MAX = 2048
/** The bound of an answer, which is made whole. */
const ANSWER_BYTES_MAX = 5_000_000
/** The most bytes around each vector. */
const ENTRY_BYTES = 100
/** The bytes of a number, in digits or as four bytes in base64. */
const NUMBER_BYTES = { float: 20, base64: 6 }

const tokens = z.array(z.int().min(0)).min(1)
const embeddingRequest = z.object({
  model: z.string(),
  input: z.union([
    z.string().min(1),
    z.array(z.string().min(1)).min(1).max(INPUTS_MAX),
    tokens,
    z.array(tokens).min(1).max(INPUTS_MAX),
  ]),
  encoding_format: z.enum(['float', 'base64']).nullish(),
  dimensions: z.int().min(1).nullish(),
})

/** After this time, a large batch lets other requests run. */
const SLICE_MS = 10

/** `POST /v1/embeddings` */
async function answerEmbeddings({ body, faults }: SandboxCall): Promise<SandboxReply> {
  const parsed = safeParse(embeddingRequest, body, { reportInput: true })
  if (!parsed.success) return refuse(400, complain(parsed.error))
  const { model: id, input, encoding_format: encoding, dimensions: asked } = parsed.data
  const model = findModel(id)
  if (!model) return refuseModel(id)
  if (model.dimensions === undefined) {
    return refuse(400, { message: `The model \`${id}\` does not make embeddings.`, code: null, param: 'model' })
  }
  const dimensions = asked ?? model.dimensions
  if (dimensions > model.dimensions) {
    return refuse(400, { message: `dimensions must be at most ${model.dimensions}.`, code: null, param: 'dimensions' })
  }
  const inputs = inputsOf(input)
  const numbersBytes = inputs.length * dimensions * NUMBER_BYTES[encoding ?? 'float']
  if (numbersBytes > ANSWER_BYTES_MAX) {
    const message = 'This many vectors exceed the longest answer of the sandbox. Request fewer, or use base64.'
    return refuse(400, { message, code: 'invalid_value', param: 'input' })
  }
  const counts = inputs.map((one) => (typeof one === 'string' ? countTokens(one) : one.length))
  const longest = Math.max(...counts)
  if (longest > model.contextTokensMax) {
    const limit = `This model's maximum context length is ${model.contextTokensMax} tokens`
    const message = `${limit}, however you requested ${longest} tokens. Please reduce your prompt.`
    return refuse(400, { message, code: 'context_length_exceeded', param: 'input' })
  }
  const text = new Bun.ArrayBufferSink()
  // The answer is written to one buffer. Joining strings would hold it twice.
  text.start({ asUint8Array: true, highWaterMark: numbersBytes + inputs.length * ENTRY_BYTES })
  text.write('{"data":[')
  let sinceMs = performance.now()
  for (const [index, one] of inputs.entries()) {
    if (performance.now() - sinceMs > SLICE_MS) {
      await turn()
      sinceMs = performance.now()
    }
    const vector = embed(typeof one === 'string' ? one : one.map((token) => `#${token}`).join(' '), dimensions)
    const embedding = encoding === 'base64' ? toBase64(vector) : vector
    text.write((index === 0 ? '' : ',') + JSON.stringify({ object: 'embedding', index, embedding }))
  }
  const count = counts.reduce((sum, tokens) => sum + tokens, 0)
  const usage = faults.noUsage ? undefined : { prompt_tokens: count, total_tokens: count }
  const rest = { object: 'list', model: id, usage }
  text.write(`],${JSON.stringify(rest).slice(1)}`)
  return { kind: 'json', status: 200, body: rest, json: text.end() as Uint8Array<ArrayBuffer> }
}

type Inputs = z.infer<typeof embeddingRequest>['input']

function inputsOf(input: Inputs): readonly (string | readonly number[])[] {
  if (typeof input === 'string') return [input]
  return typeof input[0] === 'number' ? [input as number[]] : (input as string[] | number[][])
}
