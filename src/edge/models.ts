/** Lists the models that a key may use, and their aliases. */
import { mayUse } from '../domain/account.ts'
import type { Model } from '../domain/catalog.ts'
import { usableModel } from '../catalog/usable-model.ts'
import type { EdgeServices } from './edge-options.ts'
import { decoded, modelList, modelObject, type NamedModel } from './model-view.ts'
import type { RequestContext } from './request-context.ts'

export function listModels({ responder, relay }: EdgeServices, context: RequestContext): void {
  const caller = responder.callerOf(context)
  if ('kind' in caller) return responder.refuse(context, caller)
  const { catalog } = relay
  const usable = catalog
    .models()
    .filter((model) => mayUse(caller, model))
    .flatMap((model) => withAliases(catalog.priced(model, caller.account.id)))
  const answer = modelList[context.dialect](usable, new URLSearchParams(context.exchange.head.query))
  if (answer.kind === 'refused') responder.refuse(context, answer.failure)
  else responder.reply(context, 200, answer.list)
}

/** Shows one model by the id or the alias in the path. */
export function showModel({ responder, relay }: EdgeServices, context: RequestContext, id: string): void {
  const caller = responder.callerOf(context)
  if ('kind' in caller) return responder.refuse(context, caller)
  const model = usableModel(relay.catalog, caller, decoded(id))
  if ('message' in model) responder.refuse(context, model)
  else responder.reply(context, 200, modelObject[context.dialect](named(model, decoded(id))))
}

const named = (model: Model, name: string): NamedModel =>
  name === model.id ? model : { ...model, id: name, aliasOf: model.id }

/** A model, and an entry for each alias, which says what it stands for. */
const withAliases = (model: Model): readonly NamedModel[] =>
  model.aliases ? [model, ...model.aliases.map((alias) => named(model, alias))] : [model]
