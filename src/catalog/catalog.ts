/**
 * Providers, models, offers and prices: the port that every store of them implements, and the rules that stores share.
 * `sql-catalog.ts` implements it for both stores. `catalog-contract.ts` is the suite of every implementation.
 *
 * Invariants:
 * - Reads come from memory, in the tick of the call. A change is visible once its promise resolves, whole or not at
 *   all.
 * - A price card never changes. A changed price is a new card with a later date.
 * - Declared objects follow the declaration that was applied last. Stored objects stay until they are removed.
 * - A name stands for one model. The id of a model comes before an alias of that name.
 * - A stored secret is sealed to the origin of its provider. A declared secret is not stored.
 */
import type {
  Alias,
  AliasDraft,
  Model,
  ModelDraft,
  OfferDraft,
  Provider,
  ProviderDraft,
  ProviderState,
} from '../domain/catalog.ts'
import type { ProxyAddress } from '../domain/egress.ts'
import type { PriceCard } from '../domain/price.ts'
import { findPreset } from '../vendors/presets.ts'
import type { AccountPrice, AccountPriceDraft } from './account-prices.ts'
import type { DatedCard } from './cards.ts'

/** What becomes of the other prices of an account when some are set. */
export type OtherPrices = 'stay' | 'end'

/** A change rejects with an Error if the store refuses it. Nothing changes then. */
export type Catalog = {
  /** The models that have a price, oldest first. A model may have no offer. */
  models(): readonly Model[]
  model(id: string): Model | undefined
  /** The model with this id, or the one that an alias of this name stands for. */
  modelNamed(name: string): Model | undefined
  /** In the order of their ids. The model of an alias may be missing. */
  aliases(): readonly Alias[]
  alias(id: string): Alias | undefined
  /** Whether any model has an answer cache. */
  readonly cachesAnswers: boolean
  /** In the order of their ids. */
  providers(): readonly Provider[]
  provider(id: string): Provider | undefined
  /**
   * Runs work that reads the catalogue and then changes what it has read. It runs after the work before, so that none
   * undoes what another has changed. It runs again if `putProvider` finds that another instance was faster.
   */
  inTurn<T>(work: () => Promise<T>): Promise<T>
  /** Makes or replaces a stored provider. Rejects if the provider is no longer as in `before`, which is from memory. */
  putProvider(draft: ProviderDraft, before?: Provider): Promise<void>
  /** Removes a stored provider and its offers. Resolves to false if there is none. */
  removeProvider(id: string): Promise<boolean>
  /** Sets the state. A drained provider gets no new requests and finishes those in flight. It may be a declared one. */
  setProviderState(id: string, state: ProviderState): Promise<void>
  /** Makes or replaces a stored model with its offers. A changed price becomes a new dated card. */
  putModel(draft: ModelDraft): Promise<void>
  /** Puts all models or none. Rejects if an offer names an unknown provider. */
  putModels(drafts: readonly ModelDraft[]): Promise<void>
  /** Resolves to false if there is no such model. */
  removeModel(id: string): Promise<boolean>
  /** Makes a stored alias or points it elsewhere. */
  putAlias(draft: AliasDraft): Promise<void>
  /** Resolves to false if there is no such alias. */
  removeAlias(id: string): Promise<boolean>
  /** All cards that the model and its offers ever had, newest first. */
  priceHistory(modelId: string): Promise<readonly DatedCard[]>
  /** A card by its id, in force or not. */
  card(id: number): Promise<PriceCard | undefined>
  /** The model with what an account pays for it: its sale card is the account's own, or is at the account's factor. */
  priced(model: Model, accountId: string): Model
  /** The prices in force of an account, or of all accounts. Accounts without an entry pay the models' prices. */
  accountPrices(accountId?: string): readonly AccountPrice[]
  /** All prices that the account ever had, newest first. */
  accountPriceHistory(accountId: string): Promise<readonly AccountPrice[]>
  /** Sets prices of a stored account, all or none. A changed price becomes a new dated entry. */
  putAccountPrices(accountId: string, drafts: readonly AccountPriceDraft[], others: OtherPrices): Promise<void>
}

export type CatalogOptions = {
  /** Seals stored credentials. */
  readonly masterKey: Uint8Array
  /** The address of the built-in sandbox, if it runs. A new thread of it may have a new port. */
  readonly sandboxUrl: () => string | undefined
  /** Whether the declaration is applied now. Otherwise only its secrets are used. */
  readonly applies: boolean
  readonly declared: {
    readonly providers: readonly ProviderDraft[]
    readonly models: readonly ModelDraft[]
    /** Models that vendors' keys bring. A stored model of the same id replaces them. */
    readonly vendorModels: readonly ModelDraft[]
    readonly aliases?: readonly AliasDraft[]
    /** Those of `models` that only the first account may use once there is a vendor beside the sandbox. */
    readonly reserved?: readonly string[]
  }
}

/** The preset of the sandbox. A provider with this preset and no address is the built-in sandbox. */
export const SANDBOX_PRESET = 'sandbox'

/** The address of a provider, without a trailing slash. A draft without an address has that of its preset. */
export const providerBaseUrl = ({ baseUrl, preset }: ProviderDraft): string =>
  (baseUrl ?? findPreset(preset)?.baseUrl ?? '').replace(/\/+$/, '')

/** The part of a provider's options that is no secret. It decides who else can read what is sent. */
export type StoredEgress = {
  readonly proxy?: Omit<ProxyAddress, 'secret'> | 'direct' | undefined
  readonly ca?: string | undefined
}

/**
 * The context that a secret is sealed to: a provider, the origin of its address, and whoever else can read the secret
 * on its way there. That is the holder of an authority of its own, and then, or without TLS, its proxy.
 */
export function sealContext(providerId: string, baseUrl: string, { proxy, ca }: StoredEgress = {}): string {
  const origin = baseUrl === '' ? '' : new URL(baseUrl).origin
  const own = `provider|${providerId}|${origin}`
  const authority = ca === undefined ? '' : `|ca:${new Bun.CryptoHasher('sha256').update(ca).digest('hex')}`
  const isReadable = ca !== undefined || origin.startsWith('http:')
  const way = isReadable && typeof proxy === 'object' ? `|proxy:${proxy.scheme}://${proxy.hostname}:${proxy.port}` : ''
  return own + authority + way
}

export const offerId = (
  modelId: string,
  { providerId, upstreamModel }: Pick<OfferDraft, 'providerId' | 'upstreamModel'>,
) => `${modelId}@${providerId}/${upstreamModel}`

/** The models of a declaration. A stored model or alias replaces a vendor's model of the same id. */
export const declaredModels = (
  { models, vendorModels }: Pick<CatalogOptions['declared'], 'models' | 'vendorModels'>,
  known: Pick<Catalog, 'model' | 'alias'>,
): readonly ModelDraft[] => [
  ...models,
  ...vendorModels.filter(({ id }) => known.model(id)?.origin !== 'stored' && known.alias(id)?.origin !== 'stored'),
]
