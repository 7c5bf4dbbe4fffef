/** Messages of the chat format in the forms that some vendors demand. */
import { createHash } from 'node:crypto'

/** A message, whose fields nobody has checked. */
export type RawMessage = Readonly<Record<string, unknown>>

const asFields = (value: unknown): RawMessage =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as RawMessage) : {}

/** 43 letters, digits, `-` and `_`. The same text has the same digest. */
export const digestOf = (text: string): string => createHash('sha256').update(text).digest('base64url')

/** Ids of calls in the form that a vendor takes. The same id becomes the same id. */
export function withFittedCallIds(chars: number): (message: RawMessage) => RawMessage {
  const isFit = new RegExp(`^[a-zA-Z0-9]{${chars}}$`)
  const digests = new Map<string, string>()
  const fitted = (id: unknown): unknown => {
    if (typeof id !== 'string' || isFit.test(id)) return id
    const known = digests.get(id) ?? digestOf(id).replaceAll(/[-_]/g, '0').slice(0, chars)
    digests.set(id, known)
    return known
  }
  const inCall = (call: unknown): unknown => {
    const id = asFields(call)['id']
    return fitted(id) === id ? call : { ...asFields(call), id: fitted(id) }
  }
  return (message) => {
    const { tool_call_id: id, tool_calls: calls } = message
    const ofResult = fitted(id) === id ? {} : { tool_call_id: fitted(id) }
    const after: unknown = Array.isArray(calls) ? calls.map(inCall) : calls
    const isSame = !Array.isArray(after) || after.every((call, i) => call === (calls as unknown[])[i])
    if (isSame && !('tool_call_id' in ofResult)) return message
    return { ...message, ...ofResult, ...(isSame ? {} : { tool_calls: after }) }
  }
}

const textOfPart = (part: unknown): string | undefined => {
  const { type, text } = (part ?? {}) as RawMessage
  return type === 'text' && typeof text === 'string' ? text : undefined
}

/** Content as one text. Undefined if it has anything else. */
function asText(content: unknown): string | undefined {
  if ((content ?? null) === null) return ''
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return undefined
  const texts = content.map(textOfPart)
  return texts.every((text) => text !== undefined) ? texts.join('\n\n') : undefined
}

/** The message with one text for its content. Content with pictures stays a list. */
export function withTextContent(message: RawMessage): RawMessage {
  const text = asText(message['content'])
  return text === undefined || text === message['content'] ? message : { ...message, content: text }
}

/** Stands where the other side has to speak and has not. The vendor refuses an empty message. */
const SAYS_LITTLE = '.'
const little = { user: { role: 'user', content: SAYS_LITTLE }, model: { role: 'assistant', content: SAYS_LITTLE } }

const roleOf = (message: RawMessage | undefined): unknown => message?.['role']
const sideOf = (message: RawMessage): 'user' | 'model' => (roleOf(message) === 'assistant' ? 'model' : 'user')
const isPlain = (message: RawMessage): boolean =>
  roleOf(message) !== 'tool' && Object.keys(message).every((name) => name === 'role' || name === 'content')

const partsOf = (content: unknown): readonly unknown[] =>
  Array.isArray(content) ? (content as unknown[]) : [{ type: 'text', text: content ?? '' }]

/** Two messages of one role as one. */
function joined(first: RawMessage, second: RawMessage): RawMessage {
  const texts = [asText(first['content']), asText(second['content'])]
  const content = texts.every((text) => text !== undefined)
    ? texts.filter((text) => text !== '').join('\n\n')
    : [...partsOf(first['content']), ...partsOf(second['content'])]
  return { ...first, content }
}

/**
 * The messages with at most one system message, at the beginning, and then user and model in turn, the user first and
 * last. Results of tools are the user's. A later system message becomes one of the user. Two messages of one side
 * become one, or the other side says little between them.
 */
export function withAlternateRoles(messages: readonly RawMessage[]): readonly RawMessage[] {
  const made: RawMessage[] = []
  for (const one of messages) {
    const before = made.at(-1)
    const isFirst = before === undefined || roleOf(before) === 'system'
    const message = roleOf(one) === 'system' && !isFirst ? { ...one, role: 'user' } : one
    const isOneRole = roleOf(before) === roleOf(message)
    if (before && isOneRole && isPlain(before) && isPlain(message)) {
      made[made.length - 1] = joined(before, message)
      continue
    }
    const isResultAfterResult = isOneRole && roleOf(message) === 'tool'
    if (isFirst && sideOf(message) === 'model') made.push(little.user)
    else if (before && !isFirst && !isResultAfterResult && sideOf(before) === sideOf(message)) {
      made.push(sideOf(message) === 'user' ? little.model : little.user)
    }
    made.push(message)
  }
  const last = made.at(-1)
  if (last && (sideOf(last) === 'model' || roleOf(last) === 'system')) made.push(little.user)
  return made.length === messages.length && made.every((message, i) => message === messages[i]) ? messages : made
}
