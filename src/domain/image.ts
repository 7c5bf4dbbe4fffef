/** What an image model can do, as data: what a request may ask of it, and what its images can cost. */
import { piecePrice, type PriceCard } from './price.ts'
import type { PieceUnit } from './usage.ts'
import { MIB, MINUTE_MS } from '../lib/primitives/units.ts'
import { limit } from '../lib/primitives/limit.ts'

export const imageFormats = ['png', 'jpeg', 'webp'] as const
export type ImageFormat = (typeof imageFormats)[number]

/** How an image reaches the client: by an address that the gateway serves for a while, or as bytes. */
export const imageDeliveries = ['url', 'b64_json'] as const
export type ImageDelivery = (typeof imageDeliveries)[number]

/** Bounds of the images of a form. They hold for JSON with images as far as they apply. */
export const imageFormBounds = {
  filesMax: limit('formFilesMax', 16, 'A form with more files is refused.'),
  imageBytesMax: limit('formImageBytesMax', 50 * MIB, 'A form with a larger image is refused.'),
  maskBytesMax: limit('formMaskBytesMax', 4 * MIB, 'A form with a larger mask is refused.'),
  /** For all images together, because they are decoded one after the other while others wait. */
  pixelsMax: limit('formPixelsMax', 200_000_000, 'A form whose images have more pixels together is refused.'),
  /** The time to decode them, including the wait for it. */
  decodingTimeoutMs: limit('formDecodingTimeoutMs', 30_000, 'A form whose images take longer to decode is refused.'),
}

/** Bounds of an image at an upstream's own address. */
export const imageFetchBounds = {
  fetchTimeoutMs: limit(
    'imageFetchTimeoutMs',
    MINUTE_MS,
    'An image of an upstream that takes longer to fetch is lost.',
  ),
  fetchedBytesMax: limit('imageFetchedBytesMax', 64 * MIB, 'A larger image of an upstream is not fetched.'),
}

/** Sizes besides the named ones: both sides are multiples of a number, and their ratio is bounded. */
export type FreeSizes = { readonly multipleOf: number; readonly ratioMax: number; readonly pixelsMax: number }

export type ImageFacts = {
  /**
   * `turn`: the model answers a turn of a conversation in its vendor's own dialect, with images among the text. Its
   * sizes are then ratios of the sides, and its qualities are sizes of an image (`2K`). The default is the endpoints
   * for images.
   */
  readonly surface?: 'images' | 'turn' | undefined
  /** `WIDTHxHEIGHT`, and `auto` if the model may choose. */
  readonly sizes: readonly string[]
  readonly freeSizes?: FreeSizes | undefined
  /** The model's default. Undefined if the vendor does not state it. */
  readonly sizeDefault: string
  /** An empty list means that the model does not have the field. The same holds for the other lists. */
  readonly qualities: readonly string[]
  readonly qualityDefault: string
  readonly formats: readonly ImageFormat[]
  readonly backgrounds: readonly string[]
  readonly moderations: readonly string[]
  readonly styles: readonly string[]
  readonly countMax: number
  /** One image comes, whatever `n` is. */
  readonly isSingle: boolean
  /** The values of `response_format`, the default first. If bytes are the only value, the vendor refuses the field. */
  readonly deliveries: readonly ImageDelivery[]
  readonly promptCharsMax: number
  readonly streams: boolean
  readonly partialsMax: number
  /** The most input images of an edit. 0 means no edits. */
  readonly inputsMax: number
  /** The output tokens of one image by quality, up to 1.5 megapixels. Larger images have proportionally more. */
  readonly tokens: Readonly<Record<string, number>>
}

/** The options of a request, as far as its price depends on them. */
export type ImageOptions = {
  readonly count: number
  readonly size: string | undefined
  readonly quality: string | undefined
  readonly partials: number
  /** The number of input images, including the mask. */
  readonly inputs: number
}

/** A model about which nothing is known. Its vendor gets every request and refuses what it cannot do. */
export const openImageFacts = {
  sizes: ['1024x1024', '1536x1024', '1024x1536', '1792x1024', '1024x1792', '512x512', '256x256'],
  sizeDefault: '1024x1024',
  qualities: ['standard', 'hd', 'low', 'medium', 'high'],
  qualityDefault: 'standard',
  formats: ['png', 'jpeg', 'webp'],
  backgrounds: ['auto', 'transparent', 'opaque'],
  moderations: ['auto', 'low'],
  styles: ['vivid', 'natural'],
  countMax: 10,
  isSingle: false,
  deliveries: ['url', 'b64_json'],
  promptCharsMax: 32_000,
  streams: false,
  partialsMax: 0,
  inputsMax: 16,
  tokens: { standard: 8_192 },
  freeSizes: { multipleOf: 1, ratioMax: 16, pixelsMax: 4096 * 4096 },
} as const satisfies ImageFacts

const SIZE = /^([1-9]\d{0,4})x([1-9]\d{0,4})$/

/** The sides of a size. Undefined for `auto` and for anything that is no size. */
export function sidesOf(size: string): readonly [width: number, height: number] | undefined {
  const match = SIZE.exec(size)
  return match ? [Number(match[1]), Number(match[2])] : undefined
}

