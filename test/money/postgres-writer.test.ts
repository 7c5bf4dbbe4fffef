/**
 * The writer of PostgreSQL while the world breaks: connections that are cut, servers that crash, answers that are lost,
 * and another instance that has declared this one dead. What was acknowledged is there exactly once.
 */
import { SQL } from 'bun'
import { afterAll, beforeAll, beforeEach, afterEach, describe, expect, test } from 'bun:test'
import { tmpdir } from 'node:os'
import { openPostgresStore } from '../../src/store/postgres/store.ts'
import type { StoreEndEvent } from '../../src/store/postgres/store-end.ts'
import { addingStatement, rowStatement, statement } from '../../src/store/statement.ts'
import type { Store } from '../../src/store/store.ts'
import { FaultProxy, type FaultLink } from '../support/fault-proxy.ts'
import { PostgresServer } from '../support/postgres-server.ts'

const insertAccount = statement("INSERT INTO account (id, name, status, created_at) VALUES (?1, ?1, 'active', 0)")
const suspend = statement("UPDATE account SET status = 'suspended' WHERE id = ?")
const insertJournal = rowStatement('journal', 'id, ref, created_at', { kind: "'credit'" })
const fund = addingStatement('UPDATE account SET posted = posted + ?2 WHERE id = ?1', 1)

const HOT = 'hot'
const CLIENTS = 24
/** About what a batch of all of them has. */
const BATCH_BYTES_MAX = 16_000

/** Clients that write at once, each its next transaction after the last. One in nine is refused. */
class Load {
  readonly acknowledged: string[] = []
  readonly wrong: string[] = []
  private readonly store: Store
  private readonly clients: Promise<void>[]
  private serial = 0
  private isStopped = false

  constructor(store: Store) {
    this.store = store
    this.clients = Array.from({ length: CLIENTS }, () => this.run())
  }

  private async run(): Promise<void> {
    while (!this.isStopped) {
      const serial = this.serial++
      const id = `r${String(serial).padStart(8, '0')}`
      const isBad = serial % 9 === 0
      const outcome = await this.store.write([
        { run: insertAccount, bind: [id], changes: 1 },
        { run: fund, bind: [HOT, 1], changes: 1 },
        { run: insertJournal, bind: [serial, id, 0], changes: 1 },
        ...(isBad ? [{ run: suspend, bind: ['nobody'], changes: 1 }] : []),
      ])
      if (outcome.kind !== (isBad ? 'refused' : 'written')) this.wrong.push(`${id}: ${outcome.kind}`)
      else if (!isBad) this.acknowledged.push(id)
    }
  }

  /** Resolves once so many more transactions are acknowledged. */
  async more(count: number): Promise<void> {
    const until = this.acknowledged.length + count
    while (this.acknowledged.length < until) {
      if (ends.length > 0) throw new Error(ends.map(({ event, message }) => `${event}: ${message}`).join())
      await Bun.sleep(2)
    }
  }

  async stop(): Promise<void> {
    this.isStopped = true
    await Promise.all(this.clients)
  }
}

let server: PostgresServer
let admin: SQL
let store: Store | undefined
let proxy: FaultProxy | undefined
let ends: { readonly event: StoreEndEvent; readonly message: string }[]
let count = 0

beforeAll(async () => {
  server = await PostgresServer.create()
})
afterAll(() => server.close())
beforeEach(async () => {
  ends = []
  const sql = new SQL(server.url(), { max: 1 })
  await sql.unsafe(`CREATE DATABASE writer_${++count}`)
  await sql.close()
  admin = new SQL(server.url(`writer_${count}`), { max: 1, bigint: true })
})
afterEach(async () => {
  // What is left of a silent connection ends with the proxy.
  for (const link of proxy?.links.values() ?? []) link.reset()
  await store?.close()
  store = undefined
  proxy?.stop()
  proxy = undefined
  await admin.close({ timeout: 0 })
})

const onFatal = (message: string, event: StoreEndEvent): unknown => ends.push({ event, message })

