/** What an operator does to aliases: other names for models. */
import { z } from 'zod'
import type { Catalog } from '../catalog/catalog.ts'
import type { Alias } from '../domain/catalog.ts'
import { modelId } from './model-operations.ts'
import {
  catalogChange,
  conflict,
  declaredElsewhere,
  done,
  notFound,
  operation,
  type Changes,
  type Operation,
  type Result,
} from './operation.ts'
import { sayRefusal } from './refusals.ts'

/** `in_use`: whether a request by this name is one for the model. If not, the model is gone or another has the name. */
const aliasView = (catalog: Catalog, { id, modelId: model, origin }: Alias): object => ({
  id,
  model,
  origin,
  in_use: catalog.modelNamed(id)?.id === model,
})

const ofAlias: Changes<{ id: string }> = {
  subject: ({ id }) => id,
  view: ({ catalog }, { id }) => {
    const alias = catalog.alias(id)
    return alias && aliasView(catalog, alias)
  },
}

export const aliasOperations: Readonly<Record<string, Operation>> = {
  'alias.set': catalogChange(
    z.strictObject({ id: modelId, model: z.string() }),
    async ({ catalog }, { id, model }): Promise<Result> => {
      if (catalog.alias(id)?.origin === 'declared') return declaredElsewhere('alias', id)
      if (catalog.model(id)) return conflict(sayRefusal('alias_is_model', { name: id }))
      if (!catalog.model(model)) {
        return catalog.alias(model) ? conflict(sayRefusal('alias_of_alias', { name: model })) : notFound('model', model)
      }
      await catalog.putAlias({ id, modelId: model })
      const made = catalog.alias(id)
      return made ? done(aliasView(catalog, made)) : notFound('alias', id)
    },
    ofAlias,
  ),
  'alias.list': operation(z.strictObject({}), ({ catalog }) =>
    done(catalog.aliases().map((alias) => aliasView(catalog, alias))),
  ),
  'alias.remove': catalogChange(
    z.strictObject({ id: z.string() }),
    async ({ catalog }, { id }): Promise<Result> => {
      if (catalog.alias(id)?.origin === 'declared') return declaredElsewhere('alias', id)
      return (await catalog.removeAlias(id)) ? done({ id, removed: true }) : notFound('alias', id)
    },
    ofAlias,
  ),
}
