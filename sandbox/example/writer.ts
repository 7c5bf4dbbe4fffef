import type { Budget } from '../budget.ts'

/** A position in the written text. */
type Mark = { readonly parts: number; readonly chars: number }

/**
 * Collects the JSON of a value up to a number of characters. Later parts are dropped. Writers check `isFull` before
 * each part and stop.
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

  /** Writes any value that came as JSON. */
  value(value: unknown): void {
    if (!this.isFull) this.write(JSON.stringify(value) ?? 'null')
  }

  mark(): Mark {
    return { parts: this.#parts.length, chars: this.#chars }
  }

  /** The text since a mark. Reading it takes as long as writing it, so it spends steps. */
  since({ parts, chars }: Mark): string {
    this.#budget.spendSteps(1 + ((this.#chars - chars) >> 4))
    return this.#parts.slice(parts).join('')
  }

  /** Removes the text since a mark. */
  back({ parts, chars }: Mark): void {
    this.#budget.returnChars(this.#chars - chars)
    this.#parts.length = parts
    this.#chars = chars
  }
}
