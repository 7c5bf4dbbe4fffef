import { expect, test } from 'bun:test'
import sharp, { type Sharp } from 'sharp'
import { drawingIn } from './drawing.ts'

const SIDES = { width: 48, height: 32 }
/** A picture of many colours, partly transparent. */
function made(channels: 3 | 4): Sharp {
  const pixels = Buffer.from(
    Array.from({ length: SIDES.width * SIDES.height * channels }, (_, i) => (i * 37 + (i >> 5)) & 255),
  )
  return sharp(pixels, { raw: { ...SIDES, channels } })
}
const EXIF = { IFD0: { Copyright: 'somebody', ImageDescription: 'x'.repeat(5_000) } }

const files: Record<string, () => Promise<Buffer>> = {
  'PNG of colours': () => made(3).png().toBuffer(),
  'PNG with transparency, interlaced, with EXIF': () => made(4).withExif(EXIF).png({ progressive: true }).toBuffer(),
  'PNG with a palette and transparency': () => made(4).png({ palette: true, colours: 32 }).toBuffer(),
  'PNG of greys': () => made(3).toColourspace('b-w').png().toBuffer(),
  'PNG of 16 bits': () => made(3).toColourspace('rgb16').png().toBuffer(),
  JPEG: () => made(3).withExif(EXIF).jpeg().toBuffer(),
  'JPEG, progressive': () => made(3).jpeg({ progressive: true }).toBuffer(),
  'JPEG of greys': () => made(3).toColourspace('b-w').jpeg().toBuffer(),
  // Its inks are inverted, and only the Adobe segment says so.
  'JPEG of four inks': () => made(3).toColourspace('cmyk').jpeg().toBuffer(),
  WebP: () => made(3).withExif(EXIF).webp().toBuffer(),
  'WebP with transparency': () => made(4).withExif(EXIF).webp().toBuffer(),
  'WebP without loss': () => made(4).webp({ lossless: true }).toBuffer(),
}

const pixelsOf = (file: Buffer): Promise<Buffer> => sharp(file, { failOn: 'warning' }).raw().toBuffer()

test.each(Object.entries(files))('%s: the kept parts draw the same picture', async (_, make) => {
  const file = await make()
  const [before, { format, channels }] = [await pixelsOf(file), await sharp(file).metadata()]
  const drawing = drawingIn(Buffer.from(file))
  expect(drawing).toMatchObject({ kind: 'drawing', format, ...SIDES })
  const after = drawing?.bytes ?? Buffer.alloc(0)
  expect(after.includes('somebody')).toBe(false)
  expect(await sharp(after).metadata()).toMatchObject({ format, channels, ...SIDES })
  expect((await pixelsOf(after)).equals(before)).toBe(true)
  // Nothing more can be removed.
  expect(drawingIn(Buffer.from(after))?.bytes.equals(after)).toBe(true)
})

test.each(Object.entries(files))('%s: a file that is cut anywhere is no picture', async (_, make) => {
  const file = await make()
  for (let length = 0; length < file.length - 1; length += 7) {
    expect(drawingIn(Buffer.from(file.subarray(0, length)))).toBeUndefined()
  }
})

test('any bytes are read to an end, within bounds', async () => {
  const all = await Promise.all(Object.values(files).map((make) => make()))
  for (let round = 0; round < 3_000; round++) {
    const file = Buffer.from(all[round % all.length] ?? [])
    for (let change = 0; change < 4; change++) {
      file[Math.floor(Math.random() * file.length)] = Math.random() < 0.5 ? 255 : Math.floor(Math.random() * 256)
    }
    const { length } = file
    expect(drawingIn(file)?.bytes.length ?? 0).toBeLessThanOrEqual(length)
  }
})
