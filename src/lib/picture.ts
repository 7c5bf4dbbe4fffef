/**
 * Looking into images by decoding them: a file that only begins like one must not pass for one. The decoder is loaded
 * with the first image, so that a gateway for text never has it in memory (60 ms and 40 MB, sharp 0.35.5).
 */
import type { Sharp, SharpOptions } from 'sharp'
import { Slots, type Claim } from './slots.ts'

const formats = ['png', 'jpeg', 'webp'] as const
export type PictureFormat = (typeof formats)[number]

export type Picture = {
  readonly kind: 'picture'
  readonly format: PictureFormat
  readonly width: number
  readonly height: number
  readonly hasAlpha: boolean
}
export type Looked = Picture | { readonly kind: 'too_large' | 'unreadable' }

/** More pixels than any vendor makes or takes; a picture of so many takes 400 MB when it is held as a whole. */
export const PIXELS_MAX = 100_000_000
/** Decoders at work at once: each holds rows of a picture, interlaced ones the whole. */
const DECODERS_MAX = 2
/** For one upstream's image, once it is begun: the largest take a few seconds. */
export const DECODING_TIMEOUT_MS = 60_000

type Decoder = (input: Buffer | string, options: SharpOptions) => Sharp

let loading: Promise<Decoder> | undefined

async function load(): Promise<Decoder> {
  const { default: sharp } = await import('sharp')
  // Nothing is looked at twice, and other formats than these have decoders of which nothing is wanted.
  sharp.cache(false)
  sharp.concurrency(1)
  sharp.block({ operation: ['VipsForeignLoad'] })
  sharp.unblock({ operation: ['VipsForeignLoadPng', 'VipsForeignLoadJpeg', 'VipsForeignLoadWebp'] })
  return sharp
}

/** Clients' and upstreams' alike. */
const decoders = new Slots(DECODERS_MAX)

/**
 * Decodes an image, from its bytes or its file. Nothing of the pixels is kept. Rejects with `TooLate` once the time of
 * the claim is over, if it has one.
 */
export async function inspectPicture(
  input: Buffer | string,
  claim: Claim,
  pixelsMax: number = PIXELS_MAX,
): Promise<Looked> {
  const decoder = await (loading ??= load())
  return decoders.run(() => look(decoder, input, { claim, pixelsMax }), claim)
}

const PIECE = Buffer.alloc(64 * 1024, 255)

/** Whether no pixel lets anything through. Holds a byte a pixel: for what was inspected, and has alpha. */
export async function isOpaque(input: Buffer | string, claim: Claim): Promise<boolean> {
  const decoder = await (loading ??= load())
  const decoded = (): Promise<Buffer> =>
    decoder(input, { limitInputPixels: false, sequentialRead: true })
      .timeout(timeoutOf(claim))
      .extractChannel('alpha')
      .raw()
      .toBuffer()
  const alpha = await decoders.run(decoded, claim)
  for (let at = 0; at < alpha.length; at += PIECE.length) {
    const piece = alpha.subarray(at, at + PIECE.length)
    if (!piece.equals(PIECE.subarray(0, piece.length))) return false
  }
  return true
}

/** The decoder stops by itself where nobody waits for it any more. */
function timeoutOf({ untilMs }: Claim): { seconds: number } {
  const leftMs = untilMs === undefined ? DECODING_TIMEOUT_MS : untilMs - performance.now()
  return { seconds: Math.max(1, Math.ceil(leftMs / 1000)) }
}

type Look = { readonly claim: Claim; readonly pixelsMax: number }

async function look(decoder: Decoder, input: Buffer | string, { claim, pixelsMax }: Look): Promise<Looked> {
  const open = (): Sharp =>
    decoder(input, { failOn: 'warning', limitInputPixels: false, sequentialRead: true }).timeout(timeoutOf(claim))
  try {
    const { format, width, height, hasAlpha, pages = 1 } = await open().metadata()
    const known = formats.find((one) => one === format)
    if (!known || !width || !height || pages > 1) return { kind: 'unreadable' }
    // By the head alone: a bomb is not even begun.
    if (width * height > pixelsMax) return { kind: 'too_large' }
    // Every row is decoded on the way to the average, and none is kept.
    await open().resize(1, 1, { fit: 'fill', fastShrinkOnLoad: false }).raw().toBuffer()
    return { kind: 'picture', format: known, width, height, hasAlpha }
  } catch {
    return { kind: 'unreadable' } // Whoever asked says what that means, or was told that it took too long.
  }
}
