/**
 * Providers, models, offers and prices. The whole catalogue is in memory and rebuilt from the store after a change:
 * changes are rare, reads are every request.
 */
import {
  defaultModelLimits,
  type HangUp,
  type Model,
  type ModelDraft,
  type ModelKind,
  type ModelLimits,
  type Offer,
  type Provider,
  type ProviderDraft,
} from '../domain/catalog.ts'
import type { PriceCard, UnitPrices } from '../domain/price.ts'
import type { UsageBucket } from '../domain/usage.ts'
import { seal, unseal } from '../lib/seal.ts'
import { findPreset, isOwnAddress } from '../providers/presets.ts'
import { type Row, type Step } from '../store/statement.ts'
import { mustWrite, type Store } from '../store/store.ts'
import * as sql from './statements.ts'

export type Catalog = {
  /** Models that can be routed: priced, with at least one offer. */
  models(): readonly Model[]
  model(id: string): Model | undefined
  providers(): readonly Provider[]
  provider(id: string): Provider | undefined
  /** Makes or replaces a stored provider. */
  putProvider(draft: ProviderDraft): Promise<void>
  /** Removes a stored provider and its offers. False when there is none. */
  removeProvider(id: string): Promise<boolean>
  /** Makes or replaces a stored model with its offers; a changed price becomes a new dated card. */
  putModel(draft: ModelDraft): Promise<void>
  removeModel(id: string): Promise<boolean>
}

export type CatalogOptions = {
  /** Seals the stored credentials. */
  readonly masterKey: Uint8Array
  /** Where the built-in sandbox listens, if it runs. */
  readonly sandboxUrl: string | undefined
  readonly declared: { readonly providers: readonly ProviderDraft[]; readonly models: readonly ModelDraft[] }
}

const originOf = (baseUrl: string): string => (baseUrl === '' ? '' : new URL(baseUrl).origin)

/** Loads the catalogue and applies what is declared: declared things missing from the declaration are withdrawn. */
export async function openCatalog(store: Store, options: CatalogOptions): Promise<Catalog> {
  const book = new CatalogBook(store, options)
  await book.reload()
  await book.applyDeclared()
  return book
}

type Cards = ReadonlyMap<string, PriceCard>

class CatalogBook implements Catalog {
  private readonly store: Store
  private readonly options: CatalogOptions
  private readonly declaredSecrets: ReadonlyMap<string, string | undefined>
  private modelsById = new Map<string, Model>()
  private providersById = new Map<string, Provider>()
  private cards: Cards = new Map()

