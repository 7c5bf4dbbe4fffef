import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import { outputTokens, inputTokens } from '../domain/usage.ts'
import type { RequestRecord } from '../records/records.ts'

export type Gauges = {
  readonly openHolds: () => number
  readonly writesQueued: () => number
  readonly liveCalls: () => number
}

const LATENCY_BUCKETS_S = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300]

/** Adds to the count of one combination of label values, given in the order of the labels. */
type Count = (labels: readonly string[], amount?: number) => void

/** Prometheus metrics. Labels are bounded: models and providers come from the catalogue, never from a client. */
export class Metrics {
  private readonly registry = new Registry()
  private readonly answers = this.counter('tollgate_http_responses_total', 'HTTP responses by status.', ['status'])
  private readonly requests = this.counter('tollgate_requests_total', 'Requests that held money, by outcome.', [
    'model',
    'outcome',
  ])
  private readonly attempts = this.counter('tollgate_upstream_attempts_total', 'Attempts at offers, by result.', [
    'provider',
    'result',
  ])
  private readonly tokens = this.counter('tollgate_tokens_total', 'Tokens billed.', ['model', 'direction'])
  private readonly charged = this.counter('tollgate_charged_nano_usd_total', 'Charged to customers.', ['model'])
  private readonly cost = this.counter('tollgate_upstream_cost_nano_usd_total', 'Owed to upstreams.', ['model'])
  private readonly estimates = this.counter('tollgate_estimated_usage_total', 'Requests billed by our own count.', [
    'model',
  ])
  private readonly firstEvent = this.histogram('tollgate_first_event_seconds', 'Request to first event of an answer.')
  private readonly duration = this.histogram('tollgate_request_seconds', 'Request to settlement.')
  private readonly writtenOff = this.counter('tollgate_write_off_nano_usd_total', 'What balances lacked.', ['model'])

  constructor({ openHolds, writesQueued, liveCalls }: Gauges) {
    this.gauge('tollgate_open_holds', 'Holds not yet resolved.', openHolds)
    this.gauge('tollgate_writes_queued', 'Transactions waiting for the writer.', writesQueued)
    this.gauge('tollgate_live_calls', 'Requests under way.', liveCalls)
    this.gauge('process_resident_memory_bytes', 'Resident memory.', () => process.memoryUsage.rss())
  }

  answered(status: number): void {
    this.answers([String(status)])
  }

  recorded(record: RequestRecord): void {
    const { model, usage } = record
    this.requests([model, record.outcome])
    for (const { providerId, result } of record.attempts) this.attempts([providerId, result])
    this.duration.observe({ model }, record.totalMs / 1000)
    if (record.firstEventMs !== undefined) this.firstEvent.observe({ model }, record.firstEventMs / 1000)
    if (record.charged === 0n && record.upstreamCost === 0n) return
    this.tokens([model, 'input'], inputTokens(usage))
    this.tokens([model, 'output'], outputTokens(usage))
    this.charged([model], Number(record.charged))
    this.cost([model], Number(record.upstreamCost))
    if (record.writtenOff > 0n) this.writtenOff([model], Number(record.writtenOff))
    if (record.usageSource === 'estimated') this.estimates([model])
  }

  async text(): Promise<string> {
    return this.registry.metrics()
  }

  /** Counts are kept in a map and handed over at a scrape: the library hashes its labels at each count, for 1 µs. */
  private counter(name: string, help: string, labelNames: string[]): Count {
    const counts = new Map<string, { labels: Record<string, string>; value: number }>()
    const collect = (): void => {
      counter.reset()
      for (const { labels, value } of counts.values()) counter.inc(labels, value)
    }
    const counter: Counter = new Counter({ name, help, labelNames, registers: [this.registry], collect })
    return (values, amount = 1) => {
      const key = values.join('\n')
      const entry = counts.get(key)
      if (entry) entry.value += amount
      else
        counts.set(key, {
          labels: Object.fromEntries(labelNames.map((label, i) => [label, values[i] ?? ''])),
          value: amount,
        })
    }
  }

  private histogram(name: string, help: string): Histogram<'model'> {
    return new Histogram({ name, help, labelNames: ['model'], buckets: LATENCY_BUCKETS_S, registers: [this.registry] })
  }

  private gauge(name: string, help: string, read: () => number): void {
    const gauge: Gauge = new Gauge({ name, help, registers: [this.registry], collect: () => gauge.set(read()) })
  }
}
