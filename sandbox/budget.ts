/** Characters of all choices together. This is more than the largest context holds in ordinary text. */
const CHARS_MAX = 1_000_000
/** A step is 30 ns to 1 µs of work that produces few characters or none. */
const STEPS_MAX = 200_000

/**
 * The budget of one answer, for all its choices, patterns, comparisons and probabilities together. Code that makes a
 * part of an answer spends from it and stops when it is spent. The answer then ends like one that reached its token
 * limit.
 */
export class Budget {
  #charsLeft = CHARS_MAX
  #stepsLeft = STEPS_MAX

  get charsLeft(): number {
    return this.isSpent ? 0 : this.#charsLeft
  }

  get isSpent(): boolean {
    return this.#charsLeft <= 0 || this.#stepsLeft <= 0
  }

  spendChars(count: number): void {
    this.#charsLeft -= count
  }

  /** Gives back the characters of a text that is not used. */
  returnChars(count: number): void {
    this.#charsLeft += count
  }

  spendSteps(count: number): void {
    this.#stepsLeft -= count
  }
}
