/** What accounts with prices of their own are charged, to the nano-dollar, in the real program. */
import { afterAll, expect, test } from 'bun:test'
import { Database } from 'bun:sqlite'
import { join } from 'node:path'
import { chat, TEST_STORE } from '../support/gateway.ts'
import { useGateway } from '../support/use-gateway.ts'

/** A vendor that reports the usage it is told to, after a signal if there is one. */
let reported = { prompt_tokens: 0, completion_tokens: 0 }
let release: Promise<void> = Promise.resolve()
const vendor = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  async fetch() {
    await release
    return Response.json({
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: 0,
      model: 'up',
      choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
      usage: { ...reported, total_tokens: reported.prompt_tokens + reported.completion_tokens },
    })
  },
})
afterAll(() => vendor.stop(true))

const model = (price: string): string =>
  `{ price: ${price}, offers: [{ provider: acme, model: up, cost: { input: 1, output: 1 } }] }`
const gateway = useGateway(() => ({
  yaml: `
providers:
  acme: { base_url: 'http://127.0.0.1:${vendor.port}/v1', key: k, allow_private: true }
models:
  plain: ${model('{ input: 2.50, output: 10 }')}
  long: ${model('{ input: 2, output: 4, above: { 1000: { input: 4, output: 8 } } }')}
accounts:
  partner: { opening_balance: 5, price_factor: 0.8, prices: { long: { input: 1, output: 3 }, plain: { factor: 1.25 } } }
`,
}))

type Payer = { readonly name: string; readonly key: string }
let serial = 0
async function payer(): Promise<Payer> {
  const name = `payer-${serial++}`
  await gateway.operate('account.create', { name, balance: '100' })
  const { secret: key } = await gateway.operate<{ secret: string }>('key.create', { account: name, name: 'k' })
  return { name, key }
}

const refusal = (name: string, input: object): Promise<string> =>
  gateway.operate(name, input).then(
    () => 'taken',
    (error: Error) => error.message,
  )

/** The charge of one call, in nano-dollars, with the factor of its record. */
async function charged({ key }: Pick<Payer, 'key'>, id = 'plain'): Promise<{ amount: number; factor: string | null }> {
  await gateway.caughtUp()
  const response = await chat({ baseUrl: gateway.baseUrl, key }, { model: id })
  expect(response.status).toBe(200)
  await response.text()
  return chargeOf(response)
}
const recordOf = (response: Response): Promise<Record<string, string | null>> =>
  gateway.operate('request.show', { request: response.headers.get('x-request-id') })
async function chargeOf(response: Response): Promise<{ amount: number; factor: string | null }> {
  const record = await recordOf(response)
  return { amount: Number(record['charged']), factor: record['price_factor'] ?? null }
}

test('a factor of all models, of one, and the end of both', async () => {
  const [one, other] = [await payer(), await payer()]
  reported = { prompt_tokens: 11, completion_tokens: 7 }
  const price = 11 * 2_500 + 7 * 10_000
  expect(await charged(one)).toEqual({ amount: price, factor: null })
  await gateway.operate('account.price', { account: one.name, factor: '0.9' })
  expect(await charged(one)).toEqual({ amount: price * 0.9, factor: '900000' })
  expect(await charged(other)).toEqual({ amount: price, factor: null })
  await gateway.operate('account.price', { account: one.name, model: 'plain', factor: '1.25' })
  expect((await charged(one)).amount).toBe(price * 1.25)
  expect((await charged(one, 'long')).amount).toBe((11 * 2_000 + 7 * 4_000) * 0.9)
  await gateway.operate('account.price_end', { account: one.name, model: 'plain' })
  expect((await charged(one)).amount).toBe(price * 0.9)
  await gateway.operate('account.price_end', { account: one.name })
  expect(await charged(one)).toEqual({ amount: price, factor: null })
  expect(await gateway.operate('account.prices', { account: one.name })).toEqual([] as never)
  const history = await gateway.operate<{ kind: string; model: string | null }[]>('account.prices', {
    account: one.name,
    history: true,
  })
  expect(history.map(({ kind, model: of }) => `${kind} ${of}`)).toEqual([
    'none null',
    'none plain',
    'factor plain',
    'factor null',
  ])
})

