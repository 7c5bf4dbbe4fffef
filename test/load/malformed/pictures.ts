/**
 * Image files that cost their decoder far more than their bytes, or have false headers. All are derived from images of
 * 64 × 64, and none is larger than 24 MB.
 */
import { crc32, deflateSync } from 'node:zlib'

export type PictureBomb = {
  readonly name: string
  readonly file: Buffer
  /** What is in it to see: a picture, none, or whatever the decoder makes of it. */
  readonly holds: 'picture' | 'nothing' | 'either'
}

type BombDraft = Omit<PictureBomb, 'name'>
const picture = (file: Buffer): BombDraft => ({ file, holds: 'picture' })
const nothing = (file: Buffer): BombDraft => ({ file, holds: 'nothing' })
const either = (file: Buffer): BombDraft => ({ file, holds: 'either' })

const MB = 1_000_000
const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1')
const u32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}
const u32le = (value: number): Buffer => u32(value).reverse()
const u16 = (value: number): Buffer => Buffer.from([value >> 8, value & 0xff])
const times = (count: number, part: Buffer): Buffer => Buffer.concat(Array.from<Buffer>({ length: count }).fill(part))

// PNG

const SIGNATURE = latin1('\x89PNG\r\n\x1a\n')
const chunk = (type: string, data: Buffer = Buffer.alloc(0)): Buffer => {
  const body = Buffer.concat([latin1(type), data])
  return Buffer.concat([u32(data.length), body, u32(crc32(body))])
}
/** A length that is not that of the data. */
const lying = (type: string, length: number, data: Buffer): Buffer =>
  Buffer.concat([u32(length), latin1(type), data, u32(0)])

type Head = { width?: number; height?: number; depth?: number; colour?: number; interlace?: number }
const ihdr = ({ width = 64, height = 64, depth = 8, colour = 2, interlace = 0 }: Head = {}): Buffer =>
  chunk('IHDR', Buffer.concat([u32(width), u32(height), Buffer.from([depth, colour, 0, 0, interlace])]))
const rows = (width: number, height: number, pixelBits: number): Buffer =>
  Buffer.alloc(height * (1 + Math.ceil((width * pixelBits) / 8)))
const idat = (raw: Buffer): Buffer => chunk('IDAT', deflateSync(raw, { level: 9 }))
const PIXELS = idat(rows(64, 64, 24))
const IEND = chunk('IEND')
const png = (...between: Buffer[]): Buffer => Buffer.concat([SIGNATURE, ihdr(), ...between, PIXELS, IEND])
const zeros = (megabytes: number): Buffer => deflateSync(Buffer.alloc(megabytes * MB), { level: 9 })

