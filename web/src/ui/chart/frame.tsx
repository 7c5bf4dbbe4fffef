/**
 * The shared parts of all charts over time: a figure with a caption, a plot in the available width, a cursor that the
 * pointer and the arrow keys move, a text for its position, and the same numbers as a table for screen readers.
 */
import { scaleLinear } from 'd3-scale'
import { useId, useLayoutEffect, useRef, useState, type KeyboardEvent, type ReactNode } from 'react'
import { useT } from '../../lib/language.ts'

export const PLOT = { height: 148, left: 48, right: 4, top: 8, bottom: 20 } as const

export type Series = {
  readonly name: string
  readonly values: readonly (number | null)[]
  /** Each value as text. */
  readonly show: (at: number) => string
  /** The total, for the legend. */
  readonly total?: string
  /** The index of the colour. Absent: the position of the series. */
  readonly color?: number
}

export type ChartProps = {
  readonly caption: string
  readonly series: readonly Series[]
  /** The name of each point: a day or an hour. */
  readonly labels: readonly string[]
  /** The labels of the axis, as far as there is room. An empty text draws nothing. */
  readonly ticks: readonly string[]
  readonly axis: (value: number) => string
  readonly onPick?: ((at: number) => void) | undefined
}

export type Drawing = {
  readonly x: (at: number) => number
  readonly step: number
  readonly y: (value: number) => number
  readonly width: number
}

type Props = ChartProps & {
  readonly top: number
  readonly draw: (drawing: Drawing) => ReactNode
  readonly isEmpty: boolean
}

export const colorOf = (series: Series, at: number): string => `var(--series-${(series.color ?? at % 6) + 1})`

export function ChartFrame(props: Props) {
  const { caption, series, labels, axis, draw, top, isEmpty, onPick } = props
  const t = useT()
  const box = useRef<HTMLDivElement>(null)
  const width = useWidth(box)
  const [cursor, setCursor] = useState<number>()
  const id = useId()
  const count = labels.length
  const step = (width - PLOT.left - PLOT.right) / Math.max(1, count)
  const scale = scaleLinear([0, top > 0 ? top : 1], [PLOT.height - PLOT.bottom, PLOT.top]).nice(3)
  const x = (at: number): number => PLOT.left + at * step
  const move = (event: KeyboardEvent): void => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key]
    if (by !== undefined) {
      event.preventDefault()
      setCursor(Math.min(count - 1, Math.max(0, (cursor ?? (by > 0 ? -1 : count)) + by)))
    }
    if (event.key === 'Enter' && cursor !== undefined) onPick?.(cursor)
  }
  return (
    <figure className="min-w-0">
      <figcaption id={id} className="mb-1 font-medium">
        {caption}
      </figcaption>
      <Legend series={series} cursor={cursor} label={cursor === undefined ? undefined : labels[cursor]} />
      <div
        ref={box}
        role="group"
        aria-labelledby={id}
        aria-roledescription={t('chart.role')}
        tabIndex={isEmpty ? undefined : 0}
        onKeyDown={move}
        onPointerMove={(event) => {
          const left = box.current?.getBoundingClientRect().left ?? 0
          const at = Math.floor((event.clientX - left - PLOT.left) / step)
          setCursor(at >= 0 && at < count ? at : undefined)
        }}
        onPointerLeave={() => setCursor(undefined)}
        onBlur={() => setCursor(undefined)}
        onClick={() => cursor !== undefined && onPick?.(cursor)}
        className={onPick && cursor !== undefined ? 'relative cursor-pointer' : 'relative'}
      >
        {isEmpty && (
          <p className="absolute inset-0 flex items-center justify-center text-soft">
            {/* No grid line crosses the labels. */}
            <span className="bg-panel px-2">{t('chart.empty')}</span>
          </p>
        )}
        <svg width={width} height={PLOT.height} aria-hidden="true" className="block max-w-full">
          <Axis {...{ width, axis, isEmpty, x }} ticks={props.ticks} at={scale.ticks(3)} y={scale} />
          {cursor !== undefined && !isEmpty && (
            <rect
              x={x(cursor)}
              y={PLOT.top}
              width={Math.max(1, step)}
              height={PLOT.height - PLOT.top - PLOT.bottom}
              className="fill-hover"
            />
          )}
          {width > 0 && !isEmpty && draw({ x, step, y: scale, width })}
        </svg>
      </div>
      {!isEmpty && <HiddenTable {...{ caption, series, labels }} />}
    </figure>
  )
}

