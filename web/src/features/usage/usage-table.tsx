import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { Usage } from '../../lib/api-types.gen.ts'
import { useT } from '../../lib/language.ts'
import { columnOf } from '../../lib/money.ts'
import { useShow } from '../../lib/show.ts'
import { Table, type Column } from '../../ui/table.tsx'
import { Money } from '../../ui/text.tsx'
import type { UsageSelection } from './api.ts'
import { totalsOf, type GroupTotal } from './totals.ts'

type Props = { readonly account: string; readonly usage: Usage; readonly asked: UsageSelection }

export function UsageTable({ account, usage, asked }: Props) {
  const t = useT()
  const show = useShow()
  const rows = totalsOf(usage.data)
  const total = usage.total.charged_nano_usd
  const dollars = columnOf([total, ...rows.map(({ charged }) => charged.toString())])
  const cost = (amount: string): ReactNode => <Money amount={amount} show={dollars} />
  const number = (
    key: string,
    head: string,
    read: (row: GroupTotal) => number,
    isOptional = false,
  ): Column<GroupTotal> => ({
    key,
    head,
    align: 'right',
    isOptional,
    cell: (row) => show.number(read(row)),
    foot: show.number(rows.reduce((all, row) => all + read(row), 0)),
  })
  const columns: readonly Column<GroupTotal>[] = [
    {
      key: 'group',
      head: t(`column.${asked.by}`),
      className: 'w-full max-w-0 sm:w-auto sm:max-w-64',
      foot: t('usage.total'),
      cell: (row) => (
        <Link
          to="/a/$account/requests"
          params={{ account }}
          search={{
            range: asked.range,
            ...(asked.model && { model: asked.model }),
            ...(asked.key && { key: asked.key }),
            [asked.by]: row.group,
          }}
          title={row.name}
          className="block truncate hover:text-accent hover:underline"
        >
          {row.name}
        </Link>
      ),
    },
    number('requests', t('measure.requests'), (row) => row.requests),
    number('failed', t('measure.errors'), (row) => row.failed, true),
    number('input', t('measure.input'), (row) => row.input, true),
    number('cached', t('measure.cached'), (row) => row.cached, true),
    number('output', t('measure.output'), (row) => row.output, true),
    number('images', t('usage.images'), (row) => row.images, true),
    {
      key: 'cost',
      head: t('measure.cost'),
      align: 'right',
      cell: (row) => cost(row.charged.toString()),
      foot: cost(total),
    },
  ]
  return <Table label={t('nav.usage')} columns={columns} rows={rows} keyOf={({ group }) => group} />
}
