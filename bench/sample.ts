/** What is measured, and what is said of it: between the programs that measure and the summary. */
import type { LoadReport } from './load.ts'

/** One case measured once against one target. */
export type Sample = {
  readonly caseId: string
  readonly target: string
  /** `busy`: it is not counted, as the host was, and is measured again. */
  readonly round?: number | 'warm-up' | 'busy'
  /** CPU per request; undefined for the vendor itself. */
  readonly cpuUs: number | undefined
  /** The same by thread. */
  readonly threads: Readonly<Record<string, number>>
  /** What a read of the host's memory cost just before, in ns. */
  readonly memoryNs: number
  /** Opened to the vendor during the counted run. */
  readonly upstreamConnections: number
  readonly report: LoadReport
  readonly problem: string | undefined
  /** Requests sent, the warm-up included. */
  readonly sent: number
}

/** Memory of all processes of a target, and which part of a core they take. */
type Load = { readonly residentMb: number; readonly corePart: number }

/** Streams that were open all at once, beside the same process without them. */
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
