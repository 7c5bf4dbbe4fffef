/**
 * Builds the OpenAPI 3.1 document of the public API from its routes. A test sends every example to a server and checks
 * the answer against its schema.
 */
import { z } from 'zod'
import type { FailureKind } from '../domain/failure.ts'
import { isCachedEndpoint } from '../formats/cache-question.ts'
import { envelopeOf, type Envelope } from './envelope.ts'
import { answerShapes, failureShapes } from './public-answers.ts'
import { routeLimits, type PublicRoute, type RouteDocumentation } from './route.ts'
import { publicRoutes } from './routes.ts'

/** The routes for clients. The guide of operations describes those for operators. */
export const documentedRoutes: readonly PublicRoute[] = publicRoutes.filter(({ isMonitored }) => !isMonitored)

/** Converts a schema to JSON. Rules that only code can check are left out. */
const schemaOf = (shape: z.ZodType, io: 'input' | 'output'): object => {
  const { $schema: _, ...schema } = z.toJSONSchema(shape, { io, unrepresentable: 'any' })
  return schema
}

const referenceTo = (name: string): object => ({ $ref: `#/components/schemas/${name}` })
const jsonOf = (name: string): object => ({ 'application/json': { schema: referenceTo(name) } })

function contentOf(request: Required<RouteDocumentation>['request']): object {
  if ('form' in request) return { 'multipart/form-data': { schema: request.form } }
  return { 'application/json': { schema: referenceTo(request.shape), example: request.example } }
}

const errorNames: Record<Envelope['dialect'], string> = {
  chat: 'Error',
  messages: 'MessagesError',
  gemini: 'GeminiError',
}

/** Failures of every route that reads a body. */
const ofBodies: readonly FailureKind[] = [
  'malformed_request',
  'missing_parameter',
  'invalid_value',
  'invalid_type',
  'unsupported_parameter',
  'invalid_json',
  'request_timeout',
  'request_too_large',
  'unsupported_media_type',
]
const ofModels: readonly FailureKind[] = ['model_not_found', 'model_not_allowed', 'model_not_supported']
const ofKeys: readonly FailureKind[] = ['invalid_key', 'account_suspended']

/** Failures that follow from the limits of a route. */
const ofLimits: Readonly<Record<PublicRoute['limits'], readonly FailureKind[]>> = {
  key_and_account: [
    ...ofKeys,
    ...ofModels,
    'context_length',
    'content_policy',
    'insufficient_balance',
    'idempotency_running',
    'idempotency_not_kept',
    'idempotency_mismatch',
    'rate_limited',
    'spend_limited',
    'upstream_error',
    'unavailable',
    'upstream_timeout',
  ],
  free_counts: [...ofKeys, ...ofModels, 'rate_limited'],
  free_reads: [...ofKeys, 'rate_limited'],
  files: ['rate_limited'],
  none: ofKeys,
}

/** The failures of a route by status. Each status lists the codes that a client may get. */
function refusalsOf({ path, reads, limits, documentation: { failures = [] } }: PublicRoute): object {
  const envelope = envelopeOf(path)
  const all = [...(reads.kind === 'none' ? [] : ofBodies), ...ofLimits[limits], ...failures]
  const content = jsonOf(errorNames[envelope.dialect])
  const codes = Map.groupBy(
    all.map((one) => envelope.failures.write(typeof one === 'string' ? { kind: one, message: '' } : one)),
    ({ status }) => status,
  )
  const byStatus = [...codes].toSorted(([a], [b]) => a - b)
  return {
    ...Object.fromEntries(
      byStatus.map(([status, written]) => [
        status,
        { description: [...new Set(written.map(({ code }) => `\`${code}\``))].join(', '), content },
      ]),
    ),
    default: {
      description: 'The request is refused. The body has the reason, in the envelope of the dialect.',
      content,
    },
  }
}

const binary = { schema: { type: 'string', format: 'binary' } }
const anyFile = { '*/*': binary }
const ofFiles = {
  200: { description: 'The file.', content: anyFile },
  206: { description: 'A part of the file.', content: anyFile },
  304: { description: 'The client has the file already.' },
  416: { description: 'The file has no such part.', content: jsonOf('Error') },
}

