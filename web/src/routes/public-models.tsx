/** Models and prices for visitors, if the operator publishes them. */
import { keepPreviousData, QueryClient, QueryClientProvider, useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import type { PublicModel } from '../lib/api-types.gen.ts'
import { LanguageButton } from '../features/sign-in/sign-in-frame.tsx'
import { ModelFilters } from '../features/models/model-filters.tsx'
import { ModelFacts } from '../features/models/model-facts.tsx'
import { modelLink, ModelTable } from '../features/models/model-table.tsx'
import { api, path } from '../lib/api.ts'
import '../lib/inside-words.ts'
import { useT } from '../lib/language.ts'
import { listQuery, useRows } from '../lib/lists.ts'
import { only } from '../lib/search.ts'
import { ListFoot } from '../parts/list-foot.tsx'
import { buttonClass } from '../ui/button.tsx'
import { Drawer } from '../ui/dialog.tsx'
import { Empty, Failure, PageHead, Panel, Waiting } from '../ui/page.tsx'
import { MINUTE_MS } from '../lib/units.ts'

const client = new QueryClient({
  defaultOptions: { queries: { retry: false, staleTime: MINUTE_MS, placeholderData: keepPreviousData } },
})

export function PublicModelsPage() {
  return (
    <QueryClientProvider client={client}>
      <div className="mx-auto max-w-[72rem] px-4 py-5 sm:px-6">
        <Top />
        <main id="main">
          <Models />
        </main>
      </div>
    </QueryClientProvider>
  )
}

function Top() {
  const t = useT()
  return (
    <header className="mb-6 flex flex-wrap items-center gap-2">
      <p className="flex grow items-center gap-2 text-base font-semibold">
        <img src="./icon.svg" alt="" className="size-6" />
        Tollgate
      </p>
      <LanguageButton />
      <Link to="/sign-in" search={{}} className={buttonClass('primary')}>
        {t('signIn.submit')}
      </Link>
    </header>
  )
}

function Models() {
  const t = useT()
  const { kind, q, model: openId } = useSearch({ from: '/models' })
  const navigate = useNavigate({ from: '/models' })
  const search = only({ kind, q })
  const list = useRows(listQuery<PublicModel>('public-models', 'public-models', search))
  const { rows: fits, error, refetch } = list
  const listed = fits?.find(({ id }) => id === openId)
  const { data: named, error: missing } = useQuery({
    queryKey: ['public-models', openId],
    queryFn: () => api.get<PublicModel>(path`public-models/${openId ?? ''}`),
    enabled: openId !== undefined && !listed,
  })
  const open = listed ?? (named?.id === openId ? named : undefined)
  return (
    <>
      <PageHead title={t('nav.models')} hint={t('models.publicHint')}>
        <ModelFilters kind={kind} q={q} onChange={(next) => void navigate({ search: only(next), replace: true })} />
      </PageHead>
      {error && <Failure error={error} onRetry={refetch} />}
      {!fits && !error && <Waiting />}
      {fits && (
        <Panel isFlush>
          {fits.length === 0 && <Empty>{t('models.none')}</Empty>}
          {fits.length > 0 && (
            <ModelTable
              models={fits}
              nameOf={(id) => (
                <Link to="/models" search={{ ...search, model: id }} title={id} className={modelLink}>
                  {id}
                </Link>
              )}
            />
          )}
        </Panel>
      )}
      <ListFoot list={list} />
      <Drawer open={openId !== undefined} onClose={() => void navigate({ search })} title={openId ?? ''}>
        {open && (
          <div className="space-y-6">
            <ModelFacts model={open} />
          </div>
        )}
        {!open && (missing ? <Failure error={missing} /> : <Waiting />)}
      </Drawer>
    </>
  )
}
