import { expect, test } from 'bun:test'
import type { RequestRecord } from '../records/records.ts'
import { Metrics } from './metrics.ts'

const record: RequestRecord = {
  id: 'req_1',
  accountId: 'acc_1',
  keyId: 'key_1',
  endpoint: '/v1/chat/completions',
  model: 'a',
  stream: false,
  status: 200,
  outcome: 'completed',
  errorCode: undefined,
  offerId: 'o',
  providerId: 'p',
  upstreamModel: 'u',
  usage: { inputFresh: 500, inputCached: 1, cacheWrite5m: 0, cacheWrite1h: 0, outputText: 200, outputReasoning: 2 },
  usageSource: 'reported',
  priceCardId: 1,
  costCardId: 1,
  held: 60n,
  charged: 25n,
  writtenOff: 0n,
  upstreamCost: 10n,
  attempts: [{ offerId: 'o', providerId: 'p', upstreamModel: 'u', result: 'ok', startedMs: 1, tookMs: 2 }],
  createdAtMs: 0,
  firstEventMs: 4,
  totalMs: 12,
}

const fresh = (): Metrics =>
  new Metrics({
    openHolds: () => 3,
    writesQueued: () => 0,
    liveCalls: () => 2,
    videoTasks: () => 1,
    answerCacheBytes: () => 7,
    connections: () => 4,
    dismissed: () => 5,
    turnedAway: () => 0,
    decoders: { size: 0, memoryBytes: 0, lostInAll: 0 },
    providers: () => [{ id: 'p', isServing: false, offers: 3, resting: 2, restingKeys: 1 }],
  })

/** The lines of one metric, without HELP and TYPE. */
const linesOf = (metrics: Metrics, name: string): string[] =>
  metrics
    .text('prometheus')
    .split('\n')
    .filter((line) => line.startsWith(name))
    .map((line) => line.slice(name.length))

test('every metric has a name, a type and a help text before the first request', () => {
  const text = fresh().text('prometheus')
  expect(text.replaceAll(/(?<=^process_\w+ )[\d.]+$/gm, 'N')).toBe(
    `${[
      ['tollgate_http_responses_total', 'counter', 'HTTP responses by status.'],
      ['tollgate_requests_total', 'counter', 'Requests that held money, by outcome.'],
      ['tollgate_upstream_attempts_total', 'counter', 'Attempts at offers, by result.'],
      ['tollgate_tokens_total', 'counter', 'Tokens billed.'],
      ['tollgate_charged_nano_usd_total', 'counter', 'Charged to customers.'],
      ['tollgate_upstream_cost_nano_usd_total', 'counter', 'Cost at upstreams.'],
      ['tollgate_estimated_usage_total', 'counter', 'Requests billed by our own count.'],
      ['tollgate_answer_cache_total', 'counter', 'Requests that asked the answer cache, by result.'],
      ['tollgate_first_event_seconds', 'histogram', 'Request to first event of an answer.'],
      ['tollgate_request_seconds', 'histogram', 'Request to settlement.'],
      [
        'tollgate_upstream_first_event_seconds',
        'histogram',
        'Attempt to first event of a stream, or to the whole reply, if it went well.',
      ],
      ['tollgate_write_off_nano_usd_total', 'counter', 'Costs that balances did not cover.'],
      ['tollgate_provider_serving', 'gauge', 'Whether a provider gets new requests.', '{provider="p"} 0'],
      ['tollgate_provider_offers', 'gauge', 'Offers of a provider.', '{provider="p"} 3'],
      [
        'tollgate_provider_offers_resting',
        'gauge',
        'Offers of a provider that rest after failures.',
        '{provider="p"} 2',
      ],
      [
        'tollgate_provider_keys_resting',
        'gauge',
        'Keys of a provider, of several, that rest after refusals.',
        '{provider="p"} 1',
      ],
      ['tollgate_connections', 'gauge', 'Connections of clients.', ' 4'],
      ['tollgate_connections_dismissed_total', 'counter', 'Connections ended to make room.', ' 5'],
      ['tollgate_connections_turned_away_total', 'counter', 'Connections refused for lack of room.', ' 0'],
      ['tollgate_open_holds', 'gauge', 'Holds not yet resolved.', ' 3'],
      ['tollgate_writes_queued', 'gauge', 'Transactions waiting for the writer.', ' 0'],
      ['tollgate_live_calls', 'gauge', 'Requests under way.', ' 2'],
      ['tollgate_video_tasks', 'gauge', 'Videos under way.', ' 1'],
      ['tollgate_answer_cache_bytes', 'gauge', 'Answers in the answer cache.', ' 7'],
      ['tollgate_decoders', 'gauge', 'Processes that decode pictures.', ' 0'],
      ['tollgate_decoders_resident_bytes', 'gauge', 'Resident memory of picture decoders.', ' 0'],
      ['tollgate_decoders_lost_total', 'counter', 'Picture decoders that ended while they were working.', ' 0'],
      ['process_resident_memory_bytes', 'gauge', 'Resident memory.', ' N'],
      ['process_start_time_seconds', 'gauge', 'When the process started, in Unix time.', ' N'],
    ]
      .map(([name, type, help, value]) =>
        [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...(value ? [name + value] : [])].join('\n'),
      )
      .join('\n\n')}\n`,
  )
})

