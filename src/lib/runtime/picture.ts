/**
 * Inspects images by decoding them, because a file that only begins like an image must not pass for one. Decoders are
 * separate processes. They start with the first image, so a gateway for text never has them, and end when idle.
 */
import { Decoders } from './picture-decoders.ts'
import type { PictureLook, Pixels } from './picture-job.ts'
import type { SlotRequest } from '../primitives/slots.ts'
import { limit } from '../primitives/limit.ts'

export type { PictureLook, Picture } from './picture-job.ts'

/** More pixels than any vendor makes or takes. */
const PIXELS_MAX = limit('imagePixelsMax', 100_000_000, 'An image with more pixels is not decoded.')

/** The decoders for images of clients and upstreams. */
export const decoders = new Decoders()

/**
 * Decodes an image from its bytes or its file. The pixels are not kept. Rejects with `TooLate` after the deadline of
 * the slot, if it has one, and with `NoDecoder` if no process can be started.
 */
export async function inspectPicture(
  input: Buffer | string,
  slot: SlotRequest,
  pixelsMax: number = PIXELS_MAX,
): Promise<PictureLook> {
  const { said } = await decoders.decode(input, { task: 'look', pixelsMax }, slot)
  return said as PictureLook
}

/** Whether every pixel is opaque. It takes one byte per pixel. Call it for an inspected image with alpha. */
export async function isOpaque(input: Buffer | string, slot: SlotRequest): Promise<boolean> {
  const { said } = await decoders.decode(input, { task: 'opacity' }, slot)
  return said.kind === 'opacity' && said.isOpaque
}

/** The pixels, four bytes each. A larger image is scaled down. Undefined if it is no image. */
export async function pixelsOf(
  input: Buffer,
  slot: SlotRequest,
  pixelsMax: number,
): Promise<(Pixels & { readonly bytes: Buffer }) | undefined> {
  const { said, bytes } = await decoders.decode(input, { task: 'pixels', pixelsMax }, slot)
  return said.kind === 'pixels' ? { ...said, bytes } : undefined
}
