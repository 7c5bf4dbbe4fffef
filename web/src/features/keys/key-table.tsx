import { Link } from '@tanstack/react-router'
import type { ApiKey } from '../../lib/api-types.gen.ts'
import { useT } from '../../lib/language.ts'
import { columnOf, exact, nano } from '../../lib/money.ts'
import { useShow } from '../../lib/show.ts'
import { IconButton } from '../../ui/button.tsx'
import { Menu } from '../../ui/menu.tsx'
import { Table, type Column } from '../../ui/table.tsx'
import { Ago, Badge, Money, Nothing, Status } from '../../ui/text.tsx'
import { useUsedHour } from './used-hour.ts'

type Props = {
  readonly account: string
  readonly rows: readonly ApiKey[]
  /** Undefined for users who can only view. */
  readonly onEdit: ((key: ApiKey) => void) | undefined
  readonly onRevoke: (key: ApiKey) => void
}

export function KeyTable({ account, rows, onEdit, onRevoke }: Props) {
  const t = useT()
  const today = columnOf(rows.map((key) => key.spent_today_nano_usd))
  const month = columnOf(rows.map((key) => key.spent_this_month_nano_usd))
  const columns: readonly Column<ApiKey>[] = [
    {
      key: 'name',
      head: t('keys.name'),
      className: 'max-w-36 sm:max-w-56',
      cell: (key) => <Name account={account} of={key} />,
    },
    {
      key: 'key',
      head: t('column.key'),
      isOptional: true,
      cell: (key) => <code className="font-mono text-xs whitespace-nowrap">{key.key}</code>,
    },
    {
      key: 'status',
      head: t('column.status'),
      isOptional: true,
      cell: ({ status }) => <Status tone={status === 'active' ? 'good' : 'none'}>{t(`keys.${status}`)}</Status>,
    },
    {
      key: 'used',
      head: t('keys.lastUsed'),
      isOptional: true,
      cell: (key) => <LastUsed at={key.last_used_at} />,
    },
    {
      key: 'today',
      head: t('keys.today'),
      align: 'right',
      isOptional: true,
      cell: (key) => <Spent spent={key.spent_today_nano_usd} limit={key.limits.spend_per_day_nano_usd} show={today} />,
    },
    {
      key: 'month',
      head: t('keys.month'),
      align: 'right',
      cell: (key) => (
        <Spent spent={key.spent_this_month_nano_usd} limit={key.limits.spend_per_month_nano_usd} show={month} />
      ),
    },
    {
      key: 'models',
      head: t('keys.models'),
      isOptional: true,
      cell: ({ models }) => <Models models={models} />,
    },
    { key: 'created', head: t('column.created'), isOptional: true, cell: (key) => <Ago at={key.created_at} /> },
    {
      key: 'do',
      head: <span className="sr-only">{t('column.do')}</span>,
      align: 'right',
      cell: (key) => <Actions of={key} onEdit={onEdit} onRevoke={onRevoke} />,
    },
  ]
  return (
    <Table
      label={t('nav.keys')}
      columns={columns}
      rows={rows}
      keyOf={({ id }) => id}
      rowClass={({ status }) => (status === 'revoked' ? 'text-soft' : undefined)}
    />
  )
}

function Name({ account, of: key }: { readonly account: string; readonly of: ApiKey }) {
  return (
    <Link
      to="/a/$account/usage"
      params={{ account }}
      search={{ key: key.id, by: 'model' }}
      title={key.name}
      className="block truncate font-medium hover:text-accent hover:underline"
    >
      {key.name}
    </Link>
  )
}

function Models({ models }: Pick<ApiKey, 'models'>) {
  const t = useT()
  if (models === null) return t('modelChoice.all')
  return <Badge title={models.join('\n')}>{t('keys.someModels', { n: models.length })}</Badge>
}

function Actions({ of: key, onEdit, onRevoke }: Pick<Props, 'onEdit' | 'onRevoke'> & { readonly of: ApiKey }) {
  const t = useT()
  // Without room for the status column, only an unusual status is shown.
  if (key.status === 'revoked') return <span className="text-xs md:hidden">{t('keys.revoked')}</span>
  if (!onEdit) return null
  return (
    <Menu
      trigger={<IconButton icon="more" label={t('keys.menu', { name: key.name })} />}
      groups={[
        [{ label: t('keys.edit'), icon: 'settings', onPick: () => onEdit(key) }],
        [{ label: t('keys.revoke'), icon: 'cross', kind: 'danger', onPick: () => onRevoke(key) }],
      ]}
    />
  )
}

function LastUsed({ at }: { readonly at: string | null }) {
  const { ago, hour } = useUsedHour()
  if (at === null) return <Nothing />
  return (
    <time dateTime={at.slice(0, 13)} title={hour(at)} className="whitespace-nowrap">
      {ago(at)}
    </time>
  )
}

type SpentProps = {
  readonly spent: string
  readonly limit: string | null
  readonly show: ReturnType<typeof columnOf>
}

/** The spend compared with the limit. The bar changes colour when little is left. */
function Spent({ spent, limit, show: shown }: SpentProps) {
  const t = useT()
  const show = useShow()
  if (limit === null) return <Money amount={spent} show={shown} />
  const share = nano(limit) === 0n ? 1 : Math.min(1, Number((nano(spent) * 1000n) / nano(limit)) / 1000)
  const text = t('keys.ofLimit', { spent: exact(spent), limit: exact(limit), share: show.percent(share) })
  return (
    <span className="inline-flex flex-col items-end" title={text}>
      <Money amount={spent} show={shown} />
      <span
        role="meter"
        aria-label={text}
        aria-valuenow={Math.round(share * 100)}
        aria-valuemin={0}
        aria-valuemax={100}
        className="mt-0.5 block h-1 w-20 overflow-hidden rounded-full bg-sunken"
      >
        <span
          className={`block h-full ${share >= 0.9 ? 'bg-bad' : 'bg-accent'}`}
          style={{ width: `${share * 100}%` }}
        />
      </span>
    </span>
  )
}