test('a factor holds in every tier, and a card of its own replaces them', async () => {
  const one = await payer()
  await gateway.operate('account.price', { account: one.name, factor: '0.333333' })
  reported = { prompt_tokens: 1_001, completion_tokens: 3 }
  expect((await charged(one, 'long')).amount).toBe(Math.ceil(1_001 * 1333.332 + 3 * 2666.664))
  await gateway.operate('account.price', { account: one.name, model: 'long', price: { input: '0.5', output: '0.25' } })
  expect(await charged(one, 'long')).toEqual({ amount: Math.ceil(1_001 * 500 + 3 * 250), factor: null })
  const basisOf = async (id: string): Promise<string | null | undefined> => {
    const response = await chat({ baseUrl: gateway.baseUrl, key: one.key }, { model: id })
    await response.text()
    return (await recordOf(response))['price_basis']
  }
  expect([await basisOf('long'), await basisOf('plain')]).toEqual(['card', 'model'])
})

test('a declared account pays what the file says, and nobody changes it elsewhere', async () => {
  const { secret: key } = await gateway.operate<{ secret: string }>('key.create', { account: 'partner', name: 'k' })
  reported = { prompt_tokens: 10, completion_tokens: 10 }
  expect((await charged({ key }, 'long')).amount).toBe(10 * 1_000 + 10 * 3_000)
  expect((await charged({ key }, 'plain')).amount).toBe((10 * 2_500 + 10 * 10_000) * 1.25)
  expect(await refusal('account.price', { account: 'partner', factor: '0.1' })).toContain('tollgate.yaml')
  expect(await refusal('account.price_end', { account: 'partner' })).toContain('tollgate.yaml')
})

test('a request in flight keeps the price that it was held at', async () => {
  const one = await payer()
  await gateway.operate('account.price', { account: one.name, factor: '0.5' })
  await gateway.caughtUp()
  reported = { prompt_tokens: 11, completion_tokens: 7 }
  const { promise, resolve } = Promise.withResolvers<void>()
  release = promise
  const running = chat({ baseUrl: gateway.baseUrl, key: one.key }, { model: 'plain' })
  while ((await gateway.operate<{ held_usd: string }>('account.show', { account: one.name })).held_usd === '0.00')
    await Bun.sleep(5)
  await gateway.operate('account.price', { account: one.name, factor: '2' })
  resolve()
  const response = await running
  await response.text()
  expect(await chargeOf(response)).toEqual({ amount: (11 * 2_500 + 7 * 10_000) / 2, factor: '500000' })
  expect((await charged(one)).amount).toBe((11 * 2_500 + 7 * 10_000) * 2)
})

test('a video keeps the price of its start, and costs half at the factor 0.5', async () => {
  const [one, other] = [await payer(), await payer()]
  await gateway.operate('account.price', { account: one.name, factor: '0.5' })
  await gateway.caughtUp()
  const begin = async ({ key }: Payer): Promise<string> => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const film = { model: 'sandbox-video-fast', content: [{ type: 'text', text: 'x' }], duration: 4 }
    const made = await fetch(`${gateway.baseUrl}/videos`, { method: 'POST', headers, body: JSON.stringify(film) })
    expect(made.status).toBe(200)
    return made.headers.get('x-request-id') ?? ''
  }
  const recordOf = async (request: string): Promise<Record<string, string | null>> => {
    for (;;) {
      const record = await gateway
        .operate<Record<string, string | null>>('request.show', { request })
        .catch(() => undefined)
      if (record) return record
      await Bun.sleep(50)
    }
  }
  const [half, whole] = [await begin(one), await begin(other)]
  await gateway.operate('account.price', { account: one.name, factor: '3' })
  const [paidHalf, paidWhole] = [await recordOf(half), await recordOf(whole)]
  expect(Number(paidWhole['charged'])).toBeGreaterThan(0)
  expect(Number(paidHalf['charged']) * 2).toBe(Number(paidWhole['charged']))
  expect([paidHalf['price_factor'], paidWhole['price_factor']]).toEqual(['500000', null])
}, 30_000)

test('the last dollar is held at the account’s price', async () => {
  const one = await payer()
  const { available_nano_usd: has } = await gateway.operate<{ available_nano_usd: string }>('account.show', {
    account: one.name,
  })
  await gateway.operate('account.debit', { account: one.name, amount: '99.99', reason: 'leave a cent' })
  expect(has).toBe('100000000000')
  const ask = async (factor: string): Promise<number> => {
    await gateway.operate('account.price', { account: one.name, factor })
    await gateway.caughtUp()
    const response = await chat({ baseUrl: gateway.baseUrl, key: one.key }, { model: 'plain', max_tokens: 1_500 })
    await response.text()
    return response.status
  }
  reported = { prompt_tokens: 1, completion_tokens: 1 }
  // 1,500 tokens cost 1.5 cents at the price of the model.
  expect([await ask('1'), await ask('0.5'), await ask('100')]).toEqual([401, 200, 401])
})

