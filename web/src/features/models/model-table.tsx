import type { ReactNode } from 'react'
import type { PublicModel } from '../../lib/api-types.gen.ts'
import { useT } from '../../lib/language.ts'
import { nano, shortPrice } from '../../lib/money.ts'
import { useShow } from '../../lib/show.ts'
import { Amounts, outputOf, usePieces } from '../../parts/prices.tsx'
import { Table, type Column } from '../../ui/table.tsx'
import { Badge, Money, Nothing, Status } from '../../ui/text.tsx'

type Props = {
  readonly models: readonly PublicModel[]
  /** The id and the link that opens the model. */
  readonly nameOf: (id: string) => ReactNode
}

export const modelLink = 'block truncate font-medium hover:text-accent hover:underline'

export function ModelTable({ models, nameOf }: Props) {
  const t = useT()
  const show = useShow()
  const piecesOf = usePieces()
  const price = (key: 'input' | 'cached_input' | 'output', head: string): Column<PublicModel> => ({
    key,
    head,
    align: 'right',
    isOptional: key === 'cached_input',
    cell: (model) => {
      const amount = soldFor(model, key)
      return amount === undefined ? <Nothing /> : <Money amount={amount} show={shortPrice} />
    },
  })
  const columns: readonly Column<PublicModel>[] = [
    {
      key: 'id',
      head: t('column.model'),
      className: 'max-sm:w-full max-sm:max-w-0 max-sm:min-w-33 sm:max-w-72',
      // On a phone this is the only place for a price by the piece.
      cell: (model) => (
        <>
          {nameOf(model.id)}
          <span className="block text-xs text-soft md:hidden">{piecesOf(model.price)}</span>
        </>
      ),
    },
    { key: 'kind', head: t('models.kind'), isOptional: true, cell: ({ kind }) => <Badge>{t(`kind.${kind}`)}</Badge> },
    {
      key: 'context',
      head: t('models.context'),
      align: 'right',
      isOptional: true,
      cell: (model) => (model.context_tokens === null ? <Nothing /> : show.number(model.context_tokens)),
    },
    price('input', t('models.input')),
    price('cached_input', t('models.cached')),
    price('output', t('models.output')),
    {
      key: 'each',
      head: t('models.each'),
      align: 'right',
      isOptional: true,
      cell: (model) => {
        const pieces = piecesOf(model.price)
        return pieces === undefined ? <Nothing /> : <Amounts text={pieces} />
      },
    },
    {
      key: 'status',
      head: t('column.status'),
      isOptional: true,
      cell: ({ available }) => (
        <Status tone={available ? 'good' : 'warn'}>{t(available ? 'models.available' : 'models.unavailable')}</Status>
      ),
    },
  ]
  return <Table label={t('nav.models')} columns={columns} rows={models} keyOf={({ id }) => id} />
}

/** Models sold by the piece have no token prices. Embedding models have no output price. */
function soldFor({ kind, price }: PublicModel, unit: 'input' | 'cached_input' | 'output'): string | undefined {
  if (unit !== 'input' && kind === 'embedding') return undefined
  const amount = unit === 'output' ? outputOf(kind, price) : price[unit]
  return nano(amount) > 0n || Object.keys(price.each).length === 0 ? amount : undefined
}
