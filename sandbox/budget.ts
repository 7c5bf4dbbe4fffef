/** Characters of all choices together: more than the largest context holds in ordinary words. */
const CHARS_MAX = 1_000_000
/** One is 30 ns to 1 µs of work that leaves no character behind, or few. */
const STEPS_MAX = 200_000

/**
 * What one answer may take, all its choices, patterns, comparisons and probabilities together. Who makes a part of an
 * answer spends from it as it goes and stops when it is spent: the answer then ends as one that met its token limit.
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

  /** Of a text that was written and is not used after all. */
  returnChars(count: number): void {
    this.#charsLeft += count
  }

  spendSteps(count: number): void {
    this.#stepsLeft -= count
  }
}
