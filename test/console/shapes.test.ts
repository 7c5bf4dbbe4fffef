/** Values of the wrong shape in the console's API are refused or accepted, and never cause an internal error. */
import { afterAll, beforeAll, test } from 'bun:test'
import fc from 'fast-check'
import { z } from 'zod'
import type { ConsoleRoute } from '../../src/console/route.ts'
import { routes } from '../../src/console/routes.ts'
import { openConsole, type Caller, type TestConsole } from '../support/console.ts'
import { shapesOf, type Json } from '../load/malformed/shapes.ts'
import { countOf, seedOfRun } from '../support/soaks.ts'

const COUNT = Math.ceil(countOf('malformed-shapes') / 200)

let context: TestConsole
let operator: Caller

beforeAll(async () => {
  context = await openConsole()
  operator = await context.as('operator')
})
afterAll(() => context.close())

type Schema = { readonly [name: string]: unknown }

/** Something that fits a schema, or nearly: its shapes are what matters. */
function sampleOf(schema: Schema): Json {
  const [first] = (schema['anyOf'] ?? schema['oneOf'] ?? schema['allOf'] ?? []) as Schema[]
  if (first) return sampleOf(first)
  if (schema['const'] !== undefined) return schema['const'] as Json
  const [word] = (schema['enum'] ?? []) as Json[]
  if (word !== undefined) return word
  switch (schema['type']) {
    case 'object': {
      const properties = Object.entries((schema['properties'] ?? {}) as Record<string, Schema>)
      return Object.fromEntries(properties.map(([name, inner]) => [name, sampleOf(inner)]))
    }
    case 'array':
      return [sampleOf((schema['items'] ?? {}) as Schema)]
    case 'integer':
    case 'number':
      return 1
    case 'boolean':
      return true
    default:
      return 'x'
  }
}

const sampleBy = (shape: z.ZodType): Json => {
  const schema = z.toJSONSchema(shape, { io: 'input', unrepresentable: 'any' }) as Schema
  return sampleOf(schema)
}

/** What takes its time by design (a password is hashed slowly), or asks vendors. */
const SLOW = /password|sessions|setup|test|import/

const at = ({ path }: ConsoleRoute): string =>
  path.replace(/\{(\w+)\}/g, (_, name: string) => (name === 'account' ? context.accountId : 'x'))

/** An answer of any kind but an error of the gateway's own; what throws fails the test by itself. */
async function expectAnswer(route: ConsoleRoute, query: string, body: unknown): Promise<void> {
  const { status } = await context.call(operator, `${route.method} ${at(route)}${query}`, body)
  if (status >= 500) throw new Error(`${route.method} ${route.path}${query}: ${status} for ${JSON.stringify(body)}`)
}

const written = routes.filter(({ body, path }) => body && !SLOW.test(path))
test.each(written.map((route) => [`${route.method} ${route.path}`, route] as const))(
  'bodies of %s',
  async (_, route) => {
    const body = sampleBy(route.body as z.ZodType)
    const shapes = fc.sample(shapesOf(body), { seed: seedOfRun(), numRuns: COUNT })
    for (const shape of shapes) await expectAnswer(route, '', shape)
  },
  120_000,
)

const asked = routes.filter(({ query, answers, path }) => query && answers === 'once' && !SLOW.test(path))
const words = [
  '',
  'x',
  '-1',
  '0',
  '1e999',
  '[]',
  '{}',
  '\0',
  '%',
  'null',
  'true',
  '9'.repeat(30),
  '\ud800',
  '__proto__',
  'a'.repeat(3_000),
]
test.each(asked.map((route) => [`${route.method} ${route.path}`, route] as const))(
  'queries of %s',
  async (_, route) => {
    const names = Object.keys(sampleBy(route.query as z.ZodType) as object)
    const body = route.body && sampleBy(route.body)
    for (const name of [...names, 'constructor']) {
      for (const word of words) await expectAnswer(route, `?${name}=${encodeURIComponent(word.toWellFormed())}`, body)
    }
  },
  120_000,
)
