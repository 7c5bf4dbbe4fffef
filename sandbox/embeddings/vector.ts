import { hashOf } from '../random.ts'

/** Words that say little about the subject of a text. */
const COMMON = new Set(
  'a an and are as at be by for from has he in is it its of on or that the this to was with'.split(' '),
)
const COMMON_WEIGHT = 0.2
const TRIGRAM_WEIGHT = 0.25
/** The number of dimensions of a feature. With one, two colliding words would look the same. */
const SPREAD = 6

/**
 * A deterministic vector of unit length. Texts that share words are near. Runs of three letters count a little, so
 * "lighthouse" and "lighthouses" are near, too.
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
  // A text without features, or whose features cancel out, still needs a direction.
  if (length === 0) vector[0] = 1
  return Array.from(vector, (number) => Math.fround(length === 0 ? number : number / length))
}

/** Little-endian float32, which OpenAI's SDKs request. */
export function toBase64(numbers: readonly number[]): string {
  const view = new DataView(new ArrayBuffer(numbers.length * 4))
  for (const [i, number] of numbers.entries()) view.setFloat32(i * 4, number, true)
  return Buffer.from(view.buffer).toString('base64')
}
