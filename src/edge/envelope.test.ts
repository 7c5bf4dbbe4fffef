import { expect, test } from 'bun:test'
import { envelopeOf } from './envelope.ts'
import type { DialectHead } from './request-body.ts'
import { pathsOf } from './router.ts'
import { publicRoutes } from './routes.ts'

/** A request with some headers. */
const sender = (path: string, names: readonly string[]): DialectHead => ({
  head: { method: 'POST', path, query: '' } as DialectHead['head'],
  header: (name) => (names.includes(name) ? 'x' : undefined),
})
const dialectOf = (path: string, ...names: readonly string[]): string => envelopeOf(path, sender(path, names)).dialect

const paths = [...new Set(publicRoutes.flatMap(pathsOf))].map((path) => path.replaceAll(/\{\w+\}/g, 'one'))

test('a /v1 path of the table is in the envelope of OpenAI, unless another dialect has it or shares it', () => {
  const asked = paths.filter((path) => path.startsWith('/v1/'))
  expect(asked.length).toBeGreaterThan(15)
  for (const path of asked) {
    const action = path.startsWith('/v1/models/one:')
    const shared = /^\/v1\/models(?:\/one)?$/.test(path)
    const ofPath = action ? 'gemini' : path.startsWith('/v1/messages') ? 'messages' : 'chat'
    expect([path, dialectOf(path)]).toEqual([path, ofPath])
    expect([path, dialectOf(path, 'x-api-key')]).toEqual([path, shared ? 'messages' : ofPath])
    expect([path, dialectOf(path, 'x-goog-api-key')]).toEqual([path, shared ? 'gemini' : ofPath])
  }
})

test('a path of Google’s versions is in its envelope', () => {
  const asked = paths.filter((path) => /^\/v1(?:beta|alpha)\//.test(path))
  expect(asked.length).toBeGreaterThan(5)
  for (const path of asked) expect([path, dialectOf(path, 'x-api-key')]).toEqual([path, 'gemini'])
})

test('a path without a route is in the envelope of its neighbours, and else of its headers', () => {
  expect(dialectOf('/v1/chat/complete', 'x-api-key')).toBe('chat')
  expect(dialectOf('/v1/messages/batches')).toBe('messages')
  expect(dialectOf('/v1/chats', 'anthropic-version')).toBe('messages')
  expect(dialectOf('/v1/files', 'x-goog-api-key')).toBe('gemini')
  expect(dialectOf('/nowhere')).toBe('chat')
})
