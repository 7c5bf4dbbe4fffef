/** Finds the end of a JSON object in a text that comes in pieces, without keeping them. */

const QUOTE = 0x22
const BACKSLASH = 0x5c
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

export class JsonEnd {
  private depth = 0
  private isInText = false
  private isEscaped = false
  private hasClosed = false
  /** Whether anything but white space has come. */
  hasBegun = false

  /** Whether the text so far may be a whole object. */
  get isWhole(): boolean {
    return this.hasClosed && this.depth === 0
  }

  add(piece: string): void {
    this.hasBegun ||= piece.trim() !== ''
    for (let at = 0; at < piece.length; at++) {
      const code = piece.charCodeAt(at)
      if (this.isInText) {
        if (this.isEscaped) this.isEscaped = false
        else if (code === BACKSLASH) this.isEscaped = true
        else if (code === QUOTE) this.isInText = false
      } else if (code === QUOTE) this.isInText = true
      else if (code === OPEN_OBJECT) this.depth++
      else if (code === CLOSE_OBJECT && --this.depth === 0) this.hasClosed = true
    }
  }
}
