/** Fields of this format's items that the neutral turn does not have. They pass to clients of the format. */
import type { OwnDelta } from '../../domain/turn.ts'
import { asFields, asList, textIn, type Fields } from '../core/fields.ts'

type OwnFieldKey = 'message_rest' | 'reasoning_rest' | 'call_rest'

export const own = (what: OwnDelta['what'], fields: Fields, call?: number): OwnDelta => ({
  kind: 'own',
  choice: 0,
  origin: 'responses',
  what,
  fields,
  ...(call === undefined ? {} : { call }),
})

const known: Readonly<Record<OwnFieldKey, ReadonlySet<string>>> = {
  message_rest: new Set(['id', 'type', 'status', 'role', 'content']),
  reasoning_rest: new Set(['id', 'type', 'status', 'summary', 'content', 'encrypted_content']),
  call_rest: new Set(['id', 'type', 'status', 'call_id', 'name', 'namespace', 'arguments', 'input']),
}

/** The fields of an item that nothing else carries: unknown ones, and content with more than text. */
export function restOf(what: OwnFieldKey, item: Fields): Fields {
  const rest: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(item)) {
    if (!known[what].has(name) && name !== 'tollgate_sealed' && (value ?? null) !== null) rest[name] = value
  }
  if (what === 'call_rest') return rest
  const { content } = item
  if (asList(content).some(isMoreThanWords)) rest['content'] = content
  return rest
}

/** Whether a part is more than its text: it has sources or logprobs, or is of an unknown kind. */
function isMoreThanWords(value: unknown): boolean {
  const { type, text, refusal, ...rest } = asFields(value)
  const isKnown =
    type === 'output_text' ? textIn(text) !== undefined : type === 'refusal' && textIn(refusal) !== undefined
  return (
    !isKnown || Object.values(rest).some((more) => (Array.isArray(more) ? more.length > 0 : (more ?? null) !== null))
  )
}

export const isEmpty = (fields: Fields): boolean => Object.keys(fields).length === 0
