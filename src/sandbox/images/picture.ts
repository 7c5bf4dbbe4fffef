import type { Canvas } from './paint.ts'

export type Format = 'png' | 'jpeg' | 'webp'
export type Encoding = { format: Format; compression?: number | undefined; pixelate?: number | undefined }

/** Files from pixels and pixels from files. The library is loaded with the first picture. */
const library = async () => (await import('sharp')).default

const QUALITY_DEFAULT = 90

export async function encode(
  { width, height, pixels }: Canvas,
  { format, compression, pixelate }: Encoding,
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

/** As many as of the largest picture that is made here: they are painted on one by one, by the serving thread. */
const PIXELS_MAX = 1536 * 1024

export type Decoded = Canvas & { readonly fileWidth: number; readonly fileHeight: number }

/** The pixels of a PNG, JPEG or WebP, of a large one fewer than it has; undefined when it is none. */
export async function decode(file: Uint8Array): Promise<Decoded | undefined> {
  try {
    const sharp = await library()
    const image = sharp(file, { failOn: 'warning' })
    const { width: fileWidth, height: fileHeight } = await image.metadata()
    const scale = Math.sqrt(PIXELS_MAX / (fileWidth * fileHeight))
    const side = (length: number): number => Math.max(1, Math.floor(length * scale))
    if (scale < 1) image.resize({ width: side(fileWidth), height: side(fileHeight), fit: 'fill' })
    const { data, info } = await image.ensureAlpha().raw().toBuffer({ resolveWithObject: true })
    return { width: info.width, height: info.height, pixels: data, fileWidth, fileHeight }
  } catch {
    return undefined // Not a picture; the caller says so.
  }
}

export async function resize(
  { width, height, pixels }: Canvas,
  to: { width: number; height: number },
): Promise<Canvas> {
  if (width === to.width && height === to.height) return { width, height, pixels }
  const sharp = await library()
  const raw = { raw: { width, height, channels: 4 as const } }
  return {
    ...to,
    pixels: await sharp(pixels, raw)
      .resize({ ...to, fit: 'fill' })
      .raw()
      .toBuffer(),
  }
}
