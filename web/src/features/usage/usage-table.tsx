import { Link } from '@tanstack/react-router'
import { useT } from '../../lib/i18n/language.ts'
import { exact } from '../../lib/money.ts'
import { useShow } from '../../lib/show.ts'
import { Table, type Column } from '../../ui/table.tsx'
import { Money } from '../../ui/text.tsx'
import { totalsOf, type Asked, type GroupTotal, type Usage } from './usage.ts'

type Props = { readonly account: string; readonly usage: Usage; readonly asked: Asked }

export function UsageTable({ account, usage, asked }: Props) {
  const t = useT()
  const show = useShow()
  const rows = totalsOf(usage.data)
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
  })
  const columns: readonly Column<GroupTotal>[] = [
    {
      key: 'group',
      head: t(`column.${asked.by}`),
      className: 'max-w-36 sm:max-w-64',
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
    { key: 'cost', head: t('measure.cost'), align: 'right', cell: (row) => <Money amount={row.charged} /> },
  ]
  const sum = (read: (row: GroupTotal) => number): string => show.number(rows.reduce((all, row) => all + read(row), 0))
  const sums = [
    (row: GroupTotal) => row.failed,
    (row: GroupTotal) => row.input,
    (row: GroupTotal) => row.cached,
    (row: GroupTotal) => row.output,
    (row: GroupTotal) => row.images,
  ]
  return (
    <Table
      label={t('nav.usage')}
      columns={columns}
      rows={rows}
      keyOf={({ group }) => group}
      foot={
        <tr>
          <th scope="row" className="h-9 px-4 text-left">
            {t('usage.total')}
          </th>
          <td className="px-3 text-right">{show.number(usage.total.requests)}</td>
          {sums.map((read, at) => (
            <td key={at} className="hidden px-3 text-right md:table-cell">
              {sum(read)}
            </td>
          ))}
          <td className="pr-4 pl-3 text-right" title={exact(usage.total.charged_nano_usd)}>
            <Money amount={usage.total.charged_nano_usd} />
          </td>
        </tr>
      }
    />
  )
}
