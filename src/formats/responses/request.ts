/** Requests of the responses format: validation, and what the gateway needs to know of them. */
import { z } from 'zod'
import type { Failure } from '../../domain/failure.ts'
import { hintFields, refuseHintField } from '../core/hint-fields.ts'
import { failureOfIssue } from '../core/issue.ts'
import type { Fields } from '../core/fields.ts'
import { scanRequest, type ScannedRequest } from '../core/request-json.ts'
import type { RemoteMedium } from '../core/remote-media.ts'
import { BadInput, readInput } from './items.ts'
import { remoteMediaOf } from './item-media.ts'
import { safeParse } from '../../lib/json/safe-parse.ts'
import { limit } from '../../lib/primitives/limit.ts'

/** SDKs and people write null for "not set". */
const optional = <T extends z.ZodType>(schema: T): z.ZodOptional<z.ZodNullable<T>> => schema.nullable().optional()

const tool = z.looseObject({
  type: z.string(),
  name: optional(z.string().min(1)),
  description: optional(z.string()),
  parameters: optional(z.looseObject({})),
  strict: optional(z.boolean()),
  format: optional(z.looseObject({})),
})
const toolChoice = z.union([z.enum(['none', 'auto', 'required']), z.looseObject({ type: z.string() })])
const textFormat = z.looseObject({
  type: z.enum(['text', 'json_object', 'json_schema']),
  name: optional(z.string().min(1)),
  schema: optional(z.looseObject({})),
  description: optional(z.string()),
  strict: optional(z.boolean()),
})

const options = z.looseObject({
  model: z.string().min(1),
  instructions: optional(z.string()),
  previous_response_id: optional(z.string().min(1)),
  store: optional(z.boolean()),
  background: optional(z.boolean()),
  stream: optional(z.boolean()),
  include: optional(z.array(z.string())),
  tools: optional(z.array(tool)),
  tool_choice: optional(toolChoice),
  parallel_tool_calls: optional(z.boolean()),
  max_tool_calls: optional(z.int().min(1)),
  max_output_tokens: optional(z.int().min(1)),
  text: optional(z.looseObject({ format: optional(textFormat), verbosity: optional(z.string()) })),
  reasoning: optional(
    z.looseObject({
      effort: optional(z.string()),
      summary: optional(z.string()),
    }),
  ),
  truncation: optional(z.enum(['auto', 'disabled'])),
  temperature: optional(z.number().min(0).max(2)),
  top_p: optional(z.number().min(0).max(1)),
  presence_penalty: optional(z.number()),
  frequency_penalty: optional(z.number()),
  top_logprobs: optional(z.int().min(0).max(20)),
  metadata: optional(z.record(z.string().max(64), z.string().max(512))),
  user: optional(z.string()),
  safety_identifier: optional(z.string()),
  prompt_cache_key: optional(z.string()),
  service_tier: optional(z.string()),
})
const input = z.union([z.string(), z.array(z.unknown()).min(1)])
export const responsesRequestSchema = options.extend({ input })
/** A request to count tokens need not name a model. */
const countedSchema = options.extend({ input, model: optional(z.string().min(1)) })

/** A compaction may be of the earlier turns alone, without input. */
export const compactionRequestSchema = options.extend({ input: optional(input) })

/** A request without its input. */
export type ResponsesBody = z.infer<typeof options>

export type ResponsesRequest = {
  readonly body: ResponsesBody
  /** The input in one form, without ids. */
  readonly input: readonly Fields[]
  readonly remoteMedia: readonly RemoteMedium[]
  readonly bytes: number
  /** Set for `/v1/responses/compact`, which asks for a compaction. */
  readonly isCompaction?: boolean
}

export type ReadResponses<T> =
  | { readonly kind: 'read'; readonly request: T }
  | { readonly kind: 'rejected'; readonly failure: Failure }

const reject = (failure: Failure): { readonly kind: 'rejected'; readonly failure: Failure } => ({
  kind: 'rejected',
  failure,
})

