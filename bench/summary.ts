/** From samples to the figures that are compared: medians over rounds, ratios within a round, spreads. */
import { summarizeFigures, type FigureRow, type FigureSample } from './figures.ts'
import type { LoadReport } from './load.ts'
import { cases, type Case } from './workload.ts'

/** One case measured once against one target. */
export type Sample = {
  readonly caseId: string
  readonly target: string
  readonly round?: number | 'warm-up'
  /** CPU per request; undefined for the vendor itself. */
  readonly cpuUs: number | undefined
  /** The same by thread. */
  readonly threads: Readonly<Record<string, number>>
  /** Opened to the vendor during the counted run. */
  readonly upstreamConnections: number
  readonly report: LoadReport
  readonly problem: string | undefined
  /** Requests sent, the warm-up included. */
  readonly sent: number
}

/** Median, least and most over the rounds. */
export type Spread = { readonly median: number; readonly min: number; readonly max: number }

export type Row = {
  readonly work: Case
  readonly cpuUs: Readonly<Record<string, Spread>>
  /** CPU of this gateway over that of nginx, both of the same round. */
  readonly ratio: Spread | undefined
  readonly requestsPerSecond: Readonly<Record<string, Spread>>
  /** Latency over that of the vendor asked directly, in ms. Undefined with more than one client: queues, not costs. */
  readonly added: Readonly<Record<string, Added>> | undefined
  /** CPU of this gateway by thread, of the median round. */
  readonly threads: Readonly<Record<string, number>>
  /** Connections to the vendor opened per request, the warm-up's not counted: 0 where they are kept alive. */
  readonly upstreamConnections: Readonly<Record<string, Spread>>
}
export type Added = { readonly p50Ms: number; readonly p99Ms: number; readonly firstByteP50Ms: number }

export type Verdict = {
  readonly text: string
  /** Whether a miss fails `--assert`; the others are the next goals. */
  readonly isBar: boolean
  readonly verdict: 'met' | 'missed' | 'not measured'
}

export type Summary = {
  readonly cores: number
  readonly residentMb: Readonly<Record<string, number>>
  readonly rows: readonly Row[]
  /** What programs of their own have measured: the ledger, the start. */
  readonly figures: readonly FigureRow[]
  readonly bars: readonly Verdict[]
  readonly complaints: readonly string[]
}

const OURS = 'tollgate'
const FLOOR = 'nginx'
const DIRECT = 'direct'

/** The bars: CPU per request at 32 connections, as a multiple of nginx's. */
const BARS = [
  { caseId: 'whole-2k-c32', label: 'non-streamed, 32 connections', bar: 5, next: 4 },
  { caseId: 'stream-turns-c32', label: '100-chunk stream, 32 connections', bar: 2, next: 1.7 },
] as const

function spread(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  const upper = sorted[middle] ?? Number.NaN
  const median = sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2
  return { median, min: sorted[0] ?? Number.NaN, max: sorted.at(-1) ?? Number.NaN }
}

/** The samples of a case by target, in the order of rounds. */
class CaseSamples {
  readonly targets: ReadonlyMap<string, readonly Sample[]>

  constructor(samples: readonly Sample[], work: Case) {
    const counted = samples.filter(({ caseId, round }) => caseId === work.id && round !== 'warm-up')
    this.targets = Map.groupBy(counted, ({ target }) => target)
  }

  of(target: string): readonly Sample[] {
    return this.targets.get(target) ?? []
  }

  each(read: (sample: Sample) => number): Record<string, Spread> {
    return Object.fromEntries([...this.targets].map(([target, list]) => [target, spread(list.map(read))]))
  }
}

function rowOf(samples: readonly Sample[], work: Case): Row {
  const of = new CaseSamples(samples, work)
  const ours = of.of(OURS)
  const floor = of.of(FLOOR)
  const cpuOf = (sample: Sample | undefined): number => sample?.cpuUs ?? Number.NaN
  const ratios = ours.map((sample, i) => cpuOf(sample) / cpuOf(floor[i])).filter(Number.isFinite)
  const cpuUs = of.each(cpuOf)
  const median = ours.find((sample) => cpuOf(sample) >= (cpuUs[OURS]?.median ?? 0))
  const rest = Object.fromEntries(Object.entries(cpuUs).filter(([target]) => target !== DIRECT))
  return {
    work,
    cpuUs: rest,
    ratio: ratios.length > 0 ? spread(ratios) : undefined,
    requestsPerSecond: of.each(({ report }) => (report.requests / report.tookMs) * 1000),
    added: work.connections === 1 ? addedOf(of) : undefined,
    threads: median?.threads ?? {},
    upstreamConnections: of.each(({ upstreamConnections, report }) => upstreamConnections / report.requests),
  }
}

function addedOf(of: CaseSamples): Record<string, Added> {
  const direct = of.of(DIRECT)
  const added = (target: string, read: (report: LoadReport) => number): number =>
    spread(of.of(target).map(({ report }, i) => read(report) - read(direct[i]?.report ?? report))).median
  return Object.fromEntries(
    [...of.targets.keys()]
      .filter((target) => target !== DIRECT)
      .map((target) => [
        target,
        {
          p50Ms: added(target, ({ totalMs }) => totalMs.p50),
          p99Ms: added(target, ({ totalMs }) => totalMs.p99),
          firstByteP50Ms: added(target, ({ firstByteMs }) => firstByteMs.p50),
        },
      ]),
  )
}

export type Facts = {
  readonly cores: number
  readonly residents: Readonly<Record<string, number>>
  readonly complaints: readonly string[]
  readonly figures: readonly FigureSample[]
}

export function summarize(samples: readonly Sample[], { cores, residents, complaints, figures }: Facts): Summary {
  const measured = new Set(samples.filter(({ round }) => round !== 'warm-up').map(({ caseId }) => caseId))
  const rows = cases.filter(({ id }) => measured.has(id)).map((work) => rowOf(samples, work))
  const bars = BARS.flatMap(({ caseId, label, bar, next }) => {
    const ratio = rows.find(({ work }) => work.id === caseId)?.ratio
    return [
      verdictOf(ratio, { label, times: bar, isBar: true }),
      verdictOf(ratio, { label, times: next, isBar: false }),
    ]
  })
  const others = summarizeFigures(figures, spread)
  return { cores, residentMb: residents, rows, figures: others.rows, bars: [...bars, ...others.bars], complaints }
}

type Bar = { readonly label: string; readonly times: number; readonly isBar: boolean }

function verdictOf(ratio: Spread | undefined, { label, times, isBar }: Bar): Verdict {
  const text = `${label}: ≤ ${times} × nginx`
  if (!ratio) return { text, isBar, verdict: 'not measured' }
  return { text: `${text} (${ratio.median.toFixed(2)} ×)`, isBar, verdict: ratio.median <= times ? 'met' : 'missed' }
}
