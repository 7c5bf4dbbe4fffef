/**
 * Four real gateways on one PostgreSQL, killed with SIGKILL under load, and crashes of the server. Afterwards the books
 * have each acknowledged charge once, and what the dead have held is free again.
 */
import { SQL } from 'bun'
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { formatUsd } from '../../src/domain/money.ts'
import { ask, MANNERS, modelsOf, type AcknowledgedCharges, type Manner } from '../support/crash-clients.ts'
import {
  freshFolder,
  INSTANCE_ENV,
  startGateway,
  startSandboxProcess,
  TEST_STORE,
  type TestGateway,
  type TestSandbox,
} from '../support/gateway.ts'
import { PostgresServer } from '../support/postgres-server.ts'
import { countOf, reportFigure, seedOfRun } from '../support/soaks.ts'
import { Dice } from '../../src/store/port-contract.ts'

const FAULTS = countOf('cluster-gateways')
const INSTANCES = 4
/** Every so often the server crashes instead of a gateway. */
const CRASH_EVERY = 3
/** So many charges are acknowledged between two faults. */
const BETWEEN = 20
/** The dead are declared dead after 20 s. */
const EXPIRY_MS = 60_000
const PAUSE_MS = 20

// It starts its own instances.
const isPair = TEST_STORE === 'postgres'
let server: PostgresServer
let vendor: TestSandbox

beforeAll(async () => {
  if (isPair) return
  server = await PostgresServer.create(['wal_writer_delay=10s'])
  vendor = await startSandboxProcess()
}, 60_000)
afterAll(async () => {
  if (isPair) return
  await vendor.stop()
  await server.close()
}, 60_000)

class Fleet {
  readonly acknowledged: AcknowledgedCharges = new Map()
  private readonly slots: TestGateway[]
  private readonly env: Readonly<Record<string, string>>
  private isOver = false

  private constructor(env: Readonly<Record<string, string>>, first: TestGateway) {
    this.env = env
    this.slots = [first]
  }

  static async start(url: string): Promise<Fleet> {
    const env = { ...INSTANCE_ENV, TOLLGATE_DATABASE_URL: url }
    const first = await startGateway({ yaml: modelsOf(vendor.baseUrl), env, balanceUsd: '100000' })
    const fleet = new Fleet(env, first)
    while (fleet.slots.length < INSTANCES) fleet.slots.push(await fleet.join())
    return fleet
  }

  join(): Promise<TestGateway> {
    const [as] = this.slots as [TestGateway]
    return startGateway({ folder: freshFolder(), yaml: modelsOf(vendor.baseUrl), env: this.env, as })
  }

  /** Clients of every instance. One that meets a dead gateway goes on with the next one in its place. */
  load(): Promise<unknown> {
    const client = async (at: number, manner: Manner): Promise<void> => {
      while (!this.isOver) {
        await ask(this.slots[at] as TestGateway, manner, this.acknowledged).catch(() => Bun.sleep(PAUSE_MS))
      }
    }
    return Promise.all(this.slots.flatMap((_, at) => MANNERS.map((manner) => client(at, manner))))
  }

  async more(count: number): Promise<void> {
    for (const until = this.acknowledged.size + count; this.acknowledged.size < until;) await Bun.sleep(PAUSE_MS)
  }

  async replace(at: number): Promise<void> {
    await this.slots[at]?.crash()
    this.slots[at] = await this.join()
  }

  async end(): Promise<void> {
    this.isOver = true
    await Promise.all(this.slots.map((gateway) => gateway.crash()))
  }
}

type Row = { readonly id: string; readonly state: string; readonly records: bigint; readonly charged: bigint | null }

async function expectCharges(sql: SQL, acknowledged: AcknowledgedCharges): Promise<void> {
  const rows: Row[] = await sql`
    SELECT hold.id, hold.state, count(record.id) AS records, max(record.charged) AS charged
    FROM hold LEFT JOIN request_record AS record ON record.account_id = hold.account_id AND record.id = hold.id
    GROUP BY hold.id`
  const byId = new Map(rows.map((row) => [row.id, row]))
  for (const [id, cost] of acknowledged) {
    const row = byId.get(id)
    expect(row).toMatchObject({ id, state: 'settled', records: 1n })
    if (cost !== undefined) expect(formatUsd(row?.charged ?? -1n)).toBe(cost)
  }
}

test.skipIf(isPair)(
  `after ${FAULTS} kills of gateways and crashes of PostgreSQL every acknowledged charge is there once`,
  async () => {
    const dice = new Dice(1 + (seedOfRun() % 2_147_483_645))
    const fleet = await Fleet.start(server.url())
    const clients = fleet.load()
    for (let fault = 0; fault < FAULTS; fault++) {
      await fleet.more(BETWEEN)
      if (fault % CRASH_EVERY === CRASH_EVERY - 1) {
        await server.stop('immediate')
        await server.start(['wal_writer_delay=10s'])
      } else await fleet.replace(dice.below(INSTANCES))
    }
    await fleet.more(BETWEEN)
    await fleet.end()
    await clients
    const last = await fleet.join()
    const sql = new SQL(server.url(), { max: 1, bigint: true })
    const openHolds = async (): Promise<bigint> => {
      const [row] = (await sql`SELECT count(*) AS count FROM hold WHERE state = 'open'`) as [{ count: bigint }]
      return row.count
    }
    for (const untilMs = performance.now() + EXPIRY_MS; (await openHolds()) > 0n; await Bun.sleep(200)) {
      if (performance.now() > untilMs) throw new Error(`${await openHolds()} holds of the dead stay open`)
    }
    await expectCharges(sql, fleet.acknowledged)
    const [{ expired }] = (await sql`SELECT count(*) AS expired FROM hold WHERE state = 'expired'`) as [
      { expired: bigint },
    ]
    await sql.close()
    await last.close()
    reportFigure(`${fleet.acknowledged.size} acknowledged charges, 0 lost, 0 doubled; ${expired} holds expired`)
    expect(expired).toBeGreaterThan(0n)
  },
  120_000 + FAULTS * 10_000,
)
