/** The prices by the piece of a price card in short form. */
import type { Key, Translate } from './language.ts'
import type { UnitPrices } from './models.ts'
import { nano, shortPrice } from './money.ts'

const labels: Readonly<Record<string, Key>> = {
  second: 'price.perSecond',
  token: 'price.perToken',
  image: 'price.perImage',
}

/** Super-resolution and answers from the answer cache are shown only on the full card. */
const ON_TOP = new Set(['upscale', 'answer'])

/**
 * The price range of each unit, such as `$0.016 – $0.12 / image`. A card with several units shows all of them, because
 * a charge may have a line for each. Undefined: nothing is sold by the piece.
 */
export function pieceRanges({ each }: UnitPrices, t: Translate): string | undefined {
  const amounts = new Map<string, bigint[]>()
  for (const [piece, amount] of Object.entries(each)) {
    const unit = piece.split('/', 1)[0] ?? piece
    if (!ON_TOP.has(unit)) amounts.set(unit, [...(amounts.get(unit) ?? []), nano(amount)])
  }
  const said = [...amounts].map(([unit, prices]) => {
    const amount = rangeOf(prices)
    const label = labels[unit]
    return label ? t(label, { amount }) : amount
  })
  return said.length === 0 ? undefined : said.join(' · ')
}

function rangeOf(amounts: readonly bigint[]): string {
  const low = shortPrice(amounts.reduce((least, amount) => (amount < least ? amount : least)))
  const high = shortPrice(amounts.reduce((most, amount) => (amount > most ? amount : most)))
  return low === high ? low : `${low} – ${high}`
}
