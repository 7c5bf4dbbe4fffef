import { colorOf, ChartFrame, type ChartProps } from './frame.tsx'

/** Amounts over time as stacked bars. */
export function StackedBars(props: ChartProps) {
  const { series, labels } = props
  const sums = labels.map((_, at) => series.reduce((sum, { values }) => sum + (values[at] ?? 0), 0))
  return (
    <ChartFrame
      {...props}
      top={Math.max(0, ...sums)}
      isEmpty={sums.every((sum) => sum === 0)}
      draw={({ x, step, y }) =>
        labels.map((label, at) => {
          let below = 0
          const gap = step > 4 ? Math.min(3, step * 0.2) : 0
          return (
            <g key={label}>
              {series.map((one, index) => {
                const value = one.values[at] ?? 0
                const from = y(below)
                below += value
                // Any value above zero is visible.
                const height = value > 0 ? Math.max(1, from - y(below)) : 0
                return (
                  height > 0 && (
                    <rect
                      key={index}
                      x={x(at) + gap / 2}
                      y={from - height}
                      width={Math.max(1, step - gap)}
                      height={height}
                      fill={colorOf(one, index)}
                    />
                  )
                )
              })}
            </g>
          )
        })
      }
    />
  )
}
