import type { SseEvent } from '../../lib/http/sse.ts'
import { asFields, fieldsIn, parseExactFields, type Fields } from '../core/fields.ts'

/** A whole reply as the one chunk of a stream. Text that is not a reply becomes an event and is read as one. */
export function eventsOfReply(text: string): readonly SseEvent[] {
  const reply = parseExactFields(text)
  const choices = reply?.['choices']
  if (!reply || !Array.isArray(choices)) return [{ name: undefined, data: text }]
  const chunk = { ...reply, object: 'chat.completion.chunk', choices: choices.map(choiceOf) }
  return [{ name: undefined, data: JSON.stringify(chunk) }]
}

function choiceOf(given: unknown, i: number): unknown {
  const choice = fieldsIn(given)
  const message = choice && fieldsIn(choice['message'])
  if (!message) return given
  const { message: _, ...rest } = choice
  const { tool_calls: calls, ...words } = message
  const placed = Array.isArray(calls) ? { tool_calls: calls.map(withIndex) } : {}
  return { index: i, ...rest, delta: { ...words, ...placed } }
}

const withIndex = (call: unknown, index: number): Fields => ({ ...asFields(call), index })
