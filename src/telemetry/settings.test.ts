import { describe, expect, test } from 'bun:test'
import { isSampled } from './sampler.ts'
import { readTelemetrySettings, type TelemetrySettings } from './settings.ts'

const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' }

function settingsOf(env: Record<string, string>): TelemetrySettings {
  const read = readTelemetrySettings({ ...ENDPOINT, ...env })
  if (read.kind !== 'set') throw new Error(JSON.stringify(read))
  return read.settings
}

function faultOf(env: Record<string, string>): string {
  const read = readTelemetrySettings({ ...ENDPOINT, ...env })
  return read.kind === 'bad' ? read.message : ''
}

test('an address alone is enough', () => {
  const { resource, ...rest } = settingsOf({})
  expect(rest).toEqual({
    tracesUrl: 'http://127.0.0.1:4318/v1/traces',
    metricsUrl: 'http://127.0.0.1:4318/v1/metrics',
    headers: { 'content-type': 'application/json' },
    exportTimeoutMs: 10_000,
    sampler: { ratio: 1, followsParent: true },
    propagates: true,
    spans: { delayMs: 5_000, queueMax: 2_048, batchMax: 512 },
    metricIntervalMs: 60_000,
    ignored: [],
  })
  expect(resource).toMatchObject({ 'service.name': 'tollgate' })
  expect(resource['service.instance.id']).toMatch(/^[\da-f-]{36}$/)
})

test('each signal can have an address of its own, or none', () => {
  expect(settingsOf({ OTEL_EXPORTER_OTLP_ENDPOINT: 'https://c.example/otlp/' })).toMatchObject({
    tracesUrl: 'https://c.example/otlp/v1/traces',
    metricsUrl: 'https://c.example/otlp/v1/metrics',
  })
  const own = { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://t.example/take?team=1' }
  expect(settingsOf(own).tracesUrl).toBe('https://t.example/take?team=1')
  expect(settingsOf({ ...own, OTEL_EXPORTER_OTLP_ENDPOINT: '' }).metricsUrl).toBeUndefined()
  expect(settingsOf({ OTEL_METRICS_EXPORTER: 'none' })).toMatchObject({ metricsUrl: undefined })
  expect(settingsOf({ OTEL_TRACES_EXPORTER: 'none' })).toMatchObject({ tracesUrl: undefined })
})

test('headers and resource attributes are pairs in percent-encoding', () => {
  const headers = { OTEL_EXPORTER_OTLP_HEADERS: 'Authorization=Bearer%20a%3Db, x-team = seven ' }
  expect(settingsOf(headers).headers).toEqual({
    'content-type': 'application/json',
    authorization: 'Bearer a=b',
    'x-team': 'seven',
  })
  const given = { OTEL_RESOURCE_ATTRIBUTES: 'service.name=a,deployment.environment.name=prod%2C1' }
  expect(settingsOf(given).resource).toMatchObject({ 'service.name': 'a', 'deployment.environment.name': 'prod,1' })
  expect(settingsOf({ ...given, OTEL_SERVICE_NAME: 'b' }).resource).toMatchObject({ 'service.name': 'b' })
})

test('variables without effect are named', () => {
  const env = { OTEL_EXPORTER_OTLP_CERTIFICATE: '/ca.pem', OTEL_ATTRIBUTE_COUNT_LIMIT: '4', OTEL_LOG_LEVEL: '' }
  expect(settingsOf(env).ignored).toEqual(['OTEL_ATTRIBUTE_COUNT_LIMIT', 'OTEL_EXPORTER_OTLP_CERTIFICATE'])
})

test('OTEL_SDK_DISABLED turns everything off', () => {
  expect(readTelemetrySettings({ ...ENDPOINT, OTEL_SDK_DISABLED: 'TRUE' })).toEqual({ kind: 'off' })
  expect(readTelemetrySettings({ ...ENDPOINT, OTEL_SDK_DISABLED: '1' }).kind).toBe('set')
})

test.each([
  ['OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc', 'http/json'],
  ['OTEL_EXPORTER_OTLP_COMPRESSION', 'gzip', 'none'],
  ['OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE', 'delta', 'cumulative'],
  ['OTEL_TRACES_EXPORTER', 'zipkin', 'otlp'],
  ['OTEL_TRACES_SAMPLER', 'jaeger_remote', 'parentbased_traceidratio'],
  ['OTEL_TRACES_SAMPLER', 'toString', 'parentbased_traceidratio'],
  ['OTEL_TRACES_SAMPLER_ARG', '1.5', 'from 0 to 1'],
  ['OTEL_TRACES_SAMPLER_ARG', 'half', 'from 0 to 1'],
  ['OTEL_PROPAGATORS', 'b3', 'tracecontext'],
  ['OTEL_BSP_MAX_QUEUE_SIZE', '100', 'must not be above'],
  ['OTEL_BSP_SCHEDULE_DELAY', '-1', 'whole number'],
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4317', 'http or https URL'],
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'http://c.example/?a=1', 'query'],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'authorization', 'name=value'],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'a b=1', 'cannot be set'],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'content-length=1', 'cannot be set'],
  ['OTEL_RESOURCE_ATTRIBUTES', 'a=%', 'percent-encoding'],
])('%s=%s stops the start', (name, value, said) => {
  const message = faultOf({ [name]: value })
  expect(message).toContain(name)
  expect(message).toContain(said)
})

test('a message never has the value of a header or a password', () => {
  for (const value of ['x=s3cret%0a', 'x=s3cret%', 'x=s3cret%0d%0ay: z', 's3cret']) {
    const message = faultOf({ OTEL_EXPORTER_OTLP_HEADERS: value })
    expect(message).not.toBe('')
    expect(message).not.toContain('s3cret')
  }
  expect(faultOf({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://me:s3cret@c.example' })).not.toContain('s3cret')
})

describe('a sampler', () => {
  const samplerOf = (name: string, ratio = '1') =>
    settingsOf({ OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: ratio }).sampler
  const [low, high] = [`${'f'.repeat(18)}${'0'.repeat(14)}`, `${'0'.repeat(18)}${'f'.repeat(14)}`]

  test('takes a share of the traces by their ids', () => {
    const half = samplerOf('traceidratio', '0.5')
    expect([isSampled(half, low), isSampled(half, high)]).toEqual([true, false])
    // The client's decision does not count.
    expect([isSampled(half, low, false), isSampled(half, high, true)]).toEqual([true, false])
    expect(isSampled(samplerOf('always_on', '0'), high, false)).toBe(true)
    expect(isSampled(samplerOf('always_off'), low, true)).toBe(false)
  })

  test('follows the client where it says so', () => {
    const half = samplerOf('parentbased_traceidratio', '0.5')
    expect([isSampled(half, low, false), isSampled(half, high, true), isSampled(half, high)]).toEqual([
      false,
      true,
      false,
    ])
    expect(isSampled(samplerOf('parentbased_always_off'), low)).toBe(false)
  })
})
