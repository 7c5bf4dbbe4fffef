/** Sends exports to a collector by OTLP/HTTP (opentelemetry-proto 1.11.0, docs/specification.md, 2026-07-21). */
import { outbound } from '../outbound/send.ts'
import { Stop } from '../outbound/stop.ts'
import { KIB } from '../lib/primitives/units.ts'

export type OtlpEndpoint = {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly timeoutMs: number
}

export type ExportResult =
  /** `refused`: how many spans or points of it the collector did not take. */
  | { readonly kind: 'taken'; readonly refused: number }
  /** It may be sent again, after this time if the collector named one. */
  | { readonly kind: 'later'; readonly afterMs: number | undefined; readonly problem: string }
  | { readonly kind: 'refused'; readonly problem: string }

/** The specification names these alone. */
const RETRIED = new Set([429, 502, 503, 504])
/** A longer answer is not read. The export counts as refused. */
const ANSWER_BYTES_MAX = 64 * KIB

export class OtlpSender {
  private readonly endpoint: OtlpEndpoint

  constructor(endpoint: OtlpEndpoint) {
    this.endpoint = endpoint
  }

  /** `stop` ends it early, as its timeout does. */
  async send(body: string, stop: Stop = new Stop()): Promise<ExportResult> {
    const { url, headers, timeoutMs } = this.endpoint
    const timer = setTimeout(() => stop.stop(), timeoutMs)
    const request = { url, method: 'POST', headers, body, stop, reach: 'private' } as const
    const sent = await outbound.sendForText(request, ANSWER_BYTES_MAX)
    clearTimeout(timer)
    if (sent.kind === 'network') {
      const problem = stop.isStopped ? `no answer within ${timeoutMs} ms, or before the end` : sent.message
      return { kind: 'later', afterMs: undefined, problem }
    }
    const { status, text } = sent
    const problem = `the collector answered ${status}`
    if (RETRIED.has(status)) return { kind: 'later', afterMs: waitOf(sent.headers.get('retry-after')), problem }
    if (status !== 200) return { kind: 'refused', problem }
    // It may have been taken, so it is not sent again.
    if (text === undefined) return { kind: 'refused', problem: 'the answer of the collector is too long or broke off' }
    return { kind: 'taken', refused: refusedIn(text) }
  }
}

/** Seconds, or a date. */
function waitOf(retryAfter: string | undefined): number | undefined {
  if (retryAfter === undefined) return undefined
  const ms = /^\d{1,9}$/.test(retryAfter) ? Number(retryAfter) * 1_000 : Date.parse(retryAfter) - Date.now()
  return Number.isNaN(ms) ? undefined : Math.max(0, ms)
}

/** 64-bit integers are decimal text, or numbers. */
type CollectorAnswer = {
  readonly partialSuccess?: { readonly rejectedSpans?: unknown; readonly rejectedDataPoints?: unknown } | null
}

/** A collector that took a part of an export says how much it refused. That part must not be sent again. */
function refusedIn(text: string): number {
  try {
    const { rejectedSpans, rejectedDataPoints } = (JSON.parse(text) as CollectorAnswer | null)?.partialSuccess ?? {}
    const count = Number(rejectedSpans ?? rejectedDataPoints ?? 0)
    return Number.isSafeInteger(count) && count > 0 ? count : 0
  } catch {
    return 0 // An answer in another form says nothing.
  }
}
