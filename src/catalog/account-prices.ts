/**
 * The prices of accounts: a factor of the price of every model or of one, or a card of their own for one model. They
 * are dated like price cards, and are rows of the same tables. The price for one model comes before that for all.
 */
import { paintsInTurn, type Model, type ModelKind } from '../domain/catalog.ts'
import { scaledCard } from '../domain/price-factor.ts'
import type { PriceCard, PriceFactor, PriceTier, UnitPrices } from '../domain/price.ts'
import type { Row } from '../store/statement.ts'
import { readCards } from './cards.ts'

/** What an account pays. `none` ended the price before: the model's own price is in force again. */
export type AccountPriceValue =
  | { readonly kind: 'factor'; readonly factor: PriceFactor }
  /** `soldAs` is the kind of the model for which the card was made. A model of another kind needs other units. */
  | { readonly kind: 'card'; readonly card: PriceCard; readonly soldAs: ModelKind }
  | { readonly kind: 'none' }

export type AccountPrice = {
  /** The id of the dated entry. The card of an account has the same id. */
  readonly id: number
  readonly accountId: string
  /** Undefined: every model that has no price of its own in this account. */
  readonly modelId: string | undefined
  readonly effectiveFromMs: number
  readonly value: AccountPriceValue
}

/** A price to set. `none` ends the one before. */
export type AccountPriceDraft = Pick<AccountPrice, 'modelId'> & {
  readonly value:
    | Extract<AccountPriceValue, { kind: 'factor' | 'none' }>
    | {
        readonly kind: 'card'
        readonly soldAs: ModelKind
        readonly units: UnitPrices
        readonly tiers: readonly PriceTier[]
      }
}

/** The subject of the price: an account and a model, or `acct_…/` for all models. */
export const accountSubject = (accountId: string, modelId = ''): string => `${accountId}/${modelId}`

/** Reads dated entries, in the order of their first rows. */
export function readAccountPrices(rows: readonly Row[]): readonly AccountPrice[] {
  const cards = new Map(readCards(rows.filter((row) => row['tier'] !== null)).map(({ card }) => [card.id, card]))
  const entries = new Map(rows.map((row) => [Number(row['id']), row]))
  return [...entries].map(([id, row]) => {
    const subject = row['subject_id'] as string
    const at = subject.indexOf('/')
    return {
      id,
      accountId: subject.slice(0, at),
      modelId: subject.slice(at + 1) || undefined,
      effectiveFromMs: Number(row['effective_from']),
      value: valueOf(row, cards.get(id)),
    }
  })
}

function valueOf(row: Row, card: PriceCard | undefined): AccountPriceValue {
  const { factor } = row
  if (typeof factor === 'bigint') return { kind: 'factor', factor }
  return card ? { kind: 'card', card, soldAs: row['kind'] as ModelKind } : { kind: 'none' }
}

/** Whether the card of an account sells what the model makes. The model may have changed since the card was made. */
export const sells = ({ card, soldAs }: Extract<AccountPriceValue, { kind: 'card' }>, model: Model): boolean =>
  soldAs === model.kind && (!paintsInTurn(model) || card.nanoPerMillion.outputText > 0n)

/** Makes the model at its price in an account. */
type Pricing = (model: Model) => Model
type OwnPricing = { readonly all: Pricing; readonly models: ReadonlyMap<string, Pricing> }

const asItIs: Pricing = (model) => model

/** The prices in force of all accounts. */
export class AccountPrices {
  /** The newest entry of each subject, also those that ended a price. */
  readonly newest: ReadonlyMap<string, AccountPrice>
  private readonly byAccount = new Map<string, OwnPricing>()
  /** Accounts with one factor share their models at this factor. */
  private readonly byFactor = new Map<PriceFactor, Pricing>()

  constructor(entries: readonly AccountPrice[]) {
    this.newest = new Map(entries.map((entry) => [accountSubject(entry.accountId, entry.modelId), entry]))
    const inForce = entries.filter(({ value }) => value.kind !== 'none')
    for (const [accountId, own] of Map.groupBy(inForce, (entry) => entry.accountId)) {
      const general = own.find(({ modelId }) => modelId === undefined)
      const all = general ? this.pricingOf(general.value, asItIs) : asItIs
      const models = own.flatMap(({ modelId, value }) =>
        modelId === undefined ? [] : [[modelId, this.pricingOf(value, all)] as const],
      )
      this.byAccount.set(accountId, { all, models: new Map(models) })
    }
  }

  /** The model with what this account pays for it. Nearly every account pays the model's own price. */
  priced(model: Model, accountId: string): Model {
    if (this.byAccount.size === 0) return model
    const own = this.byAccount.get(accountId)
    return own ? (own.models.get(model.id) ?? own.all)(model) : model
  }

  /** The prices in force of one account, that for all models first, or of all accounts. */
  list(accountId?: string): readonly AccountPrice[] {
    return [...this.newest.values()]
      .filter((entry) => entry.value.kind !== 'none' && (accountId === undefined || entry.accountId === accountId))
      .toSorted((a, b) => (a.accountId + (a.modelId ?? '') < b.accountId + (b.modelId ?? '') ? -1 : 1))
  }

  private pricingOf(value: AccountPriceValue, otherwise: Pricing): Pricing {
    switch (value.kind) {
      case 'none':
        return otherwise
      case 'card':
        return madeOnce((model) => (sells(value, model) ? { ...model, sale: value.card } : otherwise(model)))
      case 'factor': {
        const { factor } = value
        const shared = this.byFactor.get(factor) ?? madeOnce((model) => atFactor(model, factor))
        this.byFactor.set(factor, shared)
        return shared
      }
    }
  }
}

function atFactor(model: Model, factor: PriceFactor): Model {
  const sale = scaledCard(model.sale, factor)
  return sale === model.sale ? model : { ...model, sale }
}

/** Keeps what is made as long as its model lives. A request of the same model makes nothing again. */
function madeOnce(make: Pricing): Pricing {
  const made = new WeakMap<Model, Model>()
  return (model) => {
    const known = made.get(model)
    if (known) return known
    const priced = make(model)
    made.set(model, priced)
    return priced
  }
}
