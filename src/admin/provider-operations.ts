/** What an operator does to providers. */
import { z } from 'zod'
import type { Provider, ProviderReach } from '../domain/catalog.ts'
import { checkBaseUrl } from '../outbound/guard.ts'
import { findPreset, isOwnAddress, isSendableKey, presets } from '../vendors/presets.ts'
import { restingOffers } from '../router/health.ts'
import { probe } from '../vendors/probe.ts'
import { sayRefusal } from './refusals.ts'
import {
  declaredElsewhere,
  done,
  notFound,
  operation,
  refused,
  type Changes,
  type Operation,
  type Result,
} from './operation.ts'
import { invalid, providerId } from './model-operations.ts'

/** A provider as operations show it, without its key. */
export const providerView = (provider: Provider) => ({
  id: provider.id,
  preset: provider.preset,
  base_url: provider.baseUrl,
  allow_private: provider.reach === 'private',
  concurrent_requests: provider.concurrentRequests ?? null,
  has_key: provider.secret !== undefined,
  origin: provider.origin,
  state: provider.state ?? 'serving',
})

function originOf(baseUrl: string): string {
  return URL.canParse(baseUrl) ? new URL(baseUrl).origin : ''
}

const ofProvider: Changes<{ id: string }> = {
  subject: ({ id: name }) => name,
  view: ({ catalog }, { id: name }) => {
    const provider = catalog.provider(name)
    return provider && providerView(provider)
  },
}

const providerAdd = operation(
  z.strictObject({
    id: providerId,
    /** Left out: the preset stays. A new provider gets the preset with its id, else custom. */
    preset: z.enum(presets.map((preset) => preset.id)).optional(),
    /** Left out: the address stays. A new provider gets the preset's address. Null: the preset's address. */
    base_url: z.string().min(1).nullable().optional(),
    /** Whether it may be at a private address. Left out: the permission stays if the origin does, else it may not. */
    allow_private: z.boolean().optional(),
    /** The most requests in flight there at once. Left out: the limit stays. Null: the usual limit. */
    concurrent_requests: z.int().min(1).nullable().optional(),
    /** Left out: the stored key stays if the origin does. Null: no key. */
    key: z.string().min(1).nullable().optional(),
  }),
  async (
    { catalog, resume, tally },
    { id: name, preset: wanted, base_url: baseUrl, allow_private: allowed, concurrent_requests: most, key },
  ): Promise<Result> => {
    const before = catalog.provider(name)
    if (before?.origin === 'declared') return declaredElsewhere('provider', name)
    const preset = wanted ?? before?.preset ?? findPreset(name)?.id ?? 'custom'
    const unchanged = before?.preset === preset && baseUrl !== null ? before.baseUrl : undefined
    const address = baseUrl ?? unchanged ?? findPreset(preset)?.baseUrl
    if (!address) return invalid(sayRefusal('url_needed', { preset }))
    // The key and the permission for a private address both belong to an origin.
    const same = before && originOf(before.baseUrl) === originOf(address) ? before : undefined
    const reach: ProviderReach = allowed === undefined ? (same?.reach ?? 'public') : allowed ? 'private' : 'public'
    const checked = checkBaseUrl(address, isOwnAddress(preset, address) ? 'private' : reach)
    if (checked.kind === 'bad') return invalid(sayRefusal('url_bad', { why: checked.message, fault: checked.fault }))
    if (checked.kind === 'private') return invalid(sayRefusal('url_private', { place: checked.name }))
    if (before?.secret && !same?.secret && key === undefined) return invalid(sayRefusal('url_other_origin'))
    if (key && !isSendableKey(preset, key)) return invalid(sayRefusal('key_unsendable'))
    const secret = key === undefined ? same?.secret : (key ?? undefined)
    const concurrentRequests = most === undefined ? before?.concurrentRequests : (most ?? undefined)
    await catalog.putProvider({ id: name, preset, baseUrl: checked.url.href, reach, secret, concurrentRequests })
    const made = catalog.provider(name)
    // A new key or address may end the failures, so the next request tries the offers again.
    if (made && (before?.secret !== made.secret || before?.baseUrl !== made.baseUrl)) {
      resume(name)
      tally.changed(name)
    }
    return made ? done(providerView(made)) : notFound('provider', name)
  },
  ofProvider,
)
const providerState = operation(
  z.strictObject({ id: z.string(), state: z.enum(['serving', 'drained']) }),
  async ({ catalog }, { id: name, state }): Promise<Result> => {
    if (!catalog.provider(name)) return notFound('provider', name)
    await catalog.setProviderState(name, state)
    const changed = catalog.provider(name)
    return changed ? done(providerView(changed)) : notFound('provider', name)
  },
  ofProvider,
)
/** Lets offers of a provider that rest after failures take requests again at once. */
const providerResume = operation(
  z.strictObject({ id: z.string() }),
  ({ catalog, resume }, { id: name }): Result =>
    catalog.provider(name) ? done({ id: name, resumed: resume(name) }) : notFound('provider', name),
  {
    subject: ({ id: name }) => name,
    view: ({ catalog, health }, { id: name }) => ({
      id: name,
      resting_offers: restingOffers(catalog, { health: health(), nowMs: Date.now() }, name),
    }),
  },
)
export const providerOperations: Readonly<Record<string, Operation>> = {
  'provider.add': providerAdd,
  'provider.list': operation(z.strictObject({}), ({ catalog }) => done(catalog.providers().map(providerView))),
  'provider.test': operation(z.strictObject({ id: z.string() }), async ({ catalog, resume, tally }, { id: name }) => {
    const provider = catalog.provider(name)
    const preset = provider && findPreset(provider.preset)
    if (!provider || !preset) return notFound('provider', name)
    if (provider.baseUrl === '') return refused('failed', sayRefusal('sandbox_absent'))
    const { ok, status, tookMs, models, problem } = await probe(provider, preset)
    if (ok) resume(name)
    tally.tested(name, { ok, status, problem, atMs: Date.now() })
    return done({ id: name, ok, status: status ?? null, took_ms: tookMs, models, problem: problem ?? null })
  }),
  'provider.remove': operation(
    z.strictObject({ id: z.string() }),
    async ({ catalog }, { id: name }) => {
      if (catalog.provider(name)?.origin === 'declared') return declaredElsewhere('provider', name)
      return (await catalog.removeProvider(name)) ? done({ id: name, removed: true }) : notFound('provider', name)
    },
    ofProvider,
  ),
  'provider.state': providerState,
  'provider.resume': providerResume,
}
