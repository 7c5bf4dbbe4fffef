import { Link } from '@tanstack/react-router'
import type { Provider } from '../../lib/api-types.gen.ts'
import { useT } from '../../lib/language.ts'
import { useShow } from '../../lib/show.ts'
import { WithOrigin } from '../../parts/declared.tsx'
import { Table } from '../../ui/table.tsx'
import { Ago, Nothing, Status } from '../../ui/text.tsx'

export function ProviderTable({ providers }: { readonly providers: readonly Provider[] }) {
  const t = useT()
  const show = useShow()
  return (
    <Table
      label={t('nav.providers')}
      rows={providers}
      keyOf={({ id }) => id}
      columns={[
        {
          key: 'id',
          head: t('column.name'),
          className: 'max-w-36 sm:max-w-56',
          cell: ({ id, origin }) => (
            <WithOrigin origin={origin}>
              <Name id={id} />
            </WithOrigin>
          ),
        },
        { key: 'state', head: t('column.status'), cell: (provider) => <ProviderState provider={provider} /> },
        {
          key: 'url',
          head: t('providers.url'),
          isOptional: true,
          className: 'max-w-64 truncate text-soft',
          cell: (provider) => <span title={provider.base_url}>{provider.base_url}</span>,
        },
        {
          key: 'key',
          head: t('providers.key'),
          isOptional: true,
          cell: (provider) => (provider.has_key ? t('providers.hasKey') : <Nothing />),
        },
        {
          key: 'offers',
          head: t('providers.offers'),
          align: 'right',
          isOptional: true,
          cell: (provider) => show.number(provider.offers),
        },
        {
          key: 'ok',
          head: t('providers.succeeded'),
          align: 'right',
          isOptional: true,
          cell: ({ since_start: since }) => show.number(since.succeeded),
        },
        {
          key: 'failed',
          head: t('measure.errors'),
          align: 'right',
          cell: ({ since_start: since }) => show.number(since.failed),
        },
        {
          key: 'last',
          head: t('providers.lastFailure'),
          isOptional: true,
          className: 'max-w-56 truncate',
          cell: (provider) => <LastFailure provider={provider} />,
        },
      ]}
    />
  )
}

function Name({ id }: Pick<Provider, 'id'>) {
  return (
    <Link
      to="/operator/providers"
      search={{ open: id }}
      title={id}
      className="truncate font-medium hover:text-accent hover:underline"
    >
      {id}
    </Link>
  )
}

function LastFailure({ provider }: { readonly provider: Provider }) {
  const { last_failure: last } = provider.since_start
  if (!last) return <Nothing />
  return (
    <span title={last.message}>
      {last.result} · <Ago at={last.at} />
    </span>
  )
}

export function ProviderState({ provider }: { readonly provider: Provider }) {
  const t = useT()
  const { last_test: test } = provider
  if (provider.state === 'drained') return <Status tone="none">{t('providers.drained')}</Status>
  if (provider.resting_offers > 0)
    return <Status tone="warn">{t('providers.resting', { n: provider.resting_offers })}</Status>
  // No offer rests yet, but the next request will fail.
  if (test?.ok === false) return <Status tone="bad">{t('providers.failedTest')}</Status>
  return <Status tone="good">{t('providers.serving')}</Status>
}
