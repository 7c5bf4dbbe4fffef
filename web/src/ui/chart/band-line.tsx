import { area, line } from 'd3-shape'
import { ChartFrame, type ChartProps } from './frame.tsx'

type Point = { readonly at: number; readonly low: number; readonly high: number }

/** A point without neighbours is not a line and would be invisible. */
const lonely = (points: readonly (Point | null)[]): readonly Point[] =>
  points.filter((point, at): point is Point => point !== null && !points[at - 1] && !points[at + 1])

/** Two lines, a lower and an upper one, with the area between them. The lines break where a value is missing. */
export function BandLine(props: ChartProps) {
  const [low, high] = props.series
  const points = props.labels.map((_, at): Point | null => {
    const [below, above] = [low?.values[at] ?? null, high?.values[at] ?? null]
    return below === null || above === null ? null : { at, low: below, high: above }
  })
  return (
    <ChartFrame
      {...props}
      top={Math.max(0, ...points.map((point) => point?.high ?? 0))}
      isEmpty={points.every((point) => point === null)}
      draw={({ x, step, y }) => {
        const middle = ({ at }: Point): number => x(at) + step / 2
        const known = (point: Point | null): point is Point => point !== null
        const of =
          <R,>(read: (point: Point) => R) =>
          (point: Point | null): R =>
            read(point as Point)
        const band = area<Point | null>(
          of(middle),
          of((p) => y(p.low)),
          of((p) => y(p.high)),
        ).defined(known)
        const curve = (read: (point: Point) => number) =>
          line<Point | null>(
            of(middle),
            of((p) => y(read(p))),
          ).defined(known)
        return (
          <>
            <path d={band(points) ?? ''} fill="var(--series-1)" opacity="0.16" />
            <path
              d={curve((p) => p.high)(points) ?? ''}
              fill="none"
              stroke="var(--series-2)"
              strokeWidth="1.5"
              strokeDasharray="4 3"
            />
            <path d={curve((p) => p.low)(points) ?? ''} fill="none" stroke="var(--series-1)" strokeWidth="1.75" />
            {(points.length <= 60 ? points.filter(known) : lonely(points)).map((point) => (
              <g key={point.at}>
                <circle cx={middle(point)} cy={y(point.low)} r="1.75" fill="var(--series-1)" />
                <circle cx={middle(point)} cy={y(point.high)} r="1.75" fill="var(--series-2)" />
              </g>
            ))}
          </>
        )
      }}
    />
  )
}
