import { describe, expect, test } from 'bun:test'
import { checkMetrics, checkTraces, readAttributes, type OtlpSpan } from '../../test/support/otlp-check.ts'
import type { Provider } from '../domain/catalog.ts'
import type { AttemptNote, RequestRecord } from '../records/records.ts'
import { AttemptTargets } from './attempt-target.ts'
import { finishedRequest } from './finished-request.ts'
import { GenAiMetrics } from './gen-ai-metrics.ts'
import { aroundMetrics, aroundSpans } from './otlp-json.ts'
import { RequestTrace } from './request-trace.ts'
import { requestSpans } from './spans.ts'

const ok: AttemptNote = {
  offerId: 'o1',
  providerId: 'p',
  upstreamModel: 'up',
  result: 'ok',
  startedMs: 100,
  tookMs: 40,
}

const record = {
  id: 'req_1',
  accountId: 'acct_1',
  endpoint: 'chat.completions',
  model: 'm',
  stream: true,
  status: 200,
  outcome: 'completed',
  errorCode: undefined,
  offerId: 'o1',
  usage: { inputFresh: 5, inputCached: 2, cacheWrite5m: 1, cacheWrite1h: 1, outputText: 3, outputReasoning: 4 },
  usageSource: 'reported',
  charged: 12n,
  upstreamCost: 0n,
  attempts: [ok],
  firstEventMs: 140,
  totalMs: 900,
} as unknown as RequestRecord

const provider = { id: 'p', preset: 'xai', baseUrl: 'https://api.example/v1' } as Provider
const catalog = {
  provider: (id: string): Provider | undefined => (id === 'p' ? provider : undefined),
  model: (): undefined => undefined,
}
const targets = new AttemptTargets(catalog)
const origin = { resource: { 'service.name': 's' }, version: '1' }
const ids = { traceId: 'a'.repeat(32), parentSpanId: undefined, state: undefined, isSampled: true, isPassedOn: true }
const arrival = { method: 'POST', path: '/v1/chat/completions', isRoute: true, startedMs: 1_000 }

/** The checked spans of a record. */
function spansOf(changed: Partial<RequestRecord>, trace = new RequestTrace(ids, arrival)): readonly OtlpSpan[] {
  const finished = finishedRequest({ ...record, ...changed }, catalog, targets)
  const text = requestSpans(finished, trace, { scheme: 'https', zeroUnixMs: 1_795_000_000_000 })
  const [before, after] = aroundSpans(origin)
  return checkTraces(before + text + after).content
}

const msOf = ({ startTimeUnixNano, endTimeUnixNano }: OtlpSpan): readonly [number, number] => {
  const zero = 1_795_000_001_000_000_000n
  return [
    Number((BigInt(startTimeUnixNano) - zero) / 1_000_000n),
    Number((BigInt(endTimeUnixNano) - zero) / 1_000_000n),
  ]
}