const pngs: Record<string, () => BombDraft> = {
  'PNG: 150 compressed texts': () =>
    picture(png(times(150, chunk('zTXt', Buffer.concat([latin1('k\0\0'), zeros(8)]))))),
  'PNG: 150 compressed international texts': () =>
    picture(png(times(150, chunk('iTXt', Buffer.concat([latin1('k\0\x01\0\0\0'), zeros(8)]))))),
  'PNG: texts behind the pixels': () =>
    picture(
      Buffer.concat([
        SIGNATURE,
        ihdr(),
        PIXELS,
        times(150, chunk('zTXt', Buffer.concat([latin1('k\0\0'), zeros(8)]))),
        IEND,
      ]),
    ),
  'PNG: one text of 400 MB': () => picture(png(chunk('zTXt', Buffer.concat([latin1('k\0\0'), zeros(400)])))),
  'PNG: a profile of 200 MB': () => picture(png(chunk('iCCP', Buffer.concat([latin1('p\0\0'), zeros(200)])))),
  'PNG: 100 profiles': () => picture(png(times(100, chunk('iCCP', Buffer.concat([latin1('p\0\0'), zeros(8)]))))),
  'PNG: EXIF of 20 MB': () => picture(png(chunk('eXIf', Buffer.alloc(20 * MB, 'MM')))),
  'PNG: a million texts': () => picture(png(times(MB, chunk('tEXt', latin1('k\0v'))))),
  'PNG: a million chunks that nobody knows': () => picture(png(times(MB, chunk('abCd', latin1('1234'))))),
  'PNG: a critical chunk that nobody knows': () => nothing(png(chunk('ABCD', latin1('1234')))),
  'PNG: suggested palettes': () =>
    picture(png(times(20, chunk('sPLT', Buffer.concat([latin1('p\0\x08'), Buffer.alloc(600_000)]))))),
  'PNG: an animation of 500 frames': () =>
    picture(
      png(
        chunk('acTL', Buffer.concat([u32(500), u32(0)])),
        times(500, Buffer.concat([chunk('fcTL', Buffer.alloc(26)), chunk('fdAT', Buffer.concat([u32(1), zeros(8)]))])),
      ),
    ),
  'PNG: a text that is longer than any file': () => nothing(png(lying('zTXt', 0xffff_ffff, latin1('k\0\0x')))),
  'PNG: a text that is longer than the file': () => nothing(png(lying('zTXt', 5_000, latin1('k\0\0x')))),
  'PNG: pixels that break off': () => nothing(png().subarray(0, -40)),
  'PNG: no end': () => nothing(png().subarray(0, -12)),
  'PNG: 100,000 by 100,000': () =>
    nothing(Buffer.concat([SIGNATURE, ihdr({ width: 100_000, height: 100_000 }), PIXELS, IEND])),
  'PNG: as wide as can be written': () =>
    nothing(Buffer.concat([SIGNATURE, ihdr({ width: 0x7fff_ffff, height: 1 }), PIXELS, IEND])),
  'PNG: a line of a million pixels': () =>
    nothing(Buffer.concat([SIGNATURE, ihdr({ width: MB, height: 1 }), idat(rows(MB, 1, 24)), IEND])),
  'PNG: no pixels at all': () => nothing(Buffer.concat([SIGNATURE, ihdr({ width: 0, height: 64 }), PIXELS, IEND])),
  'PNG: 49 megapixels of 16 bits': () =>
    picture(
      Buffer.concat([
        SIGNATURE,
        ihdr({ width: 7_000, height: 7_000, depth: 16, colour: 6 }),
        idat(rows(7_000, 7_000, 64)),
        IEND,
      ]),
    ),
  'PNG: 49 megapixels of 16 bits, interlaced': () =>
    nothing(
      Buffer.concat([
        SIGNATURE,
        ihdr({ width: 7_000, height: 7_000, depth: 16, colour: 6, interlace: 1 }),
        idat(rows(7_000, 7_100, 64)),
        IEND,
      ]),
    ),
  'PNG: two heads': () => nothing(png(ihdr({ width: 9_000, height: 9_000 }))),
  'PNG: a head behind a text': () =>
    nothing(Buffer.concat([SIGNATURE, chunk('tEXt', latin1('k\0v')), ihdr(), PIXELS, IEND])),
  'PNG: a palette picture without a palette': () =>
    nothing(Buffer.concat([SIGNATURE, ihdr({ colour: 3 }), idat(rows(64, 64, 8)), IEND])),
  'PNG: a million empty pieces of pixels': () => either(png(times(MB, chunk('IDAT')))),
  'PNG: 400 MB for 64 by 64': () => either(Buffer.concat([SIGNATURE, ihdr(), idat(Buffer.alloc(400 * MB)), IEND])),
  'PNG: transparency of 20 MB': () => either(png(chunk('tRNS', Buffer.alloc(20 * MB)))),
  'PNG: an archive behind it': () => picture(Buffer.concat([png(), latin1('PK\x03\x04'), Buffer.alloc(20 * MB, 7)])),
}

// JPEG

const segment = (marker: number, data: Buffer): Buffer =>
  Buffer.concat([Buffer.from([0xff, marker]), u16(data.length + 2), data])
const padded = (head: string): Buffer => Buffer.concat([latin1(head), Buffer.alloc(65_000 - head.length, 65)])
/** Something right behind the first marker of a JPEG. */
const inJpeg = (jpeg: Buffer, ...parts: Buffer[]): Buffer =>
  Buffer.concat([jpeg.subarray(0, 2), ...parts, jpeg.subarray(2)])
const frameAt = (jpeg: Buffer): number => {
  for (let at = 2; at < jpeg.length; at += 2 + jpeg.readUInt16BE(at + 2)) {
    if (jpeg[at + 1] === 0xc0 || jpeg[at + 1] === 0xc2) return at
  }
  throw new Error('a JPEG without a frame')
}
const withSides = (jpeg: Buffer, width: number, height: number): Buffer => {
  const changed = Buffer.from(jpeg)
  changed.writeUInt16BE(height, frameAt(jpeg) + 5)
  changed.writeUInt16BE(width, frameAt(jpeg) + 7)
  return changed
}
const scansOf = (jpeg: Buffer): Buffer => jpeg.subarray(jpeg.lastIndexOf(Buffer.from([0xff, 0xda])), -2)

