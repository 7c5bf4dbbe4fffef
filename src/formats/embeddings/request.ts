/** Requests for embeddings: a text, texts, or texts as token numbers. */
import { z } from 'zod'
import type { Failure } from '../../domain/failure.ts'
import type { Members } from '../../lib/json/json-members.ts'
import { hintFields } from '../core/hint-fields.ts'
import { failureOfIssue } from '../core/issue.ts'
import type { ClientRequest } from '../core/contract.ts'
import { scanRequest } from '../core/request-json.ts'
import type { EmbeddingInput } from './body.ts'
import { EmbeddingClient } from './client.ts'
import { safeParse } from '../../lib/json/safe-parse.ts'
import { limit } from '../../lib/primitives/limit.ts'

export const INPUTS_MAX = limit('embeddingInputsMax', 2_048, 'A request for more embeddings is refused.')
const TOKEN_MAX = limit('embeddingTokenNumberMax', 1_000_000, 'A request with a larger token number is refused.')

export const embeddingRequestSchema = z.looseObject({
  model: z.string().min(1),
  /** Checked by hand, because a schema would make an issue for each of 400,000 numbers. */
  input: z.unknown(),
  encoding_format: z.enum(['float', 'base64']).nullable().optional(),
  dimensions: z.int().min(1).max(65_536).nullable().optional(),
  user: z.string().nullable().optional(),
})

/** The schema of the documents. It also describes the input. */
export const documentedEmbeddingRequest = embeddingRequestSchema.extend({
  input: z.union([
    z.string(),
    z.array(z.string()),
    z.array(z.int()).meta({ description: 'A text as token numbers.' }),
    z.array(z.array(z.int())),
  ]),
})

/** Fields by which an answer would cost more than its model's price says. */
const dearerFields: readonly string[] = [...hintFields, 'best_of', 'service_tier']

type ReadClient =
  | { readonly kind: 'read'; readonly request: ClientRequest }
  | { readonly kind: 'rejected'; readonly failure: Failure }

const reject = (failure: Failure): ReadClient => ({ kind: 'rejected', failure })

export function readEmbeddingClient(text: string): ReadClient {
  const scan = scanRequest(text)
  if (scan.kind === 'rejected') return scan
  const stranger = lookAlike(scan.members)
  if (stranger) return reject(stranger)
  const checked = safeParse(embeddingRequestSchema, scan.value)
  if (!checked.success) return reject(failureOfIssue(checked.error.issues[0], scan.value))
  const inputs = inputsOf(checked.data.input)
  if ('message' in inputs) return reject(inputs)
  const { model, input: _, encoding_format: encoding, dimensions, ...others } = checked.data
  const body = {
    client: 'openai' as const,
    model,
    inputs,
    encoding: encoding ?? 'float',
    dimensions: dimensions ?? undefined,
    others,
  }
  return { kind: 'read', request: new EmbeddingClient(body) }
}

/** Some upstreams match keys without regard to case. What they read must be what was priced. */
function lookAlike(members: Members): Failure | undefined {
  for (const key of members.names()) {
    if (dearerFields.includes(key)) {
      const message = `'${key}' is not supported: its cost has no price here.`
      return { kind: 'unsupported_parameter', message, param: key }
    }
    const folded = key.normalize('NFKC').toLowerCase()
    if (folded === key || !Object.hasOwn(embeddingRequestSchema.shape, folded)) continue
    return {
      kind: 'unsupported_parameter',
      message: `Unknown parameter: '${key}'. Did you mean '${folded}'?`,
      param: key,
    }
  }
  return undefined
}

const wrong = (kind: 'invalid_type' | 'invalid_value', param: string, problem: string): Failure => ({
  kind,
  message: `'${param}' ${problem}.`,
  param,
})

/** The inputs, or what is wrong with them. All must be of the same kind as the first. */
function inputsOf(input: unknown): readonly EmbeddingInput[] | Failure {
  if (input === undefined || input === null) {
    return { kind: 'missing_parameter', message: "Missing required parameter: 'input'.", param: 'input' }
  }
  if (input === '' || (Array.isArray(input) && input.length === 0)) {
    return wrong('invalid_value', 'input', 'must not be empty')
  }
  if (typeof input === 'string') return [input]
  if (!Array.isArray(input)) return wrong('invalid_type', 'input', 'must be a text, texts, or token numbers')
  const [first] = input as unknown[]
  if (typeof first === 'number') return wrongTokens(input, 'input') ?? [input]
  if (input.length > INPUTS_MAX) return wrong('invalid_value', 'input', `must not have more than ${INPUTS_MAX} entries`)
  const problemOf = typeof first === 'string' ? wrongText : wrongTokens
  for (const [i, one] of input.entries()) {
    const problem = problemOf(one, `input[${i}]`)
    if (problem) return problem
  }
  return input as EmbeddingInput[]
}

function wrongText(value: unknown, param: string): Failure | undefined {
  if (typeof value !== 'string') return wrong('invalid_type', param, 'must be a text, as the first is')
  return value === '' ? wrong('invalid_value', param, 'must not be empty') : undefined
}

function wrongTokens(value: unknown, param: string): Failure | undefined {
  if (!Array.isArray(value)) return wrong('invalid_type', param, 'must be a text or a list of token numbers')
  if (value.length === 0) return wrong('invalid_value', param, 'must not be empty')
  const tokens = value as unknown[]
  const at = tokens.findIndex((token) => !Number.isInteger(token) || Number(token) < 0 || Number(token) > TOKEN_MAX)
  if (at === -1) return undefined
  const kind = Number.isInteger(tokens[at]) ? 'invalid_value' : 'invalid_type'
  return wrong(kind, `${param}[${at}]`, `must be a token number, 0 to ${TOKEN_MAX}`)
}