export function allowsSize({ sizes, freeSizes }: ImageFacts, size: string): boolean {
  if (sizes.includes(size)) return true
  const sides = sidesOf(size)
  if (!freeSizes || !sides) return false
  const [width, height] = sides
  const { multipleOf, ratioMax, pixelsMax } = freeSizes
  if (width % multipleOf !== 0 || height % multipleOf !== 0) return false
  return width * height <= pixelsMax && Math.max(width, height) <= ratioMax * Math.min(width, height)
}

/** The number of images that come. */
export const imagesOf = ({ isSingle }: ImageFacts, { count }: ImageOptions): number => (isSingle ? 1 : count)

export const imageUnit = (size: string, quality: string): PieceUnit =>
  quality === '' ? `piece:image/${size}` : `piece:image/${size}/${quality}`

/** Every kind of image that a request can produce: the one it names, or any if the model chooses. */
export function unitsOf(facts: ImageFacts, { size, quality }: ImageOptions): PieceUnit[] {
  const choices = (wished: string | undefined, fallback: string, all: readonly string[]): readonly string[] => {
    const value = wished ?? fallback
    return value === 'auto' ? all.filter((one) => one !== 'auto') : [value]
  }
  const qualities = choices(quality, facts.qualityDefault, facts.qualities)
  return choices(size, facts.sizeDefault, facts.sizes).flatMap((one) => qualities.map((other) => imageUnit(one, other)))
}

/**
 * The kind of image to request if the client leaves the choice to the model and the card prices only some kinds. It is
 * the first size with a price, at the default quality. Undefined if nothing has to be chosen, or can be.
 */
export function soldChoice(
  wish: ImageOptions,
  { sale, limits: { image: facts } }: PricedImages,
): Pick<ImageOptions, 'size' | 'quality'> | undefined {
  if (!sellsPieces(sale)) return undefined
  const isSold = (unit: PieceUnit): boolean => piecePrice(sale, unit) !== undefined
  const units = unitsOf(facts, wish)
  const sold = units.filter(isSold)
  if (sold.length === 0 || sold.length === units.length) return undefined
  const [size = '', ...others] = (sold[0] ?? '').slice(IMAGE.length).split('/')
  const usual = [facts.qualityDefault, 'medium', 'standard', ...others].find((one) =>
    sold.includes(imageUnit(size, one)),
  )
  return { size, quality: usual }
}

const GAPS_NAMED_MAX = 5

/**
 * The kinds of images that a model can make and its card has no price for: `1536x1024/low`, `other sizes`. Empty if the
 * card sells by tokens. A few are named, and the rest is counted: `12 more`.
 */
export function priceGapsOf({ kind, sale, limits: { image: facts } }: PricedImages): string[] {
  if (kind !== 'image' || !sellsPieces(sale)) return []
  const qualities = facts.qualities.filter((one) => one !== 'auto')
  const sizes = facts.sizes.filter((one) => one !== 'auto')
  const units = sizes.flatMap((size) => (qualities.length === 0 ? [''] : qualities).map((one) => imageUnit(size, one)))
  const gaps = units.filter((unit) => piecePrice(sale, unit) === undefined).map((unit) => unit.slice(IMAGE.length))
  if (facts.freeSizes && piecePrice(sale, 'piece:image') === undefined) gaps.push('other sizes')
  const more = gaps.length - GAPS_NAMED_MAX
  return more > 1 ? [...gaps.slice(0, GAPS_NAMED_MAX), `${more} more`] : gaps
}

type PricedImages = {
  readonly kind: string
  readonly sale: PriceCard
  readonly limits: { readonly image: ImageFacts }
}
const IMAGE = 'piece:image/'

/** Whether a card sells any images by the piece. */
export const sellsPieces = ({ nanoPerMillion }: PriceCard): boolean =>
  Object.keys(nanoPerMillion).some((unit) => unit === 'piece:image' || unit.startsWith('piece:image/'))

/** Nano-USD per million of the most expensive image that a request can produce. 0 if images are sold by tokens. */
export function dearestImage(card: PriceCard, facts: ImageFacts, wish: ImageOptions): bigint {
  return unitsOf(facts, wish)
    .map((unit) => piecePrice(card, unit) ?? 0n)
    .reduce((a, b) => (a > b ? a : b), 0n)
}

/** The image size that `tokens` of the facts are stated for. */
const COUNTED_PIXELS = 1536 * 1024
/** The tokens that vendors add for each partial image of a stream (2026-08). */
const PARTIAL_TOKENS = 100

/** The output tokens of one image of a quality. An unknown quality counts as the most expensive one. */
export const tokensOfImage = ({ tokens, qualityDefault }: ImageFacts, quality: string | undefined): number =>
  tokens[quality ?? qualityDefault] ?? Math.max(0, ...Object.values(tokens))

/** The most output tokens of one image. */
export function imageTokensMax(facts: ImageFacts, { size, quality, partials }: ImageOptions): number {
  const usual = tokensOfImage(facts, quality)
  // A model that chooses the size chooses one of its named sizes.
  const [width, height] = sidesOf(size ?? facts.sizeDefault) ?? [0, 0]
  return Math.ceil(usual * Math.max(1, (width * height) / COUNTED_PIXELS)) + partials * PARTIAL_TOKENS
}