const jpegs = (base: Buffer, progressive: Buffer): Record<string, () => BombDraft> => ({
  'JPEG: 300 segments of EXIF': () => picture(inJpeg(base, times(300, segment(0xe1, padded('Exif\0\0MM\0*'))))),
  'JPEG: a profile in 255 parts': () =>
    picture(
      inJpeg(
        base,
        ...Array.from({ length: 255 }, (_, i) =>
          segment(0xe2, padded(`ICC_PROFILE\0${String.fromCharCode(i + 1)}\xff`)),
        ),
      ),
    ),
  'JPEG: 300 segments of XMP': () =>
    picture(inJpeg(base, times(300, segment(0xe1, padded('http://ns.adobe.com/xap/1.0/\0'))))),
  'JPEG: 300 comments': () => picture(inJpeg(base, times(300, segment(0xfe, padded('<script>'))))),
  'JPEG: 100,000 empty comments': () => picture(inJpeg(base, times(100_000, segment(0xfe, Buffer.alloc(0))))),
  'JPEG: thumbnails': () => picture(inJpeg(base, times(300, segment(0xe0, padded('JFXX\0\x10'))))),
  'JPEG: 300 words of Adobe': () => picture(inJpeg(base, times(300, segment(0xee, padded('Adobe\0d\0\0\0\0\x01'))))),
  'JPEG: 500 pictures, one behind the other': () => picture(times(500, base)),
  'JPEG: a million bytes to fill before a marker': () => picture(inJpeg(base, Buffer.alloc(MB, 0xff))),
  'JPEG: 10,000 scans': () =>
    nothing(
      Buffer.concat([progressive.subarray(0, -2), times(10_000, scansOf(progressive)), progressive.subarray(-2)]),
    ),
  'JPEG: 100 scans of 49 megapixels': () =>
    nothing(
      withSides(
        Buffer.concat([progressive.subarray(0, -2), times(80, scansOf(progressive)), progressive.subarray(-2)]),
        7_000,
        7_000,
      ),
    ),
  'JPEG: 65,535 by 65,535': () => nothing(withSides(base, 65_535, 65_535)),
  'JPEG: 7,000 by 7,000 of which 64 are there': () => nothing(withSides(base, 7_000, 7_000)),
  'JPEG: no height': () => nothing(withSides(base, 64, 0)),
  'JPEG: two frames': () => {
    const at = frameAt(base)
    return nothing(inJpeg(base, withSides(base, 9_000, 9_000).subarray(at, at + 2 + base.readUInt16BE(at + 2))))
  },
  'JPEG: a segment without a length': () => nothing(inJpeg(base, Buffer.from([0xff, 0xe1, 0, 0]))),
  'JPEG: a segment longer than the file': () =>
    nothing(inJpeg(base, Buffer.from([0xff, 0xe1, 0xff, 0xff])).subarray(0, 200)),
  'JPEG: broken off': () => nothing(base.subarray(0, -30)),
  'JPEG: 255 components': () =>
    nothing(
      Buffer.concat([
        base.subarray(0, 2),
        segment(0xc0, Buffer.concat([Buffer.from([8, 0, 64, 0, 64, 255]), times(255, Buffer.from([1, 0x44, 0]))])),
        base.subarray(2),
      ]),
    ),
  'JPEG: an archive behind it': () => picture(Buffer.concat([base, latin1('PK\x03\x04'), Buffer.alloc(20 * MB, 7)])),
})

// WebP

const riffPart = (type: string, data: Buffer): Buffer =>
  Buffer.concat([latin1(type), u32le(data.length), data, Buffer.alloc(data.length & 1)])
const riff = (...parts: Buffer[]): Buffer => {
  const body = Buffer.concat([latin1('WEBP'), ...parts])
  return Buffer.concat([latin1('RIFF'), u32le(body.length), body])
}
const extended = (flags: number, width = 64, height = 64): Buffer =>
  riffPart(
    'VP8X',
    Buffer.concat([Buffer.from([flags, 0, 0, 0]), u32le(width - 1).subarray(0, 3), u32le(height - 1).subarray(0, 3)]),
  )
const losslessHead = (width: number, height: number): Buffer => {
  const bits = ((width - 1) | ((height - 1) << 14)) >>> 0
  return Buffer.concat([Buffer.from([0x2f]), u32le(bits), Buffer.alloc(32)])
}
const frame = (picture: Buffer): Buffer =>
  riffPart(
    'ANMF',
    Buffer.concat([
      Buffer.alloc(6),
      u32le(63).subarray(0, 3),
      u32le(63).subarray(0, 3),
      Buffer.from([40, 0, 0, 0]),
      picture,
    ]),
  )
