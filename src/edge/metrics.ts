import { outputTokens, inputTokens } from '../domain/usage.ts'
import {
  Counter,
  exposition,
  Gauge,
  Histogram,
  LabeledGauge,
  type Exemplar,
  type Metric,
  type MetricsFormat,
} from '../lib/runtime/prometheus.ts'
import type { Decoders } from '../lib/runtime/picture-decoders.ts'
import type { RequestRecord } from '../records/records.ts'

export type Gauges = {
  readonly openHolds: () => number
  readonly writesQueued: () => number
  readonly liveCalls: () => number
  readonly videoTasks: () => number
  readonly answerCacheBytes: () => number
  readonly connections: () => number
  readonly dismissed: () => number
  readonly turnedAway: () => number
  /** Processes that decode pictures. */
  readonly decoders: Pick<Decoders, 'size' | 'memoryBytes' | 'lostInAll'>
  /** When the certificate of the port expires. Undefined if it speaks no TLS. */
  readonly certificateEndMs?: (() => number) | undefined
  /** The providers as they are at the moment. */
  readonly providers: () => readonly ProviderReading[]
  /** Spans that a collector has taken, and spans that were lost. Undefined if none are sent. */
  readonly spans?: (() => { readonly sent: number; readonly dropped: number }) | undefined
}

/**
 * The state of a provider: whether it gets new requests, and how many of its offers, and of its keys if it has several,
 * are not tried at the moment.
 */
export type ProviderReading = {
  readonly id: string
  readonly isServing: boolean
  readonly offers: number
  readonly resting: number
  readonly restingKeys: number
}

const LATENCY_BUCKETS_S = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300]
const latency = { label: 'model', bounds: LATENCY_BUCKETS_S }

/** A gauge with the value of each provider. */
const providerGauge = (
  name: string,
  help: string,
  { providers, field }: Pick<Gauges, 'providers'> & { readonly field: Exclude<keyof ProviderReading, 'id'> },
): Metric =>
  new LabeledGauge(name, help, {
    label: 'provider',
    read: () => providers().map((reading) => [reading.id, Number(reading[field])]),
  })

const providerGauges = (providers: Gauges['providers']): Metric[] => [
  providerGauge('tollgate_provider_serving', 'Whether a provider gets new requests.', {
    providers,
    field: 'isServing',
  }),
  providerGauge('tollgate_provider_offers', 'Offers of a provider.', {
    providers,
    field: 'offers',
  }),
  providerGauge('tollgate_provider_offers_resting', 'Offers of a provider that rest after failures.', {
    providers,
    field: 'resting',
  }),
  providerGauge('tollgate_provider_keys_resting', 'Keys of a provider, of several, that rest after refusals.', {
    providers,
    field: 'restingKeys',
  }),
]

/** What is under way, and what was refused for lack of room. */
const workGauges = ({
  openHolds,
  writesQueued,
  liveCalls,
  videoTasks,
  answerCacheBytes,
  connections,
  dismissed,
  turnedAway,
  decoders,
}: Gauges): Metric[] => [
  new Gauge('tollgate_connections', 'Connections of clients.', connections),
  new Gauge('tollgate_connections_dismissed_total', 'Connections ended to make room.', dismissed, 'counter'),
  new Gauge('tollgate_connections_turned_away_total', 'Connections refused for lack of room.', turnedAway, 'counter'),
  new Gauge('tollgate_open_holds', 'Holds not yet resolved.', openHolds),
  new Gauge('tollgate_writes_queued', 'Transactions waiting for the writer.', writesQueued),
  new Gauge('tollgate_live_calls', 'Requests under way.', liveCalls),
  new Gauge('tollgate_video_tasks', 'Videos under way.', videoTasks),
  new Gauge('tollgate_answer_cache_bytes', 'Answers in the answer cache.', answerCacheBytes),
  new Gauge('tollgate_decoders', 'Processes that decode pictures.', () => decoders.size),
  new Gauge('tollgate_decoders_resident_bytes', 'Resident memory of picture decoders.', () => decoders.memoryBytes),
  new Gauge(
    'tollgate_decoders_lost_total',
    'Picture decoders that ended while they were working.',
    () => decoders.lostInAll,
    'counter',
  ),
]

