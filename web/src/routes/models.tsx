import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { modelLink, ModelTable } from '../features/models/model-table.tsx'
import { ModelFilters } from '../features/models/model-filters.tsx'
import { ModelView } from '../features/models/model-view.tsx'
import { useT } from '../lib/language.ts'
import { modelsQuery } from '../lib/models.ts'
import { useRows } from '../lib/lists.ts'
import { only } from '../lib/search.ts'
import { ListFoot } from '../parts/list-foot.tsx'
import { Drawer } from '../ui/dialog.tsx'
import { Empty, Failure, PageHead, Panel, Waiting } from '../ui/page.tsx'

export function ModelsPage() {
  const t = useT()
  const { account } = useParams({ from: '/inside/a/$account/models' })
  const { kind, q, model } = useSearch({ from: '/inside/a/$account/models' })
  const navigate = useNavigate({ from: '/a/$account/models' })
  const search = only({ kind, q })
  const list = useRows(modelsQuery(account, search))
  const { rows: fits, error, refetch } = list
  return (
    <>
      <PageHead title={t('nav.models')} hint={t('models.hint')}>
        <ModelFilters kind={kind} q={q} onChange={(next) => void navigate({ search: only(next), replace: true })} />
      </PageHead>
      {error && <Failure error={error} onRetry={refetch} />}
      {!fits && !error && <Waiting />}
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
      <ListFoot list={list} />
      <Drawer open={model !== undefined} onClose={() => void navigate({ search })} title={model ?? ''}>
        {model !== undefined && <ModelView account={account} id={model} />}
      </Drawer>
    </>
  )
}
