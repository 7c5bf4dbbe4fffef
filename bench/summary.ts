/** Makes the figures from samples: medians over rounds, ratios within a round, spreads. */
import { chunkRows, translatedRatio, TRANSLATED_TIMES_MAX, type ChunkRow } from './chunks.ts'
import { summarizeFigures, type FigureRow, type FigureSample } from './figures.ts'
import type { LoadReport } from './load.ts'
import type { HeldSample, Sample, Verdict } from './sample.ts'
import { isCounted, spread, type Spread } from './spread.ts'
import { cases, heldCase, type Case } from './workload.ts'

export type Row = {
  readonly work: Case
  readonly cpuUs: Readonly<Record<string, Spread>>
  /** CPU of this gateway over that of nginx in the same round. */
  readonly ratio: Spread | undefined
  readonly requestsPerSecond: Readonly<Record<string, Spread>>
  /** Latency above that of the vendor called directly, in ms. Undefined with several clients, where queues dominate. */
  readonly added: Readonly<Record<string, AddedLatency>> | undefined
  /** CPU of this gateway by thread, in the median round. */
  readonly threads: Readonly<Record<string, number>>
  /**
   * The time of a read of the host's memory before this gateway's rounds, in ns. It shows how busy other machines were.
   */
  readonly memoryNs: Spread
  /** Connections opened to the vendor per request, without the warm-up. 0 if they are kept alive. */
  readonly upstreamConnections: Readonly<Record<string, Spread>>
}
export type AddedLatency = { readonly p50Ms: number; readonly p99Ms: number; readonly firstByteP50Ms: number }

/** A step of the search: the number of clients, and the results by target. */
export type FrontierRow = {
  readonly clients: number
  readonly rate: Readonly<Record<string, Spread>>
  readonly p99Ms: Readonly<Record<string, Spread>>
}

export type HeldRow = {
  readonly target: string
  readonly streams: number
  readonly idleMb: Spread
  readonly overMb: Spread
  /** Percent of a core, above that of the idle process. */
  readonly overPercent: Spread
  readonly firstByteP99Ms: Spread
}

/** Resident memory in MB, before the first request and after the last. */
export type Resident = { readonly idleMb: number; readonly afterMb: number }

export type Summary = {
  readonly cores: number
  readonly residents: Readonly<Record<string, Resident>>
  readonly rows: readonly Row[]
  readonly chunks: readonly ChunkRow[]
  readonly frontier: readonly FrontierRow[]
  readonly held: readonly HeldRow[]
  /** The figures of separate programs: the ledger and the start. */
  readonly figures: readonly FigureRow[]
  readonly bars: readonly Verdict[]
  readonly complaints: readonly string[]
}

const OURS = 'tollgate'
const FLOOR = 'nginx'
const DIRECT = 'direct'

/** The bars: CPU per request at 32 connections, at most this many times that of nginx. */
const CPU_BARS = [
  { caseId: 'whole-2k-c32', label: 'non-streamed, 32 connections', times: 4 },
  { caseId: 'stream-turns-c32', label: '100-chunk stream, 32 connections', times: 1.7 },
] as const
/** A hold and a settlement on the disk, and this much for the rest. */
const LATENCY_BAR = { caseId: 'whole-2k-c1', commits: 2, overMs: 0.3 }
const IDLE_MB_MAX = 130
const HELD_OVER_MB_MAX = 150

/** The samples of a case by target, in the order of rounds. */
class CaseSamples {
  readonly targets: ReadonlyMap<string, readonly Sample[]>

  constructor(samples: readonly Sample[], work: Case) {
    const counted = samples.filter((sample) => sample.caseId === work.id && isCounted(sample))
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
    memoryNs: spread(ours.map(({ memoryNs }) => memoryNs)),
    upstreamConnections: of.each(({ upstreamConnections, report }) => upstreamConnections / report.requests),
  }
}

function addedOf(of: CaseSamples): Record<string, AddedLatency> {
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
  readonly residents: Readonly<Record<string, Resident>>
  readonly complaints: readonly string[]
  readonly figures: readonly FigureSample[]
  readonly held: readonly HeldSample[]
}

