/** OTLP in JSON (opentelemetry-proto 1.11.0, 2026-07-21): attributes as text, written once and joined. */

/** One attribute as JSON. */
export type AttributeText = string

const named = (key: string, value: string): AttributeText => `{"key":"${key}","value":{${value}}}`

export const textAttribute = (key: string, value: string): AttributeText =>
  named(key, `"stringValue":${JSON.stringify(value)}`)
/** 64-bit integers are decimal text. */
export const intAttribute = (key: string, value: number | bigint): AttributeText => named(key, `"intValue":"${value}"`)
export const doubleAttribute = (key: string, value: number): AttributeText => named(key, `"doubleValue":${value}`)
export const trueAttribute = (key: string): AttributeText => named(key, '"boolValue":true')

/** Nanoseconds since 1970, from milliseconds. */
export const nanosText = (unixMs: number): string => `${Math.round(unixMs * 1_000)}000`

/** Who sends: attributes of the process, and the version of the program. */
export type TelemetryOrigin = {
  readonly resource: Readonly<Record<string, string>>
  readonly version: string
}

const SCHEMA_URL = 'https://opentelemetry.io/schemas/1.41.0'

/** The JSON around the spans or the metrics of one export, before and after them. */
function around(
  { resource, version }: TelemetryOrigin,
  [outer, inner, members]: readonly [string, string, string],
): readonly [string, string] {
  const attributes = Object.entries(resource).map(([key, value]) => {
    return `{"key":${JSON.stringify(key)},"value":{"stringValue":${JSON.stringify(value)}}}`
  })
  const scope = `{"name":"tollgate","version":${JSON.stringify(version)}}`
  const schema = `"schemaUrl":"${SCHEMA_URL}"`
  return [
    `{"${outer}":[{"resource":{"attributes":[${attributes.join(',')}]},"${inner}":[{"scope":${scope},"${members}":[`,
    `],${schema}}],${schema}}]}`,
  ]
}

export const aroundSpans = (origin: TelemetryOrigin): readonly [string, string] =>
  around(origin, ['resourceSpans', 'scopeSpans', 'spans'])
export const aroundMetrics = (origin: TelemetryOrigin): readonly [string, string] =>
  around(origin, ['resourceMetrics', 'scopeMetrics', 'metrics'])
