/**
 * The catalogue on SQLite. All of it is in memory, and is rebuilt from the store after a change. Changes are rare, and
 * every request reads it.
 */
import type {
  HangUp,
  Model,
  ModelDraft,
  ModelKind,
  Offer,
  Provider,
  ProviderDraft,
  ProviderState,
} from '../domain/catalog.ts'
import { defaultModelLimits, type ModelLimits } from '../domain/model-limits.ts'
import type { PriceCard, PriceTier, UnitPrices } from '../domain/price.ts'
import { seal, unseal } from '../lib/primitives/seal.ts'
import { type Row, type WriteStep } from '../store/statement.ts'
import { mustWrite, type Store } from '../store/store.ts'
import { isOwnAddress } from '../vendors/presets.ts'
import { priceRows, readCards, saysSame, type DatedCard } from './cards.ts'
import {
  providerBaseUrl,
  declaredModels,
  offerId,
  SANDBOX_PRESET,
  sealContext,
  type Catalog,
  type CatalogOptions,
} from './catalog.ts'
import * as sql from './statements.ts'

/**
 * Loads the catalogue and, with `applies`, applies the declaration. Declared objects that left it are then withdrawn.
 */
export async function openSqliteCatalog(store: Store, options: CatalogOptions): Promise<Catalog> {
  const catalog = new SqliteCatalog(store, options)
  await catalog.reload()
  if (options.applies) await catalog.applyDeclared()
  return catalog
}

type Prices = { readonly prices: UnitPrices; readonly tiers: readonly PriceTier[] | undefined }
type Cards = ReadonlyMap<string, PriceCard>

class SqliteCatalog implements Catalog {
  private readonly store: Store
  private readonly options: CatalogOptions
  private readonly declaredSecrets: ReadonlyMap<string, string | undefined>
  private readonly vendorModelIds: ReadonlySet<string>
  private readonly reservedIds: ReadonlySet<string>
  private modelsById = new Map<string, Model>()
  private providersById = new Map<string, Provider>()
  private cards: Cards = new Map()
  /** Whether there is a vendor beside the built-in sandbox. */
  private hasVendor = false

  constructor(store: Store, options: CatalogOptions) {
    this.store = store
    this.options = options
    this.declaredSecrets = new Map(options.declared.providers.map(({ id, secret }) => [id, secret]))
    this.reservedIds = new Set(options.declared.reserved)
    this.vendorModelIds = new Set(options.declared.vendorModels.map(({ id }) => id))
  }

  models(): readonly Model[] {
    return [...this.modelsById.values()]
  }

  model(id: string): Model | undefined {
    return this.modelsById.get(id)
  }

  providers(): readonly Provider[] {
    return [...this.providersById.values()]
  }

  provider(id: string): Provider | undefined {
    return this.providersById.get(id)
  }

  async putProvider(draft: ProviderDraft): Promise<void> {
    await this.change([this.providerStep(draft, 0)])
  }

  async removeProvider(id: string): Promise<boolean> {
    if (!this.providersById.has(id)) return false
    await this.change([
      { run: sql.withdrawOffersOfProvider, bind: [Date.now(), id] },
      { run: sql.withdrawProvider, bind: [Date.now(), id], changes: 1 },
    ])
    return true
  }

  async setProviderState(id: string, state: ProviderState): Promise<void> {
    await this.change([{ run: sql.drainProvider, bind: [state === 'drained' ? Date.now() : null, id], changes: 1 }])
  }

  async putModel(draft: ModelDraft): Promise<void> {
    await this.putModels([draft])
  }

  async putModels(drafts: readonly ModelDraft[]): Promise<void> {
    await this.change(drafts.flatMap((draft) => this.modelSteps(draft, 0)))
  }

  async removeModel(id: string): Promise<boolean> {
    if (!this.modelsById.has(id)) return false
    await this.change([{ run: sql.withdrawModel, bind: [Date.now(), id], changes: 1 }])
    return true
  }

  async priceHistory(modelId: string): Promise<readonly DatedCard[]> {
    return readCards(await this.store.query(sql.selectPriceHistory, [modelId]))
  }

  async card(id: number): Promise<PriceCard | undefined> {
    return readCards(await this.store.query(sql.selectCard, [id]))[0]?.card
  }

  async applyDeclared(): Promise<void> {
    const { providers, models: declared, vendorModels } = this.options.declared
    const models = declaredModels({ models: declared, vendorModels }, (id) => this.modelsById.get(id))
    const nowMs = Date.now()
    await this.change([
      { run: sql.withdrawDeclaredModels, bind: [nowMs, JSON.stringify(models.map(({ id }) => id))] },
      { run: sql.withdrawDeclaredProviders, bind: [nowMs, JSON.stringify(providers.map(({ id }) => id))] },
      ...providers.map((provider) => this.providerStep(provider, 1)),
      ...models.flatMap((model) => this.modelSteps(model, 1, nowMs)),
    ])
  }

  private async change(steps: readonly WriteStep[]): Promise<void> {
    await mustWrite(this.store, steps)
    await this.reload()
  }

  private providerStep(draft: ProviderDraft, declared: 0 | 1): WriteStep {
    const baseUrl = providerBaseUrl(draft)
    // A declared secret stays in the declaration. A stored one is sealed to the origin that it may be sent to.
    const secret =
      declared || !draft.secret ? null : seal(this.options.masterKey, draft.secret, sealContext(draft.id, baseUrl))
    const allowPrivate = draft.reach === 'private' ? 1 : 0
    const { id, preset, hangUp = null, concurrentRequests = null } = draft
    const place = [id, preset, baseUrl, allowPrivate, secret]
    return { run: sql.upsertProvider, bind: [...place, hangUp, concurrentRequests, declared, Date.now()] }
  }

