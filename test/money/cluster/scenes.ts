/**
 * bun test/money/cluster/scenes.ts --server URL --scene NAME: plays a scene that breaks a promise if the code has a
 * certain bug. It prints one line of JSON and exits with 1 when a promise was broken. It is a program, so that it runs
 * on a copy of the sources with that bug in it.
 */
import { SQL } from 'bun'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { openPostgresLimiter } from '../../../src/accounts/postgres-limiter.ts'
import type { Caller } from '../../../src/domain/account.ts'
import type { Limits } from '../../../src/domain/limits.ts'
import type { AdjustmentResult, Ledger } from '../../../src/ledger/ledger.ts'
import { expireHoldsOf } from '../../../src/ledger/dead-instance.ts'
import { openPostgresLedger } from '../../../src/ledger/postgres-ledger.ts'
import { moveBalance } from '../../../src/ledger/postgres-steps.ts'
import { SilenceWatch } from '../../../src/store/postgres/silence-watch.ts'
import { openPostgresStore } from '../../../src/store/postgres/store.ts'
import { mustWrite, type Store } from '../../../src/store/store.ts'
import { Violation } from '../histories/books.ts'
import { FaultProxy } from '../../support/fault-proxy.ts'
import { insertAccount } from '../histories/session.ts'

type ScenePlayed = { readonly kind: 'kept' } | { readonly kind: 'violated'; readonly message: string }

const ACCOUNT = 'acct'
const FUNDS = 1_000_000n
/** A scene that is stuck has no verdict. */
const STUCK_MS = 60_000
const POLL_MS = 20
const SIGNALLED_MS = 200

const { values } = parseArgs({ options: { server: { type: 'string' }, scene: { type: 'string' } } })
const server = values.server ?? ''
const folder = mkdtempSync(join(tmpdir(), 'tollgate-scene-'))
const database = new URL(server)
database.pathname = `/scene_${crypto.randomUUID().replaceAll('-', '')}`

type Instance = {
  readonly store: Store
  readonly ledger: Ledger
  /** How it ended, if it did. */
  readonly ends: readonly string[]
}

type InstanceOptions = { readonly url?: string; readonly silenceMs?: number }

async function openInstance({ url = database.href, silenceMs }: InstanceOptions = {}): Promise<Instance> {
  const ends: string[] = []
  const onFatal = (message: string, event: string): unknown => ends.push(`${event} ${message}`)
  const store = await openPostgresStore(url, { folder, onFatal, silenceMs })
  const onBroken = (message: string): unknown => ends.push(`ledger.broken ${message}`)
  return { store, ledger: await openPostgresLedger(store, { instance: store.instance ?? '', onBroken }), ends }
}

const credit = ({ ledger }: Instance, ref: string): Promise<AdjustmentResult> =>
  ledger.adjust({ accountId: ACCOUNT, amount: FUNDS, kind: 'credit', ref, reason: 'test' })

async function until(what: string, isSo: () => Promise<boolean> | boolean): Promise<void> {
  for (const endMs = performance.now() + STUCK_MS; !(await isSo()); await Bun.sleep(POLL_MS)) {
    if (performance.now() > endMs) throw new Error(`it never came: ${what}`)
  }
}

/** Connections of writers that wait for a synchronous commit. */
async function writersThatWait(admin: SQL): Promise<readonly number[]> {
  const rows = await admin<{ pid: number }[]>`
    SELECT pid FROM pg_stat_activity WHERE application_name = 'tollgate writer' AND wait_event = 'SyncRep'`
  return rows.map(({ pid }) => pid)
}

/** A connection takes a new setting before its next query, once the signal has reached it. */
async function configure(admin: SQL, name: string, value: string): Promise<void> {
  await admin.unsafe(`ALTER SYSTEM SET ${name} = '${value}'`)
  await admin.unsafe('SELECT pg_reload_conf()')
  await until('a new setting', async () => {
    const [row] = await admin<{ value: string }[]>`SELECT current_setting(${name}) AS value`
    return row?.value === value
  })
  await Bun.sleep(SIGNALLED_MS)
}

