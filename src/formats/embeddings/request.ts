/** Requests for embeddings: a text, texts, or texts as token numbers. */
import { z } from 'zod'
import type { Model } from '../../domain/catalog.ts'
import type { Failure } from '../../domain/failure.ts'
import type { Dialect } from '../../domain/turn.ts'
import type { Member } from '../../lib/json-scan.ts'
import { writeFailure } from '../chat/failure.ts'
import { failureOfIssue } from '../chat/issue.ts'
import type { ClientRequest, Passage } from '../format.ts'
import { scanRequest } from '../request-json.ts'
import type { EmbeddingBody, EmbeddingInput } from './body.ts'
import { EmbeddingPassage } from './passage.ts'
import { geminiEmbeddings, openaiEmbeddings } from './upstream.ts'

const INPUTS_MAX = 2_048
const TOKEN_MAX = 1_000_000

export const embeddingRequestSchema = z.looseObject({
  model: z.string().min(1),
  /** Looked at by hand: a schema would make an issue for each of 400,000 numbers. */
  input: z.unknown(),
  encoding_format: z.enum(['float', 'base64']).nullable().optional(),
  dimensions: z.int().min(1).max(65_536).nullable().optional(),
  user: z.string().nullable().optional(),
})
/** Fields by which an answer would cost more than its model's price says. */
const dearerFields = ['models', 'best_of', 'service_tier']
/** What an encoder puts round each input. */
const TOKENS_AN_INPUT = 4

type ReadClient =
  | { readonly kind: 'read'; readonly request: ClientRequest }
  | { readonly kind: 'rejected'; readonly failure: Failure }

const reject = (failure: Failure): ReadClient => ({ kind: 'rejected', failure })

export function readEmbeddingClient(text: string): ReadClient {
  const scan = scanRequest(text)
  if (scan.kind === 'rejected') return scan
  const stranger = lookAlike(scan.members)
  if (stranger) return reject(stranger)
  const checked = embeddingRequestSchema.safeParse(scan.value)
  if (!checked.success) return reject(failureOfIssue(checked.error.issues[0], scan.value))
  const inputs = inputsOf(checked.data.input)
  if (typeof inputs === 'string') return reject(wrongInput(checked.data.input, inputs))
  const { model, input: _, encoding_format: encoding, dimensions, ...others } = checked.data
  const body = {
    model,
    inputs,
    encoding: encoding ?? 'float',
    dimensions: dimensions ?? undefined,
    others,
  }
  return { kind: 'read', request: new EmbeddingClient(body) }
}

/** Some upstreams match keys without regard to case: what they would read must be what was priced. */
function lookAlike(members: ReadonlyMap<string, Member>): Failure | undefined {
  for (const key of members.keys()) {
    if (dearerFields.includes(key)) {
      const message = `'${key}' is not supported: its cost has no price here.`
      return { kind: 'unsupported_parameter', message, param: key }
    }
    const folded = key.normalize('NFKC').toLowerCase()
    if (folded === key || !(folded in embeddingRequestSchema.shape)) continue
    return {
      kind: 'unsupported_parameter',
      message: `Unknown parameter: '${key}'. Did you mean '${folded}'?`,
      param: key,
    }
  }
  return undefined
}

/** The inputs, or what is wrong with them. */
function inputsOf(input: unknown): readonly EmbeddingInput[] | string {
  if (typeof input === 'string') return input === '' ? 'must not be empty' : [input]
  if (!Array.isArray(input)) return 'must be a text, texts, or token numbers'
  const [first] = input as unknown[]
  if (first === undefined) return 'must not be empty'
  if (typeof first === 'number') return areTokens(input) ? [input] : 'holds what is no token number'
  if (input.length > INPUTS_MAX) return `must not have more than ${INPUTS_MAX} entries`
  const isInput = typeof first === 'string' ? (one: unknown) => typeof one === 'string' && one !== '' : areTokens
  const wrong = input.findIndex((one) => !isInput(one))
  if (wrong === -1) return input as EmbeddingInput[]
  return `[${wrong}] is not ${typeof first === 'string' ? 'a text that says something' : 'a list of token numbers'}`
}

function areTokens(value: unknown): value is number[] {
  if (!Array.isArray(value) || value.length === 0) return false
  return value.every((token) => Number.isInteger(token) && token >= 0 && token <= TOKEN_MAX)
}

function wrongInput(input: unknown, problem: string): Failure {
  if (input === undefined || input === null) {
    return { kind: 'missing_parameter', message: "Missing required parameter: 'input'.", param: 'input' }
  }
  const at = /^\[\d+\]/.exec(problem)?.[0] ?? ''
  return { kind: 'invalid_value', message: `'input${at}' ${problem.slice(at.length).trim()}.`, param: `input${at}` }
}

class EmbeddingClient implements ClientRequest {
  readonly endpoint = 'embeddings'
  readonly kind = 'embedding'
  readonly failures = { write: writeFailure }
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

  constructor(body: EmbeddingBody) {
    this.body = body
    this.model = body.model
    this.textBytes = body.inputs.reduce<number>(
      (sum, input) => sum + TOKENS_AN_INPUT + (typeof input === 'string' ? Buffer.byteLength(input) : input.length),
      0,
    )
  }

  /** What this model cannot do. */
  check({ limits }: Model): Failure | undefined {
    const { dimensions } = this.body
    if (dimensions === undefined || dimensions === limits.dimensions) return undefined
    const refuse = (message: string): Failure => ({ kind: 'unsupported_parameter', message, param: 'dimensions' })
    if (!limits.dimensionsAdjustable) return refuse('This model does not support specifying dimensions.')
    if (limits.dimensions !== undefined && dimensions > limits.dimensions) {
      return refuse(`This model has ${limits.dimensions} dimensions at most.`)
    }
    return undefined
  }

  promptText(): string {
    // A token number stands for a token: a word of one letter does as well.
    return this.body.inputs.map((input) => (typeof input === 'string' ? input : 'a '.repeat(input.length))).join('\n')
  }

  failStream(): string {
    throw new Error('embeddings are not streamed')
  }

  passage(offered: readonly Dialect[]): Passage {
    const upstream = offered.includes('chat') || !offered.includes('gemini') ? openaiEmbeddings : geminiEmbeddings
    return new EmbeddingPassage(this.body, upstream)
  }
}
