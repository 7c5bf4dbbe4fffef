/** Calls of a conversation in which other vendors took part, in a form that a vendor of this format accepts. */
import { CallIds } from '../core/call-ids.ts'
import { asText, type Fields } from '../core/fields.ts'
import { NO_RESULT } from '../core/open-calls.ts'
import { isBrokenCall, isCall, isResult } from './item-kinds.ts'

/** The type of the output, by the type of the call's item. */
const outputs: Readonly<Record<string, string>> = {
  function_call: 'function_call_output',
  custom_tool_call: 'custom_tool_call_output',
}

/**
 * Items whose calls have unique, lawful ids and an output each. OpenAI refuses a call without one ("No tool output
 * found for function call", openai/codex#93, 2026-11).
 */
export function withLawfulCalls(items: readonly Fields[]): readonly Fields[] {
  const named = withOwnIds(items)
  const answered = new Set(named.flatMap((item) => (isResult(item['type']) ? asText(item['call_id']) : [])))
  return named.flatMap((item) => {
    const type = outputs[asText(item['type'])]
    if (type === undefined || isBrokenCall(item) || answered.has(asText(item['call_id']))) return [item]
    return [item, { type, call_id: item['call_id'], output: NO_RESULT }]
  })
}

function withOwnIds(items: readonly Fields[]): readonly Fields[] {
  const ids = new CallIds('responses')
  let isCalling = false
  return items.map((item) => {
    const { type, call_id: id } = item
    const isOne = isCall(type)
    if (isOne && !isCalling) ids.begin()
    isCalling = isOne || (isCalling && !isResult(type))
    if (typeof id !== 'string' || isBrokenCall(item)) return item
    return isOne ? { ...item, call_id: ids.ofCall(id) } : isResult(type) ? { ...item, call_id: ids.ofResult(id) } : item
  })
}
