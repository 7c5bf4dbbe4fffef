/** A provider as a row. What only the provider may learn is sealed in it, or stays in the declaration. */
import { createHmac } from 'node:crypto'
import type {
  HangUp,
  KeyedProvider,
  Provider,
  ProviderDraft,
  ProviderKey,
  ProviderOptions,
  ProviderState,
} from '../domain/catalog.ts'
import { DIRECT, type Egress } from '../domain/egress.ts'
import { seal, unseal } from '../lib/primitives/seal.ts'
import type { Row, SqlValue, WriteStep } from '../store/statement.ts'
import { isOwnAddress } from '../vendors/presets.ts'
import { providerBaseUrl, SANDBOX_PRESET, sealContext, type CatalogOptions, type StoredEgress } from './catalog.ts'
import * as sql from './statements.ts'

/** The options that are sealed. */
type SealedOptions = Pick<ProviderOptions, 'keys' | 'headers' | 'query'> & {
  readonly proxySecret?: string | undefined
}

export type ProviderRowContext = Pick<CatalogOptions, 'masterKey' | 'sandboxUrl'> & {
  /** The declared providers by id, for what their rows do not hold. */
  readonly declared: ReadonlyMap<string, ProviderDraft>
}

export function providerStep(masterKey: Uint8Array, draft: ProviderDraft, declared: 0 | 1): WriteStep {
  const baseUrl = providerBaseUrl(draft)
  const { id, preset, hangUp = null, concurrentRequests = null, options } = draft
  const egress = egressPart(options)
  const sealed = sealedPart(options)
  const context = sealContext(id, baseUrl, egress)
  // What is declared and secret stays in the declaration. What is stored is sealed to where it may be sent.
  const sealedText = (text: string | undefined): SqlValue => (declared || !text ? null : seal(masterKey, text, context))
  const allowPrivate = draft.reach === 'private' ? 1 : 0
  const place = [id, preset, baseUrl, allowPrivate, sealedText(draft.secret)]
  const more = [egress && JSON.stringify(egress), sealedText(sealed && JSON.stringify(sealed))]
  const bind = [...place, hangUp, concurrentRequests, ...more.map((value) => value ?? null), declared, Date.now()]
  return { run: sql.upsertProvider, bind }
}

/** Refuses the steps after it once the row is another than this. */
export const sameProviderStep = (row: Row): WriteStep => ({
  run: sql.isSameProvider,
  bind: comparedColumns.map((column) => row[column] ?? null),
  changes: 1,
})
const comparedColumns = [
  'id',
  'preset',
  'base_url',
  'allow_private',
  'secret',
  'concurrent_requests',
  'egress',
  'sealed_options',
]

export function providerOf(row: Row, { masterKey, sandboxUrl, declared }: ProviderRowContext): Provider {
  const id = row['id'] as string
  const preset = row['preset'] as string
  const stored = row['base_url'] as string
  // The built-in sandbox listens on this machine, at the port that this start chose.
  const isBuiltIn = stored === '' && preset === SANDBOX_PRESET
  const isLocal = isBuiltIn || row['allow_private'] === 1n || isOwnAddress(preset, stored)
  const egressText = row['egress'] as string | null
  const egress = egressText === null ? undefined : (JSON.parse(egressText) as StoredEgress)
  const isDeclared = row['declared'] === 1n
  const draft = isDeclared ? declared.get(id) : undefined
  const open = (column: string): string | undefined => {
    const sealed = row[column] as Uint8Array | null
    return sealed ? unseal(masterKey, sealed, sealContext(id, stored, egress)) : undefined
  }
  const text = open('sealed_options')
  const sealed = isDeclared ? sealedPart(draft?.options) : text && (JSON.parse(text) as SealedOptions)
  const options = optionsOf(egress, sealed || undefined)
  const secret = isDeclared ? draft?.secret : open('secret')
  const provider: Provider = {
    id,
    preset,
    get baseUrl() {
      return isBuiltIn ? (sandboxUrl() ?? '') : stored
    },
    reach: isLocal ? 'private' : 'public',
    secret,
    hangUp: (row['hang_up'] ?? undefined) as HangUp | undefined,
    concurrentRequests: row['concurrent_requests'] === null ? undefined : Number(row['concurrent_requests']),
    origin: isDeclared ? 'declared' : 'stored',
    state: stateOf(row),
    ...(isBuiltIn ? { egress: DIRECT } : options && derivedOf(secret, options)),
  }
  const keys = options?.keys?.map((key) => keyedProvider(provider, key, masterKey))
  return keys ? { ...provider, keys } : provider
}

/** The provider with one of its keys. */
const keyedProvider = (
  provider: Provider,
  { secret, concurrentRequests }: ProviderKey,
  masterKey: Uint8Array,
): KeyedProvider => ({ ...provider, secret, key: { id: keyIdOf(provider.id, secret, masterKey), concurrentRequests } })

/** Without the master key, nobody can tell whether a guessed key has this fingerprint. */
const keyIdOf = (providerId: string, secret: string, masterKey: Uint8Array): string =>
  createHmac('sha256', masterKey).update(`provider key|${providerId}|${secret}`).digest('hex').slice(0, 8)

export const stateOf = (row: Row): ProviderState => (row['drained_at'] === null ? 'serving' : 'drained')

/** Undefined if there is nothing in it, so that the row of a plain provider stays empty. */
function egressPart({ proxy, ca }: ProviderOptions = {}): StoredEgress | undefined {
  if (proxy === undefined && ca === undefined) return undefined
  if (typeof proxy !== 'object') return { proxy, ca }
  const { scheme, hostname, port } = proxy
  return { proxy: { scheme, hostname, port }, ca }
}

function sealedPart({ keys, headers, query, proxy }: ProviderOptions = {}): SealedOptions | undefined {
  const proxySecret = typeof proxy === 'object' ? proxy.secret : undefined
  return keys || headers || query || proxySecret !== undefined ? { keys, headers, query, proxySecret } : undefined
}

function optionsOf(egress: StoredEgress | undefined, sealed: SealedOptions | undefined): ProviderOptions | undefined {
  if (!egress && !sealed) return undefined
  const { proxy, ca } = egress ?? {}
  const { proxySecret, ...rest } = sealed ?? {}
  return { ...rest, proxy: typeof proxy === 'object' ? { ...proxy, secret: proxySecret } : proxy, ca }
}

/** What of a provider follows from its options. */
function derivedOf(
  secret: string | undefined,
  options: ProviderOptions,
): Pick<Provider, 'options' | 'egress' | 'secrets'> {
  const { keys = [], proxy, headers = {}, query = {}, ca } = options
  const [, password] = typeof proxy === 'object' ? (proxy.secret?.split(/:(.*)/s) ?? []) : []
  const all = [secret, ...keys.map((key) => key.secret), ...Object.values(headers), ...Object.values(query), password]
  const egress: Egress | undefined =
    proxy === undefined && ca === undefined ? undefined : { proxy: proxy ?? 'environment', ca, namedBy: 'operator' }
  return { options, egress, secrets: [...new Set(all.filter((text) => text !== undefined && text !== ''))] as string[] }
}
