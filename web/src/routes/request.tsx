import { useQuery, useInfiniteQuery } from '@tanstack/react-query'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useEffect } from 'react'
import { requestQuery, requestsQuery } from '../features/requests/requests.ts'
import { RequestView } from '../features/requests/request-view.tsx'
import { useT } from '../lib/i18n/language.ts'
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
  const { data: list } = useInfiniteQuery(requestsQuery(account, filters))
  const ids = list?.pages.flatMap((page) => page.data.map((row) => row.id)) ?? []
  const at = ids.indexOf(id)
  const go = (other: string | undefined): void => {
    if (other !== undefined)
      void navigate({
        to: '/a/$account/requests/$request',
        params: { account, request: other },
        search: filters,
        replace: true,
      })
  }
  const [newer, older] = at < 0 ? [] : [ids[at - 1], ids[at + 1]]
  useArrows(
    () => go(newer),
    () => go(older),
  )
  return (
    <Drawer
      open
      onClose={() => void navigate({ to: '/a/$account/requests', params: { account }, search: filters })}
      title={t('request.title')}
      tools={
        <>
          <IconButton icon="left" label={t('request.newer')} disabled={newer === undefined} onClick={() => go(newer)} />
          <IconButton
            icon="right"
            label={t('request.older')}
            disabled={older === undefined}
            onClick={() => go(older)}
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
