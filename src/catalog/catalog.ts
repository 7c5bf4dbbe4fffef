/**
 * Providers, models, offers and prices: the port that every store of them implements, and the rules that they share.
 * `sqlite-catalog.ts` implements it on SQLite. `catalog-contract.ts` is the suite that every implementation passes.
 *
 * Invariants:
 * - Reads come from memory, in the tick of the call. A change shows once its promise resolves, whole or not at all.
 * - A price card never changes. A changed price is a new card with a later date.
 * - What is declared follows the declaration at every start. What is stored stays until it is removed.
 * - A stored secret is sealed to the origin of its provider. A declared secret is not stored.
 */
import type { Model, ModelDraft, OfferDraft, Provider, ProviderDraft, ProviderState } from '../domain/catalog.ts'
import type { PriceCard } from '../domain/price.ts'
import { findPreset } from '../vendors/presets.ts'
import type { DatedCard } from './cards.ts'

/** Changes reject with an Error where the store refuses them; nothing changes then. */
export type Catalog = {
  /** The models that are priced, the oldest first. A model may have no offer. */
  models(): readonly Model[]
  model(id: string): Model | undefined
  /** In the order of their ids. */
  providers(): readonly Provider[]
  provider(id: string): Provider | undefined
  /** Makes or replaces a stored provider. */
  putProvider(draft: ProviderDraft): Promise<void>
  /** Removes a stored provider and its offers. False when there is none. */
  removeProvider(id: string): Promise<boolean>
  /** A drained provider gets no new requests; what runs goes on. Declared ones can be drained, too. */
  setProviderState(id: string, state: ProviderState): Promise<void>
  /** Makes or replaces a stored model with its offers; a changed price becomes a new dated card. */
  putModel(draft: ModelDraft): Promise<void>
  /** All of them or none. Rejects where an offer names no provider. */
  putModels(drafts: readonly ModelDraft[]): Promise<void>
  /** False when there is none. */
  removeModel(id: string): Promise<boolean>
  /** Every card the model and its offers ever had, the newest first. */
  priceHistory(modelId: string): Promise<readonly DatedCard[]>
  /** A card by its id, in force or not. */
  card(id: number): Promise<PriceCard | undefined>
}

export type CatalogOptions = {
  /** Seals the stored credentials. */
  readonly masterKey: Uint8Array
  /** Where the built-in sandbox listens, if it runs: a new thread of it may have a new port. */
  readonly sandboxUrl: () => string | undefined
  readonly declared: {
    readonly providers: readonly ProviderDraft[]
    readonly models: readonly ModelDraft[]
    /** Models that vendors' keys bring: a stored model of the same id comes first. */
    readonly vendorModels: readonly ModelDraft[]
    /** Those of `models` that are the first account's alone once there is a vendor beside the sandbox. */
    readonly reserved?: readonly string[]
  }
}

/** The preset of the sandbox. A provider of it without an address is the one that is built in. */
export const SANDBOX_PRESET = 'sandbox'

/** The address of a provider, without a trailing slash; the preset's where the draft has none. */
export const providerBaseUrl = ({ baseUrl, preset }: ProviderDraft): string =>
  (baseUrl ?? findPreset(preset)?.baseUrl ?? '').replace(/\/+$/, '')

/** What a secret is sealed to: a provider, and the origin of its address. */
export function sealContext(providerId: string, baseUrl: string): string {
  return `provider|${providerId}|${baseUrl === '' ? '' : new URL(baseUrl).origin}`
}

export const offerId = (
  modelId: string,
  { providerId, upstreamModel }: Pick<OfferDraft, 'providerId' | 'upstreamModel'>,
) => `${modelId}@${providerId}/${upstreamModel}`

/** The models that a declaration makes: a vendor's model gives way to a stored one of its id. */
export const declaredModels = (
  { models, vendorModels }: Pick<CatalogOptions['declared'], 'models' | 'vendorModels'>,
  known: (id: string) => Model | undefined,
): readonly ModelDraft[] => [...models, ...vendorModels.filter(({ id }) => known(id)?.origin !== 'stored')]
