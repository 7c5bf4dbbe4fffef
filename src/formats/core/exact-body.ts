/**
 * Values of a request that are only passed on: arguments and results of tools, and schemas. Their numbers leave exactly
 * as they came (`1.0`, digits beyond 2^53). All other numbers are parsed.
 */
import { isRawNumber, mayBeInexact, parseExact } from '../../lib/json/exact-json.ts'
import { asText, type Fields } from './fields.ts'

/** Fields of any dialect whose value belongs to the user. */
const passedOn = new Set(
  `arguments args response parameters schema input_schema input_examples parametersJsonSchema parameters_json_schema responseSchema response_schema responseJsonSchema response_json_schema`.split(
    ' ',
  ),
)

/** A body that was parsed from this text, with the user's values exactly as they are in the text. */
export const exactBody = <T>(body: T, text: string): T =>
  mayBeInexact(text) ? (readPlainly(parseExact(text)) as T) : body

function readPlainly(value: unknown): unknown {
  if (isRawNumber(value)) return Number(value.rawJSON)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    for (const [i, one] of value.entries()) value[i] = readPlainly(one)
    return value
  }
  const fields = value as { [name: string]: unknown }
  const hasInput = isToolUse(fields)
  for (const name in fields) {
    if (passedOn.has(name) || (hasInput && name === 'input')) continue
    const one = fields[name]
    if (typeof one === 'object') fields[name] = readPlainly(one)
  }
  return fields
}

/** `tool_use` of Messages, and its variants that run elsewhere. */
const isToolUse = ({ type }: Fields): boolean => asText(type).endsWith('tool_use')