/** Those of parts that not every gateway has. */
const optionalGauges = ({ certificateEndMs, spans }: Gauges): Metric[] => [
  ...(certificateEndMs
    ? [
        new Gauge(
          'tollgate_tls_certificate_expiry_timestamp_seconds',
          'When the certificate expires, in Unix time.',
          () => certificateEndMs() / 1000,
        ),
      ]
    : []),
  ...(spans
    ? [
        new Gauge('tollgate_spans_sent_total', 'Spans that a collector has taken.', () => spans().sent, 'counter'),
        new Gauge('tollgate_spans_dropped_total', 'Spans that were lost.', () => spans().dropped, 'counter'),
      ]
    : []),
]

const processGauges = (): Metric[] => [
  new Gauge('process_resident_memory_bytes', 'Resident memory.', () => process.memoryUsage.rss()),
  new Gauge(
    'process_start_time_seconds',
    'When the process started, in Unix time.',
    () => performance.timeOrigin / 1000,
  ),
]

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
  private readonly cacheUses = new Counter(
    'tollgate_answer_cache_total',
    'Requests that asked the answer cache, by result.',
    ['model', 'result'],
  )
  private readonly firstEvent = new Histogram(
    'tollgate_first_event_seconds',
    'Request to first event of an answer.',
    latency,
  )
  private readonly duration = new Histogram('tollgate_request_seconds', 'Request to settlement.', latency)
  private readonly upstreamFirst = new Histogram(
    'tollgate_upstream_first_event_seconds',
    'Attempt to first event of a stream, or to the whole reply, if it went well.',
    { label: 'provider', bounds: LATENCY_BUCKETS_S },
  )
  private readonly writtenOff = new Counter('tollgate_write_off_nano_usd_total', 'Costs that balances did not cover.', [
    'model',
  ])
  private readonly all: readonly Metric[]

  constructor(gauges: Gauges) {
    this.all = [
      this.answers,
      this.requests,
      this.attempts,
      this.tokens,
      this.charged,
      this.cost,
      this.estimates,
      this.cacheUses,
      this.firstEvent,
      this.duration,
      this.upstreamFirst,
      this.writtenOff,
      ...providerGauges(gauges.providers),
      ...workGauges(gauges),
      ...optionalGauges(gauges),
      ...processGauges(),
    ]
  }

  answered(status: number): void {
    this.answers.add(String(status), '')
  }

  /** A request that asked the answer cache has ended. */
  askedCache(model: string, result: string): void {
    this.cacheUses.add(model, result)
  }

  /** `exemplar`: the trace of the request, if it is recorded. */
  recorded(record: RequestRecord, exemplar?: Exemplar): void {
    const { model, usage } = record
    this.requests.add(model, record.outcome)
    for (const { providerId, result, tookMs } of record.attempts) {
      this.attempts.add(providerId, result)
      // The note of an attempt that went well has the time to its first event.
      if (result === 'ok') this.upstreamFirst.observe(providerId, tookMs / 1000, exemplar)
    }
    this.duration.observe(model, record.totalMs / 1000, exemplar)
    if (record.firstEventMs !== undefined) this.firstEvent.observe(model, record.firstEventMs / 1000, exemplar)
    if (record.charged === 0n && record.upstreamCost === 0n) return
    this.tokens.add(model, 'input', inputTokens(usage))
    this.tokens.add(model, 'output', outputTokens(usage))
    this.charged.add(model, '', Number(record.charged))
    this.cost.add(model, '', Number(record.upstreamCost))
    if (record.writtenOff > 0n) this.writtenOff.add(model, '', Number(record.writtenOff))
    if (record.usageSource === 'estimated') this.estimates.add(model, '')
  }

  text(format: MetricsFormat): string {
    return exposition(this.all, format)
  }
}
