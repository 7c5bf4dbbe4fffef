import type { Margin as Figures } from '../lib/api-types.gen.ts'
import { useT } from '../lib/language.ts'
import { useShow } from '../lib/show.ts'
import { Nothing } from '../ui/text.tsx'

/** More digits would add nothing and take room from the next columns. */
const MOST_PERCENT = 9_999

type MarginView = { readonly markup: number | null; readonly share: number | null }

const sidesOf = (margin: Figures): readonly MarginView[] =>
  (['input', 'output'] as const).map((side) => ({
    markup: margin[`${side}_markup_percent`],
    share: margin[`${side}_percent`],
  }))

/** The margin of an offer, or the lowest of several offers. */
export function earnedBy(margins: readonly Figures[], side?: 'input' | 'output'): MarginView {
  const all = margins
    .flatMap(sidesOf)
    .filter(({ share }, at) => share !== null && (side === undefined || at % 2 === (side === 'input' ? 0 : 1)))
  return all.toSorted((a, b) => (a.share ?? 0) - (b.share ?? 0))[0] ?? { markup: null, share: null }
}

/**
 * The mark-up on the cost, which is how prices are set. The tooltip has the margin as a share of the sale price. There
 * is none without a cost.
 */
export function MarkUp({ markup, share }: MarginView) {
  const t = useT()
  const show = useShow()
  if (share === null) return <Nothing />
  const title = t('prices.margin', { share: show.percent(share / 100) })
  if (markup === null) return <span title={title}>{t('prices.noCost')}</span>
  return (
    <span title={title} className={markup < 0 ? 'font-medium whitespace-nowrap text-bad' : 'whitespace-nowrap'}>
      {markup > MOST_PERCENT ? `> ${show.percent(MOST_PERCENT / 100)}` : show.percent(markup / 100)}
    </span>
  )
}
