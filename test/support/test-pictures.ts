/** Images and masks for tests, written by hand: PNG, 8 bits, filter 0. */
import { crc32, deflateSync } from 'node:zlib'

export type PngOptions = { readonly width: number; readonly height: number; readonly channels: 3 | 4 }

function chunk(type: string, data: Uint8Array): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const framed = Buffer.alloc(body.length + 8)
  framed.writeUInt32BE(data.length, 0)
  body.copy(framed, 4)
  framed.writeUInt32BE(crc32(body), body.length + 4)
  return framed
}

function head({ width, height, channels }: PngOptions): Buffer {
  const ihdr = Buffer.alloc(13)
  ihdr.writeUInt32BE(width, 0)
  ihdr.writeUInt32BE(height, 4)
  ihdr.set([8, channels === 4 ? 6 : 2, 0, 0, 0], 8)
  return Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), chunk('IHDR', ihdr)])
}

/** A PNG whose pixels `colorOf` gives. `level` 0 leaves them uncompressed. */
export function writePng(options: PngOptions, colorOf: (x: number, y: number) => readonly number[], level = 6): Buffer {
  const { width, height, channels } = options
  const raw = Buffer.alloc(height * (width * channels + 1))
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) raw.set(colorOf(x, y), y * (width * channels + 1) + 1 + x * channels)
  }
  return Buffer.concat([head(options), chunk('IDAT', deflateSync(raw, { level })), chunk('IEND', Buffer.alloc(0))])
}

/** A picture of which no two regions are the same. */
export const photo = (width: number, height: number, level?: number): Buffer =>
  writePng({ width, height, channels: 3 }, (x, y) => [(x * 7) & 255, (y * 3) & 255, (x * y) & 255], level)

export type Hole = { readonly x: number; readonly y: number; readonly width: number; readonly height: number }

export const isIn = (hole: Hole, x: number, y: number): boolean =>
  x >= hole.x && x < hole.x + hole.width && y >= hole.y && y < hole.y + hole.height

/** A mask that is transparent in one place. */
export const maskWith = (width: number, height: number, hole: Hole): Buffer =>
  writePng({ width, height, channels: 4 }, (x, y) => [0, 0, 0, isIn(hole, x, y) ? 0 : 255])

/** Says that it is enormous, and is a few bytes. */
export const bomb = (side: number): Buffer =>
  Buffer.concat([
    head({ width: side, height: side, channels: 4 }),
    chunk('IDAT', deflateSync(Buffer.alloc(1024))),
    chunk('IEND', Buffer.alloc(0)),
  ])
