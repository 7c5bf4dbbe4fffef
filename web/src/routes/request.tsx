import { useQuery, useInfiniteQuery } from '@tanstack/react-query'
import { useNavigate, useParams, useRouter, useSearch } from '@tanstack/react-router'
import { useEffect } from 'react'
import type { RequestRow } from '../lib/api-types.gen.ts'
import { requestQuery, requestsAfter, requestsQuery } from '../features/requests/api.ts'
import { REFUSED, refusalQuery } from '../features/requests/refused.ts'
import { RefusedView } from '../features/requests/refused-view.tsx'
import { RequestView } from '../features/requests/request-view.tsx'
import { isStatus, type Page } from '../lib/api.ts'
import { useT } from '../lib/language.ts'
import type { RequestFilters } from '../lib/request-filters.ts'
import { IconButton } from '../ui/button.tsx'
import { Drawer } from '../ui/dialog.tsx'
import { Failure, Waiting } from '../ui/page.tsx'

/** A request in a drawer over the list, with its own URL. Its neighbours are those of the filtered list. */
export function RequestDrawer() {
  const t = useT()
  const { account, request: id } = useParams({ from: '/inside/a/$account/requests/$request' })
  const filters = useSearch({ from: '/inside/a/$account/requests' })
  const navigate = useNavigate()
  const { data, error, refetch, isPlaceholderData } = useQuery(requestQuery(account, id))
  // A refused request has no record, but its id can be opened here, too.
  const refused = useQuery({ ...refusalQuery(account, id), enabled: isStatus(error, 404) })
  const { history } = useRouter()
  const { newerThan, mayGoOlder, olderThan } = useNeighbours(account, filters)
  const go = (other: string | undefined): void => {
    if (other !== undefined)
      void navigate({
        to: '/a/$account/requests/$request',
        params: { account, request: other },
        search: true,
        replace: true,
      })
  }
  // Navigation starts from the URL and not from the drawn page, because two quick steps may come before a redraw.
  const here = (): string => decodeURIComponent(history.location.pathname.split('/').at(-1) ?? '')
  const goNewer = (): void => go(newerThan(here()))
  const goOlder = async (): Promise<void> => {
    const from = here()
    const other = await olderThan(from)
    // An older request may have to be loaded first. If the user has moved on in the meantime, nothing happens.
    if (here() === from) go(other)
  }
  useArrows(goNewer, () => void goOlder())
  return (
    <Drawer
      open
      onClose={() => void navigate({ to: '/a/$account/requests', params: { account }, search: true })}
      title={t('request.title')}
      tools={
        <>
          <Step icon="left" label={t('request.newer')} isPossible={newerThan(id) !== undefined} onClick={goNewer} />
          <Step icon="right" label={t('request.older')} isPossible={mayGoOlder(id)} onClick={() => void goOlder()} />
        </>
      }
    >
      {error && refused.data && <RefusedView asked={id} refusal={refused.data} />}
      {error && !refused.data && !refused.isLoading && <Failure error={error} onRetry={refetch} />}
      {!data && !error && <Waiting />}
      {data && !error && (
        <div className={isPlaceholderData ? 'opacity-60' : ''}>
          <RequestView account={account} request={data} />
        </div>
      )}
    </Drawer>
  )
}

/** A disabled button keeps the focus, so that the focus stays in the page at the end of the list. */
function Step({ isPossible, onClick, ...rest }: StepProps) {
  return <IconButton {...rest} aria-disabled={!isPossible} onClick={() => isPossible && onClick()} />
}

type StepProps = {
  readonly icon: 'left' | 'right'
  readonly label: string
  readonly isPossible: boolean
  readonly onClick: () => void
}

/** A page may be empty although the list continues. The search stops after this many pages. */
const PAGES_MAX = 20

/**
 * The newer and the older neighbour in the filtered list. More of the list is loaded for older ones. A request that is
 * not in the loaded part has only an older neighbour.
 */
function useNeighbours(account: string, filters: RequestFilters) {
  // The API has no such outcome. Refused requests have their own list.
  const isRefused = filters.outcome === REFUSED
  const {
    data: list,
    hasNextPage,
    fetchNextPage,
  } = useInfiniteQuery({
    ...requestsQuery(account, filters),
    enabled: !isRefused,
  })
  const ids = idsOf(list)
  const readOn = async (id: string): Promise<string | undefined> => {
    for (let pages = 0; pages < PAGES_MAX; pages++) {
      const { data, hasNextPage: goesOn } = await fetchNextPage()
      const read = idsOf(data)
      const next = read[read.indexOf(id) + 1]
      if (next !== undefined || !goesOn) return next
    }
    return undefined
  }
  return {
    newerThan: (id: string): string | undefined => ids[ids.indexOf(id) - 1],
    mayGoOlder: (id: string): boolean => !isRefused && (!ids.includes(id) || id !== ids.at(-1) || hasNextPage),
    olderThan: async (id: string): Promise<string | undefined> => {
      if (isRefused) return undefined
      if (!ids.includes(id)) return search(account, filters, id)
      return ids[ids.indexOf(id) + 1] ?? (hasNextPage ? readOn(id) : undefined)
    },
  }
}

const idsOf = (list: { readonly pages: readonly Page<RequestRow>[] } | undefined): readonly string[] =>
  list?.pages.flatMap((page) => page.data.map((row) => row.id)) ?? []

async function search(account: string, filters: RequestFilters, id: string): Promise<string | undefined> {
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
