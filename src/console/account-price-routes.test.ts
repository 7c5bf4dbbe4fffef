/** What the pages of an account and the pages of the operator show of a price of the account's own. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { openConsole, type Caller, type TestConsole } from '../../test/support/console.ts'

let context: TestConsole
let operator: Caller
let member: Caller
let at: string
beforeAll(async () => {
  context = await openConsole()
  operator = await context.as('operator')
  member = await context.as('member')
  at = `/accounts/${context.accountId}`
  const offers = [{ provider: 'sandbox', model: 'up', cost: { input: '1500', output: '1500' } }]
  for (const id of ['sold', 'other'])
    await context.call(operator, 'POST /models', { id, price: { input: '2000', output: '4000' }, offers })
})
afterAll(() => context.close())

type Price = { input: string; output: string }
type PricedView = { price: Price; price_basis: string; price_factor: string | null; price_history: readonly Price[] }
const shownTo = async (caller: Caller, id: string): Promise<PricedView> =>
  (await context.call<PricedView>(caller, `GET ${at}/models/${id}`)).body

test('an account sees what it pays, and the operator what its offers earn', async () => {
  expect(await shownTo(member, 'sold')).toMatchObject({ price: { input: '2000' }, price_basis: 'model' })
  const set = await context.call(operator, `PUT ${at}/prices`, { model: null, factor: '0.5' })
  expect(set).toMatchObject({ status: 200, body: { data: [{ model: null, basis: 'factor', factor: '0.5' }] } })
  expect(Number(set.body['below_cost_total'])).toBeGreaterThan(0)
  expect(await shownTo(member, 'sold')).toMatchObject({
    price: { input: '1000', output: '2000' },
    price_basis: 'factor',
    price_factor: '0.5',
    price_history: [{ input: '1000' }],
  })
  const price = { input: '1600', output: '1700' }
  await context.call(operator, `PUT ${at}/prices`, { model: 'sold', price })
  expect(await shownTo(member, 'sold')).toMatchObject({ price, price_basis: 'card', price_factor: null })
  const { body } = await context.call<{ data: readonly object[] }>(member, `GET ${at}/models`)
  expect(body.data).toContainEqual(expect.objectContaining({ id: 'sold', price_basis: 'card' }) as never)
  expect(body.data).toContainEqual(expect.objectContaining({ id: 'other', price_basis: 'factor' }) as never)
  const payers = await context.call(operator, 'GET /models/sold/account-prices')
  expect(payers.body).toMatchObject({
    total: 1,
    data: [{ account: { id: context.accountId }, basis: 'card', price, offers: [{ margin: { input_percent: 6.3 } }] }],
  })
  const losing = await context.call(operator, 'GET /models/other/account-prices')
  expect(losing.body).toMatchObject({
    data: [{ offers: [{ below_cost: [{ unit: 'input', sale: '1000', cost: '1500' }] }] }],
  })
  const statement = await context.call(member, `GET ${at}/ledger`)
  expect(statement.body['prices']).toMatchObject([
    { model: null, basis: 'factor', factor: '0.5', until: null },
    { model: 'sold', basis: 'card', factor: null, until: null },
  ])
})

test('an ended price is out of force, on the statement, and in the audit log', async () => {
  await context.call(operator, `PUT ${at}/prices`, { model: 'other', factor: '2' })
  expect(await shownTo(member, 'other')).toMatchObject({ price: { input: '4000' } })
  const ended = await context.call(operator, `PUT ${at}/prices`, { model: 'other', factor: null })
  expect(ended.status).toBe(200)
  expect((await context.call(operator, `PUT ${at}/prices`, { model: 'other', factor: null })).status).toBe(404)
  type Statement = { prices: readonly { model: string | null; until: string | null }[] }
  const { prices } = (await context.call<Statement>(member, `GET ${at}/ledger`)).body
  expect(prices.find(({ model }) => model === 'other')?.until).toMatch(/Z$/)
  type Log = { data: readonly { action: string }[] }
  const { data } = (await context.call<Log>(operator, `GET /audit?subject=${context.accountId}`)).body
  // The refused end is there, too.
  const actions = ['account.price_end', 'account.price_end', 'account.price']
  expect(data.slice(0, 3).map(({ action }) => action)).toEqual(actions)
})

test('members see their prices and change none, and bad ones are refused', async () => {
  expect((await context.call(member, `GET ${at}/prices`)).status).toBe(200)
  expect((await context.call(member, `PUT ${at}/prices`, { model: null, factor: '0.1' })).status).toBe(403)
  expect((await context.call(member, 'GET /models/sold/account-prices')).status).toBe(403)
  const refused = async (body: object): Promise<number> =>
    (await context.call(operator, `PUT ${at}/prices`, body)).status
  expect(await refused({ model: null, factor: '0' })).toBe(400)
  expect(await refused({ model: null })).toBe(400)
  expect(await refused({ model: null, price: { input: '1', output: '1' } })).toBe(400)
  expect(await refused({ model: 'nope', factor: '1' })).toBe(404)
})
