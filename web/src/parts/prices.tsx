/** Price cards as text: prices per million tokens and per piece. */
import type { PriceCard } from '../lib/api-types.gen.ts'
import { hasWords, useT, type Key } from '../lib/language.ts'
import { exact, nano, shortPrice } from '../lib/money.ts'
import type { ModelKind, UnitPrices } from '../lib/models.ts'
import { pieceRanges } from '../lib/pieces.ts'
import { useShow } from '../lib/show.ts'
import { Money } from '../ui/text.tsx'

const units = [
  'input',
  'cached_input',
  'cache_write',
  'cache_write_1h',
  'output',
  'reasoning',
  'image_input',
  'image_output',
] as const
type Unit = (typeof units)[number]

/** The unit that a unit falls back to. A unit with the same price as that one is left out. */
const same: Partial<Record<Unit, Unit>> = {
  cached_input: 'input',
  cache_write: 'input',
  cache_write_1h: 'input',
  reasoning: 'output',
  image_input: 'input',
  image_output: 'output',
}

function linesOf(prices: UnitPrices): readonly (readonly [Unit, string])[] {
  return units.flatMap((unit) => {
    const other = same[unit]
    const isSaid = other === undefined ? nano(prices[unit]) > 0n : prices[unit] !== prices[other]
    return isSaid ? [[unit, prices[unit]] as const] : []
  })
}

/** The unit and the variant of a piece, such as `image/1024x1024/hd`, with or without `piece:`. */
export function usePieceName(): (piece: string) => string {
  const t = useT()
  return (piece) => {
    const name = piece.replace(/^piece:/, '')
    const [unit, ...sorts] = name.split('/')
    const key = `routing.unit.${unit}`
    return hasWords(key) ? [t(key), ...sorts].join(' · ') : name
  }
}

/** The current price, with its start date as the heading. */
export function CurrentPrice({ card }: { readonly card: PriceCard }) {
  const t = useT()
  const show = useShow()
  return (
    <section>
      <h3 className="mb-2 border-b pb-1 font-semibold">
        {t('models.price', { day: show.time(card.effective_from, 'dayOnly') })}
      </h3>
      <PriceTable card={card} />
    </section>
  )
}

/** A full price card. */
export function PriceTable({ card }: { readonly card: PriceCard }) {
  const t = useT()
  const show = useShow()
  const pieceName = usePieceName()
  const parts = [
    { above: 0, prices: card as UnitPrices },
    ...card.tiers.map((tier) => ({ above: tier.above_input_tokens, prices: tier as UnitPrices })),
  ]
  return (
    <table className="w-full">
      <tbody>
        {parts.flatMap(({ above, prices }) => [
          ...(above > 0
            ? [
                <tr key={`above ${above}`} className="h-8">
                  <th scope="rowgroup" colSpan={2} className="pt-2 text-left font-medium">
                    {t('price.above', { tokens: show.number(above) })}
                  </th>
                </tr>,
              ]
            : []),
          ...linesOf(prices).map(([unit, amount]) => (
            <tr key={`${above} ${unit}`} className="h-7">
              <th scope="row" className="text-left font-normal text-soft">
                {t(`price.${unit}` as Key)}
              </th>
              <td title={exact(amount)} className="text-right whitespace-nowrap">
                {t('price.perMillion', { amount: shortPrice(amount) })}
              </td>
            </tr>
          )),
          ...Object.entries(prices.each).map(([piece, amount]) => (
            <tr key={`${above} ${piece}`} className="h-7">
              <th scope="row" className="text-left font-normal text-soft">
                {pieceName(piece)}
              </th>
              <td className="text-right">
                <Money amount={amount} show={shortPrice} />
              </td>
            </tr>
          )),
        ])}
      </tbody>
    </table>
  )
}

/** The prices by the piece of a card, in the language of the page. */
export function usePieces(): (prices: UnitPrices) => string | undefined {
  const t = useT()
  return (prices) => pieceRanges(prices, t)
}

/** The output of image models is images. */
export const outputOf = (kind: ModelKind, prices: UnitPrices): string =>
  kind === 'image' ? prices.image_output : prices.output

/** Several amounts: `$1.00 / $4.00` or a range. A narrow window shows them below each other. */
export const Amounts = ({ text, title }: { readonly text: string; readonly title?: string | undefined }) => (
  <span title={title} className="inline-flex flex-wrap justify-end gap-x-1 md:flex-nowrap">
    {text.split(/(?<= [/–·]) (?=\$)/).map((part, at) => (
      <span key={at} className="whitespace-nowrap">
        {part}
      </span>
    ))}
  </span>
)
