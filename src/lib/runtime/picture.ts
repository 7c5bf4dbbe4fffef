/**
 * Looking into images by decoding them: a file that only begins like one must not pass for one. Decoders are processes
 * of their own. They come with the first image, so that a gateway for text never has them, and go when there is none.
 */
import { Decoders } from './picture-decoders.ts'
import type { PictureLook, Pixels } from './picture-job.ts'
import type { SlotClaim } from '../primitives/slots.ts'

export type { PictureLook, Picture } from './picture-job.ts'

/** More pixels than any vendor makes or takes. */
export const PIXELS_MAX = 100_000_000

/** Clients' and upstreams' alike. */
export const decoders = new Decoders()

/**
 * Decodes an image, from its bytes or its file. Nothing of the pixels is kept. Rejects with `TooLate` once the time of
 * the claim is over, if it has one, and with `NoDecoder` where none can be started.
 */
export async function inspectPicture(
  input: Buffer | string,
  claim: SlotClaim,
  pixelsMax: number = PIXELS_MAX,
): Promise<PictureLook> {
  const { said } = await decoders.decode(input, { task: 'look', pixelsMax }, claim)
  return said as PictureLook
}

/** Whether no pixel lets anything through. Takes a byte a pixel: for what was inspected, and has alpha. */
export async function isOpaque(input: Buffer | string, claim: SlotClaim): Promise<boolean> {
  const { said } = await decoders.decode(input, { task: 'opacity' }, claim)
  return said.kind === 'opacity' && said.isOpaque
}

/** The pixels themselves, four bytes each: of a larger image fewer than it has. Undefined for what is none. */
export async function pixelsOf(
  input: Buffer,
  claim: SlotClaim,
  pixelsMax: number,
): Promise<(Pixels & { readonly bytes: Buffer }) | undefined> {
  const { said, bytes } = await decoders.decode(input, { task: 'pixels', pixelsMax }, claim)
  return said.kind === 'pixels' ? { ...said, bytes } : undefined
}
