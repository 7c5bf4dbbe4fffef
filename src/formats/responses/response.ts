/** The Response object: the request's settings, repeated to the client, and how the turn ended. */
import type { Failure, FailureKind } from '../../domain/failure.ts'
import type { FinishReason } from '../../domain/turn.ts'
import type { Usage } from '../../domain/usage.ts'
import { parseExact } from '../../lib/json/exact-json.ts'
import { asFields, asList, type Fields } from '../core/fields.ts'
import { isClientTool } from './tools.ts'
import type { ResponsesBody } from './request.ts'
import { responsesUsage } from './usage.ts'

/** The status of a response: the fields that its end decides. */
export type ResponseStatus = {
  readonly status: 'in_progress' | 'completed' | 'incomplete' | 'failed' | 'cancelled'
  readonly completed_at: number | null
  readonly error: { readonly code: string; readonly message: string } | null
  readonly incomplete_details: { readonly reason: string } | null
  readonly usage: object | null
}

export const RUNNING: ResponseStatus = {
  status: 'in_progress',
  completed_at: null,
  error: null,
  incomplete_details: null,
  usage: null,
}

const seconds = (ms: number): number => Math.floor(ms / 1000)

export function endedWith(finish: FinishReason, usage: Usage, endedAtMs: number): ResponseStatus {
  const reason = finish === 'length' ? 'max_output_tokens' : finish === 'content_filter' ? finish : undefined
  return {
    status: reason === undefined ? 'completed' : 'incomplete',
    completed_at: reason === undefined ? seconds(endedAtMs) : null,
    error: null,
    incomplete_details: reason === undefined ? null : { reason },
    usage: responsesUsage(usage),
  }
}

/** A failure's code in the closed set of this format. */
const codes: Partial<Record<FailureKind, string>> = {
  rate_limited: 'rate_limit_exceeded',
  context_length: 'invalid_prompt',
  content_policy: 'invalid_prompt',
  upstream_rejected: 'invalid_prompt',
}

const usageOf = (billed: Usage | undefined): object | null => (billed ? responsesUsage(billed) : null)

export const failedWith = ({ kind, message }: Failure, billed?: Usage): ResponseStatus => ({
  ...RUNNING,
  status: 'failed',
  error: { code: codes[kind] ?? 'server_error', message },
  usage: usageOf(billed),
})

export const cancelledWith = (billed?: Usage): ResponseStatus => ({
  ...RUNNING,
  status: 'cancelled',
  usage: usageOf(billed),
})

/** The fields of a response that its request decides, in the order in which they follow `status`. */
export function headOf(
  body: ResponsesBody,
  { id, createdAtMs, model }: { id: string; createdAtMs: number; model: string },
): Fields {
  const { text, reasoning } = body
  return {
    id,
    object: 'response',
    created_at: seconds(createdAtMs),
    model,
    background: body.background ?? false,
    instructions: body.instructions ?? null,
    previous_response_id: body.previous_response_id ?? null,
    max_output_tokens: body.max_output_tokens ?? null,
    max_tool_calls: body.max_tool_calls ?? null,
    parallel_tool_calls: body.parallel_tool_calls ?? true,
    tools: (body.tools ?? []).filter(isClientTool).map(toolEcho),
    tool_choice: body.tool_choice ?? 'auto',
    text: { format: formatEcho(text?.format), verbosity: text?.verbosity ?? 'medium' },
    reasoning: { effort: reasoning?.effort ?? null, summary: reasoning?.summary ?? null },
    truncation: body.truncation ?? 'disabled',
    temperature: body.temperature ?? 1,
    top_p: body.top_p ?? 1,
    presence_penalty: body.presence_penalty ?? 0,
    frequency_penalty: body.frequency_penalty ?? 0,
    top_logprobs: body.top_logprobs ?? 0,
    service_tier: 'default',
    store: body.store ?? true,
    metadata: body.metadata ?? {},
    user: body.user ?? null,
    safety_identifier: body.safety_identifier ?? null,
    prompt_cache_key: body.prompt_cache_key ?? null,
  }
}

function toolEcho(tool: NonNullable<ResponsesBody['tools']>[number]): Fields {
  const { type, name, description, parameters, strict, format } = tool
  const named = { type, name: name ?? '', description: description ?? null }
  if (type === 'custom') return { ...named, format: format ?? { type: 'text' } }
  if (type !== 'function') return tool
  return { ...named, parameters: parameters ?? null, strict: strict ?? null }
}

function formatEcho(format: NonNullable<ResponsesBody['text']>['format']): Fields {
  if (format?.type !== 'json_schema') return { type: format?.type ?? 'text' }
  const { type, name, description, schema, strict } = format
  return { type, name, description: description ?? null, schema, strict: strict ?? null }
}

/** The whole object. `output` holds the items as the client sees them. */
export function responseOf(head: Fields, standing: ResponseStatus, output: readonly Fields[]): Fields {
  const { id, object, created_at: createdAt, ...rest } = head
  const { status, completed_at: completedAt, error, incomplete_details: details, usage } = standing
  return {
    id,
    object,
    created_at: createdAt,
    status,
    completed_at: completedAt,
    error,
    incomplete_details: details,
    ...rest,
    output,
    usage,
  }
}

export type ShowOptions = { readonly encrypted: 'shown' | 'hidden' }

/** Whether a list of `include` asks for sealed reasoning. */
export const shownBy = (include: unknown): ShowOptions => ({
  encrypted: asList(include).includes('reasoning.encrypted_content') ? 'shown' : 'hidden',
})

/** An item as the client sees it. Sealed data is stored for later turns and shown only on request. */
export function shownItem(item: Fields, { encrypted }: ShowOptions): Fields {
  if (encrypted === 'shown') return item
  if (item['type'] !== 'reasoning' || !('encrypted_content' in item)) return item
  const { encrypted_content: _, ...rest } = item
  return rest
}

/** A stored response as the client sees it, from the texts of its row. */
export function keptResponse(
  { head, standing, output }: { readonly head: string; readonly standing: string; readonly output: string },
  shown: ShowOptions,
): Fields {
  const items = asList(parseExact(output)).map((item) => shownItem(asFields(item), shown))
  return responseOf(asFields(parseExact(head)), JSON.parse(standing) as ResponseStatus, items)
}
