import { useNavigate } from '@tanstack/react-router'
import type { Usage } from '../../lib/api-types.gen.ts'
import { useT } from '../../lib/language.ts'
import { axisMoney, columnOf } from '../../lib/money.ts'
import { useShow } from '../../lib/show.ts'
import { stepAt, stepsOf } from '../../lib/usage.ts'
import { useTicks } from '../../parts/ticks.ts'
import { StackedBars } from '../../ui/chart/stacked-bars.tsx'
import type { Series } from '../../ui/chart/frame.tsx'
import type { UsageSelection } from './api.ts'
import { biggestOf, measured, type Measure } from './totals.ts'

const SHOWN = 5

type Props = {
  readonly account: string
  readonly usage: Usage
  readonly asked: UsageSelection
  readonly measure: Measure
}

export function UsageChart({ account, usage, asked, measure }: Props) {
  const t = useT()
  const show = useShow()
  const navigate = useNavigate()
  const steps = stepsOf(asked.range, asked.step, asked.zone)
  const { times } = steps
  const groups = biggestOf(usage.data, measure)
  const names = new Map(groups.slice(0, SHOWN).map(({ group, name }) => [group, name]))
  const isMoney = measure === 'cost'
  // The sums of the whole range are in another column than those of its steps.
  const column = (values: readonly bigint[]): ((value: bigint) => string) =>
    isMoney ? columnOf(values.map(String)) : show.number
  const step = column(usage.data.map((row) => measured(row, measure)))
  const total = column(groups.map(({ charged }) => charged))
  const scale = (value: bigint): number => (isMoney ? Number(value) / 1e9 : Number(value))
  const seriesOf = (name: string, isIn: (group: string) => boolean, color: number): Series => {
    const values = sumsBy(usage, times, { isIn, measure })
    return {
      name,
      color,
      values: values.map(scale),
      show: (at) => step(values[at] ?? 0n),
      total: total(values.reduce((a, b) => a + b, 0n)),
    }
  }
  const series = [
    ...[...names].map(([group, name], at) => seriesOf(name, (one) => one === group, at)),
    ...(groups.length > SHOWN ? [seriesOf(t('usage.others'), (one) => !names.has(one), 5)] : []),
  ]
  return (
    <StackedBars
      caption={t('usage.caption', {
        measure: t(`measure.${measure}`),
        zone: t(show.zone === 'utc' ? 'usage.utc' : 'usage.local'),
      })}
      axis={isMoney ? axisMoney : show.compact}
      labels={times.map((time) => show.time(time, asked.step === 'hour' ? 'long' : 'dayOnly'))}
      ticks={useTicks(times, asked.step)}
      series={series.length > 0 ? series : [seriesOf(t(`measure.${measure}`), () => true, 0)]}
      onPick={(at) => {
        const { model, key, endpoint } = asked
        const search = {
          ...stepAt(steps, at),
          ...(model === undefined ? {} : { model }),
          ...(key === undefined ? {} : { key }),
          ...(endpoint === undefined ? {} : { endpoint }),
          ...(measure === 'errors' ? { outcome: 'failed' } : {}),
        }
        void navigate({ to: '/a/$account/requests', params: { account }, search })
      }}
    />
  )
}

type WantedMeasure = { readonly isIn: (group: string) => boolean; readonly measure: Measure }

function sumsBy(usage: Usage, times: readonly number[], { isIn, measure }: WantedMeasure): readonly bigint[] {
  const sums = new Map<number, bigint>()
  for (const row of usage.data) {
    if (!isIn(row.group ?? '')) continue
    const at = Date.parse(row.time)
    sums.set(at, (sums.get(at) ?? 0n) + measured(row, measure))
  }
  return times.map((time) => sums.get(time) ?? 0n)
}
