import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { LedgerLine, Statement } from '../../lib/api-types.gen.ts'
import { useRetell, useT } from '../../lib/language.ts'
import { shortId } from '../../lib/ids.ts'
import { columnOf } from '../../lib/money.ts'
import { useShow } from '../../lib/show.ts'
import { showTime } from '../../lib/time.ts'
import { usePriceBasis } from '../../parts/price-basis.tsx'
import { buttonClass, IconButton } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Empty, Figure, Panel } from '../../ui/page.tsx'
import { Table, type Column } from '../../ui/table.tsx'
import { Id, Money, Nothing } from '../../ui/text.tsx'
import { statementFile } from './api.ts'
import { DAY_MS } from '../../lib/units.ts'

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
  const amount = amountsOf(statement)
  return (
    <Panel
      isFlush
      title={showTime(`${month}-15T00:00:00Z`, 'monthOnly', { language: show.language, zone: 'utc' })}
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
      {/* The figures are in columns. An amount that is wider takes the room it needs, and the next ones wrap. */}
      <dl className="flex flex-wrap gap-4 border-b p-4 *:min-w-[calc(50%-0.5rem)] sm:*:min-w-[calc(20%-0.8rem)]">
        <Figure label={t('billing.opening')}>{amount(statement.opening_nano_usd)}</Figure>
        <Figure label={t('billing.credits')}>{amount(statement.credits_nano_usd)}</Figure>
        <Figure label={t('billing.charges')}>{amount(statement.charges_nano_usd)}</Figure>
        <Figure label={t('billing.debits')}>{amount(statement.debits_nano_usd)}</Figure>
        <Figure label={t('billing.closing')}>{amount(statement.closing_nano_usd)}</Figure>
      </dl>
      {statement.data.length === 0 ? (
        <Empty>{t('billing.empty')}</Empty>
      ) : (
        <Lines account={account} rows={statement.data} amount={amount} />
      )}
      {statement.prices.length > 0 && <Prices prices={statement.prices} />}
    </Panel>
  )
}

/** The prices of the account that were in force in the month. Without them it paid the prices of the models. */
function Prices({ prices }: Pick<Statement, 'prices'>) {
  const t = useT()
  const show = useShow()
  const basisOf = usePriceBasis()
  return (
    <section className="border-t p-4" aria-label={t('billing.prices')}>
      <h3 className="font-semibold">{t('billing.prices')}</h3>
      <ul className="text-soft">
        {prices.map(({ model, from, until, ...price }) => (
          <li key={`${model} ${from}`}>
            {model ?? t('price.others')} · {basisOf(price)} · {show.time(from, 'long')} –{' '}
            {until === null ? '' : show.time(until, 'long')}
          </li>
        ))}
      </ul>
    </section>
  )
}

type Amount = (amount: string) => ReactNode

/** All amounts of a month have the same number of decimals. The tooltips and the file have the exact amounts. */
function amountsOf(statement: Statement): Amount {
  const show = columnOf([
    statement.opening_nano_usd,
    statement.credits_nano_usd,
    statement.charges_nano_usd,
    statement.debits_nano_usd,
    statement.closing_nano_usd,
    ...statement.data.flatMap((line) => [line.amount_nano_usd, line.balance_nano_usd]),
  ])
  return (amount) => <Money amount={amount} show={show} />
}

type LinesProps = { readonly account: string; readonly rows: readonly LedgerLine[]; readonly amount: Amount }

function Lines({ account, rows, amount }: LinesProps) {
  const t = useT()
  const columns: readonly Column<LedgerLine>[] = [
    {
      key: 'time',
      head: t('billing.time'),
      cell: (line) => <When line={line} />,
    },
    { key: 'kind', head: t('billing.kind'), isOptional: true, cell: ({ kind }) => t(`billing.${kind}`) },
    {
      key: 'reason',
      head: t('billing.reason'),
      className: 'min-w-24 max-w-72 wrap-anywhere',
      cell: (line) => (line.kind === 'charges' ? <DayLink account={account} line={line} /> : <Reason line={line} />),
    },
    {
      key: 'ref',
      head: t('billing.ref'),
      isOptional: true,
      cell: ({ ref }) => (ref === null ? <Nothing /> : <Reference account={account} id={ref} />),
    },
    {
      key: 'amount',
      head: t('column.amount'),
      align: 'right',
      cell: (line) => amount(line.amount_nano_usd),
    },
    {
      key: 'balance',
      head: t('billing.balance'),
      align: 'right',
      isOptional: true,
      cell: (line) => amount(line.balance_nano_usd),
    },
  ]
  return (
    <Table
      label={t('billing.ledger')}
      columns={columns}
      rows={rows}
      keyOf={({ time, kind, ref, balance_nano_usd: balance }) => `${time} ${kind} ${ref} ${balance}`}
    />
  )
}

function Reason({ line: { reason, own } }: { readonly line: LedgerLine }) {
  const retell = useRetell()
  if (reason === null) return <Nothing />
  return <span title={reason}>{(own && retell('bookings', { reason: own.code, facts: own.facts })) ?? reason}</span>
}

type LineProps = { readonly account: string; readonly line: LedgerLine }

/**
 * The ledger uses days of UTC, so all of its times are in UTC: in another zone a day would be out of order. The tooltip
 * has the local time. A phone shows the day only, because the year is in the heading.
 */
function When({ line: { time, kind } }: { readonly line: LedgerLine }) {
  const show = useShow()
  const { from, to } = dayOf(time)
  const title =
    kind === 'charges' ? `${show.time(from)} – ${show.time(to, 'withSeconds')}` : show.time(time, 'withSeconds')
  const text = (shape: 'shortDay' | 'dayOnly' | 'long'): string =>
    showTime(time, shape, { language: show.language, zone: 'utc' })
  return (
    <time dateTime={kind === 'charges' ? time.slice(0, 10) : time} title={title} className="whitespace-nowrap">
      <span className="md:hidden">{text('shortDay')}</span>
      <span className="hidden md:inline">{text(kind === 'charges' ? 'dayOnly' : 'long')}</span>
    </time>
  )
}

function dayOf(time: string): { readonly from: string; readonly to: string } {
  const from = `${time.slice(0, 10)}T00:00:00.000Z`
  return { from, to: new Date(Date.parse(from) + DAY_MS).toISOString() }
}

/** Links to the requests of a day of UTC. */
function DayLink({ account, line: { time, requests } }: LineProps) {
  const t = useT()
  const show = useShow()
  return (
    <Link
      to="/a/$account/requests"
      params={{ account }}
      search={dayOf(time)}
      className="hover:text-accent hover:underline"
    >
      {requests === null ? t('billing.part') : t('billing.requests', { n: requests, shown: show.number(requests) })}
    </Link>
  )
}

/** A refund whose reference is a request id links to that request. */
function Reference({ account, id }: { readonly account: string; readonly id: string }) {
  const request = /req_[0-9a-z]{26}/.exec(id)?.[0]
  if (request === undefined) return <Id id={id} />
  return (
    <Link
      to="/a/$account/requests/$request"
      params={{ account, request }}
      search={{}}
      title={id}
      className="font-mono text-xs hover:text-accent hover:underline"
    >
      {shortId(id)}
    </Link>
  )
}

/** The next month, such as `2026-12`. */
function monthAfter(month: string): string {
  const [year = 0, number = 1] = month.split('-').map(Number)
  return new Date(Date.UTC(year, number)).toISOString().slice(0, 7)
}
