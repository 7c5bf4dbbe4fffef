/** The status of the account: its money, its pace, its recent failures and the first steps. */
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { Overview, RequestRow } from '../../lib/api-types.gen.ts'
import { useT } from '../../lib/language.ts'
import { money, nano } from '../../lib/money.ts'
import { useCanWrite } from '../../lib/session.ts'
import { useShow } from '../../lib/show.ts'
import { inputTokens, outputTokens } from '../../lib/usage.ts'
import { buttonClass } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { OutcomeMark } from '../../parts/outcome.tsx'
import { Figure, Panel } from '../../ui/page.tsx'
import { Table } from '../../ui/table.tsx'
import { Ago, Money, Nothing } from '../../ui/text.tsx'
import type { OverviewRange } from './api.ts'

type Props = { readonly account: string; readonly overview: Overview }

export function Standing({ overview, range, account }: Props & { readonly range: OverviewRange }) {
  const t = useT()
  const show = useShow()
  const { balance, total, days_left: daysLeft } = overview
  const threshold = overview.low_balance_nano_usd ?? '0'
  const isLow = nano(balance.available_nano_usd) < nano(threshold)
  const tokens = inputTokens(total) + outputTokens(total)
  return (
    <section aria-label={t('overview.standing')} className="rounded-lg border bg-panel p-4">
      <dl className="grid grid-cols-2 gap-4 sm:grid-cols-3 lg:grid-cols-6">
        <Figure
          label={t('money.available')}
          hint={
            <>
              <Pace daysLeft={daysLeft} />
              {isLow && <span className="block text-warn">{t('overview.low', { threshold: money(threshold) })}</span>}
            </>
          }
        >
          <Money amount={balance.available_nano_usd} />
        </Figure>
        <Figure
          label={t('money.held')}
          hint={
            <Link
              to="/a/$account/billing"
              params={{ account }}
              search={{ tab: 'holds' }}
              className="underline hover:text-ink"
            >
              {t('overview.holds', { n: overview.open_holds })}
            </Link>
          }
        >
          <Money amount={balance.held_nano_usd} />
        </Figure>
        <Figure label={t('money.total')} hint={t('overview.totalHint')}>
          <Money amount={balance.posted_nano_usd} />
        </Figure>
        <Figure label={t('overview.spent')} hint={t(`range.${range}`)}>
          <Money amount={overview.spent_nano_usd} />
        </Figure>
        <Figure
          label={t('measure.requests')}
          hint={t('overview.failed', { n: total.failed, shown: show.number(total.failed) })}
        >
          {show.number(total.requests)}
        </Figure>
        <Figure
          label={t('measure.tokens')}
          hint={t('overview.tokens', { in: show.compact(inputTokens(total)), out: show.compact(outputTokens(total)) })}
        >
          <span title={show.number(tokens)}>{show.compact(tokens)}</span>
        </Figure>
      </dl>
    </section>
  )
}

function Pace({ daysLeft }: { readonly daysLeft: number | null }) {
  const t = useT()
  const show = useShow()
  if (daysLeft === null) return t('overview.noPace')
  if (daysLeft > 730) return t('overview.longPace')
  const text = t('overview.pace', { n: daysLeft, shown: show.days(daysLeft) })
  return daysLeft < 3 ? <span className="text-warn">{text}</span> : text
}

export function FirstSteps({ account, overview }: Props) {
  const t = useT()
  const canWrite = useCanWrite()
  const { first_steps: steps, balance } = overview
  return (
    <Panel title={t('first.title')}>
      <ol className="space-y-2">
        <FirstStep isDone={BigInt(balance.available_nano_usd) > 0n} text={t('first.money')}>
          <Link to="/a/$account/billing" params={{ account }} className={buttonClass()}>
            {t('nav.billing')}
          </Link>
        </FirstStep>
        <FirstStep isDone={steps.has_key} text={t('first.key')}>
          {canWrite && (
            <Link
              to="/a/$account/keys"
              params={{ account }}
              search={{ dialog: 'new' }}
              className={buttonClass(steps.has_key ? 'plain' : 'primary')}
            >
              {t('keys.create')}
            </Link>
          )}
        </FirstStep>
        <FirstStep isDone={steps.has_succeeded} text={steps.has_called ? t('first.again') : t('first.call')}>
          <Link to="/a/$account/playground" params={{ account }} className={buttonClass()}>
            {t('nav.playground')}
          </Link>
        </FirstStep>
      </ol>
    </Panel>
  )
}

function FirstStep({
  isDone,
  text,
  children,
}: {
  readonly isDone: boolean
  readonly text: string
  readonly children: ReactNode
}) {
  const t = useT()
  return (
    <li className="flex min-h-8 flex-wrap items-center gap-2">
      <span
        className={`flex size-5 shrink-0 items-center justify-center rounded-full border ${isDone ? 'border-good bg-good-soft text-good' : 'border-edge'}`}
      >
        {isDone && <Icon name="check" className="!size-3" />}
      </span>
      <span className={`min-w-0 grow basis-36 ${isDone ? 'text-soft line-through' : ''}`}>
        {text}
        {isDone && <span className="sr-only">: {t('first.done')}</span>}
      </span>
      {children}
    </li>
  )
}

export function Failures({ account, rows }: { readonly account: string; readonly rows: readonly RequestRow[] }) {
  const t = useT()
  if (rows.length === 0) return null
  return (
    <Panel
      title={t('overview.failures')}
      isFlush
      tools={
        <Link
          to="/a/$account/requests"
          params={{ account }}
          search={{ outcome: 'failed' }}
          className="text-accent hover:underline"
        >
          {t('overview.allFailures')}
        </Link>
      }
    >
      <Table
        label={t('overview.failures')}
        rows={rows}
        keyOf={({ id }) => id}
        columns={[
          { key: 'at', head: t('column.time'), cell: (row) => <Ago at={row.created_at} /> },
          {
            key: 'what',
            head: t('column.error'),
            className: 'wrap-anywhere',
            cell: (row) => (
              <Link
                to="/a/$account/requests/$request"
                params={{ account, request: row.id }}
                search={{}}
                className="font-mono text-xs text-accent hover:underline"
              >
                {row.error_code ?? row.status}
              </Link>
            ),
          },
          {
            key: 'model',
            head: t('column.model'),
            className: 'max-w-28 truncate sm:max-w-56',
            cell: (row) => <span title={row.model}>{row.model}</span>,
          },
          {
            key: 'key',
            head: t('column.key'),
            isOptional: true,
            className: 'max-w-40 truncate',
            cell: (row) => <span title={row.key.name}>{row.key.name}</span>,
          },
          {
            key: 'outcome',
            head: t('column.status'),
            isOptional: true,
            cell: (row) => (row.outcome ? <OutcomeMark outcome={row.outcome} /> : <Nothing />),
          },
        ]}
      />
    </Panel>
  )
}
