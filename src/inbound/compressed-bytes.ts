import { KIB, MIB } from '../lib/primitives/units.ts'

/**
 * Compresses the bytes that a stalled client has not taken. One read of a fast upstream leaves up to half a megabyte,
 * and 200 stalled clients would hold that much each for a minute. Events are alike: 400 KB become 8 KB in 0.2 ms.
 */
export type CompressedBytes = { readonly zstd: Buffer }

/** Less is not worth it. More is a whole answer, which would be compressed again each time some of it is taken. */
const PACKED_BYTES_MIN = 32 * KIB
const PACKED_BYTES_MAX = MIB

export const pack = (bytes: Buffer): CompressedBytes | undefined =>
  bytes.length < PACKED_BYTES_MIN || bytes.length > PACKED_BYTES_MAX
    ? undefined
    : { zstd: Bun.zstdCompressSync(bytes, { level: 1 }) }

export const unpack = (kept: Buffer | CompressedBytes): Buffer =>
  'zstd' in kept ? Bun.zstdDecompressSync(kept.zstd) : kept

/** Text as bytes. Bytes are returned without a copy. */
export const bufferOf = (data: string | Uint8Array): Buffer =>
  typeof data === 'string' ? Buffer.from(data) : Buffer.from(data.buffer, data.byteOffset, data.length)
