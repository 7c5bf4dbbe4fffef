/** A function that returns numbers in [0, 1), always the same for a seed (mulberry32). */
export function randomOf(seed: number): () => number {
  let state = seed | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let bits = Math.imul(state ^ (state >>> 15), state | 1)
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61)
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Choices made at random, the same ones for a seed. */
export class Chooser {
  private readonly random: () => number

  constructor(seed: number) {
    this.random = randomOf(seed)
  }

  /** A whole number from 0 to this one. */
  upTo(most: number): number {
    return Math.floor(this.random() * (most + 1))
  }

  pick<T>(values: readonly T[]): T {
    return values[this.upTo(values.length - 1)] as T
  }

  chance(part: number): boolean {
    return this.random() < part
  }

  shuffled<T>(values: readonly T[]): T[] {
    return values
      .map((value) => ({ value, at: this.random() }))
      .toSorted((a, b) => a.at - b.at)
      .map(({ value }) => value)
  }

  /** A text in pieces. */
  cut(text: string): string[] {
    if (text.length < 2 || this.chance(0.3)) return [text]
    const at = Array.from({ length: 1 + this.upTo(3) }, () => this.upTo(text.length)).toSorted((a, b) => a - b)
    return [0, ...at].map((from, i) => text.slice(from, at[i] ?? text.length)).filter((piece) => piece !== '')
  }
}
