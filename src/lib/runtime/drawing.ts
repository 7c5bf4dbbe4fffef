/**
 * Extracts the parts of a picture file that draw it. Everything else (texts, profiles, thumbnails, EXIF, comments,
 * further pictures) is removed before a decoder sees the file. Decoders unpack such parts whole, some to a thousand
 * times their length, and nothing here uses them. Only heads are read, a few bytes each.
 */

export type PictureFormat = 'png' | 'jpeg' | 'webp'

export type Drawing = {
  readonly kind: 'drawing'
  readonly format: PictureFormat
  readonly width: number
  readonly height: number
  /** The least memory for pixels that a decoder holds at once. 0 if it decodes row by row. */
  readonly heldBytes: number
  /** A file of the same format that draws the same picture. */
  readonly bytes: Buffer
}

type Draft = Omit<Drawing, 'kind' | 'bytes'>

/**
 * Moves the parts that draw to the front of the file's own bytes. Undefined if the heads show that the file is no whole
 * PNG, JPEG or WebP with one picture.
 */
export function drawingIn(file: Buffer): Drawing | undefined {
  const parts = new Parts(file)
  const draft = readPng(parts) ?? readJpeg(parts) ?? readWebp(parts)
  if (!draft || draft.width === 0 || draft.height === 0) return undefined
  return { kind: 'drawing', ...draft, bytes: parts.kept }
}

/** A file whose parts are moved forward in order. Kept parts never overtake the read position. */
class Parts {
  readonly file: Buffer
  private keptBytes = 0

  constructor(file: Buffer) {
    this.file = file
  }

  get kept(): Buffer {
    return this.file.subarray(0, this.keptBytes)
  }

  keep(from: number, to: number): void {
    if (from !== this.keptBytes) this.file.copyWithin(this.keptBytes, from, to)
    this.keptBytes += to - from
  }
}

const typeAt = (file: Buffer, at: number): string => file.toString('latin1', at, at + 4)

// PNG (Third Edition), 5: a signature, then chunks of length, type, data and checksum.

const PNG_SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex')
const PNG_CHUNK_BYTES = 12
const IHDR_BYTES = 13
const PNG_DRAWING = new Set(['IHDR', 'PLTE', 'tRNS', 'IDAT', 'IEND'])
/** By colour type. */
const PNG_CHANNELS: Readonly<Record<number, number>> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 }

function readPng(parts: Parts): Draft | undefined {
  const { file } = parts
  let at = PNG_SIGNATURE.length
  if (!file.subarray(0, at).equals(PNG_SIGNATURE)) return undefined
  parts.keep(0, at)
  let draft: Draft | undefined
  while (at + PNG_CHUNK_BYTES <= file.length) {
    const type = typeAt(file, at + 4)
    const end = at + PNG_CHUNK_BYTES + file.readUInt32BE(at)
    if (end > file.length) return undefined
    // The head must come first, and only once.
    if ((type === 'IHDR') === (draft !== undefined)) return undefined
    draft ??= pngHead(file.subarray(at + 8, end - 4))
    if (!draft) return undefined
    if (PNG_DRAWING.has(type)) parts.keep(at, end)
    // A chunk whose type begins with a capital letter is critical. An unknown one cannot be skipped.
    else if (type.charCodeAt(0) < 0x61) return undefined
    if (type === 'IEND') return draft
    at = end
  }
  return undefined
}

function pngHead(data: Buffer): Draft | undefined {
  if (data.length !== IHDR_BYTES) return undefined
  const [width, height] = [data.readUInt32BE(0), data.readUInt32BE(4)]
  const [depth = 8, colour = 6, , , interlace] = data.subarray(8)
  const pixelBytes = ((PNG_CHANNELS[colour] ?? 4) * Math.max(depth, 8)) / 8
  return { format: 'png', width, height, heldBytes: interlace === 0 ? 0 : width * height * pixelBytes }
}

// JPEG (ITU-T T.81, B): markers, most of them with a length. The data of a scan follows SOS.

const [SOI, EOI, SOS, DHT, JPG, DAC, COM] = [0xd8, 0xd9, 0xda, 0xc4, 0xc8, 0xcc, 0xfe]
const [APP0, APP14, APP15] = [0xe0, 0xee, 0xef]
/** The Adobe segment says how three or four components become colours (T.872, 6.5.3). It has twelve bytes of data. */
const ADOBE_BYTES = 14
/** Encoders write ten scans for a progressive picture. Even a tiny scan costs a pass over the whole picture. */
const SCANS_MAX = 100

