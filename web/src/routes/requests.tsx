import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, Outlet, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useCallback } from 'react'
import { Filters } from '../features/requests/filters.tsx'
import { RequestList } from '../features/requests/request-list.tsx'
import { newestQuery, requestsQuery } from '../features/requests/requests.ts'
import { useT } from '../lib/i18n/language.ts'
import { Button, buttonClass } from '../ui/button.tsx'
import { Empty, Failure, PageHead, Panel, Waiting } from '../ui/page.tsx'

export function RequestsPage() {
  const t = useT()
  const { account } = useParams({ from: '/inside/a/$account/requests' })
  const { request: openId } = useParams({ strict: false })
  const filters = useSearch({ from: '/inside/a/$account/requests' })
  const navigate = useNavigate()
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery(
    requestsQuery(account, filters),
  )
  const rows = data?.pages.flatMap((page) => page.data)
  const onMore = useCallback(() => {
    if (!isFetchingNextPage) void fetchNextPage()
  }, [isFetchingNextPage, fetchNextPage])
  // A page without rows may still go on: the next one reads on from there.
  if (rows?.length === 0 && hasNextPage) onMore()
  return (
    <>
      <PageHead title={t('nav.requests')} hint={t('requests.hint')}>
        <Newer account={account} newestId={rows?.[0]?.id} />
      </PageHead>
      <Filters
        account={account}
        filters={filters}
        onChange={(search) => void navigate({ to: '/a/$account/requests', params: { account }, search })}
      />
      {error && <Failure error={error} onRetry={refetch} />}
      {!rows && !error && <Waiting />}
      {rows && (
        <Panel isFlush>
          {rows.length > 0 ? (
            <RequestList {...{ account, filters, rows, openId, onMore }} hasMore={hasNextPage} />
          ) : (
            <Nothing account={account} isFiltered={Object.keys(filters).length > 0} />
          )}
        </Panel>
      )}
      <Outlet />
    </>
  )
}

function Nothing({ account, isFiltered }: { readonly account: string; readonly isFiltered: boolean }) {
  const t = useT()
  if (isFiltered) return <Empty>{t('requests.noneFit')}</Empty>
  const action = (
    <Link to="/a/$account/keys" params={{ account }} search={{ dialog: 'new' }} className={buttonClass('primary')}>
      {t('keys.create')}
    </Link>
  )
  return <Empty action={action}>{t('requests.empty')}</Empty>
}

/** Rows do not move under the eyes of whoever reads: newer ones come when they are asked for. */
function Newer({ account, newestId }: { readonly account: string; readonly newestId: string | undefined }) {
  const t = useT()
  const client = useQueryClient()
  const filters = useSearch({ from: '/inside/a/$account/requests' })
  const { data } = useQuery({ ...newestQuery(account, filters), enabled: newestId !== undefined })
  const newest = data?.data[0]?.id
  if (newest === undefined || newestId === undefined || newest <= newestId) return null
  return (
    <Button icon="down" onClick={() => void client.resetQueries(requestsQuery(account, filters))}>
      {t('requests.newer')}
    </Button>
  )
}
