import { outputTokens, inputTokens } from '../domain/usage.ts'
import { Counter, exposition, Gauge, Histogram, type Metric } from '../lib/runtime/prometheus.ts'
import type { Decoders } from '../lib/runtime/picture-decoders.ts'
import type { RequestRecord } from '../records/records.ts'

export type Gauges = {
  readonly openHolds: () => number
  readonly writesQueued: () => number
  readonly liveCalls: () => number
  readonly videoTasks: () => number
  readonly connections: () => number
  readonly dismissed: () => number
  readonly turnedAway: () => number
  /** Processes that decode pictures. */
  readonly decoders: Pick<Decoders, 'size' | 'memoryBytes' | 'lostInAll'>
  /** When the certificate of the port expires. Undefined if it speaks no TLS. */
  readonly certificateEndMs?: (() => number) | undefined
}

const LATENCY_BUCKETS_S = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300]
const latency = { label: 'model', bounds: LATENCY_BUCKETS_S }

/** Prometheus metrics. The labels are bounded: models and providers come from the catalogue, never from a client. */
export class Metrics {
  private readonly answers = new Counter('tollgate_http_responses_total', 'HTTP responses by status.', ['status'])
  private readonly requests = new Counter('tollgate_requests_total', 'Requests that held money, by outcome.', [
    'model',
    'outcome',
  ])
  private readonly attempts = new Counter('tollgate_upstream_attempts_total', 'Attempts at offers, by result.', [
    'provider',
    'result',
  ])
  private readonly tokens = new Counter('tollgate_tokens_total', 'Tokens billed.', ['model', 'direction'])
  private readonly charged = new Counter('tollgate_charged_nano_usd_total', 'Charged to customers.', ['model'])
  private readonly cost = new Counter('tollgate_upstream_cost_nano_usd_total', 'Cost at upstreams.', ['model'])
  private readonly estimates = new Counter('tollgate_estimated_usage_total', 'Requests billed by our own count.', [
    'model',
  ])
  private readonly firstEvent = new Histogram(
    'tollgate_first_event_seconds',
    'Request to first event of an answer.',
    latency,
  )
  private readonly duration = new Histogram('tollgate_request_seconds', 'Request to settlement.', latency)
  private readonly writtenOff = new Counter('tollgate_write_off_nano_usd_total', 'Costs that balances did not cover.', [
    'model',
  ])
  private readonly all: readonly Metric[]

  constructor(gauges: Gauges) {
    const {
      openHolds,
      writesQueued,
      liveCalls,
      videoTasks,
      connections,
      dismissed,
      turnedAway,
      decoders,
      certificateEndMs,
    } = gauges
    this.all = [
      this.answers,
      this.requests,
      this.attempts,
      this.tokens,
      this.charged,
      this.cost,
      this.estimates,
      this.firstEvent,
      this.duration,
      this.writtenOff,
      new Gauge('tollgate_connections', 'Connections of clients.', connections),
      new Gauge('tollgate_connections_dismissed_total', 'Connections ended to make room.', dismissed, 'counter'),
      new Gauge(
        'tollgate_connections_turned_away_total',
        'Connections refused for lack of room.',
        turnedAway,
        'counter',
      ),
      new Gauge('tollgate_open_holds', 'Holds not yet resolved.', openHolds),
      new Gauge('tollgate_writes_queued', 'Transactions waiting for the writer.', writesQueued),
      new Gauge('tollgate_live_calls', 'Requests under way.', liveCalls),
      new Gauge('tollgate_video_tasks', 'Videos under way.', videoTasks),
      new Gauge('tollgate_decoders', 'Processes that decode pictures.', () => decoders.size),
      new Gauge('tollgate_decoders_resident_bytes', 'Resident memory of picture decoders.', () => decoders.memoryBytes),
      new Gauge(
        'tollgate_decoders_lost_total',
        'Picture decoders that ended while they were working.',
        () => decoders.lostInAll,
        'counter',
      ),
      ...(certificateEndMs
        ? [
            new Gauge(
              'tollgate_tls_certificate_expiry_timestamp_seconds',
              'When the certificate expires, in Unix time.',
              () => certificateEndMs() / 1000,
            ),
          ]
        : []),
      new Gauge('process_resident_memory_bytes', 'Resident memory.', () => process.memoryUsage.rss()),
      new Gauge(
        'process_start_time_seconds',
        'When the process started, in Unix time.',
        () => performance.timeOrigin / 1000,
      ),
    ]
  }

  answered(status: number): void {
    this.answers.add(String(status), '')
  }

  recorded(record: RequestRecord): void {
    const { model, usage } = record
    this.requests.add(model, record.outcome)
    for (const { providerId, result } of record.attempts) this.attempts.add(providerId, result)
    this.duration.observe(model, record.totalMs / 1000)
    if (record.firstEventMs !== undefined) this.firstEvent.observe(model, record.firstEventMs / 1000)
    if (record.charged === 0n && record.upstreamCost === 0n) return
    this.tokens.add(model, 'input', inputTokens(usage))
    this.tokens.add(model, 'output', outputTokens(usage))
    this.charged.add(model, '', Number(record.charged))
    this.cost.add(model, '', Number(record.upstreamCost))
    if (record.writtenOff > 0n) this.writtenOff.add(model, '', Number(record.writtenOff))
    if (record.usageSource === 'estimated') this.estimates.add(model, '')
  }

  text(): string {
    return exposition(this.all)
  }
}