const ANIM = riffPart('ANIM', Buffer.alloc(6))

/** `image`: the chunk of a picture of 64 × 64. */
const webps = (image: Buffer): Record<string, () => BombDraft> => ({
  'WebP: EXIF of 20 MB': () => picture(riff(extended(0x08), image, riffPart('EXIF', Buffer.alloc(20 * MB, 'MM')))),
  'WebP: XMP of 20 MB': () => picture(riff(extended(0x04), image, riffPart('XMP ', Buffer.alloc(20 * MB, '<x>')))),
  'WebP: a profile of 20 MB': () => picture(riff(extended(0x20), riffPart('ICCP', Buffer.alloc(20 * MB)), image)),
  'WebP: a million chunks that nobody knows': () =>
    picture(riff(extended(0), image, times(MB, riffPart('abcd', latin1('1234'))))),
  'WebP: an animation of 5,000 frames': () => nothing(riff(extended(0x02), ANIM, times(5_000, frame(image)))),
  'WebP: an animation of 5,000 frames, without a word of it': () => nothing(riff(times(5_000, frame(image)))),
  'WebP: a canvas of 16 million by 16 million': () => nothing(riff(extended(0, 1 << 24, 1 << 24), image)),
  'WebP: a canvas of 7,000 by 7,000 for 64': () => nothing(riff(extended(0, 7_000, 7_000), image)),
  'WebP: 16,383 by 16,383 in 40 bytes': () => nothing(riff(riffPart('VP8L', losslessHead(16_383, 16_383)))),
  'WebP: 7,000 by 7,000 in 40 bytes': () => nothing(riff(riffPart('VP8L', losslessHead(7_000, 7_000)))),
  'WebP: longer than the file': () => {
    const file = riff(image)
    file.writeUInt32LE(0xffff_fff0, 4)
    return nothing(file)
  },
  'WebP: a chunk longer than the file': () => {
    const file = riff(image)
    file.writeUInt32LE(0x7fff_ffff, 16)
    return nothing(file)
  },
  'WebP: two pictures': () => nothing(riff(image, image)),
  'WebP: nothing but metadata': () => nothing(riff(extended(0x08), riffPart('EXIF', Buffer.alloc(MB)))),
  'WebP: an archive behind it': () =>
    picture(Buffer.concat([riff(image), latin1('PK\x03\x04'), Buffer.alloc(20 * MB)])),
})

/** Formats that are not taken, whatever they would cost. */
const others: Record<string, () => BombDraft> = {
  'GIF: 1,000 frames of 65,535 by 65,535': () =>
    nothing(
      Buffer.concat([
        latin1('GIF89a\xff\xff\xff\xff\x80\0\0\0\0\0\xff\xff\xff'),
        times(1_000, latin1('\x2c\0\0\0\0\xff\xff\xff\xff\0\x02\x02\x4c\x01\0')),
        latin1('\x3b'),
      ]),
    ),
  'SVG: entities in entities': () => {
    const entities = Array.from({ length: 12 }, (_, i) => `<!ENTITY e${i + 1} "${`&e${i};`.repeat(10)}">`)
    return nothing(
      latin1(
        `<!DOCTYPE svg [<!ENTITY e0 "x">${entities.join('')}]><svg xmlns="http://www.w3.org/2000/svg"><text>&e12;</text></svg>`,
      ),
    )
  },
  'TIFF: a strip of 4 GB': () =>
    nothing(Buffer.concat([latin1('II*\0\x08\0\0\0\x01\0\x11\x01\x04\0\x01\0\0\0\xff\xff\xff\xff'), Buffer.alloc(64)])),
  'AVIF: a head alone': () =>
    nothing(Buffer.concat([u32(32), latin1('ftypavif\0\0\0\0avifmif1miaf'), Buffer.alloc(8)])),
  'BMP: 40,000 by 40,000': () =>
    nothing(Buffer.concat([latin1('BM'), Buffer.alloc(16), u32le(40_000), u32le(40_000), Buffer.alloc(64)])),
  PDF: () => nothing(latin1('%PDF-1.7\n1 0 obj<</Filter/FlateDecode/Length 9>>stream\n')),
  zeros: () => nothing(Buffer.alloc(20 * MB)),
  'nothing at all': () => nothing(Buffer.from([0])),
}

