/** Vectors on the wire: decimal numbers, or little-endian float32 in base64. */

/** More dimensions than any model has. */
const DIMENSIONS_MAX = 65_536

/** Reads either form; undefined for what is neither, or holds what is no number. */
export function vectorOf(value: unknown): Float64Array | undefined {
  if (typeof value === 'string') return fromBase64(value)
  if (!Array.isArray(value) || value.length === 0 || value.length > DIMENSIONS_MAX) return undefined
  return value.every((number) => typeof number === 'number' && Number.isFinite(number))
    ? Float64Array.from(value as number[])
    : undefined
}

function fromBase64(text: string): Float64Array | undefined {
  const bytes = Buffer.from(text, 'base64')
  if (bytes.length === 0 || bytes.length % 4 !== 0 || bytes.length > DIMENSIONS_MAX * 4) return undefined
  const vector = new Float64Array(bytes.length / 4)
  for (let i = 0; i < vector.length; i++) vector[i] = bytes.readFloatLE(i * 4)
  return vector.every(Number.isFinite) ? vector : undefined
}

export function toBase64(vector: Float64Array): string {
  const bytes = Buffer.alloc(vector.length * 4)
  for (const [i, number] of vector.entries()) bytes.writeFloatLE(number, i * 4)
  return bytes.toString('base64')
}

/** Decimal numbers as short as float32 allows: what a vendor sent as float32 has no more digits than that. */
export function toNumbers(vector: Float64Array): number[] {
  return Array.from(vector, (number) => (Math.fround(number) === number ? Number(number.toPrecision(9)) : number))
}

/** A vector cut to fewer dimensions, of unit length: most models give only their full vectors so. */
export function reduced(vector: Float64Array, dimensions: number): Float64Array {
  const cut = vector.length > dimensions ? vector.slice(0, dimensions) : vector
  const length = Math.hypot(...cut)
  if (length === 0 || Math.abs(length - 1) < 1e-6) return cut
  return cut.map((number) => number / length)
}
