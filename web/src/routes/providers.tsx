import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { ProviderForm } from '../features/providers/provider-form.tsx'
import { ProviderTable } from '../features/providers/provider-table.tsx'
import { ProviderView } from '../features/providers/provider-view.tsx'
import { providersQuery } from '../features/providers/providers.ts'
import { useT } from '../lib/i18n/language.ts'
import { Button } from '../ui/button.tsx'
import { Dialog, Drawer } from '../ui/dialog.tsx'
import { Empty, Failure, PageHead, Panel, Waiting } from '../ui/page.tsx'

export function ProvidersPage() {
  const t = useT()
  const { open, dialog } = useSearch({ from: '/inside/operator/providers' })
  const navigate = useNavigate({ from: '/operator/providers' })
  const { data, error, refetch } = useQuery(providersQuery)
  const provider = data?.data.find(({ id }) => id === open)
  const close = (): void => void navigate({ search: {} })
  return (
    <>
      <PageHead title={t('nav.providers')} hint={t('providers.hint')}>
        <Button kind="primary" icon="plus" onClick={() => void navigate({ search: { dialog: 'new' } })}>
          {t('providers.add')}
        </Button>
      </PageHead>
      {error && <Failure error={error} onRetry={refetch} />}
      {!data && !error && <Waiting />}
      {data && (
        <Panel isFlush>
          {data.data.length > 0 ? <ProviderTable providers={data.data} /> : <Empty>{t('providers.empty')}</Empty>}
        </Panel>
      )}
      <Dialog open={dialog === 'new'} onClose={close} title={t('providers.add')}>
        <ProviderForm onDone={(id) => void navigate({ search: { open: id } })} onCancel={close} />
      </Dialog>
      <Drawer open={provider !== undefined} onClose={close} title={provider?.id ?? ''}>
        {provider && <ProviderView key={provider.id} provider={provider} onClose={close} />}
      </Drawer>
    </>
  )
}
