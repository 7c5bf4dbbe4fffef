/**
 * Counters, gauges and histograms in the Prometheus text format, version 0.0.4, and in OpenMetrics. There is no
 * library, because each request counts a dozen times: two histograms of the library took 2 % of a request, and its
 * import 45 ms of a start.
 */

/** `openmetrics`: version 1.0.0 (2020-11), which has exemplars. */
export type MetricsFormat = 'prometheus' | 'openmetrics'

/** One metric with all its label values. */
export type Metric = {
  readonly name: string
  readonly help: string
  readonly type: 'counter' | 'gauge' | 'histogram'
  /** Its lines, without HELP and TYPE. */
  lines(format: MetricsFormat): readonly string[]
}

/** All metrics as one text, in the order given. */
export const exposition = (metrics: readonly Metric[], format: MetricsFormat): string => {
  const families = metrics.map((metric) => {
    const { help, type } = metric
    // OpenMetrics names a counter without the suffix of its samples.
    const name = format === 'openmetrics' && type === 'counter' ? metric.name.replace(/_total$/, '') : metric.name
    return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...metric.lines(format)].join('\n')
  })
  return format === 'openmetrics' ? `${families.join('\n')}\n# EOF\n` : `${families.join('\n\n')}\n`
}

const escaped = (value: string): string => value.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"')

const pairs = (names: readonly string[], values: readonly string[]): string =>
  names.map((name, i) => `${name}="${escaped(values[i] ?? '')}"`).join(',')

/** A counter with one or two labels. */
export class Counter implements Metric {
  readonly type = 'counter'
  readonly name: string
  readonly help: string
  private readonly labels: readonly string[]
  /** By the value of the first label, then of the second. So counting allocates no string and no object. */
  private readonly counts = new Map<string, Map<string, { count: number }>>()

  constructor(name: string, help: string, labels: readonly string[]) {
    this.name = name
    this.help = help
    this.labels = labels
  }

  /** Adds to one combination of label values, in the order of the labels. With one label, the second value is empty. */
  add(first: string, second: string, amount = 1): void {
    const entry = this.counts.get(first)?.get(second)
    if (entry) entry.count += amount
    else this.begin(first, second, amount)
  }

  private begin(first: string, second: string, count: number): void {
    const within = this.counts.get(first) ?? new Map<string, { count: number }>()
    this.counts.set(first, within.set(second, { count }))
  }

  lines(): readonly string[] {
    return [...this.counts].flatMap(([first, within]) =>
      [...within].map(([second, { count }]) => `${this.name}{${pairs(this.labels, [first, second])}} ${count}`),
    )
  }
}

export class Gauge implements Metric {
  readonly type: 'gauge' | 'counter'
  readonly name: string
  readonly help: string
  private readonly read: () => number

  /** `read` is called at each scrape. The type `counter` is for a value that is counted elsewhere and never falls. */
  constructor(name: string, help: string, read: () => number, type: 'gauge' | 'counter' = 'gauge') {
    this.type = type
    this.name = name
    this.help = help
    this.read = read
  }

  lines(): readonly string[] {
    return [`${this.name} ${this.read()}`]
  }
}

/** Values by one label that are read at each scrape, such as those of each provider. */
export class LabeledGauge implements Metric {
  readonly type = 'gauge'
  readonly name: string
  readonly help: string
  private readonly label: string
  private readonly read: () => readonly (readonly [string, number])[]

  constructor(
    name: string,
    help: string,
    { label, read }: { readonly label: string; readonly read: LabeledGauge['read'] },
  ) {
    this.name = name
    this.help = help
    this.label = label
    this.read = read
  }

  lines(): readonly string[] {
    return this.read().map(([value, amount]) => `${this.name}{${pairs([this.label], [value])}} ${amount}`)
  }
}

/** The trace of an observation, so that a bucket leads to an example of it. */
export type Exemplar = { readonly traceId: string; readonly spanId: string }
type DatedExemplar = Exemplar & { readonly observed: number; readonly atMs: number }

type Distribution = { readonly counts: Float64Array; sum: number; exemplars: (DatedExemplar | undefined)[] | undefined }

/** A bound as OpenMetrics spells it. */
const boundText = (bound: number): string => (Number.isInteger(bound) ? `${bound}.0` : String(bound))

const exemplarText = (exemplar: DatedExemplar | undefined): string => {
  if (!exemplar) return ''
  const { traceId, spanId, observed, atMs } = exemplar
  return ` # {trace_id="${traceId}",span_id="${spanId}"} ${observed} ${(atMs / 1000).toFixed(3)}`
}

/** Observations by one label. Their buckets are summed only when they are read. */
export class Histogram implements Metric {
  readonly type = 'histogram'
  readonly name: string
  readonly help: string
  private readonly label: string
  private readonly bounds: readonly number[]
  private readonly distributions = new Map<string, Distribution>()

  /** `bounds` are ascending inclusive upper bounds. A bucket without a bound is added. */
  constructor(name: string, help: string, { label, bounds }: { label: string; bounds: readonly number[] }) {
    this.name = name
    this.help = help
    this.label = label
    this.bounds = bounds
  }

  observe(value: string, observed: number, exemplar?: Exemplar): void {
    let distribution = this.distributions.get(value)
    if (!distribution) {
      distribution = { counts: new Float64Array(this.bounds.length + 1), sum: 0, exemplars: undefined }
      this.distributions.set(value, distribution)
    }
    let bucket = 0
    while (bucket < this.bounds.length && observed > (this.bounds[bucket] as number)) bucket++
    distribution.counts[bucket] = (distribution.counts[bucket] as number) + 1
    distribution.sum += observed
    // Each bucket keeps its last example.
    if (exemplar) (distribution.exemplars ??= [])[bucket] = { ...exemplar, observed, atMs: Date.now() }
  }

  lines(format: MetricsFormat): readonly string[] {
    const isOpen = format === 'openmetrics'
    const bounds = this.bounds.map(isOpen ? boundText : String)
    return [...this.distributions].flatMap(([value, { counts, sum, exemplars }]) => {
      const label = pairs([this.label], [value])
      let total = 0
      const buckets = Array.from(counts, (count, i) => {
        total += count
        const example = isOpen ? exemplarText(exemplars?.[i]) : ''
        return `${this.name}_bucket{le="${bounds[i] ?? '+Inf'}",${label}} ${total}${example}`
      })
      return [...buckets, `${this.name}_sum{${label}} ${sum}`, `${this.name}_count{${label}} ${total}`]
    })
  }
}
