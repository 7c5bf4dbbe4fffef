import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { Offer, RoutedModel } from '../../lib/api-types.gen.ts'
import { useT } from '../../lib/language.ts'
import { nano, shortPrice } from '../../lib/money.ts'
import { only } from '../../lib/search.ts'
import { WithOrigin } from '../../parts/declared.tsx'
import { earnedBy, MarkUp } from '../../parts/margin.tsx'
import { Amounts, outputOf, usePieces } from '../../parts/prices.tsx'
import { Table } from '../../ui/table.tsx'
import { Badge, Nothing, Status } from '../../ui/text.tsx'
import { offerTones } from './routed-view.tsx'

export function RoutedTable({
  models,
  q,
}: {
  readonly models: readonly RoutedModel[]
  readonly q: string | undefined
}) {
  const t = useT()
  const price = usePrice()
  return (
    <Table
      label={t('nav.routing')}
      rows={models}
      keyOf={({ id }) => id}
      columns={[
        {
          key: 'id',
          head: t('column.model'),
          className: 'max-w-32 sm:max-w-64',
          cell: ({ id, origin }) => (
            <WithOrigin origin={origin}>
              <Link
                to="/operator/models"
                search={{ ...only({ q }), open: id }}
                title={id}
                className="truncate font-medium hover:text-accent hover:underline"
              >
                {id}
              </Link>
            </WithOrigin>
          ),
        },
        {
          key: 'kind',
          head: t('models.kind'),
          isOptional: true,
          cell: ({ kind }) => <Badge>{t(`kind.${kind}`)}</Badge>,
        },
        {
          key: 'input',
          head: t('models.input'),
          align: 'right',
          cell: (model) => price(model, 'input'),
        },
        {
          key: 'output',
          head: t('models.output'),
          align: 'right',
          isOptional: true,
          cell: (model) => <span className="whitespace-nowrap">{price(model, 'output')}</span>,
        },
        {
          key: 'offers',
          head: t('routing.offers'),
          cell: ({ offers }) => <Offers offers={offers} />,
        },
        {
          key: 'markup',
          head: t('routing.markup'),
          align: 'right',
          isOptional: true,
          cell: ({ offers }) => <MarkUp {...earnedBy(offers.map(({ margin }) => margin))} />,
        },
      ]}
    />
  )
}

/** Models sold by the piece show their range in the first column. Embedding models have no output. */
function usePrice(): (model: RoutedModel, unit: 'input' | 'output') => ReactNode {
  const piecesOf = usePieces()
  return ({ kind, price: card }, unit) => {
    const pieces = piecesOf(card)
    const amount = unit === 'output' ? outputOf(kind, card) : card.input
    const tokens = nano(amount) > 0n || pieces === undefined ? [shortPrice(amount)] : []
    if (unit === 'input') return <Amounts text={[...tokens, ...(pieces === undefined ? [] : [pieces])].join(' · ')} />
    return tokens.length === 0 || kind === 'embedding' ? <Nothing /> : tokens
  }
}

function Offers({ offers }: { readonly offers: readonly Offer[] }) {
  const t = useT()
  if (offers.length === 0) return <Status tone="bad">{t('routing.nobody')}</Status>
  return (
    <span className="flex flex-wrap gap-1">
      {offers.map((offer) => (
        <Status key={`${offer.provider} ${offer.model}`} tone={offerTones[offer.state]}>
          <span title={offer.provider} className="max-w-16 truncate sm:max-w-48">
            {offer.provider}
          </span>
        </Status>
      ))}
    </span>
  )
}
