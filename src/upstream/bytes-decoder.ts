import type { UpstreamEvent } from '../formats/core/contract.ts'

const END: UpstreamEvent = { name: undefined, data: '' }

/** Makes an event of each read, for a stream of bytes that are no events. The end is an event without bytes. */
export class BytesDecoder {
  /** Nothing waits for later bytes. */
  readonly unfinishedChars = 0

  push(bytes: Uint8Array): UpstreamEvent[] {
    // The bytes belong to the socket.
    return bytes.length === 0 ? [] : [{ name: undefined, data: '', bytes: Buffer.from(bytes) }]
  }

  end(): UpstreamEvent[] {
    return [END]
  }
}
