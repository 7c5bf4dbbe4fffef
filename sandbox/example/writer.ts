import type { Budget } from '../budget.ts'

/** A place in what was written, to come back to. */
type Mark = { readonly parts: number; readonly chars: number }

/**
 * Takes the JSON of a value as it is made, until it has as many characters as there is room for. What comes after
 * that is dropped: whoever writes looks at `isFull` before each part and stops.
 */
export class JsonWriter {
  readonly #budget: Budget
  readonly #parts: string[] = []
  readonly #charsMax: number
  #chars = 0

  constructor(budget: Budget, charsMax: number) {
    this.#budget = budget
    this.#charsMax = Math.min(charsMax, budget.charsLeft)
  }

  get charsLeft(): number {
    return Math.min(this.#charsMax - this.#chars, this.#budget.charsLeft)
  }

  get isFull(): boolean {
    return this.charsLeft <= 0
  }

  get text(): string {
    return this.#parts.join('')
  }

  write(text: string): void {
    const part = text.length > this.charsLeft ? text.slice(0, this.charsLeft) : text
    this.#parts.push(part)
    this.#chars += part.length
    this.#budget.spendChars(part.length)
  }

  /** Any value that came as JSON. */
  value(value: unknown): void {
    if (!this.isFull) this.write(JSON.stringify(value) ?? 'null')
  }

  mark(): Mark {
    return { parts: this.#parts.length, chars: this.#chars }
  }

  /** What was written since. To look at it takes as long as to write it, and is spent as such. */
  since({ parts, chars }: Mark): string {
    this.#budget.spendSteps(1 + ((this.#chars - chars) >> 4))
    return this.#parts.slice(parts).join('')
  }

  /** Takes back what was written since. */
  back({ parts, chars }: Mark): void {
    this.#budget.returnChars(this.#chars - chars)
    this.#parts.length = parts
    this.#chars = chars
  }
}
