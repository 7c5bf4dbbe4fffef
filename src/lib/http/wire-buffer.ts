/**
 * Texts on their way to a socket, as bytes in one buffer that all of them share. Joined to one text they would be
 * copied once more, and be garbage of their size. What is in it is gone with the next.
 */
import { KIB } from '../primitives/units.ts'

/** So many characters always fit: none is more than three bytes. */
export const WIRE_CHARS_MAX = 64 * KIB

export const wireBuffer = Buffer.allocUnsafeSlow(3 * WIRE_CHARS_MAX)

/** Puts texts in it, at most `WIRE_CHARS_MAX` characters. Returns how many bytes they are. */
export function fillWireBuffer(texts: readonly string[]): number {
  let bytes = 0
  for (const text of texts) bytes += wireBuffer.write(text, bytes)
  return bytes
}

export const NO_BYTES = Buffer.alloc(0)
