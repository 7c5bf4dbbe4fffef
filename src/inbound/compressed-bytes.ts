import { KIB, MIB } from '../lib/primitives/units.ts'

/**
 * What a stalled client has not taken, compressed. The rest of one read of a fast upstream is up to half a megabyte,
 * and 200 clients would keep as many of them for a minute. Events are alike: 400 KB become 8, in 0.2 ms.
 */
export type CompressedBytes = { readonly zstd: Buffer }

/** Less is not worth the while. More is a whole answer, which would be packed again whenever some of it is taken. */
const PACKED_BYTES_MIN = 32 * KIB
const PACKED_BYTES_MAX = MIB

export const pack = (bytes: Buffer): CompressedBytes | undefined =>
  bytes.length < PACKED_BYTES_MIN || bytes.length > PACKED_BYTES_MAX
    ? undefined
    : { zstd: Bun.zstdCompressSync(bytes, { level: 1 }) }

export const unpack = (kept: Buffer | CompressedBytes): Buffer =>
  'zstd' in kept ? Bun.zstdDecompressSync(kept.zstd) : kept

/** Text as bytes; bytes as they are. */
export const bufferOf = (data: string | Uint8Array): Buffer =>
  typeof data === 'string' ? Buffer.from(data) : Buffer.from(data.buffer, data.byteOffset, data.length)
