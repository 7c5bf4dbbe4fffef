/**
 * The catalogue in SQL. All of it is in memory, and is rebuilt from the store after a change. Changes are rare, and
 * every request reads it. Over 300 lines: one class keeps it together, as each change replaces all of it.
 */
import type { Alias, AliasDraft, Model, ModelDraft, Provider, ProviderDraft, ProviderState } from '../domain/catalog.ts'
import type { PriceCard } from '../domain/price.ts'
import type { ChangeWatcher } from '../store/change-log.ts'
import type { Row, WriteStep } from '../store/statement.ts'
import type { Store } from '../store/store.ts'
import { AccountPrices, accountSubject, readAccountPrices } from './account-prices.ts'
import type { AccountPrice, AccountPriceDraft } from './account-prices.ts'
import { readCards, type DatedCard } from './cards.ts'
import { aliasOf, modelOf, offerOf } from './catalog-rows.ts'
import {
  declaredModels,
  offerId,
  SANDBOX_PRESET,
  type Catalog,
  type CatalogOptions,
  type OtherPrices,
} from './catalog.ts'
import { accountPriceSteps, cardSteps, type DraftPrices } from './price-steps.ts'
import { providerOf, providerStep, sameProviderStep, type ProviderRowContext } from './provider-rows.ts'
import * as sql from './statements.ts'

/** How often a change starts again because another instance was faster. */
const TRIES_MAX = 5

/** `reload` resolves once everything that was written before the call is in memory. */
export type LoadedCatalog = Catalog & { reload(): Promise<void> }

/**
 * Loads the catalogue and, with `applies`, applies the declaration. Declared objects that left it are then withdrawn.
 */
export async function openSqlCatalog(store: Store, options: CatalogOptions): Promise<LoadedCatalog> {
  const catalog = new SqlCatalog(store, options)
  await store.changes.watch(catalog)
  if (options.applies) await catalog.applyDeclared()
  return catalog
}

/** The current card of every model and offer, by `subject:id`. */
type Cards = ReadonlyMap<string, PriceCard>

/** What a change was made from is no longer in the store. It is in memory now. */
class OutdatedError extends Error {}

class SqlCatalog implements Catalog, ChangeWatcher {
  readonly kind = 'catalog'
  private readonly store: Store
  private readonly options: CatalogOptions
  private readonly rows: ProviderRowContext
  private readonly vendorModelIds: ReadonlySet<string>
  private readonly reservedIds: ReadonlySet<string>
  cachesAnswers = false
  private modelsById = new Map<string, Model>()
  /** Also by their aliases. */
  private modelsByName = new Map<string, Model>()
  private aliasesById = new Map<string, Alias>()
  private providersById = new Map<string, Provider>()
  private cards: Cards = new Map()
  private ofAccounts = new AccountPrices([])
  /** The rows of the providers in memory. */
  private rowsOf = new WeakMap<Provider, Row>()
  private loading: Promise<void> = Promise.resolve()
  private turn: Promise<unknown> = Promise.resolve()

  constructor(store: Store, options: CatalogOptions) {
    this.store = store
    this.options = options
    const declared = new Map(options.declared.providers.map((draft) => [draft.id, draft]))
    this.rows = { masterKey: options.masterKey, sandboxUrl: options.sandboxUrl, declared }
    this.reservedIds = new Set(options.declared.reserved)
    this.vendorModelIds = new Set(options.declared.vendorModels.map(({ id }) => id))
  }

  models(): readonly Model[] {
    return [...this.modelsById.values()]
  }

  model(id: string): Model | undefined {
    return this.modelsById.get(id)
  }

  modelNamed(name: string): Model | undefined {
    return this.modelsByName.get(name)
  }

  aliases(): readonly Alias[] {
    return [...this.aliasesById.values()]
  }

  alias(id: string): Alias | undefined {
    return this.aliasesById.get(id)
  }

  providers(): readonly Provider[] {
    return [...this.providersById.values()]
  }

  provider(id: string): Provider | undefined {
    return this.providersById.get(id)
  }

  inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.turn.then(async () => {
      for (let triesLeft = TRIES_MAX; ; triesLeft--) {
        try {
          return await work()
        } catch (error) {
          if (!(error instanceof OutdatedError) || triesLeft === 1) throw error
        }
      }
    })
    this.turn = turn.catch(() => undefined)
    return turn
  }

  async putProvider(draft: ProviderDraft, before?: Provider): Promise<void> {
    const row = before && this.rowsOf.get(before)
    const guard = row && this.store.changes.isShared ? [sameProviderStep(row)] : []
    await this.change(() => [...guard, providerStep(this.options.masterKey, draft, 0)])
  }

  async removeProvider(id: string): Promise<boolean> {
    if (!this.providersById.has(id)) return false
    await this.change(() => [
      { run: sql.withdrawOffersOfProvider, bind: [Date.now(), id] },
      { run: sql.withdrawProvider, bind: [Date.now(), id], changes: 1 },
    ])
    return true
  }

  async setProviderState(id: string, state: ProviderState): Promise<void> {
    await this.change(() => [
      { run: sql.drainProvider, bind: [state === 'drained' ? Date.now() : null, id], changes: 1 },
    ])
  }

  async putModel(draft: ModelDraft): Promise<void> {
    await this.putModels([draft])
  }

  async putModels(drafts: readonly ModelDraft[]): Promise<void> {
    // In one order, so that two instances never wait for each other's models.
    const ordered = drafts.toSorted((a, b) => (a.id < b.id ? -1 : 1))
    await this.change(() => ordered.flatMap((draft) => this.modelSteps(draft, 0)))
  }

  async removeModel(id: string): Promise<boolean> {
    if (!this.modelsById.has(id)) return false
    await this.change(() => [{ run: sql.withdrawModel, bind: [Date.now(), id], changes: 1 }])
    return true
  }

  async putAlias(draft: AliasDraft): Promise<void> {
    await this.change(() => [aliasStep(draft, 0)])
  }

  async removeAlias(id: string): Promise<boolean> {
    if (!this.aliasesById.has(id)) return false
    await this.change(() => [{ run: sql.deleteAlias, bind: [id] }])
    return true
  }

  async priceHistory(modelId: string): Promise<readonly DatedCard[]> {
    return readCards(await this.store.query(sql.selectPriceHistory, [modelId]))
  }

  async card(id: number): Promise<PriceCard | undefined> {
    return readCards(await this.store.query(sql.selectCard, [id]))[0]?.card
  }

  priced(model: Model, accountId: string): Model {
    return this.ofAccounts.priced(model, accountId)
  }

  accountPrices(accountId?: string): readonly AccountPrice[] {
    return this.ofAccounts.list(accountId)
  }

  async accountPriceHistory(accountId: string): Promise<readonly AccountPrice[]> {
    // The subjects of an account begin with its id and a slash, which `0` follows.
    const bounds = [accountSubject(accountId), `${accountId}0`]
    return readAccountPrices(await this.store.query(sql.selectAccountPriceHistory, bounds))
  }

  async putAccountPrices(accountId: string, drafts: readonly AccountPriceDraft[], others: OtherPrices): Promise<void> {
    const { isShared } = this.store.changes
    const stepsOf = (): WriteStep[] => {
      const named = new Set(drafts.map(({ modelId }) => modelId))
      const ended = this.accountPrices(accountId).filter(({ modelId }) => others === 'end' && !named.has(modelId))
      const none = ended.map(({ modelId }) => ({ modelId, value: { kind: 'none' } as const }))
      return [...drafts, ...none].flatMap((draft) => {
        const current = this.ofAccounts.newest.get(accountSubject(accountId, draft.modelId))
        return accountPriceSteps(accountId, draft, { current, isShared })
      })
    }
    // Most declared accounts have no price of their own, and a start must not load the catalogue for each.
    if (stepsOf().length > 0) await this.change(stepsOf)
  }

  async applyDeclared(): Promise<void> {
    const { providers, models: declared, vendorModels, aliases = [] } = this.options.declared
    await this.change(() => {
      const models = declaredModels({ models: declared, vendorModels }, this)
      const nowMs = Date.now()
      return [
        { run: sql.withdrawDeclaredModels, bind: [nowMs, JSON.stringify(models.map(({ id }) => id))] },
        { run: sql.withdrawDeclaredProviders, bind: [nowMs, JSON.stringify(providers.map(({ id }) => id))] },
        ...providers.map((provider) => providerStep(this.options.masterKey, provider, 1)),
        ...models.flatMap((model) => this.modelSteps(model, 1, nowMs)),
        { run: sql.deleteDeclaredAliases, bind: [] },
        ...aliases.map((alias) => aliasStep(alias, 1)),
      ]
    })
  }

  /**
   * Writes a change and reads it. If another instance has changed a price since memory was read, the steps are made
   * again: they compare with prices in memory.
   */
  private async change(stepsOf: () => readonly WriteStep[]): Promise<void> {
    for (let triesLeft = this.store.changes.isShared ? TRIES_MAX : 1; triesLeft > 0; triesLeft--) {
      const steps = [...stepsOf(), ...this.store.changes.announce('catalog', '')]
      const outcome = await this.store.write(steps, this.store.changes.lane)
      await this.reload()
      if (outcome.kind === 'written') return
      const refused = steps[outcome.step]?.run
      if (refused === sql.isSameProvider) throw new OutdatedError('another instance has changed the provider')
      const isOutdated = Object.values(sql.isNewestCard).some((guard) => guard === refused)
      if (!isOutdated || triesLeft === 1) {
        throw new Error(`transaction refused at step ${outcome.step}: ${outcome.reason}`)
      }
    }
  }

  private providerOf(row: Row): Provider {
    const provider = providerOf(row, this.rows)
    this.rowsOf.set(provider, row)
    return provider
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

  private priceSteps(subject: 'model' | 'offer', id: string, wanted: DraftPrices): WriteStep[] {
    const current = this.cards.get(`${subject}:${id}`)
    return cardSteps(subject, id, { ...wanted, current, isShared: this.store.changes.isShared })
  }

  /** Each reload begins after the one before has ended, so that an old state never replaces a newer one. */
  reload(): Promise<void> {
    this.loading = this.loading.catch(() => undefined).then(() => this.load())
    return this.loading
  }

  async load(): Promise<void> {
    const { selectCurrentPrices, selectProviders, selectModels, selectOffers, selectAliases, selectAccountPrices } = sql
    const queries = [
      selectCurrentPrices,
      selectProviders,
      selectModels,
      selectOffers,
      selectAliases,
      selectAccountPrices,
    ]
    const results = await this.store.together(queries.map((text) => ({ sql: text, bind: [] })))
    const [prices = [], providers = [], models = [], offers = [], aliases = [], ofAccounts = []] = results
    this.ofAccounts = new AccountPrices(readAccountPrices(ofAccounts))
    const cards: Cards = new Map(
      readCards(prices).map(({ subject, subjectId, card }) => [`${subject}:${subjectId}`, card]),
    )
    this.cards = cards
    const hasVendor = providers.some((row) => row['preset'] !== SANDBOX_PRESET)
    this.providersById = new Map(providers.map((row) => [row['id'] as string, this.providerOf(row)]))
    const offersOf = Map.groupBy(
      offers.flatMap((row) => {
        const cost = cards.get(`offer:${String(row['id'])}`)
        return cost ? [offerOf(row, cost)] : []
      }),
      ({ modelId }) => modelId,
    )
    // A model without a price is left out, because it would be served for free.
    const sold = models.filter((row) => cards.has(`model:${String(row['id'])}`))
    const ids = new Set(sold.map((row) => row['id']))
    this.aliasesById = new Map(aliases.map((row) => [row['id'] as string, aliasOf(row)]))
    const aliasesOf = Map.groupBy(
      [...this.aliasesById.values()].filter(({ id }) => !ids.has(id)),
      ({ modelId }) => modelId,
    )
    this.modelsById = new Map()
    this.modelsByName = new Map()
    for (const row of sold) {
      const id = row['id'] as string
      const model = modelOf(row, {
        sale: cards.get(`model:${id}`) as PriceCard,
        offers: offersOf.get(id) ?? [],
        aliases: aliasesOf.get(id)?.map((alias) => alias.id),
        isBrought: this.vendorModelIds.has(id),
        isReserved: hasVendor && this.reservedIds.has(id),
      })
      this.modelsById.set(id, model)
      for (const name of [id, ...(model.aliases ?? [])]) this.modelsByName.set(name, model)
    }
    this.cachesAnswers = this.models().some(({ limits }) => limits.answerCacheSeconds !== undefined)
  }
}

const aliasStep = ({ id, modelId }: AliasDraft, declared: 0 | 1): WriteStep => ({
  run: sql.upsertAlias,
  bind: [id, modelId, declared],
})
