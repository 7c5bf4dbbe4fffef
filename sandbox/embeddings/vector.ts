import { hashOf } from '../random.ts'

/** Words that say little about what a text is about. */
const COMMON = new Set(
  'a an and are as at be by for from has he in is it its of on or that the this to was with'.split(' '),
)
const COMMON_WEIGHT = 0.2
const TRIGRAM_WEIGHT = 0.25
/** Over how many dimensions a feature is spread: with one, two words that collide would look like one. */
const SPREAD = 6

/**
 * A vector of unit length in which texts that share words are near: every word, and a little of every run of three
 * letters, so that "lighthouse" and "lighthouses" are near too. Deterministic.
 */
export function embed(text: string, dimensions: number): number[] {
  const vector = new Float64Array(dimensions)
  const add = (feature: string, weight: number): void => {
    for (let i = 0; i < SPREAD; i++) {
      const hash = hashOf(feature, i)
      vector[(hash >>> 1) % dimensions] = (vector[(hash >>> 1) % dimensions] ?? 0) + (hash & 1 ? weight : -weight)
    }
  }
  for (const word of text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [text]) {
    add(word, COMMON.has(word) ? COMMON_WEIGHT : 1)
    const padded = ` ${word} `
    for (let at = 0; at + 3 <= padded.length; at++) add(`~${padded.slice(at, at + 3)}`, TRIGRAM_WEIGHT)
  }
  const length = Math.hypot(...vector)
  // A text whose features cancel out, or that has none, still points somewhere.
  if (length === 0) vector[0] = 1
  return Array.from(vector, (number) => Math.fround(length === 0 ? number : number / length))
}

/** Little-endian float32, as OpenAI's SDKs ask for it. */
export function toBase64(numbers: readonly number[]): string {
  const view = new DataView(new ArrayBuffer(numbers.length * 4))
  for (const [i, number] of numbers.entries()) view.setFloat32(i * 4, number, true)
  return Buffer.from(view.buffer).toString('base64')
}
