/** What an operator does to providers. */
import { z } from 'zod'
import { sealContext } from '../catalog/catalog.ts'
import { changedOptions, optionFaults, optionsView, type StatedOptions } from '../catalog/provider-options.ts'
import type { Provider, ProviderOptions, ProviderReach } from '../domain/catalog.ts'
import { steadyNowMs } from '../lib/primitives/steady-clock.ts'
import { checkBaseUrl } from '../outbound/guard.ts'
import { findPreset, isOwnAddress, isSendableKey, presets } from '../vendors/presets.ts'
import { restingOffers } from '../router/health.ts'
import type { Preset } from '../vendors/preset.ts'
import { probe, type Probe } from '../vendors/probe.ts'
import { sayRefusal } from './refusals.ts'
import {
  catalogChange,
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
  ...optionsView(provider.options),
  /** Of a provider that has several. */
  keys: (provider.keys ?? []).map(({ key }) => ({ id: key.id, concurrent_requests: key.concurrentRequests ?? null })),
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

/** Fields that decide how a provider is reached, and what it is told. */
const reachFields = ['proxy', 'headers', 'query', 'organization', 'project', 'ca'] as const

const withoutKeys = (options: ProviderOptions | undefined): ProviderOptions | undefined =>
  options && { ...options, keys: undefined }

type StatedChange = Pick<StatedOptions, 'headers' | 'query'> & { readonly key?: string | null | undefined }

/** Whether a change leaves anything as it is that only the provider may learn. */
const keepsSecrets = ({ secret, options }: Provider, { key, headers, query }: StatedChange): boolean =>
  (secret !== undefined && key === undefined) ||
  (options?.headers !== undefined && headers === undefined) ||
  (options?.query !== undefined && query === undefined)

const providerAdd = catalogChange(
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
    /** Left out: the stored key stays if nobody else can read it where it is sent. Null: no key. */
    key: z.string().min(1).nullable().optional(),
    /** Left out: it stays. Null: as the environment says. `direct`: never a proxy. */
    proxy: z.string().min(1).nullable().optional(),
    /** Headers and parameters of every request. They replace those before. */
    headers: z.record(z.string(), z.string()).nullable().optional(),
    query: z.record(z.string(), z.string()).nullable().optional(),
    organization: z.string().min(1).nullable().optional(),
    project: z.string().min(1).nullable().optional(),
    /** Certificate authorities in PEM, which are trusted beside the system's. */
    ca: z.string().min(1).nullable().optional(),
  }),
  async ({ catalog, resume, tally }, input): Promise<Result> => {
    const { id: name, preset: wanted, base_url: baseUrl, allow_private: allowed } = input
    const { concurrent_requests: most, key } = input
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
    const change = changedOptions(before?.options, input)
    if (change.kind === 'bad') {
      const said = sayRefusal('option_bad', {
        field: change.param,
        why: optionFaults[change.fault],
        fault: change.fault,
      })
      return { ...refused('invalid_input', said), param: change.param }
    }
    // One key replaces all that there were.
    const options = key === undefined ? change.options : withoutKeys(change.options)
    if (before && keepsSecrets(before, input)) {
      const [was, is] = [sealContext(name, before.baseUrl, before.options), sealContext(name, address, options)]
      if (was !== is) return invalid(sayRefusal('url_other_origin'))
    }
    if (key && !isSendableKey(preset, key)) return invalid(sayRefusal('key_unsendable'))
    const secret = key === undefined ? before?.secret : (key ?? undefined)
    const concurrentRequests = most === undefined ? before?.concurrentRequests : (most ?? undefined)
    const url = checked.url.href
    await catalog.putProvider({ id: name, preset, baseUrl: url, reach, secret, concurrentRequests, options }, before)
    const made = catalog.provider(name)
    // A new key or address may end the failures, so the next request tries the offers again.
    const isOtherWay = reachFields.some((field) => input[field] !== undefined)
    if (made && (isOtherWay || before?.secret !== made.secret || before?.baseUrl !== made.baseUrl)) {
      await resume(name)
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
  async ({ catalog, resume }, { id: name }): Promise<Result> =>
    catalog.provider(name) ? done({ id: name, resumed: await resume(name) }) : notFound('provider', name),
  {
    subject: ({ id: name }) => name,
    view: ({ catalog, health }, { id: name }) => ({
      id: name,
      resting_offers: restingOffers(catalog, { health: health(), nowMs: steadyNowMs() }, name),
    }),
  },
)
/** Probes a provider with each of its keys, one after the other. The first that does not work is the result. */
async function probeKeys(provider: Provider, preset: Preset): Promise<Probe> {
  let found = await probe(provider.keys?.[0] ?? provider, preset)
  let tookMs = 0
  for (const keyed of provider.keys ?? []) {
    if (tookMs > 0) found = await probe(keyed, preset)
    tookMs += Math.max(1, found.tookMs)
    if (!found.ok) return { ...found, tookMs, problem: `key ${keyed.key.id}: ${found.problem ?? 'it does not work'}` }
  }
  return { ...found, tookMs: tookMs || found.tookMs }
}
export const providerOperations: Readonly<Record<string, Operation>> = {
  'provider.add': providerAdd,
  'provider.list': operation(z.strictObject({}), ({ catalog }) => done(catalog.providers().map(providerView))),
  'provider.test': operation(z.strictObject({ id: z.string() }), async ({ catalog, resume, tally }, { id: name }) => {
    const provider = catalog.provider(name)
    const preset = provider && findPreset(provider.preset)
    if (!provider || !preset) return notFound('provider', name)
    if (provider.baseUrl === '') return refused('failed', sayRefusal('sandbox_absent'))
    const { ok, status, tookMs, models, problem } = await probeKeys(provider, preset)
    if (ok) await resume(name)
    tally.tested(name, { ok, status, problem, atMs: Date.now() })
    return done({ id: name, ok, status: status ?? null, took_ms: tookMs, models, problem: problem ?? null })
  }),
  'provider.remove': catalogChange(
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