describe('the spans of a request', () => {
  test('last as long as it, and the attempt that served as long as its stream', () => {
    const [server, attempt] = spansOf({}) as [OtlpSpan, OtlpSpan]
    expect([msOf(server), msOf(attempt)]).toEqual([
      [0, 900],
      [100, 900],
    ])
    expect(readAttributes(attempt.attributes)).toMatchObject({
      'gen_ai.provider.name': 'x_ai',
      'gen_ai.response.time_to_first_chunk': 0.04,
      'gen_ai.usage.input_tokens': 9,
      'gen_ai.usage.cache_read.input_tokens': 2,
      'gen_ai.usage.cache_creation.input_tokens': 2,
      'gen_ai.usage.output_tokens': 7,
      'gen_ai.usage.reasoning.output_tokens': 4,
      'server.address': 'api.example',
      'server.port': 443,
    })
    expect(msOf(spansOf({ stream: false })[1] as OtlpSpan)).toEqual([100, 140])
  })

  test('a stream that broke is an error, with what was billed', () => {
    const broken = { ...ok, result: 'network', tookMs: 500 }
    const spans = spansOf({ outcome: 'cut', attempts: [broken], usageSource: 'estimated' })
    expect(spans.map(({ status }) => status?.code)).toEqual([2, 2])
    expect(readAttributes(spans[1]?.attributes ?? [])).toMatchObject({
      'error.type': 'network',
      'gen_ai.usage.output_tokens': 7,
    })
  })

  test('a failure after the head of a stream is an error, unless the request is at fault', () => {
    const failed = {
      outcome: 'failed',
      offerId: undefined,
      usageSource: undefined,
      errorCode: 'upstream_error',
    } as const
    const errorsWith = (result: string): unknown[] =>
      spansOf({ ...failed, attempts: [{ ...ok, result }] }).map(
        ({ attributes }) => readAttributes(attributes)['error.type'],
      )
    expect(errorsWith('server')).toEqual(['upstream_error', 'server'])
    expect(errorsWith('context_length')).toEqual([undefined, 'context_length'])
    // The client left before the vendor answered.
    expect(errorsWith('aborted')).toEqual(['upstream_error', undefined])
  })

  test('an attempt that was not sent has none, and each other has the id that the upstream got', () => {
    const trace = new RequestTrace(ids, arrival)
    const sent = ['o2', 'o1'].map((id) => trace.attempt(id)?.['traceparent']?.split('-')[2])
    const notes = [{ ...ok, offerId: 'o3', result: 'full' }, { ...ok, offerId: 'o2', result: 'server' }, ok]
    const [server, ...attempts] = spansOf({ attempts: notes }, trace)
    expect(attempts.map(({ spanId }) => spanId)).toEqual(sent as string[])
    expect(attempts.every(({ parentSpanId }) => parentSpanId === server?.spanId)).toBe(true)
  })

  test('odd names are escaped, and a provider that is gone has its id', () => {
    const upstreamModel = 'odd "\\\n\u2028\ud800 name'
    const gone = { ...ok, providerId: 'gone', upstreamModel }
    const finished = finishedRequest({ ...record, model: upstreamModel, attempts: [gone] }, catalog, targets)
    const text = requestSpans(finished, new RequestTrace(ids, arrival), { scheme: 'http', zeroUnixMs: 0 })
    const spans = JSON.parse(`[${text}]`) as { name: string; attributes: OtlpSpan['attributes'] }[]
    expect(spans[1]?.name).toBe(`chat ${upstreamModel}`)
    expect(readAttributes(spans[1]?.attributes ?? [])['gen_ai.provider.name']).toBe('gone')
  })

  test('a task is in a trace of its own and no request of HTTP', () => {
    const task = new RequestTrace(ids, { ...arrival, method: '', path: 'videos', isRoute: false, isTask: true })
    const [span] = spansOf({ endpoint: 'videos', stream: false, attempts: [] }, task)
    expect(span).toMatchObject({ name: 'videos', kind: 1 })
  })
})

describe('the metrics', () => {
  test('are those of the conventions, and none before the first request', () => {
    const metrics = new GenAiMetrics()
    const range = { startUnixMs: 1_795_000_000_000, nowUnixMs: 1_795_000_060_000 }
    expect(metrics.texts(range)).toEqual([])
    for (const changed of [{}, { totalMs: 100_000 }, { stream: false }]) {
      metrics.recorded(finishedRequest({ ...record, ...changed }, catalog, targets))
    }
    const [before, after] = aroundMetrics(origin)
    const { content } = checkMetrics(before + metrics.texts(range).join(',') + after)
    const pointOf = (name: string) => content.find((metric) => metric.name === name)?.histogram.dataPoints[0]
    expect(pointOf('gen_ai.client.operation.duration')).toMatchObject({ count: '3', sum: 0.8 + 99.9 + 0.04 })
    expect(pointOf('gen_ai.client.operation.duration')?.bucketCounts.at(-1)).toBe('1')
    expect(pointOf('gen_ai.server.time_to_first_token')).toMatchObject({ count: '2' })
  })

  test('more combinations of attributes than a collector should get are counted as one', () => {
    const metrics = new GenAiMetrics()
    for (let i = 0; i < 2_005; i++) metrics.recorded(finishedRequest({ ...record, model: `m${i}` }, catalog, targets))
    const [text = ''] = metrics
      .texts({ startUnixMs: 0, nowUnixMs: 0 })
      .filter((one) => one.includes('request.duration'))
    const { histogram } = JSON.parse(text) as { histogram: { dataPoints: { count: string; attributes: unknown[] }[] } }
    expect(histogram.dataPoints).toHaveLength(2_001)
    expect(histogram.dataPoints.at(-1)).toMatchObject({
      count: '5',
      attributes: [{ key: 'otel.metric.overflow', value: { boolValue: true } }],
    })
  })
})
