/**
 * Traces and metrics for an OpenTelemetry collector. It is loaded only if an operator names one. It takes what the
 * gateway knows of a request anyway, its record. A request writes its spans as text and never waits for a collector.
 */
import manifest from '../../package.json' with { type: 'json' }
import type { Catalog } from '../catalog/catalog.ts'
import { randomTraceId, readParent } from '../lib/http/trace-context.ts'
import type { Log } from '../lib/runtime/log.ts'
import type { RequestRecord } from '../records/records.ts'
import { AttemptTargets } from './attempt-target.ts'
import { finishedRequest } from './finished-request.ts'
import { GenAiMetrics } from './gen-ai-metrics.ts'
import { MetricReader } from './metric-reader.ts'
import type { TimeRange } from './otlp-histogram.ts'
import { aroundMetrics, aroundSpans, type TelemetryOrigin } from './otlp-json.ts'
import { OtlpSender } from './otlp-sender.ts'
import { RequestTrace, type RequestArrival, type TraceIds } from './request-trace.ts'
import { isSampled } from './sampler.ts'
import type { TelemetrySettings } from './settings.ts'
import { SpanQueue } from './span-queue.ts'
import { refusedSpan, requestSpans, type RefusedSpan, type RequestScheme } from './spans.ts'

export type TelemetryParts = {
  readonly catalog: Pick<Catalog, 'model' | 'provider'>
  readonly scheme: RequestScheme
  readonly log: Log
}

/** The trace headers of a client. */
export type ClientTrace = { readonly traceparent: string | undefined; readonly tracestate: string | undefined }

/** A collector that does not answer delays the end of the process by this much. */
const END_MS = 2_000

export class Telemetry {
  private readonly settings: TelemetrySettings
  private readonly parts: TelemetryParts
  private readonly targets: AttemptTargets
  private readonly metrics = new GenAiMetrics()
  private readonly queue: SpanQueue | undefined
  private readonly reader: MetricReader | undefined

  constructor(settings: TelemetrySettings, parts: TelemetryParts) {
    const { tracesUrl, metricsUrl, headers, exportTimeoutMs: timeoutMs, spans, metricIntervalMs } = settings
    const { catalog, log } = parts
    this.settings = settings
    this.parts = parts
    this.targets = new AttemptTargets(catalog)
    const origin = originOf(settings)
    if (tracesUrl !== undefined) {
      const sender = new OtlpSender({ url: tracesUrl, headers, timeoutMs })
      this.queue = new SpanQueue({ sender, batching: spans, around: aroundSpans(origin), log })
    }
    if (metricsUrl !== undefined) {
      const sender = new OtlpSender({ url: metricsUrl, headers, timeoutMs })
      const read = (range: TimeRange): string[] => this.metrics.texts(range)
      const around = aroundMetrics(origin)
      this.reader = new MetricReader({ sender, intervalMs: metricIntervalMs, around, read, log })
    }
    announce(settings, log)
  }

  /** Spans that the collector has taken, and spans that were lost. */
  get counts(): { readonly sent: number; readonly dropped: number } {
    return { sent: this.queue?.sent ?? 0, dropped: this.queue?.dropped ?? 0 }
  }

  /** Begins the trace of a request, or goes on with the client's. Undefined if no spans are sent. */
  begin(client: ClientTrace, arrival: RequestArrival): RequestTrace | undefined {
    return this.queue && new RequestTrace(this.idsOf(client), arrival)
  }

  private idsOf({ traceparent, tracestate }: ClientTrace): TraceIds {
    const { propagates: isPassedOn, sampler } = this.settings
    const parent = isPassedOn ? readParent(traceparent, tracestate) : undefined
    const traceId = parent?.traceId ?? randomTraceId()
    return {
      traceId,
      parentSpanId: parent?.spanId,
      state: parent?.state,
      isSampled: isSampled(sampler, traceId, parent?.isSampled),
      isPassedOn,
    }
  }

  /** A request has its record. A task has no trace, because it goes on without its request. */
  recorded(record: RequestRecord, begun: RequestTrace | undefined): void {
    // Telemetry must not end a request whose charge is on disk.
    try {
      this.record(record, begun)
    } catch (error) {
      this.parts.log('error', 'telemetry.internal', { request: record.id, message: String(error) })
    }
  }

  private record(record: RequestRecord, begun: RequestTrace | undefined): void {
    const { queue, reader, parts, targets } = this
    const trace = queue && (begun ?? this.traceOfTask(record))
    if (trace) trace.isWritten = true
    if (!reader && !trace?.ids.isSampled) return
    const finished = finishedRequest(record, parts.catalog, targets)
    if (reader) this.metrics.recorded(finished)
    const count = 1 + finished.attempts.length
    if (!queue || !trace?.ids.isSampled || !queue.hasRoomFor(count)) return
    const { scheme } = parts
    queue.add({ count, text: requestSpans(finished, trace, { scheme, zeroUnixMs: zeroUnixMs() }) })
  }

  private traceOfTask({ endpoint, totalMs }: RequestRecord): RequestTrace {
    const startedMs = performance.now() - totalMs
    const arrival: RequestArrival = { method: '', path: endpoint, isRoute: false, isTask: true, startedMs }
    return new RequestTrace(this.idsOf({ traceparent: undefined, tracestate: undefined }), arrival)
  }

  refused(refused: RefusedSpan, trace: RequestTrace): void {
    if (trace.isWritten || !trace.ids.isSampled) return
    trace.isWritten = true
    if (!this.queue?.hasRoomFor(1)) return
    const writing = { scheme: this.parts.scheme, zeroUnixMs: zeroUnixMs(), endMs: performance.now() }
    this.queue.add({ count: 1, text: refusedSpan(refused, trace, writing) })
  }

  /** Sends what is left, within a bound. */
  async stop(): Promise<void> {
    await Promise.all([this.queue?.end(END_MS), this.reader?.end(END_MS)])
  }
}

/** The clock of the process is steady. That of the machine may be corrected while the process runs. */
const zeroUnixMs = (): number => Date.now() - performance.now()

function originOf({ resource }: TelemetrySettings): TelemetryOrigin {
  const { version } = manifest
  const own = { 'service.version': version, 'telemetry.sdk.name': 'tollgate', 'telemetry.sdk.version': version }
  return { resource: { ...own, 'telemetry.sdk.language': 'nodejs', ...resource }, version }
}

function announce({ tracesUrl, metricsUrl, ignored }: TelemetrySettings, log: Log): void {
  const shown = (url: string | undefined): string | undefined => (url === undefined ? undefined : new URL(url).origin)
  log('info', 'telemetry.on', { traces: shown(tracesUrl), metrics: shown(metricsUrl) })
  if (ignored.length > 0) log('warn', 'telemetry.ignored', { variables: ignored })
}