function Axis({
  at,
  y,
  x,
  ticks,
  axis,
  width,
  isEmpty,
}: Pick<Drawing, 'x' | 'y' | 'width'> &
  Pick<ChartProps, 'ticks' | 'axis'> & { readonly at: readonly number[]; readonly isEmpty: boolean }) {
  return (
    <g className="fill-soft text-[11px]">
      {at.map((value) => (
        <g key={value}>
          <line x1={PLOT.left} x2={width - PLOT.right} y1={y(value)} y2={y(value)} className="stroke-line" />
          {!isEmpty && (
            <text x={PLOT.left - 6} y={y(value)} textAnchor="end" dominantBaseline="middle">
              {axis(value)}
            </text>
          )}
        </g>
      ))}
      {roomFor(ticks, x, width).map((index) => (
        <text key={index} x={x(index)} y={PLOT.height - 4}>
          {ticks[index]}
        </text>
      ))}
    </g>
  )
}

const TICK_PX = 56

/** Evenly spaced labels that do not touch each other. */
function roomFor(ticks: readonly string[], x: Drawing['x'], width: number): readonly number[] {
  const named = ticks.flatMap((text, index) => (text === '' ? [] : [index]))
  const [first = 0, second = first + 1] = named
  const every = Math.max(1, Math.ceil(TICK_PX / Math.max(1, x(second) - x(first))))
  return named.filter((index, nth) => nth % every === 0 && x(index) + 40 < width)
}

function Legend({
  series,
  cursor,
  label,
}: Pick<ChartProps, 'series'> & { readonly cursor: number | undefined; readonly label: string | undefined }) {
  return (
    <div aria-live="polite" className="mb-1 flex min-h-5 flex-wrap gap-x-3 text-xs text-soft">
      {label !== undefined && <span className="font-medium text-ink">{label}</span>}
      {series.map((one, index) => (
        <span key={index} className="inline-flex max-w-full min-w-0 items-center gap-1.5">
          <Mark series={one} at={index} />
          <span title={one.name} className="max-w-40 truncate">
            {one.name}
          </span>
          <span className="text-ink">{cursor === undefined ? one.total : one.show(cursor)}</span>
        </span>
      ))}
    </div>
  )
}

/** Series also differ in shape: each has another corner. */
function Mark({ series, at }: { readonly series: Series; readonly at: number }) {
  const radius = ['2px', '50%', '0', '6px 0', '0 6px', '50% 50% 0 0'][(series.color ?? at) % 6]
  return (
    <span
      aria-hidden="true"
      className="size-2.5 shrink-0"
      style={{ background: colorOf(series, at), borderRadius: radius }}
    />
  )
}

function HiddenTable({ caption, series, labels }: Pick<ChartProps, 'caption' | 'series' | 'labels'>) {
  return (
    <div className="sr-only">
      <table>
        <caption>{caption}</caption>
        <thead>
          <tr>
            <td />
            {series.map(({ name }, at) => (
              <th key={at} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {labels.map((label, at) => (
            <tr key={at}>
              <th scope="row">{label}</th>
              {series.map((one, nth) => (
                <td key={nth}>{one.show(at)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function useWidth(box: React.RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(0)
  useLayoutEffect(() => {
    const element = box.current
    if (!element) return undefined
    const observer = new ResizeObserver(() => setWidth(element.clientWidth))
    observer.observe(element)
    setWidth(element.clientWidth)
    return () => observer.disconnect()
  }, [box])
  return width
}
