/** How the offers of a model are ranked. `src/router/policies/` has one file for each name. */
export const policyNames = ['weighted', 'latency', 'cost', 'balanced'] as const

export type PolicyName = (typeof policyNames)[number]

/**
 * What keeps the requests of a conversation at one offer, so that they find its prompt cache warm. `named`: a name that
 * the client gives it, such as `prompt_cache_key`. `opening`: that, or else the words it begins with. `off`: nothing.
 */
export const stickinessNames = ['off', 'named', 'opening'] as const

export type Stickiness = (typeof stickinessNames)[number]

/**
 * The stickiness of a model that states none. With `weighted`, the operator states shares. A client that names its
 * conversations wants each kept together, and the shares of all of them still follow the weights. Opening words do not
 * count there: a program may send the same ones in every request, and all would go to one offer. The other policies
 * choose an offer by time or cost, and a warm prompt cache saves both.
 */
export const usualStickiness = (policy: PolicyName): Stickiness => (policy === 'weighted' ? 'named' : 'opening')
