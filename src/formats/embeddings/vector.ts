/** Vectors in JSON: decimal numbers, or little-endian float32 in base64. */
import { limit } from '../../lib/primitives/limit.ts'

/** More dimensions than any model has. */
const DIMENSIONS_MAX = limit(
  'embeddingDimensionsMax',
  65_536,
  'A request for more dimensions is refused. An answer with more is treated as invalid.',
)
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/

export type Encoding = 'float' | 'base64'

/**
 * A vector in the requested form. It stays unchanged if it has that form already. Undefined if the value is no vector.
 * `dimensions` is the requested number: a longer vector is cut and scaled to unit length.
 */
export function rewritten(value: unknown, encoding: Encoding, dimensions: number | undefined): unknown {
  if (typeof value === 'string') {
    const count = base64Count(value)
    if (count === undefined) return undefined
    if (encoding === 'base64' && dimensions === undefined) return value
  } else if (!isVector(value)) return undefined
  else if (encoding === 'float' && dimensions === undefined) return value
  const numbers = typeof value === 'string' ? fromBase64(value) : Float32Array.from(value)
  if (typeof value === 'string' && !numbers.every(Number.isFinite)) return undefined
  const asked = dimensions === undefined ? numbers : reduced(numbers, dimensions)
  return encoding === 'base64' ? toBase64(asked) : Array.from(asked)
}

function isVector(value: unknown): value is number[] {
  if (!Array.isArray(value) || value.length === 0 || value.length > DIMENSIONS_MAX) return false
  return value.every((number) => typeof number === 'number' && Number.isFinite(number))
}

/** The number of float32 values in a base64 text. Undefined if the text is not base64 of them. */
function base64Count(text: string): number | undefined {
  if (text.length % 4 !== 0 || !BASE64.test(text)) return undefined
  const bytes = (text.length / 4) * 3 - (text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0)
  return bytes % 4 === 0 && bytes / 4 <= DIMENSIONS_MAX ? bytes / 4 : undefined
}

/** Every machine that this runs on is little-endian, so a view of the bytes is the vector. */
function fromBase64(text: string): Float32Array {
  const bytes = Uint8Array.from(Buffer.from(text, 'base64'))
  return new Float32Array(bytes.buffer)
}

const toBase64 = ({ buffer, byteOffset, byteLength }: Float32Array): string =>
  Buffer.from(buffer, byteOffset, byteLength).toString('base64')

/** A vector cut to fewer dimensions and scaled to unit length. Most models give unit length for full vectors only. */
function reduced(vector: Float32Array, dimensions: number): Float32Array {
  const cut = vector.length > dimensions ? vector.slice(0, dimensions) : vector
  const length = Math.sqrt(cut.reduce((sum, number) => sum + number * number, 0))
  if (length === 0 || Math.abs(length - 1) < 1e-6) return cut
  return cut.map((number) => number / length)
}