test('the list of models has the price of the account, to the last place', async () => {
  const one = await payer()
  await gateway.operate('account.price', { account: one.name, factor: '0.333333' })
  await gateway.caughtUp()
  const response = await fetch(`${gateway.baseUrl}/models/plain`, { headers: { authorization: `Bearer ${one.key}` } })
  expect(await response.json()).toMatchObject({
    pricing: { prompt: '0.0000008333325', completion: '0.00000333333', input_cache_read: '0.0000008333325' },
  })
})

test('a price that is none, or that would be free, is refused', async () => {
  const { name: account } = await payer()
  const refused = (input: object): Promise<string> => refusal('account.price', { account, ...input })
  for (const factor of ['0', '-1', '1e2', '100.1', '0.0000001', ''])
    expect(await refused({ factor })).toContain('above 0')
  expect(await refused({})).toContain('either')
  expect(await refused({ factor: '1', price: { input: '1', output: '1' } })).toContain('either')
  expect(await refused({ price: { input: '1', output: '1' } })).toContain('model')
  expect(await refused({ model: 'plain', price: { input: '1' } })).toContain('output')
  expect(await refused({ model: 'plain', price: { each: { second: '1' } } })).toContain('input')
  expect(await refused({ model: 'nope', factor: '1' })).toContain('nope')
  // Per million pieces it would not fit into the store.
  const piece = (each: string): object => ({ input: '1', output: '1', each: { 'answer/cached': each } })
  expect(await refused({ model: 'plain', price: piece('9000.000000001') })).toContain('at most 9000')
  expect(await refused({ model: 'plain', price: piece('9000') })).toBe('taken')
  expect(await refusal('account.price_end', { account })).toContain('price')
})

test('a price is ended by an alias of its model, and never the one for all models in its place', async () => {
  const { name: account } = await payer()
  await gateway.operate('alias.set', { id: 'simple', model: 'plain' })
  await gateway.operate('account.price', { account, factor: '0.5' })
  await gateway.operate('account.price', { account, model: 'simple', factor: '0.9' })
  expect(await refusal('account.price_end', { account, model: 'nope' })).toContain('price')
  await gateway.operate('account.price_end', { account, model: 'simple' })
  const left = await gateway.operate<{ model: string | null }[]>('account.prices', { account })
  expect(left.map(({ model: of }) => of)).toEqual([null])
})

test('a price below cost is named at once, by doctor and by the import', async () => {
  const { name: account } = await payer()
  const set = await gateway.operate<{ below_cost: { model: string }[]; below_cost_total: number }>('account.price', {
    account,
    factor: '0.3',
  })
  expect(set.below_cost_total).toBe(set.below_cost.length)
  expect(set.below_cost.filter(({ model: id }) => id === 'plain')).toMatchObject([
    { offer: 'acme/up', unit: 'input', sale_usd: '0.75', cost_usd: '1.00' },
  ])
  const { accounts_below_cost: lost } = await gateway.operate<{ accounts_below_cost: { account: string }[] }>('doctor')
  expect(lost.map((one) => one.account)).toContain(account)
})

test('verify-ledger recomputes charges at such prices, and finds one that is wrong', async () => {
  const one = await payer()
  await gateway.operate('account.price', { account: one.name, factor: '0.7' })
  await charged(one)
  type Verified = { clean: boolean; findings: { code: string }[] }
  expect(await gateway.operate<Verified>('ledger.verify')).toMatchObject({ clean: true })
  if (TEST_STORE === 'postgres') return
  const database = new Database(join(gateway.folder, 'tollgate.db'))
  const tamper = (by: number): void =>
    void database.run('UPDATE request_record SET price_factor = price_factor + ? WHERE price_factor = 700000 + ?', [
      by,
      by > 0 ? 0 : -by,
    ])
  tamper(50_000)
  const { findings } = await gateway.operate<Verified>('ledger.verify')
  tamper(-50_000)
  database.close()
  expect(findings.map(({ code }) => code)).toEqual(['account_price'])
})
