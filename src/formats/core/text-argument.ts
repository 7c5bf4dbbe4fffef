/** Reads the text of one string member of a JSON object that arrives in pieces, as early as possible. */

/** What comes before the text: the object's start and the name of its first member. */
const BEFORE = /^\s*\{\s*"((?:[^"\\]|\\.)*)"\s*:\s*"/
/** The most characters that may come before the text. */
const BEFORE_CHARS_MAX = 256

export class TextArgument {
  private readonly name: string
  /** The part that was not returned yet. */
  private raw = ''
  private state: 'before' | 'within' | 'behind' | 'other' = 'before'

  constructor(name: string) {
    this.name = name
  }

  /** The text that a piece of the object adds. */
  add(piece: string): string {
    if (this.state === 'behind') return ''
    this.raw += piece
    if (this.state === 'before') this.begin()
    return this.state === 'within' ? this.take() : ''
  }

  /** The rest of the text at the end. `read` finds the text in an object of another shape. */
  end(read: (json: string) => string): string {
    const { state, raw } = this
    this.state = 'behind'
    return state === 'before' || state === 'other' ? read(raw) : ''
  }

  private begin(): void {
    const match = BEFORE.exec(this.raw.slice(0, BEFORE_CHARS_MAX))
    if (match?.[1] === this.name) {
      this.state = 'within'
      this.raw = this.raw.slice(match[0].length)
    } else if (match || this.raw.length > BEFORE_CHARS_MAX) this.state = 'other'
  }

  /** Decodes up to the closing quote, or to an incomplete escape. */
  private take(): string {
    const end = endOfText(this.raw)
    const json = this.raw.slice(0, end.at)
    this.raw = this.raw.slice(end.at)
    if (end.kind === 'quote') this.state = 'behind'
    return decoded(json)
  }
}

type End = { readonly kind: 'open' | 'quote'; readonly at: number }

function endOfText(raw: string): End {
  let at = 0
  while (at < raw.length) {
    const char = raw[at]
    if (char === '"') return { kind: 'quote', at }
    if (char !== '\\') {
      at++
      continue
    }
    const length = raw[at + 1] === 'u' ? 6 : 2
    if (at + length > raw.length) return { kind: 'open', at }
    // Both halves of a surrogate pair must be there. Otherwise half a character would be returned.
    const isHalf = length === 6 && /^[dD][89abAB]/.test(raw.slice(at + 2, at + 4))
    if (isHalf && at + 12 > raw.length && '\\u'.startsWith(raw.slice(at + 6, at + 8))) return { kind: 'open', at }
    at += length
  }
  return { kind: 'open', at }
}

/** Models also write raw line breaks, which JSON does not allow in a string. */
function decoded(json: string): string {
  try {
    return JSON.parse(`"${json.replace(/\p{Cc}/gu, escaped)}"`) as string
  } catch {
    return json
  }
}

const escaped = (char: string): string => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`