export const readResponsesRequest = (
  text: string,
  bytes: number,
  scan = scanRequest(text),
): ReadResponses<ResponsesRequest> => readBy(responsesRequestSchema, scan, bytes)

/** A request of `/v1/responses/input_tokens`. It is the same, but the model is optional. */
export const readCountRequest = (scan: ScannedRequest, bytes: number): ReadResponses<ResponsesRequest> =>
  readBy(countedSchema, scan, bytes)

/**
 * A request of `/v1/responses/compact`. It is the same as a request that ends with a compaction item. Its answer is
 * never streamed, and only its client stores it.
 */
export function readCompactionRequest(scan: ScannedRequest, bytes: number): ReadResponses<ResponsesRequest> {
  const read = readBy(compactionRequestSchema, scan, bytes)
  if (read.kind === 'rejected') return read
  const { body, input: given, ...request } = read.request
  const whole = { ...body, stream: false, background: false, store: false, tool_choice: undefined }
  const order = { type: 'compaction_trigger' }
  return { kind: 'read', request: { ...request, body: whole, input: [...given, order], isCompaction: true } }
}

function readBy(
  by: typeof responsesRequestSchema | typeof countedSchema | typeof compactionRequestSchema,
  scan: ScannedRequest,
  bytes: number,
): ReadResponses<ResponsesRequest> {
  if (scan.kind === 'rejected') return scan
  const checked = safeParse(by, scan.value)
  if (!checked.success) return reject(failureOfIssue(checked.error.issues[0], scan.value))
  // A count is free, and nothing is routed.
  const hint = by === countedSchema ? undefined : hintFields.find((name) => (checked.data[name] ?? null) !== null)
  if (hint !== undefined) return reject(refuseHintField(hint))
  const { input: given, ...rest } = checked.data
  const body = { ...rest, model: checked.data.model ?? '' } as ResponsesBody
  try {
    refuseUnsupported(body)
    return { kind: 'read', request: { body, input: readInput(given ?? []), remoteMedia: remoteMediaOf(given), bytes } }
  } catch (error) {
    if (error instanceof BadInput) return reject(error.failure)
    throw error
  }
}

const METADATA_PAIRS_MAX = limit('metadataPairsMax', 16, 'A request with more metadata pairs is refused.')
/** Fields that refer to a conversation or a prompt that the gateway cannot see. */
const unsupported = ['conversation', 'prompt']
const plainTiers = new Set<unknown>(['auto', 'default', 'flex', null, undefined])

function refuseUnsupported(body: ResponsesBody): void {
  for (const name of unsupported) {
    if ((body[name] ?? null) === null) continue
    throw new BadInput('unsupported_parameter', name, `'${name}' is not supported.`)
  }
  if (!plainTiers.has(body.service_tier)) {
    const message = "'service_tier' must be auto, default or flex: other tiers have no price here."
    throw new BadInput('unsupported_parameter', 'service_tier', message)
  }
  if (body.background && body.store === false) {
    throw new BadInput('invalid_value', 'background', 'A background response must be stored: store must not be false.')
  }
  if (Object.keys(body.metadata ?? {}).length > METADATA_PAIRS_MAX) {
    throw new BadInput('invalid_value', 'metadata', `Invalid 'metadata': at most ${METADATA_PAIRS_MAX} pairs.`)
  }
  for (const [i, { type, name }] of (body.tools ?? []).entries()) {
    if ((type !== 'function' && type !== 'custom') || name) continue
    const param = `tools[${i}].name`
    throw new BadInput('missing_parameter', param, `Missing required parameter: '${param}'.`)
  }
  const { format } = body.text ?? {}
  if (format?.type !== 'json_schema') return
  for (const name of ['name', 'schema'] as const) {
    const param = `text.format.${name}`
    if (!format[name]) throw new BadInput('missing_parameter', param, `Missing required parameter: '${param}'.`)
  }
}
