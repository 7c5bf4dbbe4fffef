/** Requests for embeddings: a text, texts, or texts as token numbers. */
import { z } from 'zod'
import type { Model } from '../../domain/catalog.ts'
import type { Failure } from '../../domain/failure.ts'
import type { Dialect } from '../../domain/turn.ts'
import type { Member } from '../../lib/json-scan.ts'
import { writeFailure } from '../chat/failure.ts'
import { failureOfIssue } from '../chat/issue.ts'
import { scanRequest } from '../chat/request.ts'
import type { ClientRequest, Passage } from '../format.ts'
import type { EmbeddingBody, EmbeddingInput } from './body.ts'
import { EmbeddingPassage } from './passage.ts'
import { geminiEmbeddings, openaiEmbeddings } from './upstream.ts'

const INPUTS_MAX = 2_048

const token = z.int().min(0).max(1_000_000)
const tokens = z.array(token).min(1)
const texts = z.array(z.string().min(1)).min(1).max(INPUTS_MAX)

const schema = z.looseObject({
  model: z.string().min(1),
  input: z.union([z.string().min(1), texts, tokens, z.array(tokens).min(1).max(INPUTS_MAX)]),
  encoding_format: z.enum(['float', 'base64']).nullable().optional(),
  dimensions: z.int().min(1).max(65_536).nullable().optional(),
  user: z.string().nullable().optional(),
})

type ReadClient =
  | { readonly kind: 'read'; readonly request: ClientRequest }
  | { readonly kind: 'rejected'; readonly failure: Failure }

const reject = (failure: Failure): ReadClient => ({ kind: 'rejected', failure })

export function readEmbeddingClient(text: string): ReadClient {
  const members = scanRequest(text)
  if ('kind' in members) return members
  const value = parsed(text)
  if (!value) return reject({ kind: 'invalid_json', message: 'The body is not valid JSON.' })
  const stranger = lookAlike(members)
  if (stranger) return reject(stranger)
  const checked = schema.safeParse(value.body)
  if (!checked.success) return reject(failureOfIssue(checked.error.issues[0], value.body))
  const { model, input, encoding_format: encoding, dimensions, ...others } = checked.data
  const body = {
    model,
    inputs: inputsOf(input),
    encoding: encoding ?? 'float',
    dimensions: dimensions ?? undefined,
    others,
  }
  return { kind: 'read', request: new EmbeddingClient(body) }
}

function parsed(text: string): { readonly body: unknown } | undefined {
  try {
    return { body: JSON.parse(text) as unknown }
  } catch {
    return undefined // The caller answers 400.
  }
}

/** Some upstreams match keys without regard to case: what they would read must be what was priced. */
function lookAlike(members: ReadonlyMap<string, Member>): Failure | undefined {
  for (const key of members.keys()) {
    const folded = key.normalize('NFKC').toLowerCase()
    if (folded === key || !(folded in schema.shape)) continue
    return {
      kind: 'unsupported_parameter',
      message: `Unknown parameter: '${key}'. Did you mean '${folded}'?`,
      param: key,
    }
  }
  return undefined
}

function inputsOf(
  input: string | readonly string[] | readonly number[] | readonly (readonly number[])[],
): EmbeddingInput[] {
  if (typeof input === 'string') return [input]
  return typeof input[0] === 'number' ? [input as readonly number[]] : [...(input as readonly EmbeddingInput[])]
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
      (sum, input) => sum + (typeof input === 'string' ? Buffer.byteLength(input) : input.length),
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
