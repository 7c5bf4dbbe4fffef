/**
 * A quick yes for ordinary requests. It may say yes only if the schema of schema.ts would. Anything it does not know
 * goes to the schema, which also words the refusals. A property test compares the two. (Measured: 0.1 µs for four
 * messages in a loop, where the schema takes 2.2 µs, and several times that in a busy server.)
 */
type Fields = Readonly<Record<string, unknown>>
type Check = (value: unknown) => boolean

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const isText: Check = (value) => typeof value === 'string'
const isBoolean: Check = (value) => typeof value === 'boolean'
const isFinite: Check = (value) => Number.isFinite(value)
const isTyped: Check = (value) => isFields(value) && typeof value['type'] === 'string'
const within =
  (min: number, max: number): Check =>
  (value) =>
    typeof value === 'number' && value >= min && value <= max
const isCount =
  (min: number): Check =>
  (value) =>
    Number.isSafeInteger(value) && (value as number) >= min

/** The values that the schema's optional fields accept. Null and absent are the same. */
const fields: Readonly<Record<string, Check>> = {
  max_tokens: isCount(1),
  max_completion_tokens: isCount(1),
  temperature: within(0, 2),
  top_p: within(0, 1),
  n: isCount(1),
  stream: isBoolean,
  stream_options: (value) => isFields(value) && isAbsentOr(isBoolean, value['include_usage']),
  stop: (value) => isText(value) || (Array.isArray(value) && value.every(isText)),
  tools: (value) => Array.isArray(value) && value.every(isTool),
  tool_choice: (value) => value === 'auto' || value === 'none' || value === 'required' || isTyped(value),
  frequency_penalty: isFinite,
  presence_penalty: isFinite,
  logprobs: isBoolean,
  top_logprobs: isCount(0),
  parallel_tool_calls: isBoolean,
  response_format: isTyped,
  reasoning_effort: isText,
}

const isAbsentOr = (check: Check, value: unknown): boolean => value === undefined || value === null || check(value)

function isTool(value: unknown): boolean {
  if (!isTyped(value)) return false
  const { type, function: made } = value as Fields
  if (made === undefined || made === null) return type !== 'function'
  return (
    isFields(made) &&
    typeof made['name'] === 'string' &&
    made['name'] !== '' &&
    isAbsentOr(isText, made['description']) &&
    isAbsentOr(isFields, made['parameters'])
  )
}

const isToolCall: Check = (value) => isTyped(value) && typeof (value as Fields)['id'] === 'string'

const areToolCalls: Check = (value) => Array.isArray(value) && value.every(isToolCall)

function isMessage(value: unknown): boolean {
  if (!isFields(value)) return false
  const { role, content, tool_calls: calls, tool_call_id: callId } = value
  switch (role) {
    case 'user':
    case 'system':
    case 'developer':
    case 'function':
    case 'assistant':
      if (!isAbsentOr(isText, callId)) return false
      break
    case 'tool':
      if (typeof callId !== 'string' || callId === '') return false
      break
    default:
      return false
  }
  if (!isAbsentOr(areToolCalls, calls)) return false
  if (typeof content === 'string') return true
  if (content === undefined || content === null) return role === 'assistant'
  return Array.isArray(content) && content.length > 0 && content.every(isTyped)
}

/** Whether a parsed body is certainly a valid request. */
export function isOrdinary(body: unknown): boolean {
  if (!isFields(body)) return false
  const { model, messages } = body
  if (typeof model !== 'string' || model === '') return false
  if (!Array.isArray(messages) || messages.length === 0 || !messages.every(isMessage)) return false
  for (const name in fields) {
    const value = body[name]
    if (value !== undefined && value !== null && !fields[name]?.(value)) return false
  }
  return true
}
