/** Reads facts from an MP4 file. It reads only the heads of boxes, so a file of gigabytes costs no more. */
import type { FileHandle } from 'node:fs/promises'

export type Mp4 = { readonly kind: 'mp4'; readonly seconds: number | undefined } | { readonly kind: 'other' }

type Box = { readonly type: string; readonly from: number; readonly to: number }

/** More than any encoder writes. It bounds the work on a file of empty boxes. */
const BOXES_MAX = 1_000
const HEAD_BYTES = 16
const MVHD_BYTES = 32

async function readAt(file: FileHandle, at: number, length: number): Promise<Buffer> {
  const { bytesRead, buffer } = await file.read(Buffer.alloc(length), 0, length, at)
  return buffer.subarray(0, bytesRead)
}

/** The boxes between two positions, up to the first malformed one. */
async function* boxesIn(file: FileHandle, from: number, to: number): AsyncGenerator<Box> {
  for (let at = from, count = 0; at + 8 <= to && count < BOXES_MAX; count++) {
    const head = await readAt(file, at, HEAD_BYTES)
    if (head.length < 8) return
    const short = head.readUInt32BE(0)
    // 1: the length follows the type, in 64 bits. 0: the box goes on to the end.
    const isLong = short === 1 && head.length === HEAD_BYTES
    const length = short === 0 ? to - at : isLong ? Number(head.readBigUInt64BE(8)) : short
    const headBytes = isLong ? HEAD_BYTES : 8
    if (length < headBytes || at + length > to) return
    yield { type: head.toString('latin1', 4, 8), from: at + headBytes, to: at + length }
    at += length
  }
}

async function find(file: FileHandle, type: string, within: Pick<Box, 'from' | 'to'>): Promise<Box | undefined> {
  for await (const box of boxesIn(file, within.from, within.to)) if (box.type === type) return box
  return undefined
}

/** Reads a file. Without its type and its index at the outermost level, it is no MP4 or was cut off. */
export async function readMp4(file: FileHandle): Promise<Mp4> {
  const { size } = await file.stat()
  const whole = { from: 0, to: size }
  const moov = await find(file, 'moov', whole)
  if (!moov || !(await find(file, 'ftyp', whole)) || !(await find(file, 'mdat', whole))) return { kind: 'other' }
  const mvhd = await find(file, 'mvhd', moov)
  return { kind: 'mp4', seconds: mvhd && secondsIn(await readAt(file, mvhd.from, MVHD_BYTES)) }
}

/** ISO 14496-12, 8.2.2: version, flags, two times, time scale, duration. Version 1 has 64-bit times. */
function secondsIn(mvhd: Buffer): number | undefined {
  if (mvhd.length < MVHD_BYTES) return undefined
  const isWide = mvhd[0] === 1
  const scale = mvhd.readUInt32BE(isWide ? 20 : 12)
  const duration = isWide ? Number(mvhd.readBigUInt64BE(24)) : mvhd.readUInt32BE(16)
  return scale > 0 && duration > 0 ? duration / scale : undefined
}