async function open({ through, silenceMs }: { through?: FaultProxy; silenceMs?: number } = {}): Promise<Store> {
  const url = new URL(server.url(`writer_${count}`))
  if (through) url.port = String(through.port)
  store = await openPostgresStore(url.href, { folder: tmpdir(), onFatal, silenceMs })
  expect(await store.write([{ run: insertAccount, bind: [HOT], changes: 1 }])).toEqual({ kind: 'written' })
  return store
}

/** Everything acknowledged is there once, and nothing else is. */
async function expectExact({ acknowledged, wrong }: Load): Promise<void> {
  expect({ wrong, ends }).toEqual({ wrong: [], ends: [] })
  const ids = (await admin`SELECT id FROM account WHERE id <> ${HOT} ORDER BY id COLLATE "C"`) as { id: string }[]
  expect(ids.map(({ id }) => id)).toEqual(acknowledged.toSorted())
  const [sums] =
    (await admin`SELECT posted, (SELECT count(*) FROM journal) AS rows FROM account WHERE id = ${HOT}`) as [unknown]
  expect(sums).toEqual({ posted: BigInt(acknowledged.length), rows: BigInt(acknowledged.length) })
}

const writerPids = async (): Promise<number[]> => {
  const rows = (await admin`SELECT pid FROM pg_stat_activity WHERE application_name = 'tollgate writer'`) as {
    pid: number
  }[]
  return rows.map(({ pid }) => pid)
}

test('connections that are cut under load lose nothing and double nothing', async () => {
  const load = new Load(await open())
  for (let cuts = 0; cuts < 40; cuts++) {
    await load.more(20)
    for (const pid of await writerPids()) await admin`SELECT pg_terminate_backend(${pid})`
  }
  await load.stop()
  await expectExact(load)
})

test('crashes of the server under load lose nothing that was acknowledged', async () => {
  const load = new Load(await open())
  for (let crashes = 0; crashes < 4; crashes++) {
    await load.more(200)
    await server.stop('immediate')
    await server.start()
  }
  await load.more(100)
  await load.stop()
  await admin.close({ timeout: 0 })
  admin = new SQL(server.url(`writer_${count}`), { max: 1, bigint: true })
  await expectExact(load)
})

test('a full disk of the server stops the acknowledgements, not the instance, and nothing is lost', async () => {
  const load = new Load(await open())
  await load.more(50)
  // The code of a full disk, as PostgreSQL reports it for a table that cannot grow.
  await admin.unsafe(`CREATE FUNCTION be_full() RETURNS trigger LANGUAGE plpgsql
    AS $$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = 'disk_full'; END $$`)
  await admin.unsafe('CREATE TRIGGER full_disk BEFORE INSERT ON journal EXECUTE FUNCTION be_full()')
  const acknowledged = load.acknowledged.length
  await Bun.sleep(500)
  // The batch that was in flight may have been told before.
  expect(load.acknowledged.length - acknowledged).toBeLessThanOrEqual(CLIENTS)
  await admin.unsafe('DROP TRIGGER full_disk ON journal')
  await load.more(50)
  await load.stop()
  await expectExact(load)
})

test('answers that are lost at any byte are asked for by the number of the batch', async () => {
  proxy = new FaultProxy({ port: Number(new URL(server.url()).port) })
  const load = new Load(await open({ through: proxy }))
  for (let cuts = 0; cuts < 60; cuts++) {
    await load.more(10)
    const cut = { afterBytes: Math.floor(Math.random() * 3_000), by: cuts % 2 === 0 ? 'rst' : 'fin' } as const
    for (const link of proxy.links.values()) link.set(cuts % 3 === 0 ? { up: { cut } } : { down: { cut } })
  }
  await load.stop()
  expect(proxy.counters.cuts).toBeGreaterThan(20)
  await expectExact(load)
})

