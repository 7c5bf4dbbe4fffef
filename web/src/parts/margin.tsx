import { useShow } from '../lib/show.ts'
import { Nothing } from '../ui/text.tsx'

/** Below it the digits say nothing more, and take the room of the next columns. */
const LEAST_PERCENT = -9_999

/** What is left of a sale price, in percent of it; null where nothing is sold. */
export function Margin({ percent }: { readonly percent: number | null }) {
  const show = useShow()
  if (percent === null) return <Nothing />
  const whole = show.percent(percent / 100)
  return (
    <span title={whole} className={percent < 0 ? 'font-medium whitespace-nowrap text-bad' : 'whitespace-nowrap'}>
      {percent < LEAST_PERCENT ? `< ${show.percent(LEAST_PERCENT / 100)}` : whole}
    </span>
  )
}
