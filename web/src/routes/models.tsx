import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { modelLink, ModelTable } from '../features/models/model-table.tsx'
import { fitting, ModelFilters } from '../features/models/model-filters.tsx'
import { ModelView } from '../features/models/model-view.tsx'
import { useT } from '../lib/i18n/language.ts'
import { modelsQuery } from '../lib/models.ts'
import { only } from '../lib/search.ts'
import { Drawer } from '../ui/dialog.tsx'
import { Empty, Failure, PageHead, Panel, Waiting } from '../ui/page.tsx'

export function ModelsPage() {
  const t = useT()
  const { account } = useParams({ from: '/inside/a/$account/models' })
  const { kind, q, model } = useSearch({ from: '/inside/a/$account/models' })
  const navigate = useNavigate({ from: '/a/$account/models' })
  const { data, error, refetch } = useQuery(modelsQuery(account))
  const fits = data && fitting(data.data, { kind, q })
  const search = only({ kind, q })
  return (
    <>
      <PageHead title={t('nav.models')} hint={t('models.hint')}>
        <ModelFilters
          models={data?.data}
          kind={kind}
          q={q}
          onChange={(next) => void navigate({ search: only(next), replace: true })}
        />
      </PageHead>
      {error && <Failure error={error} onRetry={refetch} />}
      {!data && !error && <Waiting />}
      {fits && (
        <Panel isFlush>
          {fits.length > 0 ? (
            <ModelTable
              models={fits}
              nameOf={(id) => (
                <Link
                  to="/a/$account/models"
                  params={{ account }}
                  search={{ ...search, model: id }}
                  title={id}
                  className={modelLink}
                >
                  {id}
                </Link>
              )}
            />
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