test('counts are summed by label', () => {
  const metrics = fresh()
  for (const status of [200, 200, 503]) metrics.answered(status)
  metrics.recorded(record)
  metrics.askedCache('a', 'hit')
  metrics.recorded({ ...record, usageSource: 'estimated', writtenOff: 4n })
  metrics.recorded({ ...record, model: 'b', outcome: 'failed', charged: 0n, upstreamCost: 0n, attempts: [] })
  expect(linesOf(metrics, 'tollgate_http_responses_total')).toEqual(['{status="200"} 2', '{status="503"} 1'])
  expect(linesOf(metrics, 'tollgate_requests_total')).toEqual([
    '{model="a",outcome="completed"} 2',
    '{model="b",outcome="failed"} 1',
  ])
  expect(linesOf(metrics, 'tollgate_upstream_attempts_total')).toEqual(['{provider="p",result="ok"} 2'])
  expect(linesOf(metrics, 'tollgate_tokens_total')).toEqual([
    '{model="a",direction="input"} 1002',
    '{model="a",direction="output"} 404',
  ])
  expect(linesOf(metrics, 'tollgate_charged_nano_usd_total')).toEqual(['{model="a"} 50'])
  expect(linesOf(metrics, 'tollgate_upstream_cost_nano_usd_total')).toEqual(['{model="a"} 20'])
  expect(linesOf(metrics, 'tollgate_estimated_usage_total')).toEqual(['{model="a"} 1'])
  expect(linesOf(metrics, 'tollgate_answer_cache_total')).toEqual(['{model="a",result="hit"} 1'])
  expect(linesOf(metrics, 'tollgate_write_off_nano_usd_total')).toEqual(['{model="a"} 4'])
})

test('a bucket counts the values up to its bound, and includes the buckets below', () => {
  const metrics = fresh()
  for (const totalMs of [5, 5.1, 12, 400_000]) metrics.recorded({ ...record, totalMs, firstEventMs: undefined })
  const lines = linesOf(metrics, 'tollgate_request_seconds')
  expect(lines.slice(0, 4)).toEqual([
    '_bucket{le="0.005",model="a"} 1',
    '_bucket{le="0.01",model="a"} 2',
    '_bucket{le="0.025",model="a"} 3',
    '_bucket{le="0.05",model="a"} 3',
  ])
  expect(lines.slice(-4)).toEqual([
    '_bucket{le="300",model="a"} 3',
    '_bucket{le="+Inf",model="a"} 4',
    '_sum{model="a"} 400.0221',
    '_count{model="a"} 4',
  ])
  expect(linesOf(metrics, 'tollgate_first_event_seconds')).toEqual([])
})

test('label values are escaped', () => {
  const metrics = fresh()
  metrics.recorded({ ...record, model: 'odd "\\\n name' })
  expect(linesOf(metrics, 'tollgate_requests_total')).toEqual([
    String.raw`{model="odd \"\\\n name",outcome="completed"} 1`,
  ])
})

test('the time to the first event of a provider is that of the attempts that went well', () => {
  const metrics = fresh()
  const [ok] = record.attempts
  const failed = { ...ok, result: 'server', tookMs: 9_000 } as RequestRecord['attempts'][number]
  metrics.recorded({ ...record, attempts: [failed, ...record.attempts] })
  const lines = linesOf(metrics, 'tollgate_upstream_first_event_seconds')
  expect(lines.slice(0, 1)).toEqual(['_bucket{le="0.005",provider="p"} 1'])
  expect(lines.slice(-2)).toEqual(['_sum{provider="p"} 0.002', '_count{provider="p"} 1'])
})

test('OpenMetrics names counters without a suffix, has canonical bounds, exemplars, and an end', () => {
  const metrics = fresh()
  const exemplar = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16) }
  metrics.recorded(record, exemplar)
  metrics.recorded({ ...record, totalMs: 900 })
  const text = metrics.text('openmetrics')
  expect(text).toContain('# TYPE tollgate_requests counter\ntollgate_requests_total{model="a",outcome="completed"} 2\n')
  expect(text).toContain('# TYPE tollgate_connections_dismissed counter\ntollgate_connections_dismissed_total 5\n')
  expect(text).not.toMatch(/\n\n/)
  expect(text).toEndWith('\n# EOF\n')
  const lines = text.split('\n').filter((line) => line.startsWith('tollgate_request_seconds_bucket'))
  expect(lines.find((line) => line.includes('# '))?.replace(/[\d.]+$/, 'T')).toBe(
    `tollgate_request_seconds_bucket{le="0.025",model="a"} 1 # {trace_id="${exemplar.traceId}",span_id="${exemplar.spanId}"} 0.012 T`,
  )
  // An observation without a trace has no exemplar.
  expect(lines.filter((line) => line.includes('# '))).toHaveLength(1)
  expect(lines).toContain('tollgate_request_seconds_bucket{le="1.0",model="a"} 2')
  expect(metrics.text('prometheus')).not.toContain('trace_id')
})
