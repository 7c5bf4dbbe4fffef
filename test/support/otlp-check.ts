/**
 * Checks exports of OTLP in JSON more strictly than a collector: no unknown field, ids and numbers in their only
 * spelling, no empty envelope (opentelemetry-proto 1.11.0), and every attribute as the conventions have it.
 */
import { z } from 'zod'
import {
  attributeRules,
  contentAttributes,
  metricRules,
  OWN_PREFIX,
  ownTypes,
  requiredOfSpans,
  SCHEMA_URL,
  type AttributeType,
} from './semantic-conventions.ts'

const int64 = z.string().regex(/^(?:0|-?[1-9]\d{0,18})$/)
const unsigned = z.string().regex(/^(?:0|[1-9]\d{0,19})$/)
const nanos = z.string().regex(/^1\d{18}$/)
const traceId = z.string().regex(/^(?!0+$)[\da-f]{32}$/)
const spanId = z.string().regex(/^(?!0+$)[\da-f]{16}$/)
const finite = z.number().refine(Number.isFinite)

const value = z.union([
  z.strictObject({ stringValue: z.string() }),
  z.strictObject({ intValue: int64 }),
  z.strictObject({ doubleValue: finite }),
  z.strictObject({ boolValue: z.boolean() }),
])
const attributes = z
  .array(z.strictObject({ key: z.string().min(1), value }))
  .refine((all) => new Set(all.map(({ key }) => key)).size === all.length, 'a key is there twice')

const span = z
  .strictObject({
    traceId,
    spanId,
    traceState: z.string().min(1).optional(),
    parentSpanId: spanId.optional(),
    flags: z.union([z.literal(0x101), z.literal(0x301)]),
    name: z.string().min(1),
    kind: z.union([z.literal(1), z.literal(2), z.literal(3)]),
    startTimeUnixNano: nanos,
    endTimeUnixNano: nanos,
    attributes,
    status: z.strictObject({ code: z.literal(2) }).optional(),
  })
  .refine((one) => BigInt(one.startTimeUnixNano) <= BigInt(one.endTimeUnixNano), 'it ends before it begins')

const point = z
  .strictObject({
    attributes,
    startTimeUnixNano: nanos,
    timeUnixNano: nanos,
    count: unsigned,
    sum: finite,
    bucketCounts: z.array(unsigned),
    explicitBounds: z.array(finite),
  })
  .refine((one) => one.bucketCounts.length === one.explicitBounds.length + 1, 'bounds and buckets differ')
  .refine(
    (one) => one.bucketCounts.reduce((sum, count) => sum + BigInt(count), 0n) === BigInt(one.count),
    'the buckets do not add up',
  )

const metric = z.strictObject({
  name: z.string(),
  description: z.string().min(1),
  unit: z.string(),
  histogram: z.strictObject({ dataPoints: z.array(point).min(1), aggregationTemporality: z.literal(2) }),
})

const scope = z.strictObject({ name: z.literal('tollgate'), version: z.string().min(1) })
const resource = z.strictObject({ attributes })
const schemaUrl = z.literal(SCHEMA_URL)

const traces = z.strictObject({
  resourceSpans: z.tuple([
    z.strictObject({
      resource,
      scopeSpans: z.tuple([z.strictObject({ scope, spans: z.array(span).min(1), schemaUrl })]),
      schemaUrl,
    }),
  ]),
})
const metrics = z.strictObject({
  resourceMetrics: z.tuple([
    z.strictObject({
      resource,
      scopeMetrics: z.tuple([z.strictObject({ scope, metrics: z.array(metric).min(1), schemaUrl })]),
      schemaUrl,
    }),
  ]),
})

export type OtlpSpan = z.infer<typeof span>
export type OtlpMetric = z.infer<typeof metric>
type Attributes = z.infer<typeof attributes>
type AttributeValue = z.infer<typeof value>

