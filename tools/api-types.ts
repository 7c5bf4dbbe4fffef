/**
 * npm run api-types: writes web/src/lib/api-types.gen.ts, the types of the admin API for the console. The source is the
 * document that the server serves at /admin/v1/openapi.json. tools/api-types.test.ts fails if the file is out of date.
 *
 * openapi-typescript is not used: it prints through the compiler API of TypeScript 5, which would be installed only for
 * that, beside the version in use. The document has few forms of JSON Schema. An unknown form stops the program.
 */
import { openApiOf } from '../src/console/openapi.ts'
import { routes } from '../src/console/routes.ts'
import { publicRoutes } from '../src/edge/routes.ts'

export const FILE = `${import.meta.dir}/../web/src/lib/api-types.gen.ts`

/** A schema as zod writes it. Keywords that only narrow a value, such as `pattern`, have no place in a type. */
type Schema = {
  readonly $ref?: string
  readonly description?: string
  readonly type?: string | readonly string[]
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: Schema | boolean
}
type Content = { readonly content: Readonly<Record<string, { readonly schema: Schema }>> }
type Operation = { readonly requestBody?: Content; readonly responses: { readonly 200: Content } }
type ApiDocument = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

const plainTypes: Readonly<Record<string, string>> = {
  string: 'string',
  boolean: 'boolean',
  null: 'null',
  number: 'number',
  integer: 'number',
}

/** A schema as a type, without layout. Throws for an unknown form. */
export function typeOf(schema: Schema): string {
  const { $ref, const: only, enum: some, type } = schema
  if ($ref !== undefined) return $ref.slice($ref.lastIndexOf('/') + 1)
  if (only !== undefined) return JSON.stringify(only)
  if (some) return some.map((value) => JSON.stringify(value)).join(' | ')
  const either = schema.anyOf ?? schema.oneOf
  if (either) return either.map(typeOf).join(' | ')
  if (Array.isArray(type)) return type.map((one: string) => typeOf({ ...schema, type: one })).join(' | ')
  if (type === 'array') return `readonly (${typeOf(schema.items ?? {})})[]`
  if (type === 'object') return objectOf(schema)
  const plain = typeof type === 'string' ? plainTypes[type] : undefined
  if (plain !== undefined) return plain
  const said = Object.keys(schema).filter((name) => name !== 'description')
  if (said.length > 0) throw new Error(`no type for ${JSON.stringify(schema)}`)
  return 'unknown'
}

function objectOf({ properties, required = [], additionalProperties: values }: Schema): string {
  if (!properties) return `Readonly<Record<string, ${typeof values === 'object' ? typeOf(values) : 'unknown'}>>`
  const fields = Object.entries(properties).map(
    ([name, schema]) =>
      `${commentOf(schema)}readonly ${name}${required.includes(name) ? '' : '?'}: ${typeOf(schema)}\n`,
  )
  return `{\n${fields.join('')}}`
}

const commentOf = ({ description }: Schema): string => (description === undefined ? '' : `/** ${description} */\n`)

/** The document's named shapes, then the answer of each route and its body, if it has one. */
export function writeTypes({ paths, components }: ApiDocument): string {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      name: `${method.toUpperCase()} ${path.replace('/v1', '')}`,
      ...operation,
    })),
  )
  const line = (name: string, { content }: Content): string =>
    `readonly '${name}': ${typeOf(Object.values(content)[0]?.schema ?? {})}\n`
  const answers = operations.map(({ name, responses }) => line(name, responses[200]))
  const endpoints = JSON.stringify([...new Set(publicRoutes.flatMap(recordedNames))])
  const bodies = operations.flatMap(({ name, requestBody }) => (requestBody ? [line(name, requestBody)] : []))
  return [
    '/** The types of the admin API. Do not edit: change the shapes in src/console/, then `npm run api-types`. */\n',
    ...Object.entries(components.schemas).map(
      ([name, schema]) => `${commentOf(schema)}export type ${name} = ${typeOf(schema)}\n`,
    ),
    `/** By route: the answer, or the type of each event. */\nexport type Answers = {\n${answers.join('')}}\n`,
    `/** By route: the body of the request. */\nexport type Bodies = {\n${bodies.join('')}}\n`,
    `/** The endpoints of the public API, as records name them. */\nexport const endpoints = ${endpoints} as const\n`,
  ].join('\n')
}

const recordedNames = (route: (typeof publicRoutes)[number]): string[] =>
  route.limits === 'key_and_account' ? [route.recordedAs] : []

/** The content that the file should have, in the layout of all other files. */
export async function currentTypes(): Promise<string> {
  const document = JSON.parse(JSON.stringify(openApiOf(routes, '0'))) as ApiDocument
  const formatter = `${import.meta.dir}/../node_modules/oxfmt/bin/oxfmt`
  const child = Bun.spawn([process.execPath, formatter, `--stdin-filepath=${FILE}`], {
    stdin: new TextEncoder().encode(writeTypes(document)),
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const text = await new Response(child.stdout).text()
  if ((await child.exited) !== 0) throw new Error('formatting the types failed')
  return text
}

if (import.meta.main) await Bun.write(FILE, await currentTypes())
