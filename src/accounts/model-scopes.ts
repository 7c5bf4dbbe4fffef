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

/** What limits say of a model. If they name its id and aliases of it, the lowest limit of each kind holds. */
function ratesFor({ models }: Limits, { id, aliases = [] }: LimitedModel): ModelRates | undefined {
  if (models === undefined) return undefined
  let rates: ModelRates | undefined
  for (const name of [id, ...aliases]) {
    const named = Object.hasOwn(models, name) ? models[name] : undefined
    rates = rates && named ? lowest(rates, named) : (rates ?? named)
  }
  return rates
}

const lowest = (a: ModelRates, b: ModelRates): ModelRates => ({
  requestsPerMinute: lower(a.requestsPerMinute, b.requestsPerMinute),
  tokensPerMinute: lower(a.tokensPerMinute, b.tokensPerMinute),
  concurrentRequests: lower(a.concurrentRequests, b.concurrentRequests),
})

const lower = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined || b === undefined ? (a ?? b) : Math.min(a, b)

/** A client sees what is left of its own limits. What all accounts together use of a model is not its business. */
export const isShown = ({ scope }: Pick<LimitedScope, 'scope'>): boolean => scope !== 'model'
