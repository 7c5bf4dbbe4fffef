/**
 * The standard variables of OpenTelemetry, as far as they are supported (OpenTelemetry specification 1.56.0,
 * "Environment Variable Specification" and "OpenTelemetry Protocol Exporter", 2026-04). A value that is not supported
 * stops the start. Other variables that begin with OTEL_ are named in a warning.
 */
import { maskedAddress } from '../lib/primitives/masked-address.ts'
import { MINUTE_MS } from '../lib/primitives/units.ts'
import { checkUrl } from '../outbound/guard.ts'
import { samplerNames, samplerOf, type Sampler } from './sampler.ts'

type Environment = Readonly<Record<string, string | undefined>>

export type TelemetrySettings = {
  /** Where spans are sent. Undefined: nowhere. */
  readonly tracesUrl: string | undefined
  readonly metricsUrl: string | undefined
  /** Sent with every export. They may hold a credential. */
  readonly headers: Readonly<Record<string, string>>
  readonly exportTimeoutMs: number
  readonly resource: Readonly<Record<string, string>>
  readonly sampler: Sampler
  /** Whether `traceparent` is read from clients and sent to upstreams. */
  readonly propagates: boolean
  readonly spans: SpanBatching
  readonly metricIntervalMs: number
  /** Variables that are set and have no effect. */
  readonly ignored: readonly string[]
}

export type SpanBatching = {
  /** How long the first span of a batch waits for others. */
  readonly delayMs: number
  /** More waiting spans than this are dropped. */
  readonly queueMax: number
  readonly batchMax: number
}

export type TelemetrySettingsResult =
  | { readonly kind: 'set'; readonly settings: TelemetrySettings }
  | { readonly kind: 'off' }
  | { readonly kind: 'bad'; readonly message: string }

/** A value that cannot be used. It is caught in this file. */
class BadSetting extends Error {}

const DEFAULT_NAME = 'tollgate'
/** Instances are told apart by it. Without it, the counts of several processes would be one sum that jumps. */
const INSTANCE = 'service.instance.id'
/** Every variable that is read, except the address of the collector. */
const known = new Set([
  'OTEL_SDK_DISABLED',
  'OTEL_SERVICE_NAME',
  'OTEL_RESOURCE_ATTRIBUTES',
  'OTEL_TRACES_EXPORTER',
  'OTEL_METRICS_EXPORTER',
  'OTEL_LOGS_EXPORTER',
  'OTEL_EXPORTER_OTLP_ENDPOINT',
  'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
  'OTEL_EXPORTER_OTLP_METRICS_ENDPOINT',
  'OTEL_EXPORTER_OTLP_HEADERS',
  'OTEL_EXPORTER_OTLP_PROTOCOL',
  'OTEL_EXPORTER_OTLP_COMPRESSION',
  'OTEL_EXPORTER_OTLP_TIMEOUT',
  'OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE',
  'OTEL_TRACES_SAMPLER',
  'OTEL_TRACES_SAMPLER_ARG',
  'OTEL_PROPAGATORS',
  'OTEL_BSP_SCHEDULE_DELAY',
  'OTEL_BSP_MAX_QUEUE_SIZE',
  'OTEL_BSP_MAX_EXPORT_BATCH_SIZE',
  'OTEL_METRIC_EXPORT_INTERVAL',
])

/** Reads the settings. Call it only if an endpoint is set. */
export function readTelemetrySettings(env: Environment): TelemetrySettingsResult {
  try {
    return settingsOf(env)
  } catch (error) {
    if (error instanceof BadSetting) return { kind: 'bad', message: error.message }
    throw error
  }
}

function settingsOf(env: Environment): TelemetrySettingsResult {
  // The specification reads everything but "true" as false.
  if (env['OTEL_SDK_DISABLED']?.toLowerCase() === 'true') return { kind: 'off' }
  oneOf(env, 'OTEL_EXPORTER_OTLP_PROTOCOL', ['http/json'])
  oneOf(env, 'OTEL_EXPORTER_OTLP_COMPRESSION', ['none'])
  oneOf(env, 'OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE', ['cumulative'])
  oneOf(env, 'OTEL_LOGS_EXPORTER', ['none'])
  const exporters = ['otlp', 'none']
  const sendsTraces = oneOf(env, 'OTEL_TRACES_EXPORTER', exporters) !== 'none'
  const sendsMetrics = oneOf(env, 'OTEL_METRICS_EXPORTER', exporters) !== 'none'
  const queueMax = whole(env, 'OTEL_BSP_MAX_QUEUE_SIZE', { fallback: 2_048, min: 1, max: 100_000 })
  const batchMax = whole(env, 'OTEL_BSP_MAX_EXPORT_BATCH_SIZE', { fallback: 512, min: 1, max: 10_000 })
  if (batchMax > queueMax) {
    throw new BadSetting('OTEL_BSP_MAX_EXPORT_BATCH_SIZE must not be above OTEL_BSP_MAX_QUEUE_SIZE')
  }
  const settings: TelemetrySettings = {
    tracesUrl: sendsTraces ? signalUrl(env, 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'traces') : undefined,
    metricsUrl: sendsMetrics ? signalUrl(env, 'OTEL_EXPORTER_OTLP_METRICS_ENDPOINT', 'metrics') : undefined,
    headers: headersOf(env['OTEL_EXPORTER_OTLP_HEADERS']),
    exportTimeoutMs: whole(env, 'OTEL_EXPORTER_OTLP_TIMEOUT', { fallback: 10_000, min: 100, max: MINUTE_MS }),
    resource: resourceOf(env),
    sampler: readSampler(env),
    propagates: propagatesIn(env),
    spans: {
      delayMs: whole(env, 'OTEL_BSP_SCHEDULE_DELAY', { fallback: 5_000, min: 10, max: MINUTE_MS }),
      queueMax,
      batchMax,
    },
    metricIntervalMs: whole(env, 'OTEL_METRIC_EXPORT_INTERVAL', { fallback: MINUTE_MS, min: 100, max: 60 * MINUTE_MS }),
    ignored: Object.keys(env)
      .filter((name) => name.startsWith('OTEL_') && env[name] && !known.has(name))
      .toSorted(),
  }
  return { kind: 'set', settings }
}

