import { MIB } from '../src/lib/primitives/units.ts'

/** The bound of all bodies in memory. A body is there from its first byte until its answer is made. */
const BYTES_MAX = 256 * MIB
/** The most that the runtime reads of a body. A form without a length counts as this long. */
const UNSAID_BYTES = 128 * MIB

let bytesInside = 0

/**
 * Reserves memory for the body of a request. JSON without a length is read without a reservation. Returns the function
 * that gives the memory back, or undefined if there is none.
 */
export function claimRoom(headers: Headers): (() => void) | undefined {
  const isForm = headers.get('content-type')?.startsWith('multipart/') ?? false
  const bytes = Number(headers.get('content-length')) || (isForm ? UNSAID_BYTES : 0)
  if (bytes > 0 && bytesInside + bytes > BYTES_MAX) return undefined
  bytesInside += bytes
  return () => {
    bytesInside -= bytes
  }
}
