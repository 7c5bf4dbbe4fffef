import { Link } from '@tanstack/react-router'
import { useT } from '../../lib/i18n/language.ts'
import { exact } from '../../lib/money.ts'
import type { PriceCard } from '../../lib/models.ts'
import { useShow } from '../../lib/show.ts'
import { pieceRange } from '../../parts/prices.tsx'
import { Table } from '../../ui/table.tsx'
import { Ago, Nothing, Status } from '../../ui/text.tsx'
import type { SoldModel } from './prices.ts'

type Row = { readonly model: SoldModel; readonly offer: SoldModel['offers'][number] | undefined }

/** One row for each offer: what it is sold for, what it costs, what is left. */
export function MarginTable({ models }: { readonly models: readonly SoldModel[] }) {
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
          cell: ({ model: { id } }) => (
            <Link
              to="/operator/models"
              search={{ open: id }}
              title={id}
              className="block truncate font-medium hover:text-accent hover:underline"
            >
              {id}
            </Link>
          ),
        },
        {
          key: 'offer',
          head: t('routing.provider'),
          isOptional: true,
          className: 'max-w-40 truncate',
          cell: ({ offer }) =>
            offer ? (
              <span title={offer.model}>{offer.provider}</span>
            ) : (
              <Status tone="bad">{t('routing.nobody')}</Status>
            ),
        },
        { key: 'sale', head: t('prices.sale'), align: 'right', cell: ({ model }) => <Pair card={model.price} /> },
        {
          key: 'cost',
          head: t('prices.cost'),
          align: 'right',
          isOptional: true,
          cell: ({ offer }) => (offer ? <Pair card={offer.cost} /> : <Nothing />),
        },
        {
          key: 'in',
          head: t('prices.marginIn'),
          align: 'right',
          cell: ({ offer }) => <Percent value={offer?.margin.input_percent ?? null} />,
        },
        {
          key: 'out',
          head: t('prices.marginOut'),
          align: 'right',
          isOptional: true,
          cell: ({ offer }) => <Percent value={offer?.margin.output_percent ?? null} />,
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

/** One above the other where the window is narrow. */
const Pair = ({ card }: { readonly card: PriceCard }) => (
  <span className="inline-flex flex-wrap justify-end gap-x-1 md:flex-nowrap">
    {(pieceRange(card) ?? `${exact(card.input)} / ${exact(card.output)}`).split(/(?<= [/–]) /).map((part, at) => (
      <span key={at} className="whitespace-nowrap">
        {part}
      </span>
    ))}
  </span>
)

function Percent({ value }: { readonly value: number | null }) {
  const show = useShow()
  if (value === null) return <Nothing />
  return <span className={value < 0 ? 'font-medium text-bad' : ''}>{show.percent(value / 100)}</span>
}
