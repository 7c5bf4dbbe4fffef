/**
 * Requests with fall-back models at random: vendors that are slow, fail or break off, models of different prices, holds
 * that grow, accounts with a factor and with little money, clients that leave, and a gateway that is killed. Each
 * request is charged once at most, never more than was held, and at the price that its account pays for the model that
 * answered.
 */
import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { chat, freshFolder, startGateway, type GatewayOptions } from '../support/gateway.ts'
import { randomOf } from '../support/random.ts'
import { startScriptedVendors, tokensOf, type Deed } from '../support/scripted-vendors.ts'
import { countOf, reportFigure, seedOfRun } from '../support/soaks.ts'

const REQUESTS = countOf('fallbacks')
const REQUESTS_OF_A_LIFE = 60
const CLIENTS = 12
const FAILURES = [400, 401, 402, 429, 500, 503]

/** Dollars per million tokens of output. Input is free. */
const prices = { m: 1_000n, 'only-a': 7n, 'only-b': 20_000n, open: 300n } as const
type ModelName = keyof typeof prices
const names = Object.keys(prices) as ModelName[]
const furtherModels = `
  only-a: { price: { input: 0, output: 7 }, output_tokens_max: 100, offers: [{ provider: a, model: m }] }
  only-b: { price: { input: 0, output: 20000 }, output_tokens_max: 100, offers: [{ provider: b, model: m }] }
  open: { price: { input: 0, output: 300 }, offers: [{ provider: b, model: m }, { provider: a, model: m, priority: 1 }] }
`
/** Each account's balance in dollars, and its factor in tenths. The last ones cannot pay for every model. */
const payers = [
  { balance: '900', tenths: 10n },
  { balance: '900', tenths: 5n },
  { balance: '1.2', tenths: 25n },
  { balance: '0.02', tenths: 10n },
] as const

type Payer = { readonly id: string; readonly key: string; readonly tenths: bigint }
type Debt = { readonly id: string; readonly model: ModelName; readonly cost: bigint }
type Row = { id: string; model: string; account_id: string; held: bigint; charged: bigint; written_off: bigint }

test(
  `${REQUESTS} requests with fall-back models`,
  async () => {
    const seed = seedOfRun()
    const random = randomOf(seed)
    const vendors = startScriptedVendors()
    const folder = freshFolder()
    let options: GatewayOptions = { folder, yaml: vendors.yaml('hedging: on') + furtherModels }
    let gateway = await startGateway(options)
    options = { ...options, as: gateway }

    const accounts: Payer[] = []
    for (const { balance, tenths } of payers) {
      const name = `payer-${accounts.length}`
      const { id } = await gateway.operate<{ id: string }>('account.create', { name, balance })
      const { secret: key } = await gateway.operate<{ secret: string }>('key.create', { account: name, name: 'k' })
      if (tenths !== 10n) await gateway.operate('account.price', { account: name, factor: String(Number(tenths) / 10) })
      accounts.push({ id, key, tenths })
    }

    const deed = (): Deed => {
      const chance = random()
      const waitMs = random() < 0.3 ? Math.floor(random() * 120) : 0
      if (chance < 0.5) return { waitMs, fails: FAILURES[Math.floor(random() * FAILURES.length)] as number }
      return chance < 0.6 ? { waitMs, fails: 'cut' } : { waitMs }
    }
    const debts: Debt[] = []
    let [sent, answers] = [0, 0]

    /** Asks once, and notes what a client owes for a whole answer. */
    async function ask({ key, tenths }: Payer): Promise<void> {
      const [model, ...models] = names.toSorted(() => random() - 0.5).slice(0, 1 + Math.floor(random() * names.length))
      const stream = random() < 0.5
      const messages = [{ role: 'user', content: JSON.stringify({ a: deed(), b: deed() }) }]
      const signal = random() < 0.2 ? { signal: AbortSignal.timeout(1 + Math.floor(random() * 150)) } : {}
      try {
        const response = await chat({ baseUrl: gateway.baseUrl, key }, { model, models, stream, messages }, signal)
        const text = await response.text()
        const isWhole = response.status === 200 && (stream ? text.endsWith('data: [DONE]\n\n') : text.endsWith('}'))
        const [, served] = /"model":"([^"]+)"/.exec(text) ?? []
        const [, vendor] = /([ab]) says/.exec(text) ?? []
        if (!isWhole || !vendor) return
        answers++
        const cost = (BigInt(tokensOf[vendor as 'a' | 'b']) * prices[served as ModelName] * 1_000n * tenths) / 10n
        debts.push({ id: response.headers.get('x-request-id') ?? '', model: served as ModelName, cost })
      } catch {
        // The client has left, or the gateway is dead.
      }
    }

    while (sent < REQUESTS) {
      const until = Math.min(REQUESTS, sent + REQUESTS_OF_A_LIFE)
      const clients = Array.from({ length: CLIENTS }, async (_, i) => {
        while (sent++ < until) await ask(accounts[(i + sent) % accounts.length] as Payer)
      })
      await Promise.race(clients)
      await gateway.crash()
      await Promise.all(clients)
      gateway = await startGateway(options)
    }

    const seen = { seed, clean: true, findings: [], open_holds: 0 }
    expect({ seed, ...(await gateway.operate<object>('ledger.verify')) }).toMatchObject(seen)
    const db = new Database(join(folder, 'tollgate.db'), { readonly: true, safeIntegers: true })
    const rows = db.query<Row, []>('SELECT id, model, account_id, held, charged, written_off FROM request_record').all()
    db.close()
    const byId = new Map(rows.map((row) => [row.id, row]))
    for (const { id, model, cost } of debts) {
      const { model: of, charged } = byId.get(id) ?? {}
      expect({ seed, id, model: of, charged }).toEqual({ seed, id, model, charged: cost })
    }
    expect({ seed, over: rows.filter((row) => row.charged > row.held || row.written_off > 0n) }).toEqual({
      seed,
      over: [],
    })
    reportFigure(
      `${rows.length} records, ${answers} whole answers, each at its account's price of the model that answered`,
    )
    await gateway.close()
    await vendors.stop()
  },
  60_000 + REQUESTS * 500,
)
