/** Reads a body as bytes. */
import type { IncomingResponse } from './exchange.ts'

/** Reads a body up to `bytesMax`. Undefined if it is larger or breaks off. */
export function readBytes(response: IncomingResponse, bytesMax: number): Promise<Buffer | undefined> {
  const { promise, resolve } = Promise.withResolvers<Buffer | undefined>()
  const parts: Buffer[] = []
  let bytes = 0
  const take = (part: Buffer): boolean => {
    bytes += part.length
    if (bytes <= bytesMax) parts.push(Buffer.from(part))
    return bytes <= bytesMax
  }
  response.deliver({
    part(part) {
      if (!take(part)) response.cancel()
    },
    end: (last) => resolve(take(last) ? Buffer.concat(parts) : undefined),
    broken: () => resolve(undefined),
  })
  return promise
}