  constructor(store: Store, options: CatalogOptions) {
    this.store = store
    this.options = options
    this.declaredSecrets = new Map(options.declared.providers.map(({ id, secret }) => [id, secret]))
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

  async putModel(draft: ModelDraft): Promise<void> {
    await this.change(this.modelSteps(draft, 0))
  }

  async removeModel(id: string): Promise<boolean> {
    if (!this.modelsById.has(id)) return false
    await this.change([{ run: sql.withdrawModel, bind: [Date.now(), id], changes: 1 }])
    return true
  }

  async applyDeclared(): Promise<void> {
    const { providers, models } = this.options.declared
    const nowMs = Date.now()
    await this.change([
      { run: sql.withdrawDeclaredModels, bind: [nowMs, JSON.stringify(models.map(({ id }) => id))] },
      { run: sql.withdrawDeclaredProviders, bind: [nowMs, JSON.stringify(providers.map(({ id }) => id))] },
      ...providers.map((provider) => this.providerStep(provider, 1)),
      ...models.flatMap((model) => this.modelSteps(model, 1, nowMs)),
    ])
  }

  private async change(steps: readonly Step[]): Promise<void> {
    await mustWrite(this.store, steps)
    await this.reload()
  }

  private providerStep(draft: ProviderDraft, declared: 0 | 1): Step {
    const baseUrl = (draft.baseUrl ?? findPreset(draft.preset)?.baseUrl ?? '').replace(/\/+$/, '')
    const origin = originOf(baseUrl)
    // A declared secret stays where it was declared. A stored one is sealed to the origin it may be sent to.
    const secret =
      declared || !draft.secret ? null : seal(this.options.masterKey, draft.secret, context(draft.id, origin))
    const allowPrivate = draft.reach === 'private' ? 1 : 0
    const bind = [draft.id, draft.preset, baseUrl, allowPrivate, secret, draft.hangUp ?? null, declared, Date.now()]
    return { run: sql.upsertProvider, bind }
  }

  private modelSteps(draft: ModelDraft, declared: 0 | 1, nowMs = Date.now()): Step[] {
    const ownedBy = draft.ownedBy ?? draft.offers[0]?.providerId ?? 'tollgate'
    return [
      {
        run: sql.upsertModel,
        bind: [draft.id, ownedBy, draft.kind ?? 'text', JSON.stringify(draft.limits), declared, nowMs],
      },
      { run: sql.withdrawOffers, bind: [nowMs, draft.id] },
      ...this.priceSteps('model', draft.id, draft.price),
      ...draft.offers.flatMap(({ providerId, upstreamModel, priority, weight, cost }) => {
        const id = `${draft.id}@${providerId}/${upstreamModel}`
        const bind = [id, draft.id, providerId, upstreamModel, priority, weight]
        return [{ run: sql.upsertOffer, bind }, ...this.priceSteps('offer', id, cost)]
      }),
    ]
  }

  /** A new dated card, unless the current one says the same. */
  private priceSteps(subject: 'model' | 'offer', id: string, prices: UnitPrices): Step[] {
    const current = this.cards.get(`${subject}:${id}`)?.nanoPerMillion
    if (current && isSame(current, prices)) return []
    return [
      { run: sql.insertCard, bind: [subject, id, Date.now()] },
      ...Object.entries(prices).map(([unit, price]) => ({ run: sql.insertPrice, bind: [subject, id, unit, price] })),
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
    this.providersById = new Map(providers.map((row) => [row['id'] as string, this.providerOf(row)]))
    const offersOf = Map.groupBy(
      offers.flatMap((row) => this.offerOf(row) ?? []),
      ({ modelId }) => modelId,
    )
    this.modelsById = new Map()
    for (const row of models) {
      const sale = cards.get(`model:${String(row['id'])}`)
      // A model without a price cannot be routed: it would be served for nothing.
      if (sale) this.modelsById.set(row['id'] as string, modelOf(row, sale, offersOf.get(row['id'] as string) ?? []))
    }
  }

  private providerOf(row: Row): Provider {
    const id = row['id'] as string
    const preset = row['preset'] as string
    const stored = row['base_url'] as string
    // The built-in sandbox: it listens on this machine, wherever the start of the server put it.
    const isBuiltIn = stored === '' && preset === 'sandbox'
    const isLocal = isBuiltIn || row['allow_private'] === 1n || isOwnAddress(preset, stored)
    const sealed = row['secret'] as Uint8Array | null
    const secret = sealed ? unseal(this.options.masterKey, sealed, context(id, originOf(stored))) : undefined
    const declared = row['declared'] === 1n
    return {
      id,
      preset,
      baseUrl: isBuiltIn ? (this.options.sandboxUrl ?? '') : stored,
      reach: isLocal ? 'private' : 'public',
      secret: declared ? this.declaredSecrets.get(id) : secret,
      hangUp: (row['hang_up'] ?? undefined) as HangUp | undefined,
      origin: declared ? 'declared' : 'stored',
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
        cost,
      }
    )
  }
}

const context = (providerId: string, origin: string): string => `provider|${providerId}|${origin}`

const modelOf = (row: Row, sale: PriceCard, offers: readonly Offer[]): Model => ({
  id: row['id'] as string,
  ownedBy: row['owned_by'] as string,
  createdAtMs: Number(row['created_at']),
  kind: row['kind'] as ModelKind,
  limits: { ...defaultModelLimits, ...(JSON.parse(row['limits'] as string) as Partial<ModelLimits>) },
  origin: row['declared'] === 1n ? 'declared' : 'stored',
  sale,
  offers,
})

/** Cards of before images had prices of their own. */
function withImages(prices: Partial<Record<UsageBucket, bigint>>): void {
  prices.inputImage ??= prices.inputFresh ?? 0n
  prices.outputImage ??= prices.outputText ?? 0n
}

function isSame(a: UnitPrices, b: UnitPrices): boolean {
  const [one, other] = [a, b].map((prices) => new Map(Object.entries(prices)))
  return one?.size === other?.size && [...(one ?? [])].every(([unit, price]) => other?.get(unit) === price)
}

/** The card in force of every model and offer, by `subject:id`. */
async function loadCards(store: Store, nowMs: number): Promise<Cards> {
  const cards = new Map<string, PriceCard>()
  for (const row of await store.query(sql.selectCurrentPrices, [nowMs])) {
    const subject = `${String(row['subject'])}:${String(row['subject_id'])}`
    const card = cards.get(subject)
    const nanoPerMillion = (card?.nanoPerMillion ?? {}) as Record<UsageBucket, bigint>
    nanoPerMillion[row['unit'] as UsageBucket] = row['nano_per_million'] as bigint
    const effectiveFromMs = Number(row['effective_from'])
    if (!card) cards.set(subject, { id: Number(row['id']), effectiveFromMs, nanoPerMillion })
  }
  for (const { nanoPerMillion } of cards.values()) withImages(nanoPerMillion)
  return cards
}
