/** The keys of a provider that has several: they are added and removed one by one, while requests go on. */
import { z } from 'zod'
import { keysOf, KEYS_MAX, withKeys } from '../catalog/provider-options.ts'
import type { KeyedProvider, Provider, ProviderKey } from '../domain/catalog.ts'
import { steadyNowMs } from '../lib/primitives/steady-clock.ts'
import { isSendableKey } from '../vendors/presets.ts'
import {
  catalogChange,
  conflict,
  declaredElsewhere,
  done,
  notFound,
  operation,
  type AdminServices,
} from './operation.ts'
import type { Changes, Operation, Result } from './operation.ts'
import { invalid } from './model-operations.ts'
import { providerView } from './provider-operations.ts'
import { sayRefusal } from './refusals.ts'

/** A key as it is now in this process. */
export function keyView({ providerKeys }: AdminServices, keyed: KeyedProvider) {
  const standing = providerKeys.standingOf(keyed)
  const isWhole = standing.restUntilMs > steadyNowMs()
  // One that rests for some offers only is shown as resting too.
  const restUntilMs = isWhole ? standing.restUntilMs : Math.max(0, ...standing.offerRests.values())
  const isResting = restUntilMs > steadyNowMs()
  const reason = isWhole ? standing.reason : 'rate'
  return {
    id: keyed.key.id,
    concurrent_requests: keyed.key.concurrentRequests ?? null,
    in_flight: standing.inFlight,
    rests_until: isResting ? new Date(restUntilMs).toISOString() : null,
    reason: isResting ? (reason ?? null) : null,
  }
}

const changesProvider: Changes<{ id: string }> = {
  subject: ({ id: name }) => name,
  view: ({ catalog }, { id: name }) => {
    const provider = catalog.provider(name)
    return provider && providerView(provider)
  },
}

async function put(
  { catalog, tally }: AdminServices,
  provider: Provider,
  keys: readonly ProviderKey[],
): Promise<Result> {
  const { id, preset, baseUrl, reach, hangUp, concurrentRequests } = provider
  const { secret, options } = withKeys(provider.options, keys)
  const draft = { id, preset, baseUrl, reach, secret, hangUp, concurrentRequests, options }
  await catalog.putProvider(draft, provider)
  // A test of before did not try these keys.
  tally.changed(id)
  const made = catalog.provider(id)
  return made ? done(providerView(made)) : notFound('provider', id)
}

const add = catalogChange(
  z.strictObject({
    id: z.string(),
    key: z.string().min(1),
    /** The most requests in flight with it. Left out: it has no limit of its own. */
    concurrent_requests: z.int().min(1).optional(),
  }),
  async (services, { id: name, key, concurrent_requests: concurrentRequests }): Promise<Result> => {
    const provider = services.catalog.provider(name)
    if (!provider) return notFound('provider', name)
    if (provider.origin === 'declared') return declaredElsewhere('provider', name)
    if (!isSendableKey(provider.preset, key)) return invalid(sayRefusal('key_unsendable'))
    const before = keysOf(provider)
    if (before.some(({ secret }) => secret === key)) return conflict(sayRefusal('provider_has_key'))
    if (before.length >= KEYS_MAX) return conflict(sayRefusal('provider_keys_full', { max: KEYS_MAX }))
    const result = await put(services, provider, [...before, { secret: key, concurrentRequests }])
    // A new key may end the failures, so the next request tries the offers again.
    if (result.ok) await services.resume(name)
    return result
  },
  changesProvider,
)

const remove = catalogChange(
  z.strictObject({ id: z.string(), key_id: z.string() }),
  async (services, { id: name, key_id: keyId }): Promise<Result> => {
    const provider = services.catalog.provider(name)
    if (!provider) return notFound('provider', name)
    if (provider.origin === 'declared') return declaredElsewhere('provider', name)
    const at = provider.keys?.findIndex(({ key }) => key.id === keyId) ?? -1
    if (at === -1) return notFound('key', keyId)
    return put(services, provider, keysOf(provider).toSpliced(at, 1))
  },
  changesProvider,
)

export const providerKeyOperations: Readonly<Record<string, Operation>> = {
  'provider.key.add': add,
  'provider.key.remove': remove,
  'provider.key.list': operation(z.strictObject({ id: z.string() }), (services, { id: name }) => {
    const provider = services.catalog.provider(name)
    if (!provider) return notFound('provider', name)
    return done((provider.keys ?? []).map((keyed) => keyView(services, keyed)))
  }),
}
