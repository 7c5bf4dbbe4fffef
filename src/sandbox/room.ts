/** Bodies are in memory from their first byte until their answer is made: so much of them at once, any one alone. */
const BYTES_MAX = 256 * 1024 * 1024
/** What the runtime reads of a form whose length is not said. */
const UNSAID_BYTES = 128 * 1024 * 1024

let bytesInside = 0

/** Makes room for the body of a request. What comes back gives it up again; undefined: there is none. */
export function makeRoom(headers: Headers): (() => void) | undefined {
  const isForm = headers.get('content-type')?.startsWith('multipart/') ?? false
  const bytes = Number(headers.get('content-length')) || (isForm ? UNSAID_BYTES : 0)
  if (bytes > 0 && bytesInside > 0 && bytesInside + bytes > BYTES_MAX) return undefined
  bytesInside += bytes
  return () => {
    bytesInside -= bytes
  }
}
