import { line } from 'd3-shape'

const WIDTH = 96
const HEIGHT = 20

/** A small line without axes. The text beside it has the value. */
export function Sparkline({ values, label }: { readonly values: readonly number[]; readonly label: string }) {
  const top = Math.max(...values, 1)
  const path = line<number>(
    (_, at) => (at / Math.max(1, values.length - 1)) * (WIDTH - 2) + 1,
    (value) => HEIGHT - 2 - (value / top) * (HEIGHT - 4),
  )
  return (
    <svg width={WIDTH} height={HEIGHT} role="img" aria-label={label} className="block">
      <path d={path(values) ?? ''} fill="none" stroke="var(--series-1)" strokeWidth="1.5" />
    </svg>
  )
}
