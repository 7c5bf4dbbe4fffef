/**
 * What the semantic conventions say of the spans and metrics that the gateway sends: OpenTelemetry 1.41.1 (2026-05-11),
 * model/gen-ai/{registry,spans,metrics}.yaml, docs/http/http-spans.md and docs/registry/attributes/. It is the last
 * release that has generative AI; the repository for it alone had no release on 2026-11-26.
 */

export type AttributeType = 'string' | 'int' | 'double' | 'boolean'

type AttributeRule = { readonly type: AttributeType; readonly values?: readonly string[] }

const text: AttributeRule = { type: 'string' }
const whole: AttributeRule = { type: 'int' }

/** Every attribute that may occur, with its type, and its values if the list is closed for us. */
export const attributeRules: Readonly<Record<string, AttributeRule>> = {
  'error.type': text,
  'gen_ai.operation.name': { type: 'string', values: ['chat', 'generate_content', 'embeddings', 'text_completion'] },
  'gen_ai.provider.name': text,
  'gen_ai.request.model': text,
  'gen_ai.request.stream': { type: 'boolean' },
  'gen_ai.response.time_to_first_chunk': { type: 'double' },
  'gen_ai.token.type': { type: 'string', values: ['input', 'output'] },
  'gen_ai.usage.cache_creation.input_tokens': whole,
  'gen_ai.usage.cache_read.input_tokens': whole,
  'gen_ai.usage.input_tokens': whole,
  'gen_ai.usage.output_tokens': whole,
  'gen_ai.usage.reasoning.output_tokens': whole,
  'http.request.method': {
    type: 'string',
    values: ['CONNECT', 'DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT', 'TRACE', '_OTHER'],
  },
  'http.response.status_code': whole,
  'http.route': text,
  'server.address': text,
  'server.port': whole,
  'service.instance.id': text,
  'service.name': text,
  'service.version': text,
  'telemetry.sdk.language': text,
  'telemetry.sdk.name': text,
  'telemetry.sdk.version': text,
  'url.path': text,
  'url.scheme': { type: 'string', values: ['http', 'https'] },
}

/** The attributes of our own are below this name. */
export const OWN_PREFIX = 'tollgate.'
export const ownTypes: Readonly<Record<string, AttributeType>> = {
  'tollgate.account.id': 'string',
  'tollgate.charged_nano_usd': 'int',
  'tollgate.error.code': 'string',
  'tollgate.model': 'string',
  'tollgate.outcome': 'string',
  'tollgate.provider.id': 'string',
  'tollgate.request.id': 'string',
  'tollgate.upstream.request_id': 'string',
  'tollgate.upstream_cost_nano_usd': 'int',
}

/** Attributes with what clients and vendors said. The conventions have them as opt-in; the gateway never sends them. */
export const contentAttributes = [
  'gen_ai.input.messages',
  'gen_ai.output.messages',
  'gen_ai.system_instructions',
  'gen_ai.tool.definitions',
]

export const SCHEMA_URL = 'https://opentelemetry.io/schemas/1.41.0'

/** Attributes that a span of this kind must have. `server.port` is required beside `server.address`. */
export const requiredOfSpans: Readonly<Record<number, readonly string[]>> = {
  2: ['http.request.method', 'url.path', 'url.scheme', 'http.response.status_code'],
  3: ['gen_ai.operation.name', 'gen_ai.provider.name', 'gen_ai.request.model', 'server.address', 'server.port'],
}

type MetricRule = {
  readonly unit: string
  readonly required: readonly string[]
  readonly allowed: readonly string[]
  readonly bounds: readonly number[]
}

const common = ['gen_ai.operation.name', 'gen_ai.provider.name', 'gen_ai.request.model']
const place = ['gen_ai.response.model', 'server.address', 'server.port']
const callBounds = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92]

const timing = (more: readonly string[], bounds = callBounds): MetricRule => ({
  unit: 's',
  required: common,
  allowed: [...common, ...place, ...more],
  bounds,
})

export const metricRules: Readonly<Record<string, MetricRule>> = {
  'gen_ai.client.operation.duration': timing(['error.type']),
  'gen_ai.client.operation.time_to_first_chunk': timing([]),
  'gen_ai.server.request.duration': timing(['error.type']),
  'gen_ai.server.time_to_first_token': timing(
    [],
    [0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10],
  ),
  'gen_ai.client.token.usage': {
    unit: '{token}',
    required: [...common, 'gen_ai.token.type'],
    allowed: [...common, ...place, 'gen_ai.token.type'],
    bounds: [1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864],
  },
}
