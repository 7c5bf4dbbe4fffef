/**
 * Four instances on one PostgreSQL while processes, connections and the server end in every way. Everything that an
 * instance acknowledges is written to a file first. Afterwards each acknowledged settlement is in the books once.
 */
import { SQL } from 'bun'
import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { FaultProxy } from '../support/fault-proxy.ts'
import { PostgresServer, STANDBY } from '../support/postgres-server.ts'
import { countOf, reportFigure, seedOfRun } from '../support/soaks.ts'
import { Dice } from '../../src/store/port-contract.ts'
import { Cluster, INSTANCES, SILENT_MS, type Instance } from './cluster/cluster.ts'

const FAULTS = countOf('cluster-crash')
const FAILOVERS = countOf('cluster-failover')
/** So much is acknowledged between two faults: in a short run just enough for the next one to meet work in flight. */
const BETWEEN = FAULTS < 20 ? 150 : 4_000

let server: PostgresServer
let proxy: FaultProxy | undefined
let cluster: Cluster | undefined

beforeAll(async () => {
  // What a crash could lose is lost: nothing else writes the log.
  server = await PostgresServer.create(['wal_writer_delay=10s', 'deadlock_timeout=100ms'])
}, 60_000)
afterAll(() => server.close())
afterEach(async () => {
  await cluster?.remove()
  cluster = undefined
  proxy?.stop()
  proxy = undefined
}, 30_000)

const portOf = (url: string): number => Number(new URL(url).port)

test(
  `${FAULTS} kills, crashes, freezes and cuts lose nothing that was acknowledged`,
  async () => {
    const seed = seedOfRun()
    const dice = new Dice(1 + (seed % 2_147_483_645))
    proxy = new FaultProxy({ port: portOf(server.url()) })
    cluster = await Cluster.create(server.url(), { port: proxy.port })
    await cluster.startAll()
    const counts = { kill: 0, crash: 0, freeze: 0, cut: 0, terminate: 0 }
    const kinds = Object.keys(counts) as (keyof typeof counts)[]
    for (let fault = 0; fault < FAULTS; fault++) {
      await cluster.more(BETWEEN)
      // Each kind occurs in a short run, too.
      const kind = kinds[fault % kinds.length] as keyof typeof counts
      counts[kind]++
      const at = dice.below(INSTANCES)
      if (kind === 'kill') await cluster.kill(at)
      else if (kind === 'crash') await crash()
      else if (kind === 'freeze') await freeze(cluster.instances[at] as Instance)
      else if (kind === 'cut') cutAll(proxy, dice)
      else await terminateAll()
      cluster.restartEnded()
    }
    await cluster.more(BETWEEN)
    await cluster.killAll()
    const figures = await cluster.expectExact(server.url())
    expect(figures.settled).toBeGreaterThan((FAULTS * BETWEEN) / 8)
    const faults = Object.entries(counts).map(([kind, count]) => `${count} × ${kind}`)
    reportFigure(
      `${figures.settled} settlements acknowledged, ${figures.credited} credits, ${faults.join(', ')} (seed ${seed})`,
    )
  },
  120_000 + FAULTS * 20_000,
)

async function crash(): Promise<void> {
  await server.stop('immediate')
  await server.start(['wal_writer_delay=10s', 'deadlock_timeout=100ms'])
}

/** The others declare it dead meanwhile. When it goes on, it ends. */
async function freeze({ child, name, ready }: Instance): Promise<void> {
  // One that is just starting is not in the table, so nobody watches it.
  await ready
  if (child.exitCode !== null) return
  child.kill('SIGSTOP')
  const sql = new SQL(cluster?.url ?? '', { max: 1 })
  for (const untilMs = performance.now() + 20 * SILENT_MS; ;) {
    const [row] = await sql<{ state: string }[]>`SELECT state FROM instance WHERE id = ${name}`
    if (row?.state === 'dead') break
    if (performance.now() > untilMs) throw new Error(`a frozen instance is ${row?.state}`)
    await Bun.sleep(100)
  }
  await sql.close()
  child.kill('SIGCONT')
  await child.exited
}

function cutAll({ links }: FaultProxy, dice: Dice): void {
  for (const link of links.values()) {
    const cut = { afterBytes: dice.below(4_000), by: dice.pick('rst', 'fin') } as const
    link.set(dice.once(2) ? { up: { cut } } : { down: { cut } })
  }
}

async function terminateAll(): Promise<void> {
  const sql = new SQL(server.url(), { max: 1 })
  await sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname IS NOT NULL`
  await sql.close()
}

/** A server of its own with a standby that follows it through a line that can be cut off. */
async function startPrimary(settings: readonly string[]): Promise<Pair> {
  const primary = await PostgresServer.create()
  const line = new FaultProxy({ port: portOf(primary.url()) })
  const standby = await primary.makeStandby([...settings, 'wal_writer_delay=10s'], line.port)
  const sql = new SQL(primary.url(), { max: 1 })
  while ((await sql`SELECT 1 FROM pg_stat_replication WHERE state = 'streaming'`).length === 0) await Bun.sleep(50)
  await sql.close()
  return { primary, standby, line }
}

type Pair = { readonly primary: PostgresServer; readonly standby: PostgresServer; readonly line: FaultProxy }

async function closePair({ primary, standby, line }: Pair): Promise<void> {
  line.stop()
  await Promise.all([primary.close(), standby.close()])
}

test(
  `${FAILOVERS} failovers to a synchronous standby lose nothing that was acknowledged`,
  async () => {
    let settled = 0
    for (let round = 0; round < FAILOVERS; round++) {
      const pair = await startPrimary([`synchronous_standby_names=${STANDBY}`])
      try {
        proxy = new FaultProxy({ port: portOf(pair.primary.url()) })
        cluster = await Cluster.create(pair.primary.url(), { port: proxy.port })
        await cluster.startAll()
        await cluster.more(BETWEEN)
        // Every other time the standby hears nothing any more before the end. Then nothing is acknowledged either.
        if (round % 2 === 1) for (const link of pair.line.links.values()) link.set({ down: { holeAfterBytes: 0 } })
        await Bun.sleep(50)
        await pair.primary.kill()
        await pair.standby.promote()
        proxy.redirect(portOf(pair.standby.url()))
        await cluster.more(BETWEEN)
        expect(cluster.states()).not.toContain('store.')
        await cluster.killAll()
        ;({ settled } = await cluster.expectExact(pair.standby.url()))
      } finally {
        await cluster?.remove()
        proxy?.stop()
        await closePair(pair)
      }
    }
    reportFigure(`${FAILOVERS} failovers, ${settled} settlements acknowledged in the last one, none lost`)
  },
  60_000 + FAILOVERS * 60_000,
)

test('every instance notices an asynchronous standby that has lost what was acknowledged', async () => {
  const pair = await startPrimary([])
  try {
    proxy = new FaultProxy({ port: portOf(pair.primary.url()) })
    cluster = await Cluster.create(pair.primary.url(), { port: proxy.port })
    await cluster.startAll()
    for (const link of pair.line.links.values()) link.set({ down: { holeAfterBytes: 0 } })
    const { instances } = cluster
    await cluster.more(20, instances)
    await pair.primary.kill()
    await pair.standby.promote()
    proxy.redirect(portOf(pair.standby.url()))
    await Promise.all(instances.map(({ child }) => child.exited))
    for (const { said } of instances) expect(said.at(-1)).toContain('the database went back in time')
  } finally {
    await closePair(pair)
  }
}, 120_000)
