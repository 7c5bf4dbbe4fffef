/** The OpenAPI 3.1 document of the console's API, made of its routes. */
import { z } from 'zod'
import type { RouteAccess } from './access.ts'
import type { ConsoleRoute } from './route.ts'

const who: Readonly<Record<RouteAccess, string>> = {
  open: 'Anybody.',
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

function schemaOf(shape: z.ZodType, io: 'input' | 'output'): Schema {
  const { $schema: _, ...schema } = z.toJSONSchema(shape, { io, unrepresentable: 'any' })
  return schema
}

type Parameter = {
  readonly name: string
  readonly in: 'path' | 'query'
  readonly required: boolean
  readonly schema: Schema
}

function parametersOf({ path, query }: ConsoleRoute): readonly Parameter[] {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']): Parameter => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }))
  const { properties = {}, required = [] } = (query ? schemaOf(query, 'input') : {}) as {
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

/** Of events: what the data of each is. */
function contentOf({ answer, answers }: ConsoleRoute): object {
  const schema = schemaOf(answer, 'output')
  return answers === 'events' ? { 'text/event-stream': { schema } } : jsonOf(schema)
}

function operationOf(route: ConsoleRoute): object {
  const security = [{ session: [] }, ...(forPrograms.includes(route.access) ? [{ management_key: [] }] : [])]
  return {
    operationId: idOf(route),
    tags: [tagOf(route)],
    summary: route.summary,
    description: who[route.access],
    security: route.access === 'open' ? [] : security,
    parameters: parametersOf(route),
    ...(route.body ? { requestBody: { required: true, content: jsonOf(schemaOf(route.body, 'input')) } } : {}),
    responses: {
      200: { description: 'Done.', content: contentOf(route) },
      default: { description: 'Refused, and why.', content: jsonOf({ $ref: '#/components/schemas/Error' }) },
    },
  }
}

const error = z.strictObject({
  error: z.strictObject({
    message: z.string(),
    type: z.string(),
    param: z.string().nullable(),
    code: z.string(),
    reason: z.string().meta({ description: 'the sentence of the message, more exact than the code' }),
    facts: z.record(z.string(), z.union([z.string(), z.number()])).meta({ description: 'what is put into it' }),
  }),
})

export function openApiOf(routes: readonly ConsoleRoute[], version: string): object {
  const byPath = Object.groupBy(routes, ({ path }) => path)
  return {
    openapi: '3.1.0',
    info: {
      title: 'Tollgate console API',
      version,
      description:
        'What the console is made of, for programs too. Amounts are integers of nano-USD as text; times are ISO 8601 in ' +
        'UTC; lists come in pages, with the cursor of the next. Additive within /admin/v1.',
    },
    servers: [{ url: '..' }],
    paths: Object.fromEntries(
      Object.entries(byPath).map(([path, all = []]) => [
        `/v1${path}`,
        Object.fromEntries(all.map((route) => [route.method.toLowerCase(), operationOf(route)])),
      ]),
    ),
    components: {
      schemas: { Error: schemaOf(error, 'output') },
      securitySchemes: {
        session: { type: 'apiKey', in: 'cookie', name: 'tollgate', description: '`__Host-tollgate` over https' },
        management_key: { type: 'http', scheme: 'bearer', description: 'a management key, `mk-tg-…`' },
      },
    },
  }
}
