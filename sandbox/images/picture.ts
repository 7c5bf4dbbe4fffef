import { pixelsOf } from '../../src/lib/runtime/picture.ts'
import { Slots } from '../../src/lib/primitives/slots.ts'
import { paint, type Canvas, type PaintOptions } from './paint.ts'

export type Format = 'png' | 'jpeg' | 'webp'
export type PictureEncoding = { format: Format; compression?: number | undefined; pixelate?: number | undefined }

/** Encodes pixels to files and decodes files to pixels. The library is loaded with the first picture. */
const library = async () => (await import('sharp')).default

const QUALITY_DEFAULT = 90

export async function encode(
  { width, height, pixels }: Canvas,
  { format, compression, pixelate }: PictureEncoding,
): Promise<Buffer> {
  const sharp = await library()
  let image = sharp(pixels, { raw: { width, height, channels: 4 } })
  if (pixelate !== undefined) {
    const small = await image
      .resize(Math.ceil(width / pixelate), Math.ceil(height / pixelate))
      .png()
      .toBuffer()
    image = sharp(small).resize(width, height, { kernel: 'nearest' })
  }
  const quality = Math.max(1, compression ?? QUALITY_DEFAULT)
  if (format === 'jpeg') return image.flatten().jpeg({ quality }).toBuffer()
  if (format === 'webp') return image.webp({ quality, effort: 1 }).toBuffer()
  return image.png({ compressionLevel: 3 }).toBuffer()
}

/** The bound of a picture. Several of this size are in memory during an overlay. */
const PIXELS_MAX = 2048 * 2048

/** The picture requests that run at once. Each takes up to 150 MB. */
const easels = new Slots(2)

/** Runs work on pictures when a slot is free. Rejects if the client has left before that. */
export const atEasel = <T>(signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> =>
  easels.run(() => {
    signal?.throwIfAborted()
    return work()
  })

/** The serving thread paints up to this size. Other threads scale a larger picture up. */
const PAINTED_PIXELS_MAX = 1536 * 1024

/** The picture of a prompt. A large one is made smaller with about the same ratio. */
export const sketch = (prompt: string, options: PaintOptions): Canvas =>
  paint(prompt, { ...options, ...within(options, PAINTED_PIXELS_MAX) })

/** The picture of a prompt in its full size. */
export const picture = (prompt: string, options: PaintOptions): Promise<Canvas> =>
  resize(sketch(prompt, options), options)

export type DecodedCanvas = Canvas & { readonly fileWidth: number; readonly fileHeight: number }

/** The pixels of a PNG, JPEG or WebP. A large one is scaled down. Undefined if the file is none of these. */
export async function decode(file: Uint8Array): Promise<DecodedCanvas | undefined> {
  const bytes = Buffer.from(file.buffer, file.byteOffset, file.byteLength)
  const decoded = await pixelsOf(bytes, { share: 'sandbox' }, PIXELS_MAX)
  return decoded && { ...decoded, pixels: decoded.bytes }
}

export async function resize(
  { width, height, pixels }: Canvas,
  to: { width: number; height: number },
): Promise<Canvas> {
  if (width === to.width && height === to.height) return { width, height, pixels }
  const sharp = await library()
  const raw = { raw: { width, height, channels: 4 as const } }
  return {
    width: to.width,
    height: to.height,
    pixels: await sharp(pixels, raw).resize({ width: to.width, height: to.height, fit: 'fill' }).raw().toBuffer(),
  }
}

type Sides = { readonly width: number; readonly height: number }

/** Sides of about the same ratio with at most `pixelsMax` pixels. */
function within({ width, height }: Sides, pixelsMax: number): Sides {
  const scale = Math.min(1, Math.sqrt(pixelsMax / (width * height)))
  const side = (length: number): number => Math.max(1, Math.min(pixelsMax, Math.floor(length * scale)))
  return { width: side(width), height: side(height) }
}

/** Alpha below this value is a hole. */
const OPAQUE = 128

/**
 * Lays one picture over another, in the size of the base. It shows in the holes, or half transparent everywhere if
 * there are no holes. Other threads do all the work.
 */
export async function layOver(base: Canvas, upper: Canvas, holes: Canvas | undefined): Promise<Canvas> {
  const sharp = await library()
  const { width, height } = base
  const raw = { width, height, channels: 4 } as const
  const colors = await sharp((await resize(upper, raw)).pixels, { raw })
    .removeAlpha()
    .raw()
    .toBuffer()
  const layer = sharp(colors, { raw: { ...raw, channels: 3 } })
  if (holes) {
    const alpha = await sharp(holes.pixels, { raw }).extractChannel('alpha').threshold(OPAQUE).negate().raw().toBuffer()
    layer.joinChannel(alpha, { raw: { ...raw, channels: 1 } })
  } else layer.ensureAlpha(0.5)
  const input = await layer.raw().toBuffer()
  const pixels = await sharp(base.pixels, { raw }).composite([{ input, raw }]).raw().toBuffer()
  return { width, height, pixels }
}
