/** Makes answers of servers that nearly follow this format follow it exactly. */
import { asFields, asText, fieldsIn, ownIn, parseExactFields, type Fields } from '../core/fields.ts'

/** Words for an end that servers of several formats use here (2026-11). */
const otherWords: Readonly<Record<string, string>> = {
  stop: 'end_turn',
  length: 'max_tokens',
  tool_calls: 'tool_use',
  function_call: 'tool_use',
  content_filter: 'refusal',
}

/** Why an answer ended, which must fit its content. Null: it has not ended. */
export function stopReasonIn(reason: unknown, hasCalls: boolean): string | null {
  const given = asText(reason)
  if (given === '') return null
  const word = ownIn(otherWords, given) ?? given
  if (word === 'end_turn' && hasCalls) return 'tool_use'
  return word === 'tool_use' && !hasCalls ? 'end_turn' : word
}

/** The input of a call as an object. Some servers send it as JSON text, or leave it out if it has no members. */
export const inputIn = ({ input }: Fields): Fields =>
  fieldsIn(input) ?? (typeof input === 'string' ? parseExactFields(input) : undefined) ?? {}

export const isToolUse = ({ type }: Fields): boolean => type === 'tool_use'
const isOddCall = (block: Fields): boolean => isToolUse(block) && fieldsIn(block['input']) === undefined

/** The blocks of a message. Returns the same list if nothing has to change. */
export const lawfulBlocks = (blocks: readonly Fields[]): readonly Fields[] =>
  blocks.some(isOddCall)
    ? blocks.map((block) => (isOddCall(block) ? { ...block, input: inputIn(block) } : block))
    : blocks

/** The end event for a stream that came without one. */
export const endingDelta = (hasCalls: boolean): string =>
  JSON.stringify({
    type: 'message_delta',
    delta: { stop_reason: hasCalls ? 'tool_use' : 'end_turn', stop_sequence: null },
    usage: {},
  })

/** A `message_delta` with this reason. */
export const withReason = (delta: unknown, reason: string | null): string =>
  JSON.stringify({ ...asFields(delta), stop_reason: reason })
