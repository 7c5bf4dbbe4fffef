import type { Caller } from '../domain/account.ts'
import type { Limits, ModelRates } from '../domain/limits.ts'
import type { LimitedScope } from './limit-rules.ts'
import type { LimitedModel } from './limiter.ts'

/** The one list for no limits of models. A comparison with it saves a look at the entries. */
export const NO_SCOPES: readonly LimitedScope[] = Object.freeze([])

/**
 * The limits of a model that a request must meet: those that its key and its account have for the model, and those of
 * the model for all accounts. The ids of counters are written with spaces between them, so they have none.
 */
export function modelScopesOf({ key, account }: Caller, model: LimitedModel): readonly LimitedScope[] {
  const { id, rates } = model
  if (rates === undefined && key.limits.models === undefined && account.limits.models === undefined) return NO_SCOPES
  const name = encodeURIComponent(id.toWellFormed())
  const scopes: LimitedScope[] = []
  const ofKey = ratesFor(key.limits, model)
  const ofAccount = ratesFor(account.limits, model)
  if (ofKey) scopes.push({ id: `${key.id}/${name}`, scope: 'key', model: id, limits: ofKey })
  if (ofAccount) scopes.push({ id: `${account.id}/${name}`, scope: 'account', model: id, limits: ofAccount })
  if (rates) scopes.push({ id: `model/${name}`, scope: 'model', model: id, limits: rates })
  return scopes.length === 0 ? NO_SCOPES : scopes
}

/** What limits say of a model, by its id before an alias. */
function ratesFor({ models }: Limits, { id, aliases = [] }: LimitedModel): ModelRates | undefined {
  if (models === undefined) return undefined
  const name = [id, ...aliases].find((one) => Object.hasOwn(models, one))
  return name === undefined ? undefined : models[name]
}

/** A client sees what is left of its own limits. What all accounts together use of a model is not its business. */
export const isShown = ({ scope }: Pick<LimitedScope, 'scope'>): boolean => scope !== 'model'