const isAlone = (marker: number): boolean => (marker >= 0xd0 && marker <= 0xd7) || marker === 0x01
const isFrame = (marker: number): boolean =>
  marker >= 0xc0 && marker <= 0xcf && marker !== DHT && marker !== JPG && marker !== DAC

function readJpeg(parts: Parts): Draft | undefined {
  const { file } = parts
  if (file[0] !== 0xff || file[1] !== SOI) return undefined
  parts.keep(0, 2)
  let draft: Draft | undefined
  let scans = 0
  let isProgressive = false
  for (let at = 2; at + 2 <= file.length;) {
    if (file[at] !== 0xff) return undefined
    const marker = file[at + 1] ?? 0
    if (marker === 0xff) {
      at++ // Any number of fill bytes may precede a marker.
      continue
    }
    if (marker === EOI) {
      parts.keep(at, at + 2)
      // If all components are in one scan, the decoder works row by row.
      return scans === 1 && draft && !isProgressive ? { ...draft, heldBytes: 0 } : draft
    }
    if (marker === 0 || marker === SOI) return undefined
    const end = isAlone(marker) ? at + 2 : segmentEnd(file, at)
    if (end === undefined) return undefined
    if (isFrame(marker)) {
      if (draft) return undefined
      draft = jpegHead(file.subarray(at + 4, end))
      if (!draft) return undefined
      isProgressive = marker === 0xc2 || marker === 0xca
    }
    if (marker === SOS && ++scans > SCANS_MAX) return undefined
    const next = marker === SOS ? scanEnd(file, end) : end
    if (next === undefined) return undefined
    if (isDrawingSegment(marker, file.subarray(at + 4, end))) parts.keep(at, next)
    at = next
  }
  return undefined
}

function segmentEnd(file: Buffer, at: number): number | undefined {
  if (at + 4 > file.length) return undefined
  const length = file.readUInt16BE(at + 2)
  const end = at + 2 + length
  return length < 2 || end > file.length ? undefined : end
}

/** The position of the next marker that ends a scan. Restart markers and stuffed bytes do not end it. */
function scanEnd(file: Buffer, from: number): number | undefined {
  for (let at = file.indexOf(0xff, from); at !== -1 && at + 1 < file.length; at = file.indexOf(0xff, at)) {
    const after = file[at + 1] ?? 0
    if (after === 0xff) at++
    else if (after === 0 || (after >= 0xd0 && after <= 0xd7)) at += 2
    else return at
  }
  return undefined
}

function isDrawingSegment(marker: number, data: Buffer): boolean {
  if (marker === COM) return false
  if (marker < APP0 || marker > APP15) return true
  return marker === APP14 && data.length <= ADOBE_BYTES && data.toString('latin1', 0, 5) === 'Adobe'
}

/** Reads precision, height, width, and the sampling of each component. */
function jpegHead(data: Buffer): Draft | undefined {
  const components = data[5] ?? 0
  if (components === 0 || data.length !== 6 + components * 3) return undefined
  const [height, width] = [data.readUInt16BE(1), data.readUInt16BE(3)]
  const samplings = Array.from({ length: components }, (_, i) => data[7 + i * 3] ?? 0)
  const areas = samplings.map((sampling) => (sampling >> 4) * (sampling & 15))
  const largest = Math.max(...samplings.map((one) => one >> 4)) * Math.max(...samplings.map((one) => one & 15))
  if (areas.includes(0)) return undefined
  const coefficients = (width * height * areas.reduce((sum, area) => sum + area, 0)) / largest
  return { format: 'jpeg', width, height, heldBytes: Math.ceil(coefficients * 2) }
}

// WebP (RFC 9649, 2): a RIFF file with chunks of type, length and data, each padded to an even length.

const WEBP_HEAD_BYTES = 12
const WEBP_CHUNK_BYTES = 8
const VP8X_BYTES = 10
const ANMF_BYTES = 16
const WEBP_DRAWING = new Set(['VP8X', 'VP8 ', 'VP8L', 'ALPH', 'ANIM', 'ANMF'])
/** Flags of VP8X for removed parts: profile, EXIF, XMP. */
const LEFT_OUT_FLAGS = 0x20 | 0x08 | 0x04

