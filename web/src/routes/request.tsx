import { useQuery, useInfiniteQuery } from '@tanstack/react-query'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useEffect } from 'react'
import { requestQuery, requestsAfter, requestsQuery } from '../features/requests/requests.ts'
import { RequestView } from '../features/requests/request-view.tsx'
import type { Page } from '../lib/api.ts'
import { useT } from '../lib/i18n/language.ts'
import type { RequestFilters } from '../lib/request-filters.ts'
import type { RequestRow } from '../lib/requests.ts'
import { IconButton } from '../ui/button.tsx'
import { Drawer } from '../ui/dialog.tsx'
import { Failure, Waiting } from '../ui/page.tsx'

/** Over the list, with an address of its own; the next and the one before are those of the list as it is filtered. */
export function RequestDrawer() {
  const t = useT()
  const { account, request: id } = useParams({ from: '/inside/a/$account/requests/$request' })
  const filters = useSearch({ from: '/inside/a/$account/requests' })
  const navigate = useNavigate()
  const { data, error, refetch, isPlaceholderData } = useQuery(requestQuery(account, id))
  const { newer, older, goOlder } = useNeighbours(account, filters, id)
  const go = (other: string | undefined): void => {
    if (other !== undefined)
      void navigate({
        to: '/a/$account/requests/$request',
        params: { account, request: other },
        search: true,
        replace: true,
      })
  }
  useArrows(
    () => go(newer),
    () => void goOlder().then(go),
  )
  return (
    <Drawer
      open
      onClose={() => void navigate({ to: '/a/$account/requests', params: { account }, search: true })}
      title={t('request.title')}
      tools={
        <>
          <Step icon="left" label={t('request.newer')} isPossible={newer !== undefined} onClick={() => go(newer)} />
          <Step
            icon="right"
            label={t('request.older')}
            isPossible={older !== 'none'}
            onClick={() => void goOlder().then(go)}
          />
        </>
      }
    >
      {error && <Failure error={error} onRetry={refetch} />}
      {!data && !error && <Waiting />}
      {data && !error && (
        <div className={isPlaceholderData ? 'opacity-60' : ''}>
          <RequestView account={account} request={data} />
        </div>
      )}
    </Drawer>
  )
}

/** A button that cannot be pressed keeps the focus: at the end of the list it must not fall off the page. */
function Step({ isPossible, onClick, ...rest }: StepProps) {
  return <IconButton {...rest} aria-disabled={!isPossible} onClick={() => isPossible && onClick()} />
}

type StepProps = {
  readonly icon: 'left' | 'right'
  readonly label: string
  readonly isPossible: boolean
  readonly onClick: () => void
}

/** Pages may be empty and still go on; a search for a needle is given up after so many. */
const PAGES_MAX = 20

/**
 * The one before and the one after in the list as it is filtered, however far it has been read. `older` may be unknown
 * until it is asked for; a request that is not in what was read so far knows only what is older.
 */
function useNeighbours(account: string, filters: RequestFilters, id: string) {
  const { data: list, hasNextPage, fetchNextPage } = useInfiniteQuery(requestsQuery(account, filters))
  const ids = list?.pages.flatMap((page) => page.data.map((row) => row.id)) ?? []
  const at = ids.indexOf(id)
  const listed = at < 0 ? undefined : ids[at + 1]
  const older = listed !== undefined ? 'listed' : list === undefined || at < 0 || hasNextPage ? 'unknown' : 'none'
  const goOlder = async (): Promise<string | undefined> => {
    if (listed !== undefined || older === 'none') return listed
    if (at < 0) return olderThan(account, filters, id)
    for (let pages = 0; pages < PAGES_MAX; pages++) {
      const { data, hasNextPage: goesOn } = await fetchNextPage()
      const read = data?.pages.flatMap((page) => page.data.map((row) => row.id)) ?? []
      const next = read[read.indexOf(id) + 1]
      if (next !== undefined || !goesOn) return next
    }
    return undefined
  }
  return { newer: ids[at - 1], older, goOlder }
}

async function olderThan(account: string, filters: RequestFilters, id: string): Promise<string | undefined> {
  let cursor: string | null = id
  for (let pages = 0; pages < PAGES_MAX && cursor !== null; pages++) {
    const page: Page<RequestRow> = await requestsAfter(account, filters, { cursor, limit: 1 })
    if (page.data[0]) return page.data[0].id
    cursor = page.next_cursor
  }
  return undefined
}

function useArrows(onLeft: () => void, onRight: () => void): void {
  useEffect(() => {
    const onKey = ({ key, target }: KeyboardEvent): void => {
      if (target instanceof HTMLInputElement || target instanceof HTMLSelectElement) return
      if (key === 'ArrowLeft') onLeft()
      if (key === 'ArrowRight') onRight()
    }
    addEventListener('keydown', onKey, true)
    return () => removeEventListener('keydown', onKey, true)
  })
}
