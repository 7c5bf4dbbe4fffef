import { MIB } from '../src/lib/primitives/units.ts'

/** Bodies are in memory from their first byte until their answer is made: so much of them at once. */
const BYTES_MAX = 256 * MIB
/** What the runtime reads of a body at most. A form that does not say its length is taken for as long. */
const UNSAID_BYTES = 128 * MIB

let bytesInside = 0

/**
 * Makes room for the body of a request, JSON of unsaid length apart, which is read anyway. What comes back gives it up
 * again; undefined: there is none.
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