test('a server that is silent is given up, and what it still finishes counts once', async () => {
  proxy = new FaultProxy({ port: Number(new URL(server.url()).port) })
  const load = new Load(await open({ through: proxy, silenceMs: 200 }))
  for (let holes = 0; holes < 6; holes++) {
    await load.more(50)
    for (const link of proxy.links.values()) link.set({ down: { holeAfterBytes: Math.floor(Math.random() * 2_000) } })
  }
  await load.more(50)
  // Somebody holds the hot row. The batch waits for it on a connection that is given up, and on the next ones.
  await admin.begin(async (holder) => {
    await holder`SELECT 1 FROM account WHERE id = ${HOT} FOR UPDATE`
    await Bun.sleep(900)
  })
  await load.more(50)
  await load.stop()
  await expectExact(load)
})

type Backend = { readonly state: string; readonly holds: boolean }

test('the server ends the batch of an instance that stops in the middle of it', async () => {
  const own = new FaultProxy({ port: Number(new URL(server.url()).port) })
  proxy = own
  const load = new Load(await open({ through: own, silenceMs: 60_000 }))
  await load.more(20)
  const backendOf = async (pid: number): Promise<Backend | undefined> => {
    const rows = (await admin`SELECT state, backend_xid IS NOT NULL AS holds
      FROM pg_stat_activity WHERE pid = ${pid}`) as Backend[]
    return rows[0]
  }
  const linkOfWriter = async (): Promise<{ readonly pid: number; readonly link: FaultLink } | undefined> => {
    const [row] = (await admin`SELECT pid, client_port AS port FROM pg_stat_activity
      WHERE application_name = 'tollgate writer' AND datname = current_database()`) as { pid: number; port: number }[]
    const link = row && own.links.get(row.port)
    return link && { pid: row.pid, link }
  }
  // The bytes of a batch end somewhere between its beginning and its commit, in a few tries or in many.
  let stopped: number | undefined
  for (let tries = 0; stopped === undefined; tries++) {
    const bytes = 1 + Math.floor(Math.random() * BATCH_BYTES_MAX)
    const writer = await linkOfWriter()
    if (!writer) continue
    writer.link.set({ up: { holeAfterBytes: bytes } })
    // A batch that goes on is seen like that once at most. One that has only begun locks nothing, so it may stay.
    for (let looks = 0, seen = 0; looks < 8 && stopped === undefined; looks++) {
      await Bun.sleep(20)
      const { state, holds } = (await backendOf(writer.pid)) ?? {}
      seen = state === 'idle in transaction' && holds ? seen + 1 : 0
      if (seen === 4) stopped = writer.pid
    }
    if (stopped === undefined) writer.link.reset()
  }
  while (await backendOf(stopped)) await Bun.sleep(100)
  await load.more(50)
  await load.stop()
  await expectExact(load)
}, 180_000)

describe('an instance ends', () => {
  const ended = async (event: StoreEndEvent): Promise<void> => {
    while (ends.length === 0) await Bun.sleep(5)
    expect(ends.map((end) => end.event)).toEqual([event])
    const [before] = (await admin`SELECT posted FROM account WHERE id = ${HOT}`) as [unknown]
    await Bun.sleep(50)
    const [after] = (await admin`SELECT posted FROM account WHERE id = ${HOT}`) as [unknown]
    expect(after).toEqual(before)
    // What waits is never answered, so the store cannot be closed. The process would exit.
    store = undefined
  }

  test('that the others have declared dead, and nothing of it is committed afterwards', async () => {
    const load = new Load(await open())
    await load.more(100)
    await admin`UPDATE instance SET state = 'dead'`
    const acknowledged = load.acknowledged.length
    await ended('store.declared_dead')
    // The batch that was in flight may have been told before.
    expect(load.acknowledged.length - acknowledged).toBeLessThanOrEqual(2 * CLIENTS)
    const [sum] = (await admin`SELECT posted FROM account WHERE id = ${HOT}`) as [{ posted: bigint }]
    expect(sum.posted).toBeGreaterThanOrEqual(BigInt(load.acknowledged.length))
  })

  test('whose database has lost a batch that was acknowledged', async () => {
    const load = new Load(await open())
    await load.more(100)
    await admin`UPDATE instance SET batch = batch - 1`
    await ended('store.went_back')
  })

  test('even while it is idle', async () => {
    await open()
    await admin`UPDATE instance SET state = 'dead'`
    await ended('store.declared_dead')
  })
})