type Sides = { readonly width: number; readonly height: number }

function readWebp(parts: Parts): Draft | undefined {
  const { file } = parts
  if (file.length < WEBP_HEAD_BYTES || typeAt(file, 0) !== 'RIFF' || typeAt(file, 8) !== 'WEBP') return undefined
  const size = WEBP_CHUNK_BYTES + file.readUInt32LE(4)
  if (size > file.length) return undefined
  parts.keep(0, WEBP_HEAD_BYTES)
  const canvases: Sides[] = []
  let pictures = 0
  for (let at = WEBP_HEAD_BYTES; at + WEBP_CHUNK_BYTES <= size;) {
    const type = typeAt(file, at)
    const length = file.readUInt32LE(at + 4)
    const end = at + WEBP_CHUNK_BYTES + length
    if (end > size) return undefined
    const next = Math.min(end + (length & 1), size)
    const data = file.subarray(at + WEBP_CHUNK_BYTES, end)
    if (type === 'VP8X' && data.length === VP8X_BYTES) data[0] = (data[0] ?? 0) & ~LEFT_OUT_FLAGS
    if (type === 'VP8 ' || type === 'VP8L' || type === 'ANMF') pictures++
    const sides = webpSides(type, data)
    if (sides === 'wrong') return undefined
    canvases.push(...sides)
    // Only one picture is allowed. No vendor here makes or takes animations of several.
    if (pictures > 1 || canvases.length > CANVASES_MAX) return undefined
    if (WEBP_DRAWING.has(type)) parts.keep(at, next)
    at = next
  }
  if (pictures === 0) return undefined
  const [first] = canvases
  const { kept } = parts
  kept.writeUInt32LE(kept.length - WEBP_CHUNK_BYTES, 4)
  const width = Math.max(...canvases.map((canvas) => canvas.width))
  const height = Math.max(...canvases.map((canvas) => canvas.height))
  // The decoder refuses heads that disagree, but may try the largest size among them.
  // The decoder and the library each hold the pixels: 8.2 bytes per pixel as measured (libvips 8.18).
  return first && { format: 'webp', width, height, heldBytes: width * height * 8 }
}

/** The sizes of a file: a canvas, a frame, and the picture in it. */
const CANVASES_MAX = 3

/** The sizes that the heads of a chunk state. */
function webpSides(type: string, data: Buffer): readonly Sides[] | 'wrong' {
  switch (type) {
    case 'VP8X':
      if (data.length !== VP8X_BYTES) return 'wrong'
      return [{ width: data.readUIntLE(4, 3) + 1, height: data.readUIntLE(7, 3) + 1 }]
    case 'VP8L': {
      if (data.length < 5 || data[0] !== 0x2f) return 'wrong'
      const bits = data.readUInt32LE(1)
      return [{ width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 }]
    }
    case 'VP8 ':
      if (data.length < 10 || data.readUIntBE(3, 3) !== 0x9d012a) return 'wrong'
      return [{ width: data.readUInt16LE(6) & 0x3fff, height: data.readUInt16LE(8) & 0x3fff }]
    case 'ANMF':
      return frameSides(data)
    default:
      return []
  }
}

/** The sizes of an animation's frame and of the picture in it. A chunk of transparency may precede the picture. */
function frameSides(data: Buffer): readonly Sides[] | 'wrong' {
  if (data.length < ANMF_BYTES) return 'wrong'
  const frame = { width: data.readUIntLE(6, 3) + 1, height: data.readUIntLE(9, 3) + 1 }
  for (let at = ANMF_BYTES; at + WEBP_CHUNK_BYTES <= data.length;) {
    const type = typeAt(data, at)
    const length = data.readUInt32LE(at + 4)
    const end = at + WEBP_CHUNK_BYTES + length
    if (end > data.length) return 'wrong'
    if (type === 'VP8 ' || type === 'VP8L') {
      const sides = webpSides(type, data.subarray(at + WEBP_CHUNK_BYTES, end))
      return sides === 'wrong' ? sides : [frame, ...sides]
    }
    at = end + (length & 1)
  }
  return 'wrong'
}
