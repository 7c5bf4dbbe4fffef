/**
 * Hedged requests at random: slow, failing and breaking vendors, clients that leave, keys that are revoked, and a
 * gateway that is killed. Each request is charged once at most. A client that got a whole answer paid for that answer,
 * whichever vendor made it.
 */
import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { chat, freshFolder, startGateway, type GatewayOptions, type TestGateway } from '../support/gateway.ts'
import { randomOf } from '../support/random.ts'
import { startScriptedVendors, tokensOf, type Deed, type Script } from '../support/scripted-vendors.ts'
import { countOf, reportFigure, seedOfRun } from '../support/soaks.ts'

const HEDGES = countOf('hedges')
const HEDGES_OF_A_LIFE = 30
const CLIENTS = 12
/** So many quick requests for each slow one, or slow answers would be the usual ones. */
const QUICK = 24
const NANO_PER_TOKEN = 1_000_000n
const BALANCE_USD = '1000'

type Answer = { readonly id: string; readonly vendor: 'a' | 'b' }

function read<T>(folder: string, sql: string, ...bind: string[]): T[] {
  const db = new Database(join(folder, 'tollgate.db'), { readonly: true, safeIntegers: true })
  try {
    return db.query(sql).all(...bind) as T[]
  } finally {
    db.close()
  }
}

test(
  `${HEDGES} hedged requests`,
  async () => {
    const seed = seedOfRun()
    const random = randomOf(seed)
    const vendors = startScriptedVendors()
    const folder = freshFolder()
    let options: GatewayOptions = { folder, yaml: vendors.yaml('hedging: on'), balanceUsd: BALANCE_USD }
    const answers: Answer[] = []
    let [sent, quits, revoked, lives] = [0, 0, 0, 0]

    const deed = (waitMs: number): Deed => {
      const chance = random()
      return { waitMs, ...(chance < 0.1 ? { fails: 500 } : chance < 0.2 ? { fails: 'cut' } : {}) }
    }

    /** Asks once, and keeps what the client got if that is a whole answer. */
    async function ask(client: Pick<TestGateway, 'baseUrl' | 'key'>, script: Script, quitMs?: number): Promise<void> {
      const stream = random() < 0.5
      const messages = [{ role: 'user', content: JSON.stringify(script) }]
      const signal = quitMs === undefined ? {} : { signal: AbortSignal.timeout(quitMs) }
      try {
        const response = await chat(client, { model: 'm', stream, messages }, signal)
        const text = await response.text()
        const isWhole = response.status === 200 && (stream ? text.endsWith('data: [DONE]\n\n') : text.endsWith('}'))
        const [, vendor] = /([ab]) says/.exec(text) ?? []
        if (isWhole && vendor) {
          answers.push({ id: response.headers.get('x-request-id') ?? '', vendor: vendor as 'a' | 'b' })
        }
      } catch {
        // The client has left, or the gateway is dead.
      }
    }

    while (sent < HEDGES) {
      const gateway = await startGateway(options)
      options = { ...options, as: gateway }
      lives++
      const { baseUrl } = gateway
      const newKey = (): Promise<{ id: string; secret: string }> =>
        gateway.operate('key.create', { account: gateway.accountId, name: `k${random()}` })
      let key = await newKey()
      const until = Math.min(HEDGES, sent + HEDGES_OF_A_LIFE)
      const kill = until - Math.floor(random() * 5)
      const isOver = Promise.withResolvers<void>()
      const client = async (): Promise<void> => {
        while (sent < until) {
          sent++
          for (let i = 0; i < QUICK; i++) await ask({ baseUrl, key: key.secret }, {})
          const quitMs = random() < 0.25 ? Math.floor(random() * 700) : undefined
          if (quitMs !== undefined) quits++
          const slow = { a: deed(300 + random() * 400), b: deed(random() * 200) }
          const asked = ask({ baseUrl, key: key.secret }, slow, quitMs)
          if (random() < 0.15) {
            const old = key.id
            key = await newKey()
            await gateway.operate('key.revoke', { key: old })
            revoked++
          }
          if (sent >= kill) isOver.resolve()
          await asked
        }
        isOver.resolve()
      }
      let isKilled = false
      const clients = Array.from({ length: CLIENTS }, () =>
        client().catch((error: unknown) => {
          if (!isKilled) throw error
        }),
      )
      await Promise.race([isOver.promise, ...clients])
      await Bun.sleep(random() * 150)
      isKilled = true
      await gateway.crash()
      await Promise.all(clients)
    }

    const last = await startGateway(options)
    expect(await last.operate('ledger.verify')).toMatchObject({ clean: true, findings: [], open_holds: 0 })
    type Charge = { id: string; charged: bigint; attempts: string; outcome: string }
    const records = read<Charge>(folder, 'SELECT id, charged, attempts, outcome FROM request_record')
    const byId = new Map(records.map((record) => [record.id, record]))
    for (const { id, vendor } of answers) {
      const record = byId.get(id)
      expect({ seed, id, outcome: record?.outcome, charged: record?.charged }).toEqual({
        seed,
        id,
        outcome: 'completed',
        charged: BigInt(tokensOf[vendor]) * NANO_PER_TOKEN,
      })
    }
    const hedged = records.filter(({ attempts }) => attempts.includes('"outrun"')).length
    const sum = records.reduce((total, { charged }) => total + charged, 0n)
    const [account] = read<{ posted: bigint; held: bigint }>(
      folder,
      'SELECT posted, held FROM account WHERE id = ?',
      last.accountId,
    )
    expect(account).toEqual({ posted: BigInt(BALANCE_USD) * 1_000_000_000n - sum, held: 0n })
    if (HEDGES >= 600) expect(hedged).toBeGreaterThan(0)
    reportFigure(
      `${sent} slow requests, ${hedged} of them won by one of two vendors, ${answers.length} whole answers, ${quits} clients left, ` +
        `${revoked} keys revoked, ${lives} kills`,
    )
    await last.close()
    await vendors.stop()
  },
  60_000 + HEDGES * 500,
)
