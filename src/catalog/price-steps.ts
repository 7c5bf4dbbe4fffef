/** The steps that write dated prices. A price that has not changed keeps its card. */
import type { PriceCard, PriceTier, UnitPrices } from '../domain/price.ts'
import type { WriteStep } from '../store/statement.ts'
import { accountSubject, type AccountPrice, type AccountPriceDraft } from './account-prices.ts'
import { priceRows, saysSame } from './cards.ts'
import * as sql from './statements.ts'

export type DraftPrices = { readonly prices: UnitPrices; readonly tiers: readonly PriceTier[] | undefined }

/** The prices in memory. If instances share the store, a guard refuses the steps once a price there is newer. */
type PriceInMemory<Current> = { readonly current: Current | undefined; readonly isShared: boolean }

/** Steps for a new dated card of a model or an offer, if it differs from the current one. */
export function cardSteps(
  subject: 'model' | 'offer',
  id: string,
  { prices, tiers, current, isShared }: DraftPrices & PriceInMemory<PriceCard>,
): WriteStep[] {
  const guard = isShared ? [{ run: sql.isNewestCard[subject], bind: [id, current?.id ?? 0], changes: 1 }] : []
  if (current && saysSame(current, prices, tiers)) return guard
  return [
    ...guard,
    { run: sql.insertCard, bind: [subject, id, Date.now()] },
    ...pricesSteps(subject, id, prices, tiers),
  ]
}

const pricesSteps = (subject: string, id: string, prices: UnitPrices, tiers?: readonly PriceTier[]): WriteStep[] =>
  priceRows(prices, tiers).map((row) => ({ run: sql.insertPrice, bind: [subject, id, ...row] }))

/** Steps for a new dated price of an account, if it differs from the current one. */
export function accountPriceSteps(
  accountId: string,
  { modelId, value }: AccountPriceDraft,
  { current, isShared }: PriceInMemory<AccountPrice>,
): WriteStep[] {
  const subject = accountSubject(accountId, modelId)
  const guard = isShared
    ? [{ run: sql.isNewestCard.account, bind: [accountId, current?.id ?? 0, subject], changes: 1 }]
    : []
  if (isSame(current, value)) return guard
  const factor = value.kind === 'factor' ? value.factor : null
  const soldAs = value.kind === 'card' ? value.soldAs : null
  return [
    ...guard,
    { run: sql.insertAccountCard, bind: [subject, Date.now(), factor, soldAs] },
    ...(value.kind === 'card' ? pricesSteps('account', subject, value.units, value.tiers) : []),
  ]
}

function isSame(current: AccountPrice | undefined, value: AccountPriceDraft['value']): boolean {
  const before = current?.value ?? { kind: 'none' }
  if (value.kind === 'none') return before.kind === 'none'
  if (value.kind === 'factor') return before.kind === 'factor' && before.factor === value.factor
  return before.kind === 'card' && before.soldAs === value.soldAs && saysSame(before.card, value.units, value.tiers)
}
