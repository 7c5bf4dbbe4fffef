/** The price of images before they are requested. A test compares it with the hold of the gateway. */
import type { ImageFacts, Model } from '../../lib/api-types.gen.ts'
import type { Look } from './image-look.ts'

/** A single image is streamed, if the model can stream. */
export const isStreamed = (facts: ImageFacts | null, { count }: Pick<Look, 'count'>): boolean =>
  facts?.streams === true && count === 1
export const partialsOf = ({ partialsMax }: ImageFacts): number => Math.min(2, partialsMax)

/** The price of an image with these options, for models sold by the piece. In nano-dollars. */
export function priceOf(
  { price, image }: Pick<Model, 'price' | 'image'>,
  { size, quality, count }: Pick<Look, 'size' | 'quality' | 'count'>,
): bigint | undefined {
  const names = [`image/${size}/${quality}`, `image/${size}`, `image/${quality}`, 'image']
  const found = names.map((name) => price.each[name]).find((amount) => amount !== undefined)
  return found === undefined ? undefined : BigInt(found) * BigInt(image?.isSingle ? 1 : count)
}

const COUNTED_PIXELS = 1536 * 1024
const PARTIAL_TOKENS = 100
const MILLION = 1_000_000n

/** The most that the images can cost, for models sold by tokens. Prompt and input images are charged in addition. */
export function priceAtMost({ price, image }: Pick<Model, 'price' | 'image'>, look: Look): bigint | undefined {
  if (!image) return undefined
  const { size, quality, count } = look
  const usual = image.tokens[quality] ?? Math.max(0, ...Object.values(image.tokens))
  if (usual === 0) return undefined
  const [width = 0, height = 0] = size.split('x').map(Number)
  const grows = Math.max(1, (width * height || 0) / COUNTED_PIXELS)
  const partials = isStreamed(image, look) ? partialsOf(image) : 0
  const tokens = BigInt(Math.ceil(usual * grows) + partials * PARTIAL_TOKENS) * BigInt(image.isSingle ? 1 : count)
  return (tokens * BigInt(price.image_output) + MILLION - 1n) / MILLION
}
