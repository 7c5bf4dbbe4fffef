import { useT } from '../../lib/i18n/language.ts'
import { useShow } from '../../lib/show.ts'
import { buttonClass, IconButton } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Empty, Figure, Panel } from '../../ui/page.tsx'
import { Table, type Column } from '../../ui/table.tsx'
import { Id, Money, Nothing, Time } from '../../ui/text.tsx'
import { monthAfter, statementFile, type LedgerLine, type Statement } from './billing.ts'

type Props = {
  readonly account: string
  readonly statement: Statement
  readonly onMonth: (month: string | undefined) => void
}

export function StatementView({ account, statement, onMonth }: Props) {
  const t = useT()
  const show = useShow()
  const now = new Date().toISOString().slice(0, 7)
  const { month, next_cursor: before } = statement
  const after = month < now ? monthAfter(month) : undefined
  return (
    <Panel
      isFlush
      title={show.time(`${month}-15T00:00:00Z`, 'monthOnly')}
      tools={
        <>
          <IconButton
            icon="left"
            label={t('billing.monthBefore')}
            disabled={before === null}
            onClick={() => onMonth(before ?? undefined)}
          />
          <IconButton
            icon="right"
            label={t('billing.monthAfter')}
            disabled={after === undefined}
            onClick={() => onMonth(after === now ? undefined : after)}
          />
          <a href={statementFile(account, month)} download className={buttonClass()}>
            <Icon name="download" />
            CSV
          </a>
        </>
      }
    >
      <dl className="grid grid-cols-2 gap-4 border-b p-4 sm:grid-cols-5">
        <Sum label={t('billing.opening')} amount={statement.opening_nano_usd} />
        <Sum label={t('billing.credits')} amount={statement.credits_nano_usd} />
        <Sum label={t('billing.charges')} amount={statement.charges_nano_usd} />
        <Sum label={t('billing.debits')} amount={statement.debits_nano_usd} />
        <Sum label={t('billing.closing')} amount={statement.closing_nano_usd} />
      </dl>
      {statement.data.length === 0 ? <Empty>{t('billing.empty')}</Empty> : <Lines rows={statement.data} />}
    </Panel>
  )
}

const Sum = ({ label, amount }: { readonly label: string; readonly amount: string }) => (
  <Figure label={label}>
    <Money amount={amount} />
  </Figure>
)

function Lines({ rows }: { readonly rows: readonly LedgerLine[] }) {
  const t = useT()
  const show = useShow()
  const columns: readonly Column<LedgerLine>[] = [
    {
      key: 'time',
      head: t('column.time'),
      cell: (line) => <Time at={line.time} shape={line.kind === 'charges' ? 'dayOnly' : 'long'} />,
    },
    { key: 'kind', head: t('billing.kind'), isOptional: true, cell: ({ kind }) => t(`billing.${kind}`) },
    {
      key: 'reason',
      head: t('billing.reason'),
      className: 'max-w-72',
      cell: ({ reason, requests }) =>
        requests === null
          ? (reason ?? <Nothing />)
          : t('billing.requests', { n: requests, shown: show.number(requests) }),
    },
    {
      key: 'ref',
      head: t('billing.ref'),
      isOptional: true,
      cell: ({ ref }) => (ref === null ? <Nothing /> : <Id id={ref} />),
    },
    {
      key: 'amount',
      head: t('column.amount'),
      align: 'right',
      cell: (line) => <Money amount={line.amount_nano_usd} />,
    },
    {
      key: 'balance',
      head: t('billing.balance'),
      align: 'right',
      cell: (line) => <Money amount={line.balance_nano_usd} />,
    },
  ]
  return (
    <Table
      label={t('billing.ledger')}
      columns={columns}
      rows={rows}
      keyOf={({ time, kind, ref }) => `${time} ${kind} ${ref}`}
    />
  )
}
