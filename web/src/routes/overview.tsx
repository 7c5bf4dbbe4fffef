import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useQuery } from '@tanstack/react-query'
import { Charts } from '../features/overview/charts.tsx'
import { Failures, FirstSteps, Standing } from '../features/overview/standing.tsx'
import { overviewQuery, overviewRanges } from '../features/overview/api.ts'
import { useT } from '../lib/language.ts'
import { useShow } from '../lib/show.ts'
import { Segments } from '../ui/field.tsx'
import { Failure, PageHead, Waiting } from '../ui/page.tsx'

export function OverviewPage() {
  const t = useT()
  const { account } = useParams({ from: '/inside/a/$account/overview' })
  const { zone } = useShow()
  const asked = useSearch({ from: '/inside/a/$account/overview' }).range
  const range = overviewRanges.find((known) => known === asked) ?? '7d'
  const navigate = useNavigate({ from: '/a/$account/overview' })
  const { data, error, refetch } = useQuery(overviewQuery(account, range, zone))
  return (
    <>
      <PageHead title={t('nav.overview')}>
        <Segments
          name={t('range.name')}
          value={range}
          choices={overviewRanges.map((value) => ({ value, label: t(`range.${value}`) }))}
          onChoose={(value) => void navigate({ search: { range: value }, replace: true })}
        />
      </PageHead>
      {error && <Failure error={error} onRetry={refetch} />}
      {!data && !error && <Waiting />}
      {data && (
        <div className="space-y-4">
          {!data.first_steps.has_succeeded && <FirstSteps account={account} overview={data} />}
          <Standing account={account} overview={data} range={range} />
          <Charts account={account} overview={data} range={range} />
          <Failures account={account} rows={data.last_failures} />
        </div>
      )}
    </>
  )
}
