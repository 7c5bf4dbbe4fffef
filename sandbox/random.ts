/** A list with at least one item, so that picking from it cannot fail. */
export type NonEmpty<T> = readonly [T, ...T[]]

/** A repeatable source of numbers. The same seed gives the same sequence on every machine. */
export type Random = {
  /** 0 ≤ x < 1 */
  next(): number
  /** An integer, 0 ≤ x < limit. */
  below(limit: number): number
  pick<T>(items: NonEmpty<T>): T
}

/** 32-bit xxHash. It is a published algorithm, so answers stay the same across releases of the runtime. */
export function hashOf(text: string, seed = 0): number {
  return Bun.hash.xxHash32(text, seed)
}

/**
 * Mulberry32. It has four lines and passes the usual statistical tests, far more than templated prose needs.
 */
export function randomFrom(seed: number): Random {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  const below = (limit: number): number => Math.floor(next() * limit)
  return { next, below, pick: (items) => items[below(items.length)] ?? items[0] }
}

/** A random identifier. Identifiers are the only difference between the answers to two equal requests. */
export function randomIdOf(prefix: string): string {
  return prefix + crypto.randomUUID().replaceAll('-', '').slice(0, 24)
}
