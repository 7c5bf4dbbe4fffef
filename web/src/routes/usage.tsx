import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { exportOf, groups, usageQuery, type UsageSelection } from '../features/usage/api.ts'
import { measures, type Measure } from '../features/usage/totals.ts'
import { RefusedCounts } from '../features/usage/refused-counts.tsx'
import { UsageChart } from '../features/usage/usage-chart.tsx'
import { UsageTable } from '../features/usage/usage-table.tsx'
import { useT } from '../lib/language.ts'
import { ranges } from '../lib/ranges.ts'
import { useShow } from '../lib/show.ts'
import { Button, buttonClass } from '../ui/button.tsx'
import { Segments, Select } from '../ui/field.tsx'
import { Icon } from '../ui/icon.tsx'
import { Empty, Failure, PageHead, Panel, Waiting } from '../ui/page.tsx'
import { Badge } from '../ui/text.tsx'

export function UsagePage() {
  const t = useT()
  const { zone } = useShow()
  const { account } = useParams({ from: '/inside/a/$account/usage' })
  const { range = '30d', by = 'model', measure = 'cost', ...search } = useSearch({ from: '/inside/a/$account/usage' })
  const { model, key, endpoint } = search
  const step = range === '90d' ? 'day' : (search.step ?? (range === '24h' ? 'hour' : 'day'))
  const asked: UsageSelection = { range, step, by, model, key, endpoint, zone }
  const { data, error, refetch } = useQuery(usageQuery(account, asked))
  return (
    <>
      <PageHead title={t('nav.usage')} hint={t('usage.hint')}>
        {(['csv', 'json'] as const).map((format) => (
          <a
            key={format}
            href={exportOf(account, asked, format)}
            download={`usage.${format}`}
            className={buttonClass()}
          >
            <Icon name="download" />
            {format.toUpperCase()}
          </a>
        ))}
      </PageHead>
      <Choices asked={asked} measure={measure} />
      {error && <Failure error={error} onRetry={refetch} />}
      {!data && !error && <Waiting />}
      {data && (
        <div className="space-y-4">
          <Panel>
            <UsageChart account={account} usage={data} asked={asked} measure={measure} />
          </Panel>
          <Panel isFlush>
            {data.data.length > 0 ? (
              <UsageTable account={account} usage={data} asked={asked} />
            ) : (
              <Empty>{t('chart.empty')}</Empty>
            )}
          </Panel>
          <RefusedCounts account={account} counts={data.refused} />
        </div>
      )}
    </>
  )
}

function Choices({ asked, measure }: { readonly asked: UsageSelection; readonly measure: Measure }) {
  const t = useT()
  const search = useSearch({ from: '/inside/a/$account/usage' })
  const navigate = useNavigate({ from: '/a/$account/usage' })
  const { range, step, by, model, key, endpoint } = asked
  const change = (next: Partial<typeof search>): void =>
    void navigate({ search: { ...search, ...next }, replace: true })
  const narrowed = Object.entries({ model, key, endpoint }).filter(([, value]) => value !== undefined)
  return (
    <div className="mb-3 flex flex-wrap items-center gap-2">
      <Segments
        name={t('range.name')}
        value={range}
        choices={ranges.map((value) => ({ value, label: t(`range.${value}`) }))}
        onChoose={(value) => change({ range: value })}
      />
      {range !== '90d' && (
        <Segments
          name={t('usage.step')}
          value={step}
          choices={(['hour', 'day'] as const).map((value) => ({ value, label: t(`usage.${value}`) }))}
          onChoose={(value) => change({ step: value })}
        />
      )}
      <div className="flex gap-2">
        <Select
          name={t('usage.measure')}
          className="!w-auto"
          value={measure}
          choices={measures.map((value) => ({ value, label: t(`measure.${value}`) }))}
          onChoose={(value) => change({ measure: value })}
        />
        <Select
          name={t('usage.by')}
          className="!w-auto"
          value={by}
          choices={groups.map((value) => ({ value, label: t(`usage.by.${value}`) }))}
          onChoose={(value) => change({ by: value })}
        />
      </div>
      {narrowed.map(([name, value]) => (
        <Badge key={name}>{value}</Badge>
      ))}
      {narrowed.length > 0 && (
        <Button
          kind="quiet"
          icon="cross"
          onClick={() => void navigate({ search: { range, by, measure }, replace: true })}
        >
          {t('filter.clear')}
        </Button>
      )}
    </div>
  )
}