/** The value, if it is set. It must be one of those that are supported. */
function oneOf(env: Environment, name: string, supported: readonly string[]): string | undefined {
  const value = env[name]
  if (!value || supported.includes(value)) return value || undefined
  throw new BadSetting(`${name} supports ${supported.join(', ')}, not '${value}'`)
}

type WholeRange = { readonly fallback: number; readonly min: number; readonly max: number }

function whole(env: Environment, name: string, { fallback, min, max }: WholeRange): number {
  const text = env[name]
  if (!text) return fallback
  const value = Number(text)
  if (Number.isInteger(value) && value >= min && value <= max) return value
  throw new BadSetting(`${name} must be a whole number from ${min} to ${max}, not '${text}'`)
}

/** The address of a signal: its own, taken as it is, or the common one with a path appended. */
function signalUrl(env: Environment, name: string, signal: 'traces' | 'metrics'): string | undefined {
  const own = env[name]
  if (own) return checkedUrl(name, own)
  const common = env['OTEL_EXPORTER_OTLP_ENDPOINT']
  if (!common) return undefined
  if (/[?#]/.test(common)) throw new BadSetting('OTEL_EXPORTER_OTLP_ENDPOINT must have neither a query nor a fragment')
  return checkedUrl('OTEL_EXPORTER_OTLP_ENDPOINT', `${common.replace(/\/+$/, '')}/v1/${signal}`)
}

/** The operator names the collector, so it may be on this machine and its networks. */
function checkedUrl(name: string, text: string): string {
  const checked = checkUrl(text, 'private')
  if (checked.kind === 'good') return text
  const problem = checked.kind === 'bad' ? checked.message : 'is at a private address'
  throw new BadSetting(`${name} '${maskedAddress(text)}' ${problem}`)
}

/** `name=value` pairs with commas between them, and values in percent-encoding. A message never quotes a value. */
function pairsOf(name: string, text: string | undefined): [string, string][] {
  return (text ?? '')
    .split(',')
    .filter((pair) => pair.trim() !== '')
    .map((pair, i) => {
      const at = pair.indexOf('=')
      const key = pair.slice(0, Math.max(0, at)).trim()
      if (key === '') throw new BadSetting(`${name}: pair ${i + 1} is not name=value`)
      return [key, decoded(name, key, pair.slice(at + 1).trim())]
    })
}

function decoded(name: string, key: string, value: string): string {
  try {
    return decodeURIComponent(value)
  } catch {
    throw new BadSetting(`${name}: the value of '${key}' is not in percent-encoding`)
  }
}

const HEADER_NAME = /^[!#$%&'*+.^_`|~\dA-Za-z-]+$/
const HEADER_VALUE = /^[\t\x20-\x7e]*$/
/** The exporter writes these itself. */
const OWN_HEADERS = new Set(['content-type', 'content-length', 'content-encoding', 'transfer-encoding', 'host'])

function headersOf(text: string | undefined): Record<string, string> {
  const name = 'OTEL_EXPORTER_OTLP_HEADERS'
  const headers: Record<string, string> = { 'content-type': 'application/json' }
  for (const [key, value] of pairsOf(name, text)) {
    const header = key.toLowerCase()
    if (!HEADER_NAME.test(key) || OWN_HEADERS.has(header)) throw new BadSetting(`${name}: '${key}' cannot be set`)
    if (!HEADER_VALUE.test(value)) throw new BadSetting(`${name}: the value of '${key}' is not printable ASCII`)
    headers[header] = value
  }
  return headers
}

function resourceOf(env: Environment): Record<string, string> {
  const given = Object.fromEntries(pairsOf('OTEL_RESOURCE_ATTRIBUTES', env['OTEL_RESOURCE_ATTRIBUTES']))
  const name = env['OTEL_SERVICE_NAME'] || given['service.name'] || DEFAULT_NAME
  return { [INSTANCE]: crypto.randomUUID(), ...given, 'service.name': name }
}

function readSampler(env: Environment): Sampler {
  const name = env['OTEL_TRACES_SAMPLER'] || 'parentbased_always_on'
  const text = env['OTEL_TRACES_SAMPLER_ARG'] || '1'
  const ratio = Number(text)
  if (!(ratio >= 0 && ratio <= 1)) {
    throw new BadSetting(`OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1, not '${text}'`)
  }
  const sampler = samplerOf(name, ratio)
  if (sampler) return sampler
  throw new BadSetting(`OTEL_TRACES_SAMPLER supports ${samplerNames.join(', ')}, not '${name}'`)
}

/** Baggage is the client's own text, so it is neither read nor passed on. */
function propagatesIn(env: Environment): boolean {
  const names = (env['OTEL_PROPAGATORS'] || 'tracecontext').split(',').map((name) => name.trim())
  const unknown = names.find((name) => !['tracecontext', 'baggage', 'none'].includes(name))
  if (unknown !== undefined) throw new BadSetting(`OTEL_PROPAGATORS supports tracecontext and none, not '${unknown}'`)
  return names.includes('tracecontext') && !names.includes('none')
}
