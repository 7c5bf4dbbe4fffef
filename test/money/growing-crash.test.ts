/**
 * Answers without a limit, on balances for a part of them, in a gateway that is killed with SIGKILL. Acknowledged
 * output is charged once, the rest is released, and no balance falls below zero.
 */
import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { chat, freshFolder, startGateway, type GatewayOptions, type TestGateway } from '../support/gateway.ts'
import { countOf, reportFigure } from '../support/soaks.ts'
import { startWordVendor } from '../support/word-vendor.ts'

const KILLS = countOf('growing-kills')
const CLIENTS = 8
const WORDS = 600
const NANO_PER_TOKEN = 10_000n
/** For less than half of what the clients ask for. */
const BALANCE_TOKENS = 2_000

type Charge = { charged: bigint; outcome: string; output_cap_reason: string | null }

function read<T>(folder: string, sql: string, ...bind: string[]): T[] {
  const db = new Database(join(folder, 'tollgate.db'), { readonly: true, safeIntegers: true })
  try {
    return db.query(sql).all(...bind) as T[]
  } finally {
    db.close()
  }
}

/** Asks once; the request's id where all of the answer came. */
async function ask(gateway: Pick<TestGateway, 'baseUrl' | 'key'>, stream: boolean): Promise<string | undefined> {
  try {
    const response = await chat(gateway, { model: 'long', stream })
    const text = await response.text()
    const isWhole = response.status === 200 && (stream ? text.endsWith('data: [DONE]\n\n') : text.endsWith('}'))
    return isWhole ? (response.headers.get('x-request-id') ?? undefined) : undefined
  } catch {
    return undefined // The gateway is dead, which is the point.
  }
}

test(
  `${KILLS} kills while ${CLIENTS} holds grow on a balance for a part of their answers`,
  async () => {
    const vendor = startWordVendor({ pauseMs: 1 })
    const folder = freshFolder()
    let options: GatewayOptions = {
      folder,
      yaml: `
sandbox: false
providers:
  vendor: { base_url: '${vendor.origin}/v1', allow_private: true }
models:
  long: { price: { input: 0, output: 10 }, output_tokens_max: 128000, offers: [{ provider: vendor, model: ${WORDS}-words }] }
`,
    }
    let [acknowledged, spent, expired] = [0, 0, 0]
    for (let kill = 0; kill < KILLS; kill++) {
      const gateway = await startGateway(options)
      options = { ...options, as: gateway }
      const name = `a${kill}`
      const { id } = await gateway.operate<{ id: string }>('account.create', { name, balance: '0.02' })
      const { secret: key } = await gateway.operate<{ secret: string }>('key.create', { account: name, name: 'k' })
      const client = { baseUrl: gateway.baseUrl, key }
      const asked = Array.from({ length: CLIENTS }, (_, i) => ask(client, i % 2 === 0))
      // By what has happened, not by time: one kill comes while answers arrive, the next when some have ended.
      let ended = 0
      for (const one of asked) void one.then(() => ended++)
      const words = vendor.sent() + Math.random() * BALANCE_TOKENS
      const endings = 1 + Math.floor(Math.random() * CLIENTS)
      while (kill % 2 === 0 ? vendor.sent() < words && ended < CLIENTS : ended < endings) await Bun.sleep(2)
      await gateway.crash()
      const whole = (await Promise.all(asked)).filter((one) => one !== undefined)
      const next = await startGateway(options)
      expect(await next.operate('ledger.verify')).toMatchObject({ clean: true, open_holds: 0 })
      const records = read<Charge & { id: string }>(
        folder,
        'SELECT id, charged, outcome, output_cap_reason FROM request_record WHERE account_id = ?',
        id,
      )
      for (const one of whole) expect(records.find((record) => record.id === one)?.outcome).toBe('completed')
      const sum = records.reduce((total, { charged }) => total + charged, 0n)
      const [account] = read<{ posted: bigint; held: bigint }>(
        folder,
        'SELECT posted, held FROM account WHERE id = ?',
        id,
      )
      expect(account).toEqual({ posted: BigInt(BALANCE_TOKENS) * NANO_PER_TOKEN - sum, held: 0n })
      expect(sum <= BigInt(BALANCE_TOKENS) * NANO_PER_TOKEN).toBe(true)
      acknowledged += whole.length
      spent += records.filter((record) => record.output_cap_reason === 'balance').length
      expired += read(folder, "SELECT id FROM hold WHERE account_id = ? AND state = 'expired'", id).length
      await next.crash()
    }
    reportFigure(
      `${KILLS} kills, ${acknowledged} answers acknowledged, ${spent} ended for want of money, ${expired} given back`,
    )
    expect(spent).toBeGreaterThan(0)
    expect(expired).toBeGreaterThan(0)
    await (await startGateway(options)).close()
    await vendor.stop()
  },
  60_000 + KILLS * 10_000,
)