export function summarize(samples: readonly Sample[], facts: Facts): Summary {
  const { cores, residents, complaints, figures } = facts
  const measured = new Set(samples.filter(isCounted).map(({ caseId }) => caseId))
  const rows = cases.filter(({ id }) => measured.has(id)).map((work) => rowOf(samples, work))
  const chunks = chunkRows(samples)
  const others = summarizeFigures(figures)
  const held = heldRows(facts.held)
  const bars = [
    ...CPU_BARS.map((bar) => cpuVerdict(rows, bar)),
    verdictOf(
      `chat from a vendor that speaks Messages: CPU per chunk ≤ ${TRANSLATED_TIMES_MAX} × the same stream passed on`,
      translatedRatio(chunks, OURS),
      { most: TRANSLATED_TIMES_MAX, unit: '×' },
    ),
    latencyVerdict(rows, figures),
    ...memoryVerdicts(residents[OURS], held),
    ...others.bars,
  ]
  const frontier = frontierRows(samples)
  return { cores, residents, rows, chunks, frontier, held, figures: others.rows, bars, complaints }
}

function frontierRows(samples: readonly Sample[]): FrontierRow[] {
  const climbed = Map.groupBy(
    samples.filter(({ caseId }) => caseId.startsWith('frontier-c')),
    ({ caseId }) => Number(caseId.slice('frontier-c'.length)),
  )
  return [...climbed]
    .toSorted(([a], [b]) => a - b)
    .map(([clients, mine]) => {
      const byTarget = [...Map.groupBy(mine, ({ target }) => target)]
      const each = (read: (report: LoadReport) => number): Record<string, Spread> =>
        Object.fromEntries(byTarget.map(([target, list]) => [target, spread(list.map(({ report }) => read(report)))]))
      return {
        clients,
        rate: each(({ requests, tookMs }) => (requests / tookMs) * 1000),
        p99Ms: each(({ totalMs }) => totalMs.p99),
      }
    })
}

const heldRows = (samples: readonly HeldSample[]): HeldRow[] =>
  [...Map.groupBy(samples, ({ target }) => target)].map(([target, mine]) => ({
    target,
    streams: heldCase.connections,
    idleMb: spread(mine.map(({ idle }) => idle.residentMb)),
    overMb: spread(mine.map(({ idle, held }) => held.residentMb - idle.residentMb)),
    overPercent: spread(mine.map(({ idle, held }) => (held.corePart - idle.corePart) * 100)),
    firstByteP99Ms: spread(mine.map(({ report }) => report.firstByteMs.p99)),
  }))

function cpuVerdict(rows: readonly Row[], { caseId, label, times }: (typeof CPU_BARS)[number]): Verdict {
  const ratio = rows.find(({ work }) => work.id === caseId)?.ratio
  return verdictOf(`${label}: CPU per request ≤ ${times} × nginx`, ratio?.median, { most: times, unit: '×' })
}

/** The commit's time comes from the ledger bench of this run, at one client. */
function latencyVerdict(rows: readonly Row[], figures: readonly FigureSample[]): Verdict {
  const { caseId, commits, overMs } = LATENCY_BAR
  const added = rows.find(({ work }) => work.id === caseId)?.added?.[OURS]?.p50Ms
  const lone = figures.filter((figure) => figure.caseId === 'ledger-c1')
  const commitMs = spread(lone.map(({ measured }) => measured.values['holdP50Ms'] ?? Number.NaN)).median
  const most = commits * commitMs + overMs
  const text = `one client: added latency p50 ≤ ${commits} × the ledger's commit p50 + ${overMs} ms`
  if (!Number.isFinite(most)) return { text, verdict: 'not measured' }
  return verdictOf(`${text} = ${most.toFixed(2)} ms`, added, { most, unit: 'ms' })
}

const memoryVerdicts = (ours: Resident | undefined, held: readonly HeldRow[]): Verdict[] => [
  verdictOf(`idle: resident memory ≤ ${IDLE_MB_MAX} MB`, ours?.idleMb, { most: IDLE_MB_MAX, unit: 'MB' }),
  verdictOf(
    `${heldCase.title}: resident memory ≤ ${HELD_OVER_MB_MAX} MB over idle`,
    held.find(({ target }) => target === OURS)?.overMb.median,
    { most: HELD_OVER_MB_MAX, unit: 'MB' },
  ),
]

function verdictOf(text: string, found: number | undefined, { most, unit }: { most: number; unit: string }): Verdict {
  if (found === undefined) return { text, verdict: 'not measured' }
  return { text: `${text} (${found.toFixed(2)} ${unit})`, verdict: found <= most ? 'met' : 'missed' }
}