/** One colour on 64 × 64 pixels: a JPEG in one scan, a progressive one, and the chunk of a WebP. */
const BASE = Buffer.from(
  [
    '/9j/2wBDABsSFBcUERsXFhceHBsgKEIrKCUlKFE6PTBCYFVlZF9VXVtqeJmBanGQc1tdhbWGkJ6jq62rZ4C8ybqmx5moq6T/2wBDARweHigj',
    'KE4rK06kbl1upKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKT/wAARCABAAEADASIAAhEBAxEB/8QA',
    'FQABAQAAAAAAAAAAAAAAAAAAAAX/xAAUEAEAAAAAAAAAAAAAAAAAAAAA/8QAFgEBAQEAAAAAAAAAAAAAAAAAAAMF/8QAFBEBAAAAAAAAAAAA',
    'AAAAAAAAAP/aAAwDAQACEQMRAD8AlgKNYAAAAAAAAAAAAAAAAAAAAAAAAAAAAAB//9k=',
  ].join(''),
  'base64',
)
const PROGRESSIVE = Buffer.from(
  [
    '/9j/2wBDABsSFBcUERsXFhceHBsgKEIrKCUlKFE6PTBCYFVlZF9VXVtqeJmBanGQc1tdhbWGkJ6jq62rZ4C8ybqmx5moq6T/2wBDARweHigj',
    'KE4rK06kbl1upKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKT/wgARCABAAEADASIAAhEBAxEB/8QA',
    'FQABAQAAAAAAAAAAAAAAAAAAAAT/xAAWAQEBAQAAAAAAAAAAAAAAAAAAAgT/2gAMAwEAAhADEAAAAZRWsAAAAAAAAAAAAAAD/8QAFBABAAAA',
    'AAAAAAAAAAAAAAAAYP/aAAgBAQABBQIB/8QAFBEBAAAAAAAAAAAAAAAAAAAAQP/aAAgBAwEBPwEH/8QAFBEBAAAAAAAAAAAAAAAAAAAAQP/a',
    'AAgBAgEBPwEH/8QAFBABAAAAAAAAAAAAAAAAAAAAYP/aAAgBAQAGPwIB/8QAFBABAAAAAAAAAAAAAAAAAAAAYP/aAAgBAQABPyEB/9oADAMB',
    'AAIAAwAAABAAAAAAAAAAAAAAAAD/xAAUEQEAAAAAAAAAAAAAAAAAAABA/9oACAEDAQE/EAf/xAAUEQEAAAAAAAAAAAAAAAAAAABA/9oACAEC',
    'AQE/EAf/xAAUEAEAAAAAAAAAAAAAAAAAAABg/9oACAEBAAE/EAH/2Q==',
  ].join(''),
  'base64',
)
const WEBP_IMAGE = Buffer.from(
  'UklGRkYAAABXRUJQVlA4IDoAAADQAwCdASpAAEAAP3G412Q0ryumoggCkC4JaQAW30CBunFJKHxrssAA/uX6BNz/9Su/DzVWARooAAAA',
  'base64',
).subarray(12)

/** Those that have megabytes, or of which much has to be packed. */
const LARGE = /million|megapixels|\d+ MB|300|500|palettes|archive|zeros/

/** Makes them one at a time: together they are half a gigabyte. `small`: those that take no time to make. */
export function* pictureBombs(which: 'all' | 'small' = 'all'): Generator<PictureBomb, void> {
  const all = { ...pngs, ...jpegs(BASE, PROGRESSIVE), ...webps(WEBP_IMAGE), ...others }
  for (const [name, make] of Object.entries(all)) {
    if (which === 'all' || !LARGE.test(name)) yield { name, ...make() }
  }
}

/** A part that draws nothing, so many times in a picture of each format. */
export function withMetadata(
  format: 'png' | 'jpeg' | 'webp',
  type: number,
  part: { data: Buffer; count: number },
): Buffer {
  const { data, count } = part
  const letters = ['zTXt', 'iTXt', 'iCCP', 'eXIf', 'tEXt', 'sPLT', 'abCd', 'gAMA', 'acTL', 'fdAT'] as const
  if (format === 'png') return png(times(count, chunk(letters[type % letters.length] ?? 'zTXt', data)))
  if (format === 'jpeg') return inJpeg(BASE, times(count, segment(0xe0 + (type % 16), data.subarray(0, 65_000))))
  const chunks = ['EXIF', 'XMP ', 'ICCP', 'abcd'] as const
  return riff(extended(type & 0x2c), WEBP_IMAGE, times(count, riffPart(chunks[type % chunks.length] ?? 'EXIF', data)))
}
