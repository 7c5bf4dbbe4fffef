/** A histogram with cumulative buckets, as OTLP sends it. */
import { nanosText, trueAttribute, type AttributeText } from './otlp-json.ts'

export type HistogramDescription = {
  readonly name: string
  readonly description: string
  readonly unit: string
  /** Ascending inclusive upper bounds. A bucket without a bound is added. */
  readonly bounds: readonly number[]
}

type Series = { readonly counts: number[]; count: number; sum: number }

/** The limit of the specification (Metrics SDK, "Cardinality limits"). Further combinations are counted as one. */
const SERIES_MAX = 2_000
const OVERFLOW = trueAttribute('otel.metric.overflow')
const CUMULATIVE = 2

export type TimeRange = { readonly startUnixMs: number; readonly nowUnixMs: number }

export class OtlpHistogram {
  private readonly description: HistogramDescription
  /** By their attributes as JSON. */
  private readonly series = new Map<AttributeText, Series>()

  constructor(description: HistogramDescription) {
    this.description = description
  }

  observe(attributes: AttributeText, value: number): void {
    const series = this.series.get(attributes) ?? this.begin(attributes)
    const { bounds } = this.description
    let bucket = 0
    while (bucket < bounds.length && value > (bounds[bucket] as number)) bucket++
    series.counts[bucket] = (series.counts[bucket] as number) + 1
    series.count++
    series.sum += value
  }

  private begin(attributes: AttributeText): Series {
    const key = this.series.size < SERIES_MAX ? attributes : OVERFLOW
    let series = this.series.get(key)
    if (!series) {
      series = { counts: Array.from({ length: this.description.bounds.length + 1 }, () => 0), count: 0, sum: 0 }
      this.series.set(key, series)
    }
    return series
  }

  /** The metric as JSON. Undefined if nothing was observed, because an empty metric is not sent. */
  text({ startUnixMs, nowUnixMs }: TimeRange): string | undefined {
    if (this.series.size === 0) return undefined
    const { name, description, unit, bounds } = this.description
    const times = `"startTimeUnixNano":"${nanosText(startUnixMs)}","timeUnixNano":"${nanosText(nowUnixMs)}"`
    const explicitBounds = `"explicitBounds":[${bounds.join(',')}]`
    const points = Array.from(this.series, ([attributes, { counts, count, sum }]) => {
      const buckets = `"bucketCounts":[${counts.map((one) => `"${one}"`).join(',')}]`
      return `{"attributes":[${attributes}],${times},"count":"${count}","sum":${sum},${buckets},${explicitBounds}}`
    })
    const data = `{"dataPoints":[${points.join(',')}],"aggregationTemporality":${CUMULATIVE}}`
    return `{"name":"${name}","description":"${description}","unit":"${unit}","histogram":${data}}`
  }
}
