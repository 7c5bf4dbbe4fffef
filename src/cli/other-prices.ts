import { usd } from './table.ts'

/** Part of the view of a price card. */
export type PriceCardView = {
  readonly input_usd_per_million: string
  readonly output_usd_per_million: string
  readonly image_input_usd_per_million: string
  readonly image_output_usd_per_million: string
  /** By piece: `second/720p`, `upscale/2k`. */
  readonly each_usd: Readonly<Record<string, string>>
}

/**
 * The prices of images and pieces for one cell: `image output $30.00/1M`, `second/720p $0.06`. Without them a video
 * would look free. The cell names at most `most` of them and counts the rest. Undefined if there are none.
 */
export function otherPrices(card: PriceCardView, most: number): string | undefined {
  const images = [
    ['image input', card.image_input_usd_per_million, card.input_usd_per_million],
    ['image output', card.image_output_usd_per_million, card.output_usd_per_million],
  ] as const
  const parts = [
    ...images.flatMap(([what, price, words]) => (isOwn(price, words) ? [`${what} ${usd(price)}/1M`] : [])),
    ...Object.entries(card.each_usd).map(([what, price]) => `${what} ${usd(price)}`),
  ]
  if (parts.length === 0) return undefined
  const rest = parts.length - most
  return rest > 0 ? `${parts.slice(0, most).join(', ')}, ${rest} more` : parts.join(', ')
}

/** A price per token. Undefined if it is zero because the card sells something else: `$0.00` would look free. */
export const tokenPrice = (card: PriceCardView, price: string): string | undefined =>
  Number(price) === 0 && otherPrices(card, 1) !== undefined ? undefined : price

const isOwn = (price: string, words: string): boolean => Number(price) !== 0 && price !== words
