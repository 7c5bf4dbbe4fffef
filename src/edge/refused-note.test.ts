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

test('an alias is noted as its model only for a caller who may use that', () => {
  const model = { id: 'vendor/hidden', aliases: ['usual'] }
  const modelFor = (allowedModels: readonly string[] | undefined): string | undefined => {
    const account = { id: 'a', allowedModels, isFirst: false }
    const exchange = { head: { method: 'POST', path: '/v1/chat/completions' }, header: () => undefined }
    const context = { id: 'req_1', exchange, caller: { key: { id: 'k' }, account }, request: { model: 'usual' } }
    const sources = { accounts: { keyPresented: () => undefined }, catalog: { modelNamed: () => model } }
    return refusedNote(context as unknown as RequestContext, sources as unknown as Parameters<typeof refusedNote>[1], {
      status: 403,
      code: 'model_not_allowed',
    }).model
  }
  expect(modelFor(undefined)).toBe('vendor/hidden')
  expect(modelFor(['vendor/hidden'])).toBe('vendor/hidden')
  expect(modelFor(['other'])).toBe('usual')
})
