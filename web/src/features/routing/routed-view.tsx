import { useMutation, useQuery } from '@tanstack/react-query'
import { Fragment, useState } from 'react'
import type { Offer } from '../../lib/api-types.gen.ts'
import { path } from '../../lib/api.ts'
import { useT } from '../../lib/language.ts'
import { useShow } from '../../lib/show.ts'
import { BelowCost } from '../../parts/below-cost.tsx'
import { Declared } from '../../parts/declared.tsx'
import { earnedBy, MarkUp } from '../../parts/margin.tsx'
import { CurrentPrice, PriceTable } from '../../parts/prices.tsx'
import { StopDialog } from '../../parts/stop.tsx'
import { Button } from '../../ui/button.tsx'
import { Failure, Waiting } from '../../ui/page.tsx'
import { Ago, Status } from '../../ui/text.tsx'
import { AliasPanel } from './alias-panel.tsx'
import { ExplainPanel } from './explain-panel.tsx'
import { ModelForm } from './model-form.tsx'
import { Payers } from './payers.tsx'
import { historyQuery, removeModel, routedModelQuery } from './api.ts'

type Props = { readonly id: string; readonly onClose: () => void }

export function RoutedView({ id, onClose }: Props) {
  const t = useT()
  const [isEditing, setEditing] = useState(false)
  const [isAsking, setAsking] = useState(false)
  const { data: model, error, refetch } = useQuery(routedModelQuery(id))
  const remove = useMutation({ mutationFn: () => removeModel(id), onSuccess: onClose })
  if (error) return <Failure error={error} onRetry={refetch} />
  if (!model) return <Waiting />
  if (isEditing) return <ModelForm before={model} onDone={() => setEditing(false)} onCancel={() => setEditing(false)} />
  return (
    <div className="space-y-6">
      <Declared origin={model.origin} />
      {model.origin === 'stored' && <Button onClick={() => setEditing(true)}>{t('keys.edit')}</Button>}
      <div>
        <CurrentPrice card={model.price} />
        {model.unpriced.length > 0 && (
          <p role="note" className="mt-1 text-bad">
            {t('prices.unpriced', { units: model.unpriced.join(', ') })}
          </p>
        )}
      </div>
      <section>
        <h3 className="mb-2 border-b pb-1 font-semibold">{t('routing.offers')}</h3>
        <ul className="space-y-3">
          {model.offers.map((offer) => (
            <OfferItem key={`${offer.provider} ${offer.model}`} offer={offer} />
          ))}
        </ul>
      </section>
      <AliasPanel model={model} />
      <Payers id={id} />
      <ExplainPanel model={model} />
      <History id={id} />
      {model.origin === 'stored' && (
        <div className="border-t pt-4">
          <Button kind="danger" onClick={() => setAsking(true)}>
            {t('remove')}
          </Button>
        </div>
      )}
      <StopDialog
        open={isAsking}
        onClose={() => setAsking(false)}
        title={t('routing.removeTitle', { name: id })}
        text={t('routing.removeText')}
        of={path`models/${id}`}
        action={t('remove')}
        isBusy={remove.isPending}
        error={remove.error}
        onStop={() => remove.mutate()}
      />
    </div>
  )
}

export const offerTones = { ready: 'good', resting: 'warn', drained: 'none' } as const

function OfferItem({ offer }: { readonly offer: Offer }) {
  const t = useT()
  const show = useShow()
  const sides = [
    ['prices.markupIn', 'input'],
    ['prices.markupOut', 'output'],
  ] as const
  const known = sides.filter(([, side]) => offer.margin[`${side}_percent`] !== null)
  // If neither side has one, it is shown once.
  const isFree = known.length > 0 && known.every(([, side]) => offer.margin[`${side}_markup_percent`] === null)
  return (
    <li className="rounded-md border p-3">
      <p className="flex items-start gap-2">
        <span className="min-w-0 grow break-words">
          <span className="font-medium">{offer.provider}</span> <span className="text-soft">{offer.model}</span>
        </span>
        <Status tone={offerTones[offer.state]}>{t(`offer.${offer.state}`)}</Status>
      </p>
      <p className="text-xs text-soft">
        {t('routing.facts', { priority: offer.priority, weight: offer.weight })}
        {offer.context_tokens !== null && ` · ${t('routing.takes', { n: show.number(offer.context_tokens) })}`}
        {isFree && ` · ${t('prices.noCost')}`}
        {!isFree &&
          known.map(([name, side]) => (
            <Fragment key={name}>
              {' · '}
              {t(name)} <MarkUp {...earnedBy([offer.margin], side)} />
            </Fragment>
          ))}
        {offer.resting_until && (
          <>
            {' '}
            · <Ago at={offer.resting_until} />
          </>
        )}
      </p>
      <BelowCost losses={offer.below_cost} />
      <details className="mt-1">
        <summary className="min-h-6 text-soft">{t('routing.costs')}</summary>
        <PriceTable card={offer.cost} />
      </details>
    </li>
  )
}

function History({ id }: { readonly id: string }) {
  const t = useT()
  const show = useShow()
  const { data } = useQuery(historyQuery(id))
  if (!data || data.data.length < 2) return null
  return (
    <section>
      <h3 className="mb-2 border-b pb-1 font-semibold">{t('routing.history')}</h3>
      {data.data.map((card) => (
        <details key={card.card}>
          <summary className="min-h-6 py-0.5 pl-4 -indent-4 break-words">
            {show.time(card.effective_from, 'long')} · {card.of === 'sale' ? t('routing.soldAt') : card.of}
          </summary>
          <PriceTable card={card} />
        </details>
      ))}
    </section>
  )
}
