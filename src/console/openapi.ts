/** The OpenAPI 3.1 document of the console's API, generated from its routes. */
import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import type { RouteAccess } from './access.ts'
import type { ConsoleRoute } from './route.ts'

const who: Readonly<Record<RouteAccess, string>> = {
  open: 'Anyone.',
  signed_in: 'People who are signed in.',
  account_read: 'Members and owners of the account, operators, management keys.',
  account_write: 'Owners of the account, operators, management keys.',
  account_people: 'Owners of the account and operators who are signed in; no management key.',
  account_play: 'Owners of the account and operators who are signed in; no management key.',
  operator: 'Operators, and their management keys.',
  operator_people: 'Operators who are signed in; no management key.',
}

const forPrograms: readonly RouteAccess[] = ['account_read', 'account_write', 'operator']

type Schema = Readonly<Record<string, unknown>>

/** The named shapes, each once. Routes refer to them. */
type NamedShape = Map<string, Schema>

const REFERENCE = /"#\/\$defs\/([^"]+)"/g

/** The schema of a shape. Its named parts are added to `named`, and the schema refers to them. */
function schemaOf(shape: z.ZodType, io: 'input' | 'output', named: NamedShape): Schema {
  const { $schema: _, ...whole } = z.toJSONSchema(shape, { io, unrepresentable: 'any' })
  const text = JSON.stringify(whole).replaceAll(REFERENCE, (_all, name: string) => `"#/components/schemas/${name}"`)
  const { $defs = {}, ...schema } = JSON.parse(text) as Schema & { readonly $defs?: Readonly<Record<string, Schema>> }
  for (const [name, part] of Object.entries($defs)) {
    const known = named.get(name)
    // If a request and an answer shared a name, one of the two schemas would be wrong.
    if (known && !isDeepStrictEqual(known, part)) throw new Error(`two shapes are called ${name}`)
    named.set(name, part)
  }
  return schema
}

type Parameter = {
  readonly name: string
  readonly in: 'path' | 'query'
  readonly required: boolean
  readonly schema: Schema
}

function parametersOf({ path, query }: ConsoleRoute, named: NamedShape): readonly Parameter[] {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']): Parameter => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }))
  const { properties = {}, required = [] } = (query ? schemaOf(query, 'input', named) : {}) as {
    properties?: Record<string, Schema>
    required?: string[]
  }
  const inQuery = Object.entries(properties).map(([name, schema]): Parameter => ({
    name,
    in: 'query',
    required: required.includes(name),
    schema,
  }))
  return [...inPath, ...inQuery]
}

/** `GET /accounts/{account}/keys` as `get_accounts_account_keys`. */
const idOf = ({ method, path }: ConsoleRoute): string =>
  `${method} ${path}`
    .toLowerCase()
    .replace(/[^a-z]+/g, '_')
    .replace(/_$/, '')

const tagOf = ({ path }: ConsoleRoute): string => {
  const [first = '', , third] = path.slice(1).split('/')
  return first === 'accounts' && third !== undefined ? third : first
}

const jsonOf = (schema: Schema): object => ({ 'application/json': { schema } })

/** The content of an answer. For events, it is the schema of the data of each event. */
function contentOf({ answer, answers }: ConsoleRoute, named: NamedShape): object {
  const schema = schemaOf(answer, 'output', named)
  return answers === 'events' ? { 'text/event-stream': { schema } } : jsonOf(schema)
}

function operationOf(route: ConsoleRoute, named: NamedShape): object {
  const security = [{ session: [] }, ...(forPrograms.includes(route.access) ? [{ management_key: [] }] : [])]
  return {
    operationId: idOf(route),
    tags: [tagOf(route)],
    summary: route.summary,
    description: who[route.access],
    security: route.access === 'open' ? [] : security,
    parameters: parametersOf(route, named),
    ...(route.body ? { requestBody: { required: true, content: jsonOf(schemaOf(route.body, 'input', named)) } } : {}),
    responses: {
      200: { description: 'Done.', content: contentOf(route, named) },
      default: { description: 'Refused, and why.', content: jsonOf({ $ref: '#/components/schemas/Error' }) },
    },
  }
}

const error = z
  .strictObject({
    error: z.strictObject({
      message: z.string(),
      type: z.string(),
      param: z.string().nullable(),
      code: z.string(),
      reason: z.string().meta({ description: 'identifies the sentence of the message, more exactly than the code' }),
      facts: z.record(z.string(), z.union([z.string(), z.number()])).meta({ description: 'the values in the message' }),
    }),
  })
  .meta({ id: 'Error' })

export function openApiOf(routes: readonly ConsoleRoute[], version: string): object {
  const byPath = Object.groupBy(routes, ({ path }) => path)
  const named: NamedShape = new Map()
  schemaOf(error, 'output', named)
  const paths = Object.fromEntries(
    Object.entries(byPath).map(([path, all = []]) => [
      `/v1${path}`,
      Object.fromEntries(all.map((route) => [route.method.toLowerCase(), operationOf(route, named)])),
    ]),
  )
  return {
    openapi: '3.1.0',
    info: {
      title: 'Tollgate console API',
      version,
      description:
        'The API of the console, which programs can use too. Amounts are integers of nano-USD as text. Times are ISO ' +
        '8601 in UTC. Lists come in pages with a cursor for the next page. Changes within /admin/v1 are additive.',
    },
    servers: [{ url: '..' }],
    paths,
    components: {
      schemas: Object.fromEntries([...named].toSorted(([a], [b]) => a.localeCompare(b))),
      securitySchemes: {
        session: { type: 'apiKey', in: 'cookie', name: 'tollgate', description: '`__Host-tollgate` over https' },
        management_key: { type: 'http', scheme: 'bearer', description: 'a management key, `mk-tg-…`' },
      },
    },
  }
}
