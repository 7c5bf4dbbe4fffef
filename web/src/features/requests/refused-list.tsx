import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { RefusedRequest } from '../../lib/api-types.gen.ts'
import { useT } from '../../lib/language.ts'
import type { RequestFilters } from '../../lib/request-filters.ts'
import { useShow } from '../../lib/show.ts'
import { Button } from '../../ui/button.tsx'
import { Empty, Failure, Panel, Waiting } from '../../ui/page.tsx'
import { Table } from '../../ui/table.tsx'
import { Ago, Id, Nothing, Status } from '../../ui/text.tsx'
import { endpointOf, isNarrowed, refusalsQuery } from './refused.ts'

type Props = { readonly account: string; readonly filters: RequestFilters }

/** The list of refused requests, in place of the list of requests. */
export function RefusedList({ account, filters }: Props) {
  const t = useT()
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery(
    refusalsQuery(account, filters),
  )
  if (error) return <Failure error={error} onRetry={refetch} />
  if (!data) return <Waiting />
  const rows = data.pages.flatMap((page) => page.data)
  return (
    <>
      <p className="mb-2 text-xs text-soft">{t('refused.hint')}</p>
      <Panel isFlush>
        {rows.length > 0 ? (
          <Rows {...{ account, filters, rows }} />
        ) : (
          <Empty>{t(isNarrowed(filters) ? 'requests.noneFit' : 'refused.none')}</Empty>
        )}
      </Panel>
      {hasNextPage && (
        <Button className="mt-3" busy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          {t('refused.more')}
        </Button>
      )}
    </>
  )
}

function Rows({ account, filters, rows }: Props & { readonly rows: readonly RefusedRequest[] }) {
  const t = useT()
  const show = useShow()
  return (
    <Table
      label={t('outcome.refused')}
      rows={rows}
      keyOf={({ id }) => id}
      columns={[
        {
          key: 'time',
          head: t('column.time'),
          cell: ({ id, created_at: at }) => (
            <Link
              to="/a/$account/requests/$request"
              params={{ account, request: id }}
              search={filters}
              className="hover:text-accent hover:underline"
            >
              <Ago at={at} />
            </Link>
          ),
        },
        {
          key: 'status',
          head: t('column.status'),
          cell: ({ status, code }) => (
            <Status tone="bad">
              {status} {code}
            </Status>
          ),
        },
        {
          key: 'model',
          head: t('column.model'),
          className: 'max-w-24 truncate sm:max-w-40',
          cell: ({ model }) => (model === null ? <Nothing /> : <span title={model}>{model}</span>),
        },
        {
          key: 'endpoint',
          head: t('column.endpoint'),
          isOptional: true,
          className: 'max-w-56 truncate',
          cell: endpointOf,
        },
        {
          key: 'key',
          head: t('column.key'),
          isOptional: true,
          cell: ({ key }) => (key === null ? <Nothing /> : <Id id={key} />),
        },
        {
          key: 'repeats',
          head: t('refused.repeats'),
          align: 'right',
          isOptional: true,
          cell: ({ repeats }) => (repeats === 0 ? <Nothing /> : show.number(repeats)),
        },
      ]}
    />
  )
}
