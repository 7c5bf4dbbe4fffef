/** Rows of the catalogue as what they say. */
import type { Alias, HangUp, Model, ModelKind, Offer, Provider, ProviderState } from '../domain/catalog.ts'
import { defaultModelLimits, ratesOf, type ModelLimits } from '../domain/model-limits.ts'
import type { PriceCard } from '../domain/price.ts'
import { unseal } from '../lib/primitives/seal.ts'
import type { Row } from '../store/statement.ts'
import { isOwnAddress } from '../vendors/presets.ts'
import { SANDBOX_PRESET, sealContext, type CatalogOptions } from './catalog.ts'

/** Where the secrets of providers come from, and the address of the sandbox. */
export type ProviderSources = Pick<CatalogOptions, 'masterKey' | 'sandboxUrl'> & {
  readonly declaredSecrets: ReadonlyMap<string, string | undefined>
}

export function providerOf(row: Row, { masterKey, sandboxUrl, declaredSecrets }: ProviderSources): Provider {
  const id = row['id'] as string
  const preset = row['preset'] as string
  const stored = row['base_url'] as string
  // The built-in sandbox listens on this machine, at the port that this start chose.
  const isBuiltIn = stored === '' && preset === SANDBOX_PRESET
  const isLocal = isBuiltIn || row['allow_private'] === 1n || isOwnAddress(preset, stored)
  const sealed = row['secret'] as Uint8Array | null
  const secret = sealed ? unseal(masterKey, sealed, sealContext(id, stored)) : undefined
  const declared = row['declared'] === 1n
  return {
    id,
    preset,
    get baseUrl() {
      return isBuiltIn ? (sandboxUrl() ?? '') : stored
    },
    reach: isLocal ? 'private' : 'public',
    secret: declared ? declaredSecrets.get(id) : secret,
    hangUp: (row['hang_up'] ?? undefined) as HangUp | undefined,
    concurrentRequests: row['concurrent_requests'] === null ? undefined : Number(row['concurrent_requests']),
    origin: declared ? 'declared' : 'stored',
    state: stateOf(row),
  }
}

export const offerOf = (row: Row, cost: PriceCard): Offer => ({
  id: row['id'] as string,
  modelId: row['model_id'] as string,
  providerId: row['provider_id'] as string,
  upstreamModel: row['upstream_model'] as string,
  priority: Number(row['priority']),
  weight: Number(row['weight']),
  contextTokens: row['context_tokens'] === null ? undefined : Number(row['context_tokens']),
  cost,
  state: stateOf(row),
})

/** What the row of a model does not have. */
type ModelParts = Pick<Model, 'sale' | 'offers' | 'aliases'> & {
  /** Whether a vendor's key brings a model of this id. */
  readonly isBrought: boolean
  /** Whether a declared model of this id is for the first account alone. */
  readonly isReserved: boolean
}

export function modelOf(row: Row, { sale, offers, aliases, isBrought, isReserved }: ModelParts): Model {
  const isDeclared = row['declared'] === 1n
  const limits = { ...defaultModelLimits, ...(JSON.parse(row['limits'] as string) as Partial<ModelLimits>) }
  return {
    id: row['id'] as string,
    ownedBy: row['owned_by'] as string,
    createdAtMs: Number(row['created_at']),
    kind: row['kind'] as ModelKind,
    limits,
    rates: ratesOf(limits),
    origin: !isDeclared ? 'stored' : isBrought ? 'environment' : 'declared',
    sale,
    offers,
    audience: isDeclared && isReserved ? 'first_account' : undefined,
    aliases,
  }
}

export const aliasOf = (row: Row): Alias => ({
  id: row['id'] as string,
  modelId: row['model_id'] as string,
  origin: row['declared'] === 1n ? 'declared' : 'stored',
})

const stateOf = (row: Row): ProviderState => (row['drained_at'] === null ? 'serving' : 'drained')
