import type { Limits } from '../lib/api-types.gen.ts'
import { useT } from '../lib/language.ts'
import { exact } from '../lib/money.ts'
import { useShow } from '../lib/show.ts'
import { Facts } from '../ui/page.tsx'

/** Limits that cannot be changed here. */
export function LimitsList({ limits }: { readonly limits: Limits }) {
  const t = useT()
  const show = useShow()
  const count = (value: number | null): string => (value === null ? t('limit.none') : show.number(value))
  const ratesText = (rates: Limits['models'][string]): string =>
    [
      [t('limit.requests'), rates.requests_per_minute],
      [t('limit.tokens'), rates.tokens_per_minute],
      [t('limit.concurrent'), rates.concurrent_requests],
    ]
      .flatMap(([name, value]) => (typeof value === 'number' ? [`${name}: ${show.number(value)}`] : []))
      .join(' · ')
  const amount = (value: string | null): string => (value === null ? t('limit.none') : exact(value))
  return (
    <Facts
      rows={[
        [t('limit.day'), amount(limits.spend_per_day_nano_usd)],
        [t('limit.month'), amount(limits.spend_per_month_nano_usd)],
        [t('limit.requests'), count(limits.requests_per_minute)],
        [t('limit.tokens'), count(limits.tokens_per_minute)],
        [t('limit.concurrent'), count(limits.concurrent_requests)],
        ...Object.entries(limits.models).map(([model, rates]) => [model, ratesText(rates)] as const),
      ]}
    />
  )
}
