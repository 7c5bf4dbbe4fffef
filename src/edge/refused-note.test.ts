import { expect, test } from 'bun:test'
import { refusedNote } from './refused-note.ts'
import type { RequestContext } from './request-context.ts'

const endpointOf = (method: string, path: string): string =>
  refusedNote(
    { id: 'req_1', exchange: { head: { method, path }, header: () => undefined } } as unknown as RequestContext,
    { accounts: { keyPresented: () => undefined }, catalog: { modelNamed: () => undefined } },
    { status: 404, code: 'model_not_found' },
  ).endpoint

test('a request refused before it was read has the endpoint of its records', () => {
  expect(endpointOf('POST', '/v1/chat/completions')).toBe('chat.completions')
  expect(endpointOf('POST', '/v1/video/generations')).toBe('videos')
  expect(endpointOf('POST', '/v1beta/models/fast:streamGenerateContent')).toBe('gemini')
  expect(endpointOf('GET', '/v1/videos')).toBe('/v1/videos')
  expect(endpointOf('POST', '/v1/constructor')).toBe('/v1/constructor')
  expect(endpointOf('POST', 'constructor')).toBe('constructor')
})