function wholeOf(answer: Exclude<RouteDocumentation['answer'], 'file'>): object {
  if (typeof answer === 'object') return Object.fromEntries(answer.bytes.map((type) => [type, binary]))
  return answer === 'events' || answer === 'text' ? {} : jsonOf(answer)
}

function answersOf({ answer, stream }: RouteDocumentation): object {
  if (answer === 'file') return ofFiles
  const whole = wholeOf(answer)
  const streamed =
    stream === undefined ? {} : { 'text/event-stream': { schema: { type: 'string', description: stream } } }
  return { 200: { description: 'The answer.', content: { ...whole, ...streamed } } }
}

const text = { type: 'string' }
/** The headers that a route reads beside those of its key. */
function headersOf(route: PublicRoute): readonly string[] {
  if (route.limits === 'files') return ['Range', 'If-Range', 'If-None-Match']
  if (route.limits !== 'key_and_account') return []
  const usual = ['Idempotency-Key', 'x-tollgate-provider', 'x-tollgate-models']
  return isCachedEndpoint(route.recordedAs) ? [...usual, 'x-tollgate-cache'] : usual
}

/** The parameters that follow from the path and the limits of a route. */
function parametersOf(route: PublicRoute): object[] {
  const { path, documentation } = route
  const { model, query = {}, parameters = [] } = documentation
  const required = [
    ...[...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
      name,
      in: 'path',
      schema: text,
      ...(model && { example: model }),
    })),
    ...Object.entries(query).map(([name, value]) => ({ name, in: 'query', schema: { const: value } })),
  ].map((parameter) => ({ ...parameter, required: true }))
  return [
    ...required,
    ...parameters,
    ...headersOf(route).map((name) => ({
      name,
      in: 'header',
      schema: text,
    })),
  ]
}

function operationOf(route: PublicRoute): object {
  const { limits, documentation } = route
  const { tag, summary, request } = documentation
  return {
    tags: [tag],
    summary,
    description: routeLimits[limits].description,
    ...(limits === 'files' ? { security: [] } : {}),
    parameters: parametersOf(route),
    ...(request ? { requestBody: { required: true, content: contentOf(request) } } : {}),
    responses: { ...answersOf(documentation), ...refusalsOf(route) },
  }
}

const schemasOf = (shapes: Readonly<Record<string, z.ZodType>>, io: 'input' | 'output'): object =>
  Object.fromEntries(Object.entries(shapes).map(([name, shape]) => [name, schemaOf(shape, io)]))

const failuresByName = Object.fromEntries(
  Object.entries(failureShapes).map(([dialect, shape]) => [errorNames[dialect as Envelope['dialect']], shape]),
)

/** The schemas of request bodies by their names. */
async function requestShapes(): Promise<Readonly<Record<string, z.ZodType>>> {
  const shapes = new Map<string, z.ZodType>()
  for (const { documentation } of documentedRoutes) {
    const { request } = documentation
    if (!request || 'form' in request) continue
    const schema = await request.schema()
    const known = shapes.get(request.shape) ?? schema
    if (known !== schema) throw new Error(`two schemas have the name ${request.shape}`)
    shapes.set(request.shape, schema)
  }
  return Object.fromEntries(shapes)
}

export async function publicOpenApi(version: string): Promise<object> {
  const paths = Object.groupBy(documentedRoutes, ({ path }) => path)
  return {
    openapi: '3.1.0',
    info: {
      title: 'Tollgate',
      version,
      description:
        'One base URL and one key for the models of many vendors, in the formats of their own clients. The gateway holds ' +
        'the most that a request can cost, and charges what it did cost. Guides: [additions to the API](docs/api), ' +
        '[errors](docs/errors), [dialects](docs/dialects), [operations](docs/operations).',
    },
    // The address is relative to this document, so it also works behind a proxy that adds a path prefix.
    servers: [{ url: '.' }],
    security: [{ key: [] }],
    paths: Object.fromEntries(
      Object.entries(paths).map(([path, all = []]) => [
        path,
        Object.fromEntries(all.map((one) => [one.method.toLowerCase(), operationOf(one)])),
      ]),
    ),
    components: {
      schemas: {
        ...schemasOf(await requestShapes(), 'input'),
        ...schemasOf(answerShapes, 'output'),
        ...schemasOf(failuresByName, 'output'),
      },
      securitySchemes: { key: { type: 'http', scheme: 'bearer', description: 'An API key, `sk-tg-…`.' } },
    },
  }
}
