/** Limits while four instances ask for them at once. Each is exact, over all of them together. */
import { SQL } from 'bun'
import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { PostgresServer } from '../support/postgres-server.ts'
import { countOf, reportFigure } from '../support/soaks.ts'
import { Cluster, type ClusterOptions } from './cluster/cluster.ts'

const ROUNDS = countOf('cluster-limits')
const HOLD = 60_000
const COST = 25_000
/** Tokens of each request of an instance. */
const TOKENS = 700
const PLENTY = 1_000_000_000_000n
/** What may be late in the clock of the database, beside the clock of the test. */
const CLOCK_S = 0.5
const TEST_MS = 90_000 * ROUNDS

let server: PostgresServer
let cluster: Cluster | undefined
let sql: SQL

beforeAll(async () => {
  server = await PostgresServer.create()
}, 60_000)
afterAll(() => server.close())
afterEach(async () => {
  await sql.close()
  await cluster?.remove()
}, 30_000)

type Use = { readonly holds: number; readonly open: number; readonly charged: bigint; readonly reserved: bigint }

async function useOf(): Promise<Use> {
  const [row] = await sql<Record<string, bigint>[]>`
    SELECT count(*) AS holds, count(*) FILTER (WHERE state = 'open') AS open,
      coalesce(sum(settled), 0)::bigint AS charged,
      coalesce(sum(CASE state WHEN 'open' THEN amount ELSE settled END), 0)::bigint AS reserved FROM hold`
  const { holds = 0n, open = 0n, charged = 0n, reserved = 0n } = row ?? {}
  return { holds: Number(holds), open: Number(open), charged, reserved }
}

async function begin(options: ClusterOptions): Promise<void> {
  cluster = await Cluster.create(server.url(), { accounts: 1, funds: PLENTY, ...options })
  sql = new SQL(cluster.url, { max: 1, bigint: true })
}

/** Runs until so much is used, and then for as long again as a refused client waits. Looks at the use all the while. */
async function runUntil(isUsed: (use: Use) => boolean, look: (use: Use) => void): Promise<Use> {
  await cluster?.startAll()
  const endMs = performance.now() + 60_000
  for (let use = await useOf(); !isUsed(use); use = await useOf()) {
    look(use)
    if (performance.now() > endMs) throw new Error(`this is all: ${Bun.inspect(use)}; ${cluster?.states()}`)
    await Bun.sleep(5)
  }
  for (let looks = 0; looks < 60; looks++) {
    look(await useOf())
    await Bun.sleep(10)
  }
  await cluster?.killAll()
  return useOf()
}

const same = { kind: 'same', amount: HOLD, cost: COST } as const

test(
  'requests and tokens per minute: as many as a minute has, and what it refills',
  async () => {
    for (let round = 0; round < ROUNDS; round++) {
      await begin({ work: same, limits: { requestsPerMinute: 300 } })
      let startedMs = performance.now()
      const requests = await runUntil(
        ({ holds }) => holds >= 300,
        () => undefined,
      )
      const seconds = (): number => (performance.now() - startedMs) / 1_000 + CLOCK_S
      expect(requests.holds).toBeLessThanOrEqual(300 + Math.floor(seconds() * 5))
      await cluster?.remove()
      await sql.close()
      await begin({ work: same, limits: { tokensPerMinute: 200 * TOKENS } })
      startedMs = performance.now()
      const tokens = await runUntil(
        ({ holds }) => holds >= 200,
        () => undefined,
      )
      expect(tokens.holds).toBeLessThanOrEqual(200 + Math.floor((seconds() * 200) / 60))
      reportFigure(`${requests.holds} requests of 300 a minute, ${tokens.holds} times the tokens of 200 a minute`)
    }
  },
  TEST_MS,
)

test(
  'at once: never more, and as many as there may be',
  async () => {
    for (let round = 0; round < ROUNDS; round++) {
      let most = 0
      await begin({ work: same, limits: { concurrentRequests: 7 } })
      await runUntil(
        ({ holds }) => holds > 300 && most === 7,
        ({ open }) => (most = Math.max(most, open)),
      )
      expect(most).toBe(7)
    }
  },
  TEST_MS,
)

test(
  'spend: held and charged never exceed the month, and it is spent to the last hold that fits',
  async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const limit = 2_000_000n
      const last = BigInt(COST) * ((limit - BigInt(HOLD)) / BigInt(COST) + 1n)
      let most = 0n
      await begin({ work: same, limits: { spendPerMonth: limit } })
      const { charged } = await runUntil(
        (use) => use.charged >= last,
        ({ reserved }) => (most = reserved > most ? reserved : most),
      )
      expect(charged).toBe(last)
      expect(most).toBeLessThanOrEqual(limit)
    }
  },
  TEST_MS,
)
