import { expect, test } from 'bun:test'
import { AccountPrices, type AccountPrice, type AccountPriceValue } from '../catalog/account-prices.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { Account } from '../domain/account.ts'
import { unitPrices } from '../domain/price.ts'
import type { Change } from '../prices/import-plan.ts'
import { importEffects } from './import-effects.ts'

const price = (input: bigint) => unitPrices({ input, output: input })
const entry = (accountId: string, value: AccountPriceValue, modelId?: string): AccountPrice => ({
  id: 1,
  accountId,
  modelId,
  effectiveFromMs: 0,
  value,
})

test('an import names the cards that stay and the factors that would sell below cost, each once', async () => {
  const card = { id: 9, effectiveFromMs: 0, nanoPerMillion: price(5_000n), accountId: 'own' }
  const prices = new AccountPrices([
    entry('cheap', { kind: 'factor', factor: 500_000n }),
    entry('too', { kind: 'factor', factor: 500_000n }),
    entry('dear', { kind: 'factor', factor: 1_500_000n }),
    entry('own', { kind: 'card', card, soldAs: 'text' }, 'm'),
  ])
  const catalog = {
    accountPrices: () => prices.list(),
    priced: (model: never, id: string) => prices.priced(model, id),
  } as unknown as Catalog
  const accounts = ['cheap', 'too', 'dear', 'own', 'plain'].map((id) => ({ id, name: id })) as unknown as Account[]
  const offers = [{ providerId: 'p', upstreamModel: 'u', priority: 0, weight: 1, cost: price(6_000n) }]
  const draft = { id: 'm', ownedBy: undefined, limits: {}, price: price(7_000n), offers }
  const changes: Change[] = [{ kind: 'changed', draft, differences: [] }]
  expect(await importEffects(catalog, accounts, changes)).toMatchObject([
    { model: 'm', kind: 'factor', factor: '0.5', accounts: ['cheap', 'too'], accounts_total: 2, below_cost: [{}, {}] },
    { model: 'm', kind: 'card', factor: null, accounts: ['own'], below_cost: [{ offer: 'p/u' }, {}] },
  ])
})
