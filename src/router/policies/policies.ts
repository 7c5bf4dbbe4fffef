/** The routing policies by name. */
import type { Model } from '../../domain/catalog.ts'
import type { PolicyName } from '../../domain/routing.ts'
import { balanced } from './balanced.ts'
import { cost } from './cost.ts'
import { latency } from './latency.ts'
import type { RoutingPolicy } from './policy.ts'
import { weighted } from './weighted.ts'

const policies: Readonly<Record<PolicyName, RoutingPolicy>> = { weighted, latency, cost, balanced }

/** The policy that a request names, or else that of its model. */
export const policyOf = ({ limits }: Pick<Model, 'limits'>, asked: PolicyName = limits.routing): RoutingPolicy =>
  policies[asked]
