import { expect, test } from 'bun:test'
import type { Model } from '../domain/catalog.ts'
import { strayLimit, strayModel, strayModels } from './allowed-models.ts'
import type { AdminServices } from './operation.ts'

const model = { id: 'openai/gpt-5', aliases: ['gpt'] } as unknown as Model
const catalog = {
  models: () => [model],
  modelNamed: (name: string) => (name === model.id || name === 'gpt' ? model : undefined),
}
const services = { catalog } as unknown as AdminServices

test('a wildcard may stand in a list of models, and limits nothing', () => {
  for (const name of ['gpt', 'openai/gpt-5']) {
    expect([strayModel(services, [name]), strayLimit(services, [name])]).toEqual([undefined, undefined])
  }
  expect(strayModel(services, ['openai/*'])).toBeUndefined()
  expect(strayLimit(services, ['openai/*'])).toMatchObject({ ok: false, param: 'models' })
  expect(strayLimit(services, ['openai/*'], ['openai/*'])).toBeUndefined()
})

test('names in lists and limits that no model has are found', () => {
  const limits = { models: { gone: { requestsPerMinute: 1 }, gpt: { requestsPerMinute: 1 } } }
  const accounts = {
    list: () => [{ id: 'a', name: 'acme', allowedModels: ['openai/*', 'old'], limits }],
    keysOf: () => [{ id: 'k', allowedModels: undefined, limits: {} }],
  } as unknown as AdminServices['accounts']
  expect(strayModels({ accounts, catalog: services.catalog })).toEqual([
    'account acme: old',
    'account acme: gone (limits)',
  ])
})
