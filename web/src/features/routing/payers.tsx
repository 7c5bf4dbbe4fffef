import { useQuery } from '@tanstack/react-query'
import { useT } from '../../lib/language.ts'
import { BelowCost } from '../../parts/below-cost.tsx'
import { earnedBy, MarkUp } from '../../parts/margin.tsx'
import { usePriceBasis } from '../../parts/price-basis.tsx'
import { PriceTable } from '../../parts/prices.tsx'
import { payersQuery } from './api.ts'

/** The accounts that pay another price for a model, and what its offers earn at it. Nothing is drawn without one. */
export function Payers({ id }: { readonly id: string }) {
  const t = useT()
  const basisOf = usePriceBasis()
  const { data } = useQuery(payersQuery(id))
  if (!data || data.data.length === 0) return null
  return (
    <section>
      <h3 className="mb-2 border-b pb-1 font-semibold">{t('routing.payers', { n: data.total ?? data.data.length })}</h3>
      <ul className="space-y-3">
        {data.data.map((payer) => (
          <li key={payer.account.id} className="rounded-md border p-3">
            <p className="font-medium break-words">{payer.account.name}</p>
            <p className="text-xs text-soft">
              {basisOf(payer)} · {t('prices.markupIn')}{' '}
              <MarkUp
                {...earnedBy(
                  payer.offers.map(({ margin }) => margin),
                  'input',
                )}
              />{' '}
              · {t('prices.markupOut')}{' '}
              <MarkUp
                {...earnedBy(
                  payer.offers.map(({ margin }) => margin),
                  'output',
                )}
              />
            </p>
            {payer.offers.map((offer) => (
              <BelowCost key={`${offer.provider} ${offer.model}`} losses={offer.below_cost} />
            ))}
            <details className="mt-1">
              <summary className="min-h-6 text-soft">{t('routing.soldAt')}</summary>
              <PriceTable card={payer.price} />
            </details>
          </li>
        ))}
      </ul>
    </section>
  )
}
