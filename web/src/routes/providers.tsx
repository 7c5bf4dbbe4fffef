import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { ProviderForm } from '../features/providers/provider-form.tsx'
import { ProviderTable } from '../features/providers/provider-table.tsx'
import { ProviderView } from '../features/providers/provider-view.tsx'
import { providerQuery, providersQuery } from '../features/providers/api.ts'
import { useT } from '../lib/language.ts'
import { useRows } from '../lib/lists.ts'
import { only } from '../lib/search.ts'
import { ListFoot } from '../parts/list-foot.tsx'
import { SearchField } from '../parts/search-field.tsx'
import { Button } from '../ui/button.tsx'
import { Dialog, Drawer } from '../ui/dialog.tsx'
import { Empty, Failure, PageHead, Panel, Waiting } from '../ui/page.tsx'

const REFRESH_MS = 15_000

export function ProvidersPage() {
  const t = useT()
  const { open, q, dialog } = useSearch({ from: '/inside/operator/providers' })
  const navigate = useNavigate({ from: '/operator/providers' })
  const list = useRows(providersQuery(only({ q })), { refetchInterval: REFRESH_MS })
  const { rows } = list
  const { data: provider, error } = useQuery({ ...providerQuery(open ?? ''), enabled: open !== undefined })
  const close = (): void => void navigate({ search: only({ q }) })
  return (
    <>
      <PageHead title={t('nav.providers')} hint={t('providers.hint')}>
        <SearchField
          name={t('providers.search')}
          value={q}
          onSearch={(next) => void navigate({ search: only({ q: next }), replace: true })}
        />
        <Button kind="primary" icon="plus" onClick={() => void navigate({ search: { ...only({ q }), dialog: 'new' } })}>
          {t('providers.add')}
        </Button>
      </PageHead>
      {list.error && <Failure error={list.error} onRetry={list.refetch} />}
      {!rows && !list.error && <Waiting />}
      {rows && (
        <Panel isFlush>
          {rows.length > 0 ? (
            <ProviderTable providers={rows} />
          ) : (
            <Empty>{t(q === undefined ? 'providers.empty' : 'list.noneFit')}</Empty>
          )}
        </Panel>
      )}
      <ListFoot list={list} />
      <Dialog open={dialog === 'new'} onClose={close} title={t('providers.add')}>
        <ProviderForm onDone={(id) => void navigate({ search: { open: id } })} onCancel={close} />
      </Dialog>
      <Drawer open={open !== undefined} onClose={close} title={open ?? ''}>
        {error && <Failure error={error} />}
        {provider?.id === open && provider && <ProviderView key={provider.id} provider={provider} onClose={close} />}
      </Drawer>
    </>
  )
}
