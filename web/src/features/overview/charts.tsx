import { useNavigate } from '@tanstack/react-router'
import type { Overview, UsageSums } from '../../lib/api-types.gen.ts'
import { useT } from '../../lib/language.ts'
import { axisMoney, columnOf, dollarsAbout, money } from '../../lib/money.ts'
import { useShow } from '../../lib/show.ts'
import { duration, period } from '../../lib/time.ts'
import { inputTokens, outputTokens, stepAt, stepsOf } from '../../lib/usage.ts'
import { BandLine } from '../../ui/chart/band-line.tsx'
import { StackedBars } from '../../ui/chart/stacked-bars.tsx'
import { useTicks } from '../../parts/ticks.ts'
import type { OverviewRange } from './api.ts'

type Props = { readonly account: string; readonly overview: Overview; readonly range: OverviewRange }

type Rows = readonly (UsageSums | undefined)[]

/** The steps of the range, including those without requests, and the settings that all charts share. */
function useSteps({ account, overview, range }: Props) {
  const show = useShow()
  const navigate = useNavigate()
  const steps = stepsOf(range, overview.step, show.zone)
  const { times } = steps
  const byTime = new Map(overview.series.map((sums) => [Date.parse(sums.time), sums]))
  const rows: Rows = times.map((time) => byTime.get(time))
  const frame = {
    labels: times.map((time) => show.time(time, overview.step === 'hour' ? 'long' : 'dayOnly')),
    ticks: useTicks(times, overview.step),
    onPick: (at: number) => {
      void navigate({ to: '/a/$account/requests', params: { account }, search: stepAt(steps, at) })
    },
  }
  return { rows, frame }
}

/** The values and times of the steps as lines of a chart. */
function useSeries(rows: Rows, overview: Overview) {
  const show = useShow()
  const counted = (name: string, read: (sums: UsageSums) => number, color: number) => {
    const values = rows.map((sums) => (sums ? read(sums) : 0))
    const sum = read(overview.total)
    const total = sum < 10_000 ? show.number(sum) : show.compact(sum)
    return { name, color, values, total, show: (at: number) => show.number(values[at] ?? 0) }
  }
  const timed = (name: string, read: (sums: UsageSums) => number | null) => {
    const values = rows.map((sums) => (sums ? read(sums) : null))
    return { name, values, total: duration(read(overview.total)), show: (at: number) => duration(values[at]) }
  }
  return { counted, timed }
}

export function Charts(props: Props) {
  const t = useT()
  const show = useShow()
  const { overview } = props
  const { rows, frame } = useSteps(props)
  const { counted, timed } = useSeries(rows, overview)
  const dollars = columnOf(rows.map((sums) => sums?.charged_nano_usd ?? '0'))
  return (
    <div className="grid gap-4 lg:grid-cols-2">
      <Box>
        <StackedBars
          {...frame}
          caption={t('chart.spend')}
          axis={axisMoney}
          series={[
            {
              name: t('measure.cost'),
              values: rows.map((sums) => dollarsAbout(sums?.charged_nano_usd ?? '0')),
              show: (at) => dollars(rows[at]?.charged_nano_usd ?? '0'),
              total: money(overview.spent_nano_usd),
            },
          ]}
        />
      </Box>
      <Box>
        <StackedBars
          {...frame}
          caption={t('chart.requests')}
          axis={show.compact}
          series={[
            counted(t('measure.ok'), (sums) => sums.requests - sums.failed - sums.cut, 0),
            counted(t('outcome.cut'), (sums) => sums.cut, 2),
            counted(t('outcome.failed'), (sums) => sums.failed, 3),
          ]}
        />
      </Box>
      <Box>
        <BandLine
          {...frame}
          caption={t('chart.firstToken')}
          axis={period}
          series={[
            timed(t('measure.p50'), (sums) => sums.first_event_p50_ms),
            timed(t('measure.p95'), (sums) => sums.first_event_p95_ms),
          ]}
        />
      </Box>
      <Box>
        <StackedBars
          {...frame}
          caption={t('chart.tokens')}
          axis={show.compact}
          series={[
            counted(t('measure.fresh'), (sums) => inputTokens(sums) - sums.input_cached_tokens, 0),
            counted(t('measure.cached'), (sums) => sums.input_cached_tokens, 1),
            counted(t('measure.output'), outputTokens, 2),
          ]}
        />
      </Box>
    </div>
  )
}

const Box = ({ children }: { readonly children: React.ReactNode }) => (
  <div className="min-w-0 rounded-lg border bg-panel p-4">{children}</div>
)
