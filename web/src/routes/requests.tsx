import { useInfiniteQuery } from '@tanstack/react-query'
import { Link, Outlet, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useCallback, useMemo, useState } from 'react'
import { Filters } from '../features/requests/filters.tsx'
import { LiveSwitch, useLiveChoice, Waited } from '../features/requests/live-switch.tsx'
import { useLive } from '../features/requests/live.ts'
import { REFUSED } from '../features/requests/refused.ts'
import { RefusedList } from '../features/requests/refused-list.tsx'
import { RequestList } from '../features/requests/request-list.tsx'
import { requestsQuery } from '../features/requests/api.ts'
import { SavedViews } from '../features/requests/saved-views.tsx'
import { useT } from '../lib/language.ts'
import type { RequestFilters } from '../lib/request-filters.ts'
import { buttonClass } from '../ui/button.tsx'
import { Empty, Failure, PageHead, Panel, Waiting } from '../ui/page.tsx'

export function RequestsPage() {
  const t = useT()
  const { account } = useParams({ from: '/inside/a/$account/requests' })
  const { request: openId } = useParams({ strict: false })
  const filters = useSearch({ from: '/inside/a/$account/requests' })
  const navigate = useNavigate()
  const isRefused = filters.outcome === REFUSED
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage, isPlaceholderData } = useInfiniteQuery({
    ...requestsQuery(account, filters),
    enabled: !isRefused,
  })
  const rows = useMemo(() => data?.pages.flatMap((page) => page.data), [data])
  const [isReading, setReading] = useState(false)
  const [isOn, setOn] = useLiveChoice()
  const live = useLive(account, filters, {
    isOn: isOn && !isRefused && rows !== undefined && !isPlaceholderData,
    isReading,
  })
  const onMore = useCallback(() => {
    if (!isFetchingNextPage) void fetchNextPage()
  }, [isFetchingNextPage, fetchNextPage])
  // A page without rows may not be the last. The next page is then loaded.
  if (rows?.length === 0 && hasNextPage) onMore()
  const change = (to: (before: RequestFilters) => RequestFilters): void =>
    void navigate({ to: '/a/$account/requests', params: { account }, search: to })
  return (
    <>
      <PageHead title={t('nav.requests')} hint={t('requests.hint')}>
        {!isRefused && <LiveSwitch connection={live.connection} isOn={isOn} isPaused={isReading} onChange={setOn} />}
        <SavedViews filters={filters} onChoose={(chosen) => change(() => chosen)} />
      </PageHead>
      <Filters account={account} filters={filters} onChange={change} />
      {error && <Failure error={error} onRetry={refetch} />}
      {isRefused && <RefusedList account={account} filters={filters} />}
      {!rows && !error && !isRefused && <Waiting />}
      {rows && !isRefused && (
        <div className="relative">
          <Waited live={live} />
          <Panel isFlush>
            {rows.length > 0 ? (
              <RequestList
                {...{ account, filters, rows, openId, onMore }}
                hasMore={hasNextPage}
                onReading={setReading}
              />
            ) : (
              <Nothing account={account} isFiltered={Object.keys(filters).length > 0} />
            )}
          </Panel>
        </div>
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
