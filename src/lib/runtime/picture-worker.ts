/**
 * Decodes pictures in sequence, in its own process, which ends with its standard input. Damage by a picture ends with
 * the process. It is killed if it takes too long, and exits if it takes too much memory.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import sharp, { type Sharp } from 'sharp'
import { drawingIn, type Drawing } from './drawing.ts'
import {
  EXIT_CODE_OF_MEMORY,
  ROOM_BYTES,
  SIDE_MAX,
  type PictureAnswer,
  type PictureJob,
  type PictureLook,
  type PictureResult,
} from './picture-job.ts'
import { KIB } from '../primitives/units.ts'

const MEMORY_CHECKED_MS = 10

const bytesMax = Number(process.argv[2])

// No picture is decoded twice, so there is no cache. Decoders of other formats are blocked, because they are not
// needed.
sharp.cache(false)
sharp.concurrency(1)
sharp.block({ operation: ['VipsForeignLoad'] })
sharp.unblock({ operation: ['VipsForeignLoadPng', 'VipsForeignLoadJpeg', 'VipsForeignLoadWebp'] })
offerToOom()

/** If memory runs out, the system should kill this process first. */
function offerToOom(): void {
  try {
    writeFileSync('/proc/self/oom_score_adj', '1000')
  } catch {
    // The system is another one, or does not allow it.
  }
}

const open = (bytes: Buffer): Sharp =>
  sharp(bytes, { failOn: 'warning', limitInputPixels: false, sequentialRead: true })

/** The part of a file that may be decoded, or the reason why it may not. */
function drawable(file: Buffer, pixelsMax: number): Drawing | Exclude<PictureLook, { kind: 'picture' }> {
  const drawing = drawingIn(file)
  if (!drawing) return { kind: 'unreadable' }
  const { width, height, heldBytes } = drawing
  // Decided by the head alone, so a decompression bomb is never decoded.
  if (width * height > pixelsMax) return { kind: 'too_large' }
  if (Math.max(width, height) > SIDE_MAX) return { kind: 'too_long' }
  return heldBytes > bytesMax - ROOM_BYTES ? { kind: 'too_heavy' } : drawing
}

async function look(file: Buffer, pixelsMax: number): Promise<PictureLook> {
  const drawing = drawable(file, pixelsMax)
  if (drawing.kind !== 'drawing') return drawing
  const { format, width, height, hasAlpha, pages = 1 } = await open(drawing.bytes).metadata()
  if (format !== drawing.format || !width || !height || pages > 1) return { kind: 'unreadable' }
  // Averaging decodes every row and keeps none.
  await open(drawing.bytes).resize(1, 1, { fit: 'fill', fastShrinkOnLoad: false }).raw().toBuffer()
  return { kind: 'picture', format: drawing.format, width, height, hasAlpha }
}

const PIECE = Buffer.alloc(64 * KIB, 255)

/** Holds one byte per pixel. */
async function isOpaque(file: Buffer): Promise<boolean> {
  const drawing = drawingIn(file)
  const alpha = drawing && (await open(drawing.bytes).extractChannel('alpha').raw().toBuffer())
  for (let at = 0; alpha && at < alpha.length; at += PIECE.length) {
    const piece = alpha.subarray(at, at + PIECE.length)
    if (!piece.equals(PIECE.subarray(0, piece.length))) return false
  }
  return true
}

type DoneState = { readonly said: PictureResult; readonly bytes?: Buffer }

/** The pixels of a picture, four bytes each, scaled down to `pixelsMax`. */
async function pixels(file: Buffer, pixelsMax: number): Promise<DoneState> {
  const drawing = drawable(file, Number.POSITIVE_INFINITY)
  if (drawing.kind !== 'drawing') return { said: drawing }
  const { width: fileWidth, height: fileHeight } = drawing
  const image = open(drawing.bytes)
  const scale = Math.min(1, Math.sqrt(pixelsMax / (fileWidth * fileHeight)))
  const side = (length: number): number => Math.max(1, Math.min(pixelsMax, Math.floor(length * scale)))
  if (scale < 1) image.resize({ width: side(fileWidth), height: side(fileHeight), fit: 'fill' })
  const { data: bytes, info } = await image.ensureAlpha().raw().toBuffer({ resolveWithObject: true })
  return { said: { kind: 'pixels', width: info.width, height: info.height, fileWidth, fileHeight }, bytes }
}

async function carryOut(job: PictureJob): Promise<DoneState> {
  // If the job comes with its file, the file must be read in any case.
  const sent = 'bytes' in job ? await input.bytes(job.bytes) : undefined
  try {
    const file = sent ?? readFileSync(('path' in job && job.path) || '')
    switch (job.task) {
      case 'look':
        return { said: await look(file, job.pixelsMax) }
      case 'pixels':
        return await pixels(file, job.pixelsMax)
      case 'opacity':
        return { said: { kind: 'opacity', isOpaque: await isOpaque(file) } }
    }
  } catch {
    return { said: { kind: 'unreadable' } } // The caller decides what that means.
  }
}

/** Standard input, read on demand. */
class Input {
  private readonly reader = Bun.stdin.stream().getReader()
  private rest: Buffer = Buffer.alloc(0)

  /** Undefined at the end. */
  async line(): Promise<string | undefined> {
    const pieces: Buffer[] = []
    for (;;) {
      const end = this.rest.indexOf(0x0a)
      if (end !== -1) {
        pieces.push(this.rest.subarray(0, end))
        this.rest = this.rest.subarray(end + 1)
        return Buffer.concat(pieces).toString()
      }
      pieces.push(this.rest)
      if (!(await this.refill())) return undefined
    }
  }

  async bytes(count: number): Promise<Buffer> {
    const all = Buffer.allocUnsafe(count)
    for (let at = 0; at < count;) {
      if (this.rest.length === 0 && !(await this.refill())) process.exit(0)
      const taken = this.rest.copy(all, at)
      this.rest = this.rest.subarray(taken)
      at += taken
    }
    return all
  }

  private async refill(): Promise<boolean> {
    const { value, done } = await this.reader.read()
    this.rest = value ? Buffer.from(value.buffer, value.byteOffset, value.byteLength) : Buffer.alloc(0)
    return !done
  }
}

const input = new Input()
// This thread only waits while the decoder's threads work, so the timer runs.
setInterval(() => {
  if (process.memoryUsage.rss() > bytesMax) process.exit(EXIT_CODE_OF_MEMORY)
}, MEMORY_CHECKED_MS)

const write = (bytes: string | Buffer): Promise<void> =>
  new Promise((done) => process.stdout.write(bytes, () => done()))

for (let line = await input.line(); line !== undefined; line = await input.line()) {
  const job = JSON.parse(line) as PictureJob
  const { said, bytes } = await carryOut(job)
  const answer: PictureAnswer = { said, residentBytes: process.memoryUsage.rss(), bytes: bytes?.length ?? 0 }
  await write(`${JSON.stringify(answer)}\n`)
  if (bytes) await write(bytes)
}
process.exit(0)
