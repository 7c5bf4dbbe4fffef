/** A provider in `tollgate.yaml`. */
import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { z } from 'zod'
import { changedOptions, KEYS_MAX, optionFaults } from './catalog/provider-options.ts'
import { positiveCount, strict } from './declaration-shape.ts'
import type { ProviderDraft, ProviderReach } from './domain/catalog.ts'
import { checkBaseUrl } from './outbound/guard.ts'
import { findPreset, isOwnAddress, isSendableKey, presets, UNSENDABLE_KEY } from './vendors/presets.ts'

/** A value as people write it: `api-version: 2024-10-21` and `beta: 1`. */
const fields = z.record(z.string(), z.union([z.string(), z.number()]).transform(String))

export const declaredProvider = strict({
  preset: z.enum(presets.map(({ id }) => id)).default('custom'),
  base_url: z.string().min(1).optional(),
  allow_private: z.boolean().default(false),
  key: z.string().min(1).optional(),
  /** Keys that are used in turn, each perhaps with a limit of its own. */
  keys: z
    .array(
      z.union([z.string().min(1), strict({ key: z.string().min(1), concurrent_requests: positiveCount.optional() })]),
    )
    .min(1)
    .max(KEYS_MAX)
    .optional(),
  hang_up: z.enum(['stops_billing', 'bills_on']).optional(),
  concurrent_requests: positiveCount.optional(),
  proxy: z.string().min(1).optional(),
  headers: fields.optional(),
  query: fields.optional(),
  organization: z.string().min(1).optional(),
  project: z.string().min(1).optional(),
  /** PEM, or the path of a file that holds it. */
  ca: z.string().min(1).optional(),
})

/** Where a declared provider stands, and how a mistake in it is reported. */
type Place = {
  readonly id: string
  /** The file of the declaration. Paths are relative to its folder. */
  readonly file: string
  readonly fail: (path: readonly PropertyKey[], message: string) => never
}

export function providerDraftOf(
  declared: z.infer<typeof declaredProvider>,
  { id, file, fail: failAt }: Place,
): ProviderDraft {
  const { preset, base_url: stated, hang_up: hangUp, concurrent_requests: concurrentRequests } = declared
  const fail = (field: string, message: string): never => failAt(['providers', id, field], message)
  if (!stated && !findPreset(preset)?.baseUrl) failAt(['providers', id], `provider '${id}' needs a base_url`)
  if (declared.key !== undefined && declared.keys) fail('keys', 'state key or keys, not both')
  const keys = declared.keys?.map((one) =>
    typeof one === 'string' ? { secret: one } : { secret: one.key, concurrentRequests: one.concurrent_requests },
  )
  const all = keys?.map((one) => one.secret) ?? [declared.key]
  const [secret] = all
  if (new Set(all).size < all.length) fail('keys', 'a key stands there twice')
  for (const one of all)
    if (one !== undefined && !isSendableKey(preset, one)) fail(keys ? 'keys' : 'key', UNSENDABLE_KEY)
  const reach: ProviderReach = declared.allow_private ? 'private' : 'public'
  const failAtUrl = (message: string): never => fail('base_url', message)
  const baseUrl = stated && checkedUrl(stated, isOwnAddress(preset, stated) ? 'private' : reach, failAtUrl)
  const { proxy, headers, query, organization, project } = declared
  const ca = declared.ca === undefined ? undefined : pemOf(declared.ca, file, (message) => fail('ca', message))
  const made = changedOptions(undefined, { proxy, headers, query, organization, project, ca })
  if (made.kind === 'bad') return fail(made.param, `${made.param} ${optionFaults[made.fault]}`)
  const options = keys ? { ...made.options, keys } : made.options
  return { id, preset, baseUrl, reach, secret, hangUp, concurrentRequests, ...(options && { options }) }
}

function pemOf(text: string, file: string, fail: (message: string) => never): string {
  if (text.includes('-----BEGIN')) return text
  try {
    return readFileSync(resolve(dirname(file), text), 'utf8')
  } catch (error) {
    return fail(`ca names a file that cannot be read (${(error as NodeJS.ErrnoException).code})`)
  }
}

/** The base URL in its checked form. */
function checkedUrl(text: string, reach: ProviderReach, fail: (message: string) => never): string {
  const checked = checkBaseUrl(text, reach)
  if (checked.kind === 'good') return checked.url.href
  return fail(
    checked.kind === 'bad'
      ? `base_url ${checked.message}`
      : `base_url is at a private address (${checked.name}): set allow_private: true if the gateway may call it`,
  )
}
