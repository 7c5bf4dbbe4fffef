import type { Loss } from '../lib/api-types.gen.ts'
import { hasWords, useT } from '../lib/language.ts'
import { shortPrice } from '../lib/money.ts'
import { useShow } from '../lib/show.ts'
import { usePieceName } from './prices.tsx'

/** Offers that cost more than the sale price, one per line. It draws nothing if there are none. */
export function BelowCost({ losses }: { readonly losses: readonly Loss[] }) {
  const t = useT()
  const show = useShow()
  const pieceName = usePieceName()
  if (losses.length === 0) return null
  return (
    <div role="note" className="mt-1 text-bad">
      <p className="font-medium">{t('prices.belowCost')}</p>
      <ul>
        {losses.map(({ unit, above_input_tokens: above, sale, cost }) => {
          const key = `price.${unit}`
          const name = hasWords(key) ? t(key) : pieceName(unit)
          const where = above === null ? name : `${name}, ${t('price.above', { tokens: show.number(above) })}`
          return (
            <li key={`${unit} ${above}`}>
              {t('prices.loss', { unit: where, sale: shortPrice(sale), cost: shortPrice(cost) })}
            </li>
          )
        })}
      </ul>
    </div>
  )
}
