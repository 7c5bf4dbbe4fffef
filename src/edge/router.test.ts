import { expect, test } from 'bun:test'
import { isModelAction, meantPath, methodsOf, monitoredAt, pathsOf, recordedEndpoint, routesAt } from './router.ts'
import { publicRoutes } from './routes.ts'

test('every path of the table leads to its own route', () => {
  for (const route of publicRoutes) {
    for (const path of pathsOf(route)) {
      const address = path.replace(/\{(\w+)\}/, (_, name: string) => (name === 'id' ? 'id_1' : 'a/b:c'))
      const match = routesAt(route.method, address)
      expect({ path, found: match?.routes.byMethod.get(route.method) === route }).toEqual({ path, found: true })
      expect([path, match?.param]).toEqual([path, path.includes('{') ? (path.includes('{id}') ? 'id_1' : 'a/b:c') : ''])
    }
  }
})

const found = (method: string, path: string): string | undefined => {
  const match = routesAt(method, path)
  return match && (match.routes.byMethod.get(method)?.path ?? match.routes.methods.join(', '))
}

test('an exact path goes before one with a parameter', () => {
  expect(found('POST', '/v1/responses/input_tokens')).toBe('/v1/responses/input_tokens')
  expect(found('GET', '/v1/responses/input_tokens')).toBe('POST')
  expect(found('GET', '/v1/responses/input_tokens/input_items')).toBe('/v1/responses/{id}/input_items')
})

test('methods of a path are in the order of the table, with HEAD after GET', () => {
  expect(found('PUT', '/v1/videos')).toBe('POST, GET, HEAD')
  expect(found('PUT', '/v1/responses/resp_1')).toBe('GET, HEAD, DELETE')
  expect(found('HEAD', '/v1/videos/task_1/content')).toBe('/v1/videos/{id}/content')
})

test('an unknown action is part of a model id, and no route with a body', () => {
  expect(found('GET', '/v1beta/models/m:predict')).toBe('/v1beta/models/{model}')
  expect(found('POST', '/v1beta/models/m:predict')).toBeUndefined()
  expect(found('PUT', '/v1/models/m:countTokens')).toBe('POST')
  expect([isModelAction('/v1/models/m:countTokens'), isModelAction('/v1/models/m:constructor')]).toEqual([true, false])
})

test('an unknown path has no route, even with the name of an object property', () => {
  for (const path of ['', '/', '/v1', '/v1/', '/v1/constructor', '__proto__', '/v1/videos/', '/v1/images/files/']) {
    expect([path, found('POST', path), found('GET', path)]).toEqual([path, undefined, undefined])
  }
})

test('the monitoring port has only the routes of operators', () => {
  const paths = publicRoutes.flatMap(pathsOf)
  expect(paths.filter((path) => monitoredAt(path))).toEqual(['/healthz', '/health', '/readyz', '/metrics'])
})

test('a client whose path lacks the version or has it twice is given the path that it meant', () => {
  expect(meantPath('/chat/completions')).toBe('/v1/chat/completions')
  expect(meantPath('/v1/v1/messages')).toBe('/v1/messages')
  expect(meantPath('/models/m:generateContent')).toBe('/v1beta/models/m:generateContent')
  expect([meantPath('/v1/chat/completions'), meantPath('/models'), meantPath('/nope')]).toEqual([
    undefined,
    undefined,
    undefined,
  ])
})

test('every route that holds money has a name in records, and no other route has one', () => {
  for (const route of publicRoutes) {
    const path = route.path.replace(/\{\w+\}/, 'x')
    const names = methodsOf(route).map((method) => recordedEndpoint(method, path))
    expect([route.path, names.every((name) => (name === undefined) !== (route.limits === 'key_and_account'))]).toEqual([
      route.path,
      true,
    ])
  }
})
