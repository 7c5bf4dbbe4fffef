import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useT } from '../lib/language.ts'
import { money } from '../lib/money.ts'
import { sessionQuery } from '../lib/session.ts'
import { useShow } from '../lib/show.ts'
import { buttonClass } from '../ui/button.tsx'
import { MINUTE_MS } from '../lib/units.ts'

const LOOK_MS = MINUTE_MS

/** The warning of a low balance. Members see it on every page once the balance is below the account's threshold. */
export function LowBalance() {
  const t = useT()
  const show = useShow()
  const { data: me } = useQuery({
    ...sessionQuery,
    refetchInterval: ({ state }) => (state.data?.account ? LOOK_MS : false),
  })
  const account = me?.account
  if (!account?.low_balance) return null
  const { available_nano_usd: available, threshold_nano_usd: threshold, days_left: days } = account.low_balance
  return (
    <div
      role="status"
      className="flex flex-wrap items-center gap-x-3 gap-y-1 border-b bg-warn-soft px-4 py-1.5 text-warn"
    >
      <span className="min-w-0 grow break-words">
        {t('low.banner', { available: money(available), threshold: money(threshold) })}{' '}
        {days !== null && t('low.pace', { n: days, shown: show.days(days) })}
      </span>
      {/* The billing page does not link to itself. */}
      <Link
        to="/a/$account/billing"
        params={{ account: account.id }}
        search={{}}
        activeOptions={{ includeSearch: false }}
        activeProps={{ hidden: true }}
        className={buttonClass()}
      >
        {t('nav.billing')}
      </Link>
    </div>
  )
}
