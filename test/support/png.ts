/** A PNG decoder for tests, independent of the library that writes the files. It reads 8 bits, not interlaced. */
import { inflateSync } from 'node:zlib'

export type Pixels = {
  readonly width: number
  readonly height: number
  readonly channels: number
  readonly data: Buffer
}

const CHANNELS: Readonly<Record<number, number>> = { 0: 1, 2: 3, 4: 2, 6: 4 }

export function readPng(file: Buffer): Pixels {
  if (file.toString('latin1', 0, 8) !== '\x89PNG\r\n\x1a\n') throw new Error('not a PNG')
  const [width, height] = [file.readUInt32BE(16), file.readUInt32BE(20)]
  const channels = CHANNELS[file[25] ?? 3] ?? 0
  if (file[24] !== 8 || channels === 0 || file[28] !== 0) throw new Error('a kind of PNG that is not read here')
  const parts: Buffer[] = []
  for (let at = 8; at < file.length;) {
    const length = file.readUInt32BE(at)
    if (file.toString('latin1', at + 4, at + 8) === 'IDAT') parts.push(file.subarray(at + 8, at + 8 + length))
    at += length + 12
  }
  const raw = inflateSync(Buffer.concat(parts))
  const stride = width * channels
  const data = Buffer.alloc(height * stride)
  for (let y = 0; y < height; y++) unfilter(raw, data, { y, stride, channels })
  return { width, height, channels, data }
}

function unfilter(raw: Buffer, data: Buffer, { y, stride, channels }: { y: number; stride: number; channels: number }) {
  const filter = raw[y * (stride + 1)]
  const from = y * (stride + 1) + 1
  for (let x = 0; x < stride; x++) {
    const left = x >= channels ? (data[y * stride + x - channels] ?? 0) : 0
    const up = y > 0 ? (data[(y - 1) * stride + x] ?? 0) : 0
    const corner = x >= channels && y > 0 ? (data[(y - 1) * stride + x - channels] ?? 0) : 0
    const guess = [0, left, up, (left + up) >> 1, paeth(left, up, corner)][filter ?? 0] ?? 0
    data[y * stride + x] = (raw[from + x] ?? 0) + guess
  }
}

function paeth(left: number, up: number, corner: number): number {
  const [a, b, c] = [Math.abs(up - corner), Math.abs(left - corner), Math.abs(left + up - 2 * corner)]
  if (a <= b && a <= c) return left
  return b <= c ? up : corner
}
