import { useNavigate, useSearch } from '@tanstack/react-router'
import { ModelForm } from '../features/routing/model-form.tsx'
import { RoutedTable } from '../features/routing/routed-table.tsx'
import { RoutedView } from '../features/routing/routed-view.tsx'
import { routedQuery } from '../features/routing/api.ts'
import { useT } from '../lib/language.ts'
import { useRows } from '../lib/lists.ts'
import { only } from '../lib/search.ts'
import { ListFoot } from '../parts/list-foot.tsx'
import { SearchField } from '../parts/search-field.tsx'
import { Button } from '../ui/button.tsx'
import { Dialog, Drawer } from '../ui/dialog.tsx'
import { Empty, Failure, PageHead, Panel, Waiting } from '../ui/page.tsx'

export function RoutingPage() {
  const t = useT()
  const { open, q, dialog } = useSearch({ from: '/inside/operator/models' })
  const navigate = useNavigate({ from: '/operator/models' })
  const list = useRows(routedQuery(only({ q })))
  const { rows, error, refetch } = list
  const close = (): void => void navigate({ search: only({ q }) })
  return (
    <>
      <PageHead title={t('nav.routing')} hint={t('routing.hint')}>
        <SearchField
          name={t('modelChoice.filter')}
          value={q}
          onSearch={(next) => void navigate({ search: only({ q: next }), replace: true })}
        />
        <Button kind="primary" icon="plus" onClick={() => void navigate({ search: { ...only({ q }), dialog: 'new' } })}>
          {t('routing.add')}
        </Button>
      </PageHead>
      {error && <Failure error={error} onRetry={refetch} />}
      {!rows && !error && <Waiting />}
      {rows && (
        <Panel isFlush>
          {rows.length > 0 ? (
            <RoutedTable models={rows} q={q} />
          ) : (
            <Empty>{t(q === undefined ? 'routing.empty' : 'models.none')}</Empty>
          )}
        </Panel>
      )}
      <ListFoot list={list} />
      <Dialog open={dialog === 'new'} onClose={close} title={t('routing.add')} wide>
        <ModelForm onDone={(id) => void navigate({ search: { ...only({ q }), open: id } })} onCancel={close} />
      </Dialog>
      <Drawer open={open !== undefined} onClose={close} title={open ?? ''}>
        {open !== undefined && <RoutedView id={open} onClose={close} />}
      </Drawer>
    </>
  )
}
