/**
 * One shared buffer for texts on their way to a socket. Joining the texts first would copy them once more, and leave
 * garbage of their size. The next use overwrites the buffer.
 */
import { KIB } from '../primitives/units.ts'

/** This number of characters always fits, because none has more than three bytes. */
export const WIRE_CHARS_MAX = 64 * KIB

export const wireBuffer = Buffer.allocUnsafeSlow(3 * WIRE_CHARS_MAX)

/** Writes texts of at most `WIRE_CHARS_MAX` characters to it. Returns the number of bytes. */
export function fillWireBuffer(texts: readonly string[]): number {
  let bytes = 0
  for (const text of texts) bytes += wireBuffer.write(text, bytes)
  return bytes
}

export const NO_BYTES = Buffer.alloc(0)
