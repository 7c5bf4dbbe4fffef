type Fields = Readonly<Record<string, unknown>>
type Call = {
  readonly function?: { readonly name?: unknown; readonly arguments?: unknown }
  readonly custom?: { readonly name?: unknown; readonly input?: unknown }
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '')

/**
 * The words that one field of a message or a delta brings: text of any kind, names and arguments of tool calls. Whole
 * replies and streams are counted by the same words, so that an estimate does not depend on how the answer came.
 */
export function wordsOf(name: string, value: unknown): string {
  if (typeof value === 'string') return name === 'role' ? '' : value
  if (typeof value !== 'object' || value === null) return ''
  if (name === 'tool_calls') return Array.isArray(value) ? (value as (Call | null)[]).map(callWords).join('') : ''
  if (name === 'function_call') return callWords({ function: value })
  return name === 'audio' ? text((value as Fields)['transcript']) : ''
}

function callWords(call: Call | null): string {
  const { function: called, custom } = call ?? {}
  return text(called?.name) + text(called?.arguments) + text(custom?.name) + text(custom?.input)
}

/** The words of a whole message. */
export const wordsOfMessage = (message: Fields): string =>
  Object.entries(message)
    .map(([name, value]) => wordsOf(name, value))
    .join('')

/** What was produced, for a count: all of a usual answer; of a very long one its beginning, and how much came after. */
export type Produced = { readonly text: string; readonly moreChars: number }

export const NOTHING_PRODUCED: Produced = { text: '', moreChars: 0 }

/** Some 16,000 tokens: more than nearly every answer has, and a fair sample of those that have more. */
const KEPT_CHARS_MAX = 64 * 1024
/** So many pieces may hold on to the reads they were cut from. */
const LOOSE_PIECES_MAX = 32

/** Collects what a stream brings. An upstream that never stops costs no more memory than one that does. */
export class ProducedWords implements Produced {
  text = ''
  moreChars = 0
  private loosePieces = 0

  add(words: string): void {
    if (this.text.length >= KEPT_CHARS_MAX) {
      this.moreChars += words.length
      return
    }
    this.text += words
    if (++this.loosePieces < LOOSE_PIECES_MAX && this.text.length < KEPT_CHARS_MAX) return
    this.loosePieces = 0
    // Reading a character makes one text of the pieces. Until then each keeps the whole event it was cut from alive.
    this.text.charCodeAt(0)
  }
}