/** Whether a synchronous commit waits for a standby. The server learns of one later than a connection does. */
async function commitWaits(admin: SQL): Promise<boolean> {
  const probe = new SQL(database.href, { max: 1, connection: { application_name: 'probe' } })
  const ended = probe`SELECT pg_logical_emit_message(true, 'probe', '')`.then(
    () => true,
    () => true,
  )
  for (let hasEnded = false; !hasEnded; hasEnded = await Promise.race([ended, Bun.sleep(POLL_MS).then(() => false)])) {
    const waiting = await admin`
      SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE application_name = 'probe' AND datname = current_database() AND wait_event = 'SyncRep'`
    if (waiting.length > 0) return true
  }
  await probe.close({ timeout: 0 })
  return false
}

const scenes: Readonly<Record<string, (admin: SQL, instance: Instance) => Promise<void>>> = {
  /** No synchronous commit can end, so nothing may be acknowledged, whatever a new connection sees. */
  async barrier(admin, instance) {
    await configure(admin, 'synchronous_standby_names', 'nobody')
    await until('a server that waits for its standby', () => commitWaits(admin))
    let isTold = false
    const booked = credit(instance, 'late').then((result) => {
      isTold = true
      return result
    })
    await until('the wait for a synchronous commit', async () => isTold || (await writersThatWait(admin)).length > 0)
    if (isTold) throw new Violation('a commit was acknowledged that is not flushed')
    for (const pid of await writersThatWait(admin)) {
      await admin`SELECT pg_terminate_backend(${pid})`
      const isAnother = async (): Promise<boolean> => (await writersThatWait(admin)).some((other) => other !== pid)
      await until('the wait of another connection', async () => isTold || (await isAnother()))
    }
    if (isTold) throw new Violation('a commit was acknowledged because it was seen')
    await configure(admin, 'synchronous_standby_names', '')
    if ((await booked).kind !== 'booked') throw new Violation(`a credit was ${(await booked).kind}`)
  },

  /** An instance that was declared dead goes on. Nothing of it may be committed. */
  async dead(admin, instance) {
    const other = await openInstance()
    const [row] = await admin<{ beat: string }[]>`
      SELECT beat::text AS beat FROM instance WHERE id = ${instance.store.instance ?? ''}`
    // No sign of life may come between.
    await until('its death', async () => {
      const [now] = await admin<{ beat: string; state: string }[]>`
        SELECT beat::text AS beat, state FROM instance WHERE id = ${instance.store.instance ?? ''}`
      const silent = { id: instance.store.instance ?? '', beat: now?.beat ?? row?.beat ?? '' }
      return (await expireHoldsOf(other.store, silent)) !== undefined
    })
    const late = instance.ledger.hold({ id: 'late', accountId: ACCOUNT, amount: 1n })
    if (late.kind !== 'held') throw new Error('the scene has no funds')
    let isTold = false
    void late.durable.then(() => (isTold = true))
    await until('its end', () => isTold || instance.ends.length > 0)
    if (isTold) throw new Violation('an instance that was declared dead has told of a hold')
    const holds = await admin`SELECT 1 FROM hold WHERE state = 'open'`
    if (holds.length > 0) throw new Violation('an instance that was declared dead has committed a hold')
  },

  /** A connection is given up while its batch waits for a row. It goes on, and so does the next try. */
  async twice(admin, _instance) {
    // The server learns late that a connection is gone, as on a network that loses packets.
    const proxy = new FaultProxy({ port: Number(database.port), plan: () => ({ up: { slowCloseMs: STUCK_MS } }) })
    const url = new URL(database)
    url.port = String(proxy.port)
    const instance = await openInstance({ url: url.href, silenceMs: 200 })
    // Only statements that the connection has prepared are sent at once.
    await credit(instance, 'second')
    const holder = await admin.reserve()
    await holder`BEGIN`
    await holder`SELECT 1 FROM account WHERE id = ${ACCOUNT} FOR UPDATE`
    const booked = credit(instance, 'twice')
    const count = async (): Promise<number> => {
      const rows = await admin`
        SELECT 1 FROM pg_stat_activity WHERE application_name = 'tollgate writer' AND wait_event_type = 'Lock'`
      return rows.length
    }
    await until('two tries', async () => (await count()) > 1)
    await holder`COMMIT`
    await holder.release()
    const { kind } = await booked
    proxy.stop()
    if (kind !== 'booked') throw new Violation(`a credit was ${kind}`)
    const [row] = await admin<{ posted: bigint }[]>`SELECT posted FROM account WHERE id = ${ACCOUNT}`
    if (row?.posted !== 3n * FUNDS) throw new Violation(`the balance is ${row?.posted}`)
  },

  /** Two instances add to the same accounts, each in an order of its own. None may wait for the other in a ring. */
  async locks(admin, instance) {
    await admin.unsafe(`ALTER DATABASE ${database.pathname.slice(1)} SET deadlock_timeout = '10ms'`)
    const instances = [await openInstance(), await openInstance()]
    const accounts = Array.from({ length: 20 }, (_, i) => `${ACCOUNT}.${i}`)
    await mustWrite(
      instance.store,
      accounts.map((id) => ({ run: insertAccount, bind: [id] })),
    )
    for (let batch = 0; batch < 150; batch++) {
      await Promise.all(
        instances.flatMap(({ store }, i) => {
          // Few rows are changed by one query, many by several.
          const some = batch % 2 === 0 ? accounts : accounts.slice(0, 6)
          const order = i === 0 ? some : some.toReversed()
          return order.map((id) => mustWrite(store, [{ run: moveBalance, bind: [id, 1n, 0n], changes: 1 }]))
        }),
      )
    }
    // A connection reports what it has counted once a second, or when it ends.
    for (const { store } of instances) await store.close()
    const [row] = await admin<{ deadlocks: bigint }[]>`
      SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()`
    if (row?.deadlocks !== 0n) throw new Violation(`${row?.deadlocks} deadlocks`)
  },

  /** The clock of the database says that a living instance has been silent for an hour. */
  async clock(admin, { store }) {
    const id = 'run_of_another_time'
    await admin`INSERT INTO instance (id, beat) VALUES (${id}, now() - interval '1 hour')`
    const silent: string[] = []
    const watch = new SilenceWatch(store, {
      silentMs: 2_000,
      pollMs: 100,
      onSilent: async (one) => void silent.push(one.id),
    })
    for (let beats = 0; beats < 40 && silent.length === 0; beats++) {
      await admin`UPDATE instance SET beat = beat + interval '1 ms' WHERE id = ${id}`
      await Bun.sleep(50)
    }
    await watch.close()
    if (silent.includes(id)) throw new Violation('a living instance was declared dead by a clock')
  },

  /** Three instances ask at once for more than the limit has. */
  async meter(_admin, instance) {
    const instances = [instance, await openInstance(), await openInstance()]
    const limiters = await Promise.all(instances.map(({ store }) => openPostgresLimiter(store, [])))
    const limits: Limits = { concurrentRequests: 5 }
    const caller = { key: { id: 'key', accountId: ACCOUNT, limits }, account: { id: ACCOUNT, limits: {} } }
    const tries = Array.from({ length: 60 }, async (_, i) => {
      const permit = limiters[i % 3]?.enter(caller as unknown as Caller)
      const reservation = permit?.kind === 'admitted' ? permit.reserve(1n, 1) : undefined
      if (!reservation) return false
      return (await instances[i % 3]?.store.write(reservation.steps))?.kind === 'written'
    })
    const admitted = (await Promise.all(tries)).filter(Boolean).length
    if (admitted !== 5) throw new Violation(`${admitted} requests are in flight where 5 may be`)
  },
}

async function play(): Promise<ScenePlayed> {
  const scene = scenes[values.scene ?? '']
  if (!scene) throw new Error(`the scenes are ${Object.keys(scenes).join(', ')}`)
  const made = new SQL(server, { max: 1 })
  await made.unsafe(`CREATE DATABASE ${database.pathname.slice(1)}`).simple()
  const admin = new SQL(database.href, { max: 2, bigint: true })
  try {
    const instance = await openInstance()
    await mustWrite(instance.store, [{ run: insertAccount, bind: [ACCOUNT] }])
    instance.ledger.register(ACCOUNT)
    if ((await credit(instance, 'first')).kind !== 'booked') throw new Error('the scene has no funds')
    await scene(admin, instance)
    return { kind: 'kept' }
  } catch (error) {
    if (error instanceof Violation) return { kind: 'violated', message: error.message }
    throw error
  } finally {
    await made.unsafe("ALTER SYSTEM SET synchronous_standby_names = ''")
    await made.unsafe('SELECT pg_reload_conf()')
    rmSync(folder, { recursive: true, force: true })
  }
}

const played = await play()
console.log(JSON.stringify(played))
// What is in flight is of no interest any more.
process.exit(played.kind === 'kept' ? 0 : 1)
