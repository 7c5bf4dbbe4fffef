import { useNavigate, useSearch } from '@tanstack/react-router'
import { ImportPanel } from '../features/prices/import-panel.tsx'
import { MarginTable } from '../features/prices/margin-table.tsx'
import { soldQuery } from '../features/prices/api.ts'
import { useT } from '../lib/language.ts'
import { useRows } from '../lib/lists.ts'
import { only } from '../lib/search.ts'
import { ListFoot } from '../parts/list-foot.tsx'
import { SearchField } from '../parts/search-field.tsx'
import { Segments } from '../ui/field.tsx'
import { Empty, Failure, PageHead, Panel, Waiting } from '../ui/page.tsx'

const tabs = ['margins', 'import'] as const

export function PricesPage() {
  const t = useT()
  const { tab: asked, q } = useSearch({ from: '/inside/operator/prices' })
  const navigate = useNavigate({ from: '/operator/prices' })
  const tab = tabs.find((one) => one === asked) ?? 'margins'
  return (
    <>
      <PageHead title={t('nav.prices')} hint={t('prices.hint')}>
        {tab === 'margins' && (
          <SearchField
            name={t('modelChoice.filter')}
            value={q}
            onSearch={(next) => void navigate({ search: only({ q: next }), replace: true })}
          />
        )}
        <Segments
          name={t('nav.prices')}
          value={tab}
          choices={tabs.map((value) => ({ value, label: t(`prices.${value}`) }))}
          onChoose={(value) => void navigate({ search: { tab: value } })}
        />
      </PageHead>
      {tab === 'margins' ? <Margins q={q} /> : <ImportPanel />}
    </>
  )
}

function Margins({ q }: { readonly q: string | undefined }) {
  const t = useT()
  const list = useRows(soldQuery(only({ q })))
  const { rows, error, refetch } = list
  if (error) return <Failure error={error} onRetry={refetch} />
  if (!rows) return <Waiting />
  return (
    <>
      <Panel isFlush>{rows.length > 0 ? <MarginTable models={rows} /> : <Empty>{t('models.none')}</Empty>}</Panel>
      <ListFoot list={list} />
    </>
  )
}
