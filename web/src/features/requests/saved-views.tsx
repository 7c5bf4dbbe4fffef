/** Saved views: filters with a name. A view is a URL. */
import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { Answers, SavedView } from '../../lib/api-types.gen.ts'
import { api, path } from '../../lib/api.ts'
import { useT } from '../../lib/language.ts'
import { filtersOfText, textOfFilters, type RequestFilters } from '../../lib/request-filters.ts'
import { StopDialog } from '../../parts/stop.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog, DialogButtons } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/field.tsx'
import { Menu, type MenuItem } from '../../ui/menu.tsx'
import { Failure } from '../../ui/page.tsx'
import { MINUTE_MS } from '../../lib/units.ts'

type Views = Answers['GET /saved-views']

const viewsQuery = queryOptions({
  queryKey: ['saved-views'],
  queryFn: () => api.get<Views>('saved-views'),
  staleTime: MINUTE_MS,
})

type Props = { readonly filters: RequestFilters; readonly onChoose: (filters: RequestFilters) => void }
type Naming = { readonly kind: 'save' } | { readonly kind: 'rename'; readonly view: SavedView }
type Open = Naming | { readonly kind: 'remove'; readonly view: SavedView }

export function SavedViews({ filters, onChoose }: Props) {
  const t = useT()
  const [isAsked, setAsked] = useState(false)
  const [open, setOpen] = useState<Open>()
  const { data, error: unread } = useQuery({ ...viewsQuery, enabled: isAsked })
  const views = data?.data ?? []
  const query = textOfFilters(filters)
  const current = views.find((view) => view.query === query)
  const choices = views.map((view): MenuItem => ({
    label: view.name,
    isChosen: view === current,
    onPick: () => onChoose(filtersOfText(view.query)),
  }))
  const changes: readonly MenuItem[] = current
    ? [
        { label: t('views.rename'), icon: 'brush', onPick: () => setOpen({ kind: 'rename', view: current }) },
        {
          label: t('views.remove'),
          icon: 'cross',
          kind: 'danger',
          onPick: () => setOpen({ kind: 'remove', view: current }),
        },
      ]
    : query === ''
      ? [{ label: t('views.hint'), onPick: () => undefined }]
      : [{ label: t('views.save'), icon: 'plus', onPick: () => setOpen({ kind: 'save' }) }]
  return (
    <div onPointerEnter={() => setAsked(true)} onFocus={() => setAsked(true)}>
      <Menu
        trigger={
          <Button icon="star">
            <span title={current?.name} className="max-w-40 truncate">
              {current?.name ?? t('views.name')}
            </span>
          </Button>
        }
        groups={[choices, changes].filter((group) => group.length > 0)}
      />
      {unread && <Failure error={unread} />}
      {open && open.kind !== 'remove' && <NameDialog open={open} query={query} onClose={() => setOpen(undefined)} />}
      <RemoveView view={open?.kind === 'remove' ? open.view : undefined} onClose={() => setOpen(undefined)} />
    </div>
  )
}

type RemoveProps = { readonly view: SavedView | undefined; readonly onClose: () => void }

function RemoveView({ view, onClose }: RemoveProps) {
  const t = useT()
  const client = useQueryClient()
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<Error | null>(null)
  const close = (): void => {
    setError(null)
    onClose()
  }
  const remove = async (id: string): Promise<void> => {
    setBusy(true)
    try {
      client.setQueryData(viewsQuery.queryKey, await api.remove<Views>(path`saved-views/${id}`))
      close()
    } catch (thrown) {
      setError(thrown instanceof Error ? thrown : new Error(String(thrown)))
    } finally {
      setBusy(false)
    }
  }
  return (
    <StopDialog
      open={view !== undefined}
      onClose={close}
      title={t('views.removeTitle', { name: view?.name ?? '' })}
      text={t('views.removeText')}
      action={t('views.remove')}
      isBusy={isBusy}
      error={error}
      onStop={() => view && void remove(view.id)}
    />
  )
}

type NameProps = { readonly open: Naming; readonly query: string; readonly onClose: () => void }

function NameDialog({ open, query, onClose }: NameProps) {
  const t = useT()
  const client = useQueryClient()
  const [name, setName] = useState(open.kind === 'rename' ? open.view.name : '')
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>()
  // Not a mutation: a new name changes only the list of views, and nothing else is loaded again.
  const save = async (): Promise<void> => {
    setBusy(true)
    try {
      if (open.kind === 'save') await api.post<SavedView>('saved-views', { name, query })
      else await api.patch<SavedView>(path`saved-views/${open.view.id}`, { name })
      await client.invalidateQueries(viewsQuery)
      onClose()
    } catch (thrown) {
      setError(thrown)
    } finally {
      setBusy(false)
    }
  }
  return (
    <Dialog open onClose={onClose} title={t(open.kind === 'save' ? 'views.save' : 'views.rename')}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void save()
        }}
      >
        <TextField
          label={t('views.nameOf')}
          hint={t('views.whose')}
          value={name}
          maxLength={100}
          required
          autoFocus
          onChange={(event) => setName(event.target.value)}
        />
        {error !== undefined && <Failure error={error} />}
        <DialogButtons>
          <Button onClick={onClose}>{t('cancel')}</Button>
          <Button kind="primary" type="submit" busy={isBusy} disabled={name.trim() === ''}>
            {t('save')}
          </Button>
        </DialogButtons>
      </form>
    </Dialog>
  )
}
