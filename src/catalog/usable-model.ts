import { mayUse, type Caller } from '../domain/account.ts'
import type { Model } from '../domain/catalog.ts'
import type { Failure } from '../domain/failure.ts'
import { withoutVariant } from '../domain/routing-hints.ts'
import type { Catalog } from './catalog.ts'

/**
 * The model of an id or an alias, at the account's price, if both allow-lists contain it. A suffix for its routing may
 * follow the name.
 */
export function usableModel(
  catalog: Pick<Catalog, 'modelNamed' | 'priced'>,
  caller: Caller,
  id: string,
): Model | Failure {
  const model = catalog.modelNamed(id) ?? catalog.modelNamed(withoutVariant(id) ?? id)
  if (!model) {
    const message = `The model '${id.slice(0, 200)}' does not exist. GET /v1/models lists the models of this key.`
    return { kind: 'model_not_found', message, param: 'model' }
  }
  if (mayUse(caller, model)) return catalog.priced(model, caller.account.id)
  return { kind: 'model_not_allowed', message: `This key may not use the model '${id}'.`, param: 'model' }
}
