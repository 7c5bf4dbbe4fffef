/** How the offers of a model are ranked. `src/router/policies/` has one file for each name. */
export const policyNames = ['weighted', 'latency', 'cost', 'balanced'] as const

export type PolicyName = (typeof policyNames)[number]
