import { Link } from '@tanstack/react-router'
import type { RoutedModel } from '../../lib/api-types.gen.ts'
import { useT } from '../../lib/language.ts'
import { exact, nano, shortPrice } from '../../lib/money.ts'
import { earnedBy, MarkUp } from '../../parts/margin.tsx'
import { Amounts, outputOf, usePieces } from '../../parts/prices.tsx'
import { Table } from '../../ui/table.tsx'
import { Ago, Nothing, Status } from '../../ui/text.tsx'

type Row = { readonly model: RoutedModel; readonly offer: RoutedModel['offers'][number] | undefined }

/** One row per offer: the sale price, the cost and the margin. */
export function MarginTable({ models }: { readonly models: readonly RoutedModel[] }) {
  const t = useT()
  const rows = models.flatMap((model): readonly Row[] =>
    model.offers.length === 0 ? [{ model, offer: undefined }] : model.offers.map((offer) => ({ model, offer })),
  )
  return (
    <Table
      label={t('nav.prices')}
      rows={rows}
      keyOf={({ model, offer }) => `${model.id} ${offer?.provider} ${offer?.model}`}
      columns={[
        {
          key: 'model',
          head: t('column.model'),
          className: 'max-w-32 sm:max-w-56',
          cell: ({ model }) => <Name id={model.id} />,
        },
        {
          key: 'offer',
          head: t('routing.provider'),
          isOptional: true,
          className: 'max-w-40',
          cell: ({ offer }) => <Offered offer={offer} />,
        },
        {
          key: 'sale',
          head: t('prices.sale'),
          align: 'right',
          cell: ({ model }) => <Pair model={model} card={model.price} />,
        },
        {
          key: 'cost',
          head: t('prices.cost'),
          align: 'right',
          isOptional: true,
          cell: ({ model, offer }) => (offer ? <Pair model={model} card={offer.cost} /> : <Nothing />),
        },
        {
          key: 'in',
          head: t('prices.markupIn'),
          align: 'right',
          cell: ({ offer }) => <MarkUp {...earnedBy(offer ? [offer.margin] : [], 'input')} />,
        },
        {
          key: 'out',
          head: t('prices.markupOut'),
          align: 'right',
          isOptional: true,
          cell: ({ offer }) => <MarkUp {...earnedBy(offer ? [offer.margin] : [], 'output')} />,
        },
        {
          key: 'from',
          head: t('prices.from'),
          isOptional: true,
          cell: ({ model }) => <Ago at={model.price.effective_from} />,
        },
      ]}
    />
  )
}

function Name({ id }: Pick<RoutedModel, 'id'>) {
  return (
    <Link
      to="/operator/models"
      search={{ open: id }}
      title={id}
      className="block truncate font-medium hover:text-accent hover:underline"
    >
      {id}
    </Link>
  )
}

function Offered({ offer }: Pick<Row, 'offer'>) {
  const t = useT()
  if (!offer) return <Status tone="bad">{t('routing.nobody')}</Status>
  return (
    <>
      <span title={offer.model} className="block truncate">
        {offer.provider}
      </span>
      {offer.below_cost.length > 0 && <Status tone="bad">{t('prices.belowCost')}</Status>}
    </>
  )
}

type PairProps = { readonly model: RoutedModel; readonly card: RoutedModel['price'] }

function Pair({ model, card }: PairProps) {
  const piecesOf = usePieces()
  const pieces = piecesOf(card)
  const output = outputOf(model.kind, card)
  const isByToken = nano(card.input) + nano(output) > 0n
  // For models sold by the piece, a cost of zero is one number. Embedding models have no output price.
  const isOne = model.kind === 'embedding' || (!isByToken && piecesOf(model.price) !== undefined)
  const pair = (show: typeof exact): string => (isOne ? show(card.input) : `${show(card.input)} / ${show(output)}`)
  const parts = [
    ...(pieces === undefined || isByToken ? [pair(shortPrice)] : []),
    ...(pieces === undefined ? [] : [pieces]),
  ]
  return <Amounts text={parts.join(' · ')} title={isByToken ? pair(exact) : undefined} />
}
