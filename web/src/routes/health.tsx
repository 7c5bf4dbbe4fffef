import { queryOptions, useMutation, useQuery } from '@tanstack/react-query'
import type { Health, Verification } from '../lib/api-types.gen.ts'
import { api } from '../lib/api.ts'
import { useRetell, useT } from '../lib/language.ts'
import { useShow } from '../lib/show.ts'
import { duration } from '../lib/time.ts'
import { SettingsList } from '../parts/settings-list.tsx'
import { Button } from '../ui/button.tsx'
import { Failure, Figure, Note, PageHead, Panel, Waiting } from '../ui/page.tsx'
import { Table } from '../ui/table.tsx'
import { Ago, Id, Money } from '../ui/text.tsx'

const healthQuery = queryOptions({
  queryKey: ['health'],
  queryFn: () => api.get<Health>('health'),
  refetchInterval: 10_000,
})

export function HealthPage() {
  const t = useT()
  const { data, error, refetch } = useQuery(healthQuery)
  const verify = useMutation({ mutationFn: () => api.post<Verification>('health/verification') })
  const problem = error ?? verify.error
  return (
    <>
      <PageHead title={t('nav.health')} hint={t('health.hint')}>
        <Button kind="primary" icon="check" busy={verify.isPending} onClick={() => verify.mutate()}>
          {t('health.verify')}
        </Button>
      </PageHead>
      {problem && <Failure error={problem} onRetry={error ? refetch : undefined} />}
      {!data && !error && <Waiting />}
      {data && (
        <div className="space-y-4">
          <Books verification={data.ledger} />
          <LastDay health={data} />
          <Panel title={t('health.process')}>
            <SettingsList settings={data.process} />
          </Panel>
        </div>
      )}
    </>
  )
}

/** One cause can lead to many findings. The first few identify it, and more would hide the figures below. */
const FINDINGS_SHOWN = 20

function Books({ verification }: { readonly verification: Verification | null }) {
  const t = useT()
  const show = useShow()
  const retell = useRetell()
  if (!verification) return <Note>{t('health.notYet')}</Note>
  const { at, took_ms: tookMs, clean, findings } = verification
  return (
    <>
      <Note kind={clean ? 'good' : 'bad'}>
        {t(clean ? 'health.clean' : 'health.broken', { n: findings.length, shown: show.number(findings.length) })}{' '}
        <Ago at={at} /> · {duration(tookMs)}
      </Note>
      {findings.length > 0 && (
        <Panel isFlush>
          <Table
            label={t('health.findings')}
            rows={findings.slice(0, FINDINGS_SHOWN)}
            keyOf={({ invariant, subject }) => `${invariant} ${subject}`}
            columns={[
              {
                key: 'invariant',
                head: t('health.invariant'),
                className: 'min-w-44',
                cell: ({ invariant, code }) => (
                  <span title={invariant}>{retell('invariants', { reason: code }) ?? invariant}</span>
                ),
              },
              { key: 'subject', head: t('column.id'), cell: ({ subject }) => <Id id={subject} /> },
              {
                key: 'detail',
                head: t('health.detail'),
                className: 'min-w-56',
                cell: ({ detail, code: reason, facts }) => (
                  <span title={detail}>{retell('findings', { reason, facts }) ?? detail}</span>
                ),
              },
            ]}
          />
          {findings.length > FINDINGS_SHOWN && (
            <p className="border-t px-4 py-2 text-soft">
              {t('health.more', { shown: show.number(findings.length - FINDINGS_SHOWN) })}
            </p>
          )}
        </Panel>
      )}
    </>
  )
}

function LastDay({ health }: { readonly health: Health }) {
  const t = useT()
  const show = useShow()
  const { last_day: day, open_holds: holds, oldest_hold_at: oldest } = health
  return (
    <Panel title={t('health.lastDay')}>
      <dl className="grid grid-cols-2 gap-4 sm:grid-cols-3 lg:grid-cols-5">
        <Figure
          label={t('measure.requests')}
          hint={t('health.ends', { failed: show.number(day.failed), cut: show.number(day.cut) })}
        >
          {show.number(day.requests)}
        </Figure>
        <Figure label={t('health.estimated')} hint={t('flag.estimatedHint')}>
          {show.number(day.estimated)}
        </Figure>
        <Figure label={t('health.charged')} hint={<Upstream amount={day.upstream_cost_nano_usd} />}>
          <Money amount={day.charged_nano_usd} />
        </Figure>
        <Figure label={t('request.writtenOff')}>
          <Money amount={day.written_off_nano_usd} />
        </Figure>
        <Figure label={t('health.holds')} hint={oldest ? <Ago at={oldest} /> : undefined}>
          {show.number(holds)}
        </Figure>
      </dl>
    </Panel>
  )
}

function Upstream({ amount }: { readonly amount: string }) {
  const t = useT()
  return (
    <>
      {t('request.cost')} <Money amount={amount} />
    </>
  )
}
