import { expect, test } from 'bun:test'
import { publicRoutes } from '../src/edge/routes.ts'
import { FILE, writeDocument } from './openapi.ts'

type Document = {
  paths: Record<string, Record<string, unknown>>
  components: { schemas: { VideoRequest: { properties: Record<string, unknown>; required: string[] } } }
}

test('docs/openapi.json is what `npm run openapi` writes', async () => {
  expect(await Bun.file(FILE).text()).toBe(await writeDocument())
})

test('it has every route of the API', async () => {
  const { paths } = JSON.parse(await writeDocument()) as Document
  for (const { path, method } of publicRoutes) {
    if (path.startsWith('/v1')) expect(Object.keys(paths[path] ?? {})).toContain(method.toLowerCase())
  }
})

test('it has every field of a video with its bounds', async () => {
  const { components } = JSON.parse(await writeDocument()) as Document
  const { properties, required } = components.schemas.VideoRequest
  expect(required).toEqual(['model', 'content'])
  expect(JSON.stringify(properties['duration'])).toContain('"maximum":15')
  expect(JSON.stringify(properties['super_resolution_config'])).toContain('"maximum":2160')
})

test('every reference has a target', async () => {
  const text = await writeDocument()
  const { components } = JSON.parse(text) as { components: { schemas: object } }
  const named = new Set([...text.matchAll(/#\/components\/schemas\/(\w+)/g)].map(([, name]) => name))
  expect(named).toEqual(new Set(Object.keys(components.schemas)))
})
