/** Aliases of models, for operators. */
import { z } from 'zod'
import { answer, missing, route, type ConsoleRoute } from './route.ts'
import { origin, wholeOf } from './shapes.ts'

const aliasShape = z
  .strictObject({
    id: z.string(),
    model: z.string().meta({ description: 'the id of the model that it stands for' }),
    origin,
    in_use: z.boolean().meta({ description: 'false: there is no such model, or a model has the name of the alias' }),
  })
  .meta({ id: 'Alias' })

export const aliasRoutes: readonly ConsoleRoute[] = [
  route('GET', '/aliases', {
    access: 'operator',
    summary: 'List aliases and the models that they stand for.',
    answer: wholeOf(aliasShape),
    run: async ({ operate }) => answer(await operate('alias.list', {}), (data) => ({ data })),
  }),
  route('PUT', '/aliases/{alias}', {
    access: 'operator',
    summary: 'Make an alias, or point it to another model. Requests by this name are then requests for the model.',
    body: z.strictObject({ model: z.string() }),
    answer: aliasShape,
    run: async ({ context: { services }, operate, params: { alias: id }, body: { model } }) => {
      if (!services.catalog.modelNamed(model)) return missing('model')
      return answer(await operate('alias.set', { id, model }), (value) => value)
    },
  }),
  route('DELETE', '/aliases/{alias}', {
    access: 'operator',
    summary: 'Remove an alias. The model stays.',
    answer: z.strictObject({ id: z.string(), removed: z.boolean() }),
    run: async ({ context: { services }, operate, params: { alias: id } }) => {
      if (!services.catalog.alias(id)) return missing('alias')
      return answer(await operate('alias.remove', { id }), (value) => value)
    },
  }),
]
