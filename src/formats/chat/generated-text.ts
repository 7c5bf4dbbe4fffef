type Fields = Readonly<Record<string, unknown>>
type WireCall = {
  readonly function?: { readonly name?: unknown; readonly arguments?: unknown }
  readonly custom?: { readonly name?: unknown; readonly input?: unknown }
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '')

/**
 * The text in one field of a message or a delta: text of any kind, and names and arguments of tool calls. Whole replies
 * and streams count the same text, so an estimate does not depend on how the answer came.
 */
export function textOfDelta(name: string, value: unknown): string {
  if (typeof value === 'string') return name === 'role' ? '' : value
  if (typeof value !== 'object' || value === null) return ''
  if (name === 'tool_calls') return Array.isArray(value) ? (value as (WireCall | null)[]).map(callWords).join('') : ''
  if (name === 'function_call') return callWords({ function: value })
  return name === 'audio' ? text((value as Fields)['transcript']) : ''
}

/** Whether a field has reasoning: `reasoning_content` (DeepSeek, xAI, old vLLM), `reasoning` (OpenRouter, Groq). */
export const isThought = (name: string): boolean => name.startsWith('reasoning')

function callWords(call: WireCall | null): string {
  const { function: called, custom } = call ?? {}
  return text(called?.name) + text(called?.arguments) + text(custom?.name) + text(custom?.input)
}

/** The text of a whole message. */
export const wordsOfMessage = (message: Fields): string =>
  Object.entries(message)
    .map(([name, value]) => textOfDelta(name, value))
    .join('')
