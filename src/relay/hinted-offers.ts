/** What the hints of a request mean for the models and offers that it may use. No await, no I/O. */
import { mayUse } from '../domain/account.ts'
import type { Model, Offer } from '../domain/catalog.ts'
import type { Failure } from '../domain/failure.ts'
import { formatUsd } from '../domain/money.ts'
import { noProviderHints, type MaxPrice, type ProviderHints, type RoutingHints } from '../domain/routing-hints.ts'
import type { PolicyName } from '../domain/routing.ts'
import type { ClientRequest } from '../formats/core/contract.ts'
import { steadyNowMs } from '../lib/primitives/steady-clock.ts'
import { inputTokensMax } from '../modalities/token-quote.ts'
import {
  allowedOffers,
  askedPolicy,
  cheapestFirst,
  dearestPrices,
  exceededPrice,
  isLosing,
  orderedPlan,
} from '../router/hints.ts'
import { planAttempts } from '../router/plan.ts'
import type { GatewayRequest } from './call.ts'
import type { Relay } from './context.ts'
import { suitableModel } from './permission.ts'

/** A model with the offers that a request allows, and how the request wishes them ranked. */
export type HintedModel = {
  readonly model: Model
  readonly policy: PolicyName | undefined
  readonly provider: ProviderHints
}

/** Undefined if neither hints nor the name say anything. `name` is how the request names the model. */
export function hintedModel(
  { hints, request }: GatewayRequest,
  model: Model,
  name: string,
): HintedModel | Failure | undefined {
  const provider = hints?.provider ?? noProviderHints
  const policy = askedPolicy(provider, name)
  if (provider === noProviderHints) return policy && { model, policy, provider }
  const dear = provider.maxPrice && tooDear(model, request, provider.maxPrice)
  if (dear) return dear
  const offers = allowedOffers(model.offers, provider, isLosing(model))
  if (typeof offers !== 'string') return { model: { ...model, offers }, policy, provider }
  const param = `provider.${offers}`
  return {
    kind: 'invalid_value',
    message: `'${param}' leaves no provider that can be chosen for '${model.id}'.`,
    param,
  }
}

/** The plan for such a model, in the order that the request wishes. */
export const hintedPlan = (
  { health }: Pick<Relay, 'health'>,
  { model, provider }: HintedModel,
  plan: readonly Offer[],
): readonly Offer[] =>
  orderedPlan(plan, provider, { isResting: ({ id }) => health.isResting(id), isLoss: isLosing(model) })

const priceUnits: Readonly<Record<keyof MaxPrice, string>> = {
  prompt: 'a million prompt tokens',
  completion: 'a million completion tokens',
  image: 'an image',
}

function tooDear(model: Model, request: ClientRequest, most: MaxPrice): Failure | undefined {
  const inputTokens = inputTokensMax(request, model)
  const exceeded = exceededPrice(model.sale, most, inputTokens)
  if (!exceeded) return undefined
  const param = `provider.max_price.${exceeded}`
  const price = formatUsd(dearestPrices(model.sale, inputTokens)[exceeded])
  const message = `'${model.id}' costs $${price} for ${priceUnits[exceeded]}, more than '${param}' allows.`
  return { kind: 'invalid_value', message, param }
}

/** The names of the models in the order in which they are tried, or what is wrong with the hints. */
export function namesToTry(relay: Relay, call: GatewayRequest, hints: RoutingHints): readonly string[] | Failure {
  const { request, caller } = call
  const candidates: Candidate[] = []
  for (const name of [request.model, ...hints.fallbacks]) {
    const model = suitableModel(relay.catalog, caller, request, name)
    // A misspelt name is refused now, and not in the night in which it is needed.
    if ('message' in model) return name === request.model ? model : { ...model, param: 'models' }
    candidates.push({ name, model })
  }
  const stranger = unknownProvider(relay, call, { provider: hints.provider, candidates })
  if (stranger) return stranger
  return (hints.provider.sortsModels ? sorted(relay, call, candidates) : candidates).map(({ name }) => name)
}

type Candidate = { readonly name: string; readonly model: Model }
type NamedProviders = { readonly provider: ProviderHints; readonly candidates: readonly Candidate[] }

/**
 * The failure for the first name that is no provider's. A caller knows a provider if it serves a model that the caller
 * may use. All others are unknown to it, whether they exist or not, and the message lists none.
 */
function unknownProvider(
  { catalog }: Pick<Relay, 'catalog'>,
  { caller }: Pick<GatewayRequest, 'caller'>,
  { provider, candidates }: NamedProviders,
): Failure | undefined {
  const idsOf = (models: readonly Model[]): ReadonlySet<string> =>
    new Set(models.flatMap(({ offers }) => offers.map(({ providerId }) => providerId.toLowerCase())))
  const near = idsOf(candidates.map(({ model }) => model))
  let known: ReadonlySet<string> | undefined
  for (const member of ['order', 'only', 'ignore'] as const) {
    for (const [i, name] of (provider[member] ?? []).entries()) {
      if (near.has(name)) continue
      known ??= idsOf(catalog.models().filter((model) => mayUse(caller, model)))
      if (known.has(name)) continue
      const param = `provider.${member}[${i}]`
      const message = `Invalid '${param}': this key knows no provider of that name. The operator can name them.`
      return { kind: 'invalid_value', message, param }
    }
  }
  return undefined
}

/** The models by price, or by where the policy puts the best offer of each. */
function sorted(relay: Relay, call: GatewayRequest, candidates: readonly Candidate[]): readonly Candidate[] {
  const [first] = candidates
  const provider = call.hints?.provider ?? noProviderHints
  const policy = first && askedPolicy(provider, first.name)
  if (!first || policy === undefined || candidates.length < 2) return candidates
  if (policy === 'cost') return cheapestFirst(candidates)
  const offers = candidates.flatMap(({ model }): readonly Offer[] => {
    const allowed = allowedOffers(model.offers, provider, isLosing(model))
    return typeof allowed === 'string' ? [] : allowed
  })
  const pool = { offers, limits: first.model.limits }
  const { all: health, signals } = relay.health
  const { request } = call
  const plan = planAttempts({
    model: pool,
    health,
    signals,
    request,
    nowMs: steadyNowMs(),
    random: Math.random,
    policy,
  })
  const placeOf = ({ model }: Candidate): number => {
    const at = plan.findIndex(({ modelId }) => modelId === model.id)
    return at < 0 ? plan.length : at
  }
  return candidates.toSorted((a, b) => placeOf(a) - placeOf(b))
}