  private modelSteps(draft: ModelDraft, declared: 0 | 1, nowMs = Date.now()): WriteStep[] {
    const ownedBy = draft.ownedBy ?? draft.offers[0]?.providerId ?? 'tollgate'
    return [
      {
        run: sql.upsertModel,
        bind: [draft.id, ownedBy, draft.kind ?? 'text', JSON.stringify(draft.limits), declared, nowMs],
      },
      { run: sql.withdrawOffers, bind: [nowMs, draft.id] },
      ...this.priceSteps('model', draft.id, { prices: draft.price, tiers: draft.priceTiers }),
      ...draft.offers.flatMap(({ providerId, upstreamModel, priority, weight, contextTokens, cost, costTiers }) => {
        const id = offerId(draft.id, { providerId, upstreamModel })
        const bind = [id, draft.id, providerId, upstreamModel, priority, weight, contextTokens ?? null]
        return [{ run: sql.upsertOffer, bind }, ...this.priceSteps('offer', id, { prices: cost, tiers: costTiers })]
      }),
    ]
  }

  /** Steps for a new dated card, if it differs from the current one. */
  private priceSteps(subject: 'model' | 'offer', id: string, { prices, tiers }: Prices): WriteStep[] {
    const current = this.cards.get(`${subject}:${id}`)
    if (current && saysSame(current, prices, tiers)) return []
    return [
      { run: sql.insertCard, bind: [subject, id, Date.now()] },
      ...priceRows(prices, tiers).map((row) => ({ run: sql.insertPrice, bind: [subject, id, ...row] })),
    ]
  }

  async reload(): Promise<void> {
    const [cards, providers, models, offers] = await Promise.all([
      loadCards(this.store, Date.now()),
      this.store.query(sql.selectProviders),
      this.store.query(sql.selectModels),
      this.store.query(sql.selectOffers),
    ])
    this.cards = cards
    this.hasVendor = providers.some((row) => row['preset'] !== SANDBOX_PRESET)
    this.providersById = new Map(providers.map((row) => [row['id'] as string, this.providerOf(row)]))
    const offersOf = Map.groupBy(
      offers.flatMap((row) => this.offerOf(row) ?? []),
      ({ modelId }) => modelId,
    )
    this.modelsById = new Map()
    for (const row of models) {
      const sale = cards.get(`model:${String(row['id'])}`)
      // A model without a price is left out, because it would be served for free.
      if (sale)
        this.modelsById.set(row['id'] as string, this.modelOf(row, sale, offersOf.get(row['id'] as string) ?? []))
    }
  }

  private providerOf(row: Row): Provider {
    const id = row['id'] as string
    const preset = row['preset'] as string
    const stored = row['base_url'] as string
    // The built-in sandbox listens on this machine, at the port that this start chose.
    const isBuiltIn = stored === '' && preset === SANDBOX_PRESET
    const isLocal = isBuiltIn || row['allow_private'] === 1n || isOwnAddress(preset, stored)
    const sealed = row['secret'] as Uint8Array | null
    const secret = sealed ? unseal(this.options.masterKey, sealed, sealContext(id, stored)) : undefined
    const declared = row['declared'] === 1n
    const { sandboxUrl } = this.options
    return {
      id,
      preset,
      get baseUrl() {
        return isBuiltIn ? (sandboxUrl() ?? '') : stored
      },
      reach: isLocal ? 'private' : 'public',
      secret: declared ? this.declaredSecrets.get(id) : secret,
      hangUp: (row['hang_up'] ?? undefined) as HangUp | undefined,
      concurrentRequests: row['concurrent_requests'] === null ? undefined : Number(row['concurrent_requests']),
      origin: declared ? 'declared' : 'stored',
      state: stateOf(row),
    }
  }

  private offerOf(row: Row): Offer | undefined {
    const id = row['id'] as string
    const cost = this.cards.get(`offer:${id}`)
    return (
      cost && {
        id,
        modelId: row['model_id'] as string,
        providerId: row['provider_id'] as string,
        upstreamModel: row['upstream_model'] as string,
        priority: Number(row['priority']),
        weight: Number(row['weight']),
        contextTokens: row['context_tokens'] === null ? undefined : Number(row['context_tokens']),
        cost,
        state: stateOf(row),
      }
    )
  }

  private modelOf(row: Row, sale: PriceCard, offers: readonly Offer[]): Model {
    const id = row['id'] as string
    const declared = this.vendorModelIds.has(id) ? 'environment' : 'declared'
    return {
      id,
      ownedBy: row['owned_by'] as string,
      createdAtMs: Number(row['created_at']),
      kind: row['kind'] as ModelKind,
      limits: { ...defaultModelLimits, ...(JSON.parse(row['limits'] as string) as Partial<ModelLimits>) },
      origin: row['declared'] === 1n ? declared : 'stored',
      sale,
      offers,
      audience: row['declared'] === 1n && this.isReserved(id) ? 'first_account' : undefined,
    }
  }

  private isReserved(modelId: string): boolean {
    return this.reservedIds.has(modelId) && this.hasVendor
  }
}

const stateOf = (row: Row): ProviderState => (row['drained_at'] === null ? 'serving' : 'drained')

/** The current card of every model and offer, by `subject:id`. */
async function loadCards(store: Store, nowMs: number): Promise<Cards> {
  const cards = readCards(await store.query(sql.selectCurrentPrices, [nowMs]))
  return new Map(cards.map(({ subject, subjectId, card }) => [`${subject}:${subjectId}`, card]))
}
