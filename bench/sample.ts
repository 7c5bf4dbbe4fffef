/** The measurements and verdicts that pass from the measuring programs to the summary. */
import type { LoadReport } from './load.ts'

/** One case, measured once against one target. */
export type Sample = {
  readonly caseId: string
  readonly target: string
  /** `busy`: the host was busy, so the sample does not count and is measured again. */
  readonly round?: number | 'warm-up' | 'busy'
  /** CPU per request. Undefined for the vendor itself. */
  readonly cpuUs: number | undefined
  /** The same by thread. */
  readonly threads: Readonly<Record<string, number>>
  /** The time of a read of the host's memory just before, in ns. */
  readonly memoryNs: number
  /** Connections opened to the vendor during the counted run. */
  readonly upstreamConnections: number
  readonly report: LoadReport
  readonly problem: string | undefined
  /** Requests sent, including the warm-up. */
  readonly sent: number
}

/** The memory of all processes of a target, and their share of a core. */
type Load = { readonly residentMb: number; readonly corePart: number }

/** Streams that were open at once, compared with the same process without them. */
export type HeldSample = {
  readonly caseId: string
  readonly target: string
  readonly idle: Load
  readonly held: Load
  readonly report: LoadReport
  readonly problem: string | undefined
  readonly sent: number
}

export type Verdict = {
  readonly text: string
  readonly verdict: 'met' | 'missed' | 'not measured'
}
