import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { ModelTable } from '../features/models/model-table.tsx'
import { ModelView } from '../features/models/model-view.tsx'
import { useT } from '../lib/i18n/language.ts'
import { modelKinds, modelsQuery } from '../lib/models.ts'
import { only } from '../lib/search.ts'
import { Drawer } from '../ui/dialog.tsx'
import { Segments } from '../ui/field.tsx'
import { Empty, Failure, PageHead, Panel, Waiting } from '../ui/page.tsx'

export function ModelsPage() {
  const t = useT()
  const { account } = useParams({ from: '/inside/a/$account/models' })
  const { kind, q, model } = useSearch({ from: '/inside/a/$account/models' })
  const navigate = useNavigate({ from: '/a/$account/models' })
  const { data, error, refetch } = useQuery(modelsQuery(account))
  const kinds = modelKinds.filter((one) => data?.data.some((other) => other.kind === one))
  const fits = data?.data.filter(
    (one) => (kind === undefined || one.kind === kind) && one.id.toLowerCase().includes((q ?? '').toLowerCase()),
  )
  const search = only({ kind, q })
  return (
    <>
      <PageHead title={t('nav.models')} hint={t('models.hint')}>
        <Segments
          name={t('models.kind')}
          value={kind ?? 'all'}
          choices={[
            { value: 'all', label: t('modelChoice.all') },
            ...kinds.map((value) => ({ value, label: t(`kind.${value}`) })),
          ]}
          onChoose={(value) =>
            void navigate({ search: only({ kind: value === 'all' ? undefined : value, q }), replace: true })
          }
        />
        <input
          type="search"
          className="field !w-48"
          aria-label={t('modelChoice.filter')}
          placeholder={t('modelChoice.filter')}
          value={q ?? ''}
          onChange={(event) =>
            void navigate({ search: only({ kind, q: event.target.value || undefined }), replace: true })
          }
        />
      </PageHead>
      {error && <Failure error={error} onRetry={refetch} />}
      {!data && !error && <Waiting />}
      {fits && (
        <Panel isFlush>
          {fits.length > 0 ? (
            <ModelTable account={account} models={fits} search={search} />
          ) : (
            <Empty>{t('models.none')}</Empty>
          )}
        </Panel>
      )}
      <Drawer open={model !== undefined} onClose={() => void navigate({ search })} title={model ?? ''}>
        {model !== undefined && <ModelView account={account} id={model} />}
      </Drawer>
    </>
  )
}
