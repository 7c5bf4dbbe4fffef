import { expect, test } from 'bun:test'
import { z } from 'zod'
import { openApiOf } from './openapi.ts'
import { json, route, type ConsoleRoute } from './route.ts'
import { routes } from './routes.ts'

type Operation = {
  readonly operationId: string
  readonly security: readonly Record<string, unknown>[]
  readonly parameters: readonly { readonly name: string; readonly in: string; readonly schema: object }[]
  readonly responses: Readonly<Record<string, { readonly content: Record<string, { readonly schema: object }> }>>
}
type Document = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, object>> }
}

const document = JSON.parse(JSON.stringify(openApiOf(routes, '1'))) as Document
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
)

test('the document has every route under its own name', () => {
  expect(operations.map(({ path, method }) => `${method} ${path}`).toSorted()).toEqual(
    routes.map(({ path, method }) => `${method.toLowerCase()} /v1${path}`).toSorted(),
  )
  const names = operations.map(({ operation }) => operation.operationId)
  expect(new Set(names).size).toBe(names.length)
})

test('every path names its parameters, every answer has a shape', () => {
  for (const { path, operation } of operations) {
    const named = operation.parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => name)
    expect(named).toEqual([...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name))
    const content = operation.responses['200']?.content ?? {}
    const schema = (content['application/json'] ?? content['text/event-stream'])?.schema
    expect(Object.keys(schema ?? {}).length).toBeGreaterThan(0)
  }
})

test('only open routes need no authentication', () => {
  const open = operations.filter(({ operation }) => operation.security.length === 0).map(({ path }) => path)
  expect(open.toSorted()).toEqual([
    '/v1/links/check',
    '/v1/links/redeem',
    '/v1/openapi.json',
    '/v1/public-models',
    '/v1/public-models/{model}',
    '/v1/session',
  ])
})

test('amounts are text, never numbers', () => {
  const amounts: [string, unknown][] = []
  const walk = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    for (const [name, part] of Object.entries(value)) {
      if (name.endsWith('nano_usd')) amounts.push([name, part])
      walk(part)
    }
  }
  walk(document)
  expect(amounts.length).toBeGreaterThan(50)
  for (const [name, schema] of amounts)
    expect({ name, text: JSON.stringify(schema) }).toMatchObject({ text: expect.stringMatching(/"type":"string"/) })
})

test('docs/console-api.md lists every route with who may call it', async () => {
  const text = await Bun.file(new URL('../../docs/console-api.md', import.meta.url)).text()
  const listed = [...text.matchAll(/^\| `([A-Z]+ \S+)` \| `(\w+)` \|/gm)].map(
    ([, route, access]) => `${route} ${access}`,
  )
  expect(listed).toEqual(routes.map(({ method, path, access }) => `${method} ${path} ${access}`))
})

test('the document has each named shape once, and every reference leads to one', () => {
  const { schemas } = document.components
  expect(Object.keys(schemas)).toEqual(expect.arrayContaining(['Account', 'Error', 'VideoFacts']))
  const text = JSON.stringify(document)
  const references = [...text.matchAll(/"\$ref":"([^"]+)"/g)].map(([, reference]) => reference)
  expect(references.length).toBeGreaterThan(100)
  const known = Object.keys(schemas).map((name) => `#/components/schemas/${name}`)
  expect(references.filter((reference = '') => !known.includes(reference))).toEqual([])
  expect(text).not.toContain('$defs')
})

test('a name that means one shape in a request and another in an answer is refused', () => {
  const answering = (path: string, answer: z.ZodType): ConsoleRoute =>
    route('GET', path, { access: 'open', summary: '', answer, run: () => json({}) })
  const body = z.strictObject({ limit: z.string().default('a') }).meta({ id: 'TestBoth' })
  const both = [answering('/a', body), { ...answering('/b', z.string()), body }]
  expect(() => openApiOf(both, '1')).toThrow('two shapes are called TestBoth')
})
