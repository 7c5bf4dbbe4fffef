/** Answers of servers that are nearly of this format, as the format has them. */
import { asFields, asText, fieldsIn, ownIn, parseExactFields, type Fields } from '../core/fields.ts'

/** What servers of several formats say here of an end (2026-11). */
const otherWords: Readonly<Record<string, string>> = {
  stop: 'end_turn',
  length: 'max_tokens',
  tool_calls: 'tool_use',
  function_call: 'tool_use',
  content_filter: 'refusal',
}

/** Why an answer ended, which follows what is in it. Null: it has not ended. */
export function stopReasonIn(reason: unknown, hasCalls: boolean): string | null {
  const given = asText(reason)
  if (given === '') return null
  const word = ownIn(otherWords, given) ?? given
  if (word === 'end_turn' && hasCalls) return 'tool_use'
  return word === 'tool_use' && !hasCalls ? 'end_turn' : word
}

/** The input of a call, which is an object: some servers give its JSON text, or nothing where it has no members. */
export const inputIn = ({ input }: Fields): Fields =>
  fieldsIn(input) ?? (typeof input === 'string' ? parseExactFields(input) : undefined) ?? {}

export const isToolUse = ({ type }: Fields): boolean => type === 'tool_use'
const isOddCall = (block: Fields): boolean => isToolUse(block) && fieldsIn(block['input']) === undefined

/** The blocks of a message; the list itself where nothing has to be put right. */
export const lawfulBlocks = (blocks: readonly Fields[]): readonly Fields[] =>
  blocks.some(isOddCall)
    ? blocks.map((block) => (isOddCall(block) ? { ...block, input: inputIn(block) } : block))
    : blocks

/** The end of a stream that has none. */
export const endingDelta = (hasCalls: boolean): string =>
  JSON.stringify({
    type: 'message_delta',
    delta: { stop_reason: hasCalls ? 'tool_use' : 'end_turn', stop_sequence: null },
    usage: {},
  })

/** A `message_delta` with this reason. */
export const withReason = (delta: unknown, reason: string | null): string =>
  JSON.stringify({ ...asFields(delta), stop_reason: reason })
