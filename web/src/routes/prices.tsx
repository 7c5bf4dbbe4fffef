import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { ImportPanel } from '../features/prices/import-panel.tsx'
import { MarginTable } from '../features/prices/margin-table.tsx'
import { soldQuery } from '../features/prices/prices.ts'
import { useT } from '../lib/i18n/language.ts'
import { Segments } from '../ui/field.tsx'
import { Empty, Failure, PageHead, Panel, Waiting } from '../ui/page.tsx'

const tabs = ['margins', 'import'] as const

export function PricesPage() {
  const t = useT()
  const asked = useSearch({ from: '/inside/operator/prices' }).tab
  const navigate = useNavigate({ from: '/operator/prices' })
  const tab = tabs.find((one) => one === asked) ?? 'margins'
  return (
    <>
      <PageHead title={t('nav.prices')} hint={t('prices.hint')}>
        <Segments
          name={t('nav.prices')}
          value={tab}
          choices={tabs.map((value) => ({ value, label: t(`prices.${value}`) }))}
          onChoose={(value) => void navigate({ search: { tab: value } })}
        />
      </PageHead>
      {tab === 'margins' ? <Margins /> : <ImportPanel />}
    </>
  )
}

function Margins() {
  const t = useT()
  const { data, error, refetch } = useQuery(soldQuery)
  if (error) return <Failure error={error} onRetry={refetch} />
  if (!data) return <Waiting />
  return (
    <Panel isFlush>
      {data.data.length > 0 ? <MarginTable models={data.data} /> : <Empty>{t('models.none')}</Empty>}
    </Panel>
  )
}