const typeOf = (one: AttributeValue): AttributeType =>
  'stringValue' in one ? 'string' : 'intValue' in one ? 'int' : 'doubleValue' in one ? 'double' : 'boolean'

/** Attributes by name, as values of JavaScript. */
export const readAttributes = (all: Attributes): Record<string, string | number | boolean> =>
  Object.fromEntries(
    all.map(({ key, value: one }) => [
      key,
      'stringValue' in one
        ? one.stringValue
        : 'intValue' in one
          ? Number(one.intValue)
          : 'doubleValue' in one
            ? one.doubleValue
            : one.boolValue,
    ]),
  )

function checkAttributes(all: Attributes): void {
  for (const { key, value: one } of all) {
    if (contentAttributes.includes(key)) throw new Error(`${key} has content`)
    const own = key.startsWith(OWN_PREFIX) ? ownTypes[key] : undefined
    const rule = own ? { type: own, values: undefined } : attributeRules[key]
    if (!rule) throw new Error(`no convention has the attribute ${key}`)
    if (rule.type !== typeOf(one)) throw new Error(`${key} is ${typeOf(one)} instead of ${rule.type}`)
    if (rule.values && 'stringValue' in one && !rule.values.includes(one.stringValue)) {
      throw new Error(`${key} is ${one.stringValue}`)
    }
  }
}

function mustHave(all: Attributes, required: readonly string[], what: string): void {
  const missing = required.filter((key) => !all.some((attribute) => attribute.key === key))
  if (missing.length > 0) throw new Error(`${what} lacks ${missing.join(', ')}`)
}

function checkSpan(one: OtlpSpan): void {
  checkAttributes(one.attributes)
  mustHave(one.attributes, requiredOfSpans[one.kind] ?? [], one.name)
  const { 'error.type': error, ...rest } = readAttributes(one.attributes)
  if ((error !== undefined) !== (one.status !== undefined))
    throw new Error(`${one.name}: error.type without its status`)
  const expected =
    one.kind === 3
      ? `${rest['gen_ai.operation.name']} ${rest['gen_ai.request.model']}`
      : [rest['http.request.method'], rest['http.route']].filter((part) => part !== undefined).join(' ')
  if (one.kind !== 1 && one.name !== expected) throw new Error(`the name is '${one.name}' instead of '${expected}'`)
}

function checkMetric(one: OtlpMetric): void {
  const rule = metricRules[one.name]
  if (!rule) throw new Error(`no convention has the metric ${one.name}`)
  if (rule.unit !== one.unit) throw new Error(`${one.name} is in ${one.unit}`)
  for (const { attributes: all, explicitBounds } of one.histogram.dataPoints) {
    checkAttributes(all)
    mustHave(all, rule.required, one.name)
    const other = all.filter(({ key }) => !rule.allowed.includes(key))
    if (other.length > 0) throw new Error(`${one.name} has ${other.map(({ key }) => key).join(', ')}`)
    if (JSON.stringify(explicitBounds) !== JSON.stringify(rule.bounds)) throw new Error(`${one.name} has other bounds`)
  }
}

export type CheckedExport<T> = { readonly resource: Record<string, unknown>; readonly content: readonly T[] }

/** The spans of an export. Throws with what is wrong with it. */
export function checkTraces(body: string): CheckedExport<OtlpSpan> {
  const [{ resource: own, scopeSpans }] = traces.parse(JSON.parse(body)).resourceSpans
  const content = scopeSpans[0].spans
  for (const one of content) checkSpan(one)
  return { resource: readAttributes(own.attributes), content }
}

export function checkMetrics(body: string): CheckedExport<OtlpMetric> {
  const [{ resource: own, scopeMetrics }] = metrics.parse(JSON.parse(body)).resourceMetrics
  const content = scopeMetrics[0].metrics
  for (const one of content) checkMetric(one)
  return { resource: readAttributes(own.attributes), content }
}
