/**
 * The real gateway over real sockets, killed with SIGKILL at random instants, under load and during its start. A client
 * counts an answer as acknowledged when its last byte has arrived. The books must have each such charge once.
 */
import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { formatUsd } from '../../src/domain/money.ts'
import { faultyWriter } from '../operations/faults/writer-faults.ts'
import { ask, askUntilDead, MANNERS, modelsOf, type AcknowledgedCharges } from '../support/crash-clients.ts'
import { freshFolder, startGateway, startSandboxProcess } from '../support/gateway.ts'
import type { GatewayOptions, TestSandbox } from '../support/gateway.ts'
import { countOf, reportFigure } from '../support/soaks.ts'
import { copySources } from '../support/sources.ts'

const CYCLES = countOf('kills')
/** Each in a data folder of its own: two gateways keep two cores busy. */
const GATEWAYS = 2
/** Reading all books takes longer with every cycle; in between only the open holds are looked at. */
const VERIFY_EVERY = 10
const READY_MS_MAX = 5_000
const LOAD_MS = 200
const ANSWERS = 10
/** One start in so many is killed before it is ready. */
const STILLBORN_ONE_IN = 5
const CYCLE_TIMEOUT_MS = 5_000

let vendor: TestSandbox
beforeAll(async () => {
  vendor = await startSandboxProcess()
})
afterAll(() => vendor.stop())

type Row = {
  id: string
  state: string
  charges: number
  records: number
  outcome: string | null
  charged: bigint | null
}

const ROWS = `SELECT hold.id, hold.state, hold.state = 'settled' AS charges, count(DISTINCT record.id) AS records,
    record.outcome, record.charged FROM hold
    LEFT JOIN request_record AS record ON record.account_id = hold.account_id AND record.id = hold.id GROUP BY hold.id`

/** Reads beside the running gateway. */
function read<T>(folder: string, sql: string): T[] {
  const db = new Database(join(folder, 'tollgate.db'), { readonly: true, safeIntegers: true })
  try {
    return db.query(sql).all() as T[]
  } finally {
    db.close()
  }
}

function expectCharges(folder: string, acknowledged: AcknowledgedCharges): Row[] {
  const rows = read<Row>(folder, ROWS).map((row) => ({
    ...row,
    charges: Number(row.charges),
    records: Number(row.records),
  }))
  const byId = new Map(rows.map((row) => [row.id, row]))
  for (const [id, cost] of acknowledged) {
    const found = byId.get(id)
    expect(found).toMatchObject({ id, state: 'settled', charges: 1, records: 1, outcome: 'completed' })
    if (cost !== undefined) expect(formatUsd(found?.charged ?? -1n)).toBe(cost)
  }
  expect(rows.filter(({ charges, state }) => charges !== (state === 'settled' ? 1 : 0))).toEqual([])
  return rows
}

type Lives = {
  readonly acknowledged: AcknowledgedCharges
  readonly expired: number
  readonly readyMs: number
  stillborn: number
}

/** Kills a start before it is ready. It may be quicker than the kill: then it dies a moment later. */
async function killStart(options: GatewayOptions): Promise<void> {
  const onSpawn = (pid: number): void => void setTimeout(() => process.kill(pid, 'SIGKILL'), Math.random() * 250)
  try {
    const quick = await startGateway({ ...options, onSpawn })
    await quick.exited
  } catch (error) {
    expect(String(error)).toContain('exited with')
  }
}

/** One data folder through its cycles. */
async function live(cycles: number): Promise<Lives> {
  const folder = freshFolder()
  const acknowledged: AcknowledgedCharges = new Map()
  let options: GatewayOptions = { folder, yaml: modelsOf(vendor.baseUrl) }
  let [readyMs, stillborn] = [0, 0]
  for (let cycle = 0; cycle < cycles; cycle++) {
    if (cycle % STILLBORN_ONE_IN === STILLBORN_ONE_IN - 1) {
      await killStart(options)
      stillborn++
    }
    const startedMs = performance.now()
    const gateway = await startGateway(options)
    const [open] = read<{ count: bigint }>(folder, "SELECT count(*) AS count FROM hold WHERE state = 'open'")
    expect(open?.count).toBe(0n)
    options = { ...options, as: gateway }
    await ask(gateway, 'whole', acknowledged)
    readyMs = Math.max(readyMs, performance.now() - startedMs)
    if (cycle % VERIFY_EVERY === 0) {
      expect(await gateway.operate('ledger.verify')).toMatchObject({ clean: true, open_holds: 0 })
    }
    const clients = MANNERS.map((manner) => askUntilDead(gateway, manner, acknowledged))
    // By time, and by what has happened: a slow machine would be killed before anything has.
    const enough = acknowledged.size + Math.floor(Math.random() * ANSWERS)
    await Bun.sleep(Math.random() * LOAD_MS)
    for (let waits = 0; acknowledged.size < enough && waits < 1_000; waits++) await Bun.sleep(2)
    await gateway.crash()
    await Promise.all(clients)
  }
  const last = await startGateway(options)
  const rows = expectCharges(folder, acknowledged)
  expect(rows.filter(({ state }) => state === 'open')).toEqual([])
  await last.close()
  return { acknowledged, readyMs, stillborn, expired: rows.filter(({ state }) => state === 'expired').length }
}

test(
  `after ${CYCLES} kills under load every acknowledged charge is there once and no hold is open`,
  async () => {
    const each = Math.ceil(CYCLES / GATEWAYS)
    const lives = await Promise.all(Array.from({ length: GATEWAYS }, () => live(each)))
    const sum = (read: (one: Lives) => number): number => lives.reduce((total, one) => total + read(one), 0)
    const [charges, expired, stillborn] = [
      sum((one) => one.acknowledged.size),
      sum((one) => one.expired),
      sum((one) => one.stillborn),
    ]
    const readyMs = Math.max(...lives.map((one) => one.readyMs))
    reportFigure(
      `${each * GATEWAYS + stillborn} kills (${stillborn} of them while starting), ${charges} acknowledged charges, ` +
        `0 lost, 0 doubled; ${expired} holds expired; ready in ${Math.round(readyMs)} ms at most`,
    )
    expect(charges).toBeGreaterThan(CYCLES * 3)
    // Some requests died half way, or the kills came at the wrong moments and proved nothing.
    expect(expired).toBeGreaterThan(0)
    expect(readyMs).toBeLessThanOrEqual(READY_MS_MAX)
  },
  60_000 + CYCLES * CYCLE_TIMEOUT_MS,
)

test('a gateway whose disk fails stops itself, and the next one has everything that was acknowledged', async () => {
  const copy = copySources([faultyWriter])
  const folder = freshFolder()
  const acknowledged: AcknowledgedCharges = new Map()
  let options: GatewayOptions = { folder, yaml: modelsOf(vendor.baseUrl) }
  try {
    for (const at of [400, 1_000, 700, 1_300].slice(0, Math.max(2, CYCLES / 10))) {
      const env = { TOLLGATE_FAULT_AT: String(at), TOLLGATE_FAULT_MODE: 'from' }
      const gateway = await startGateway({ ...options, root: copy.folder, env })
      options = { ...options, as: gateway }
      await Promise.all(MANNERS.map((manner) => askUntilDead(gateway, manner, acknowledged)))
      expect(await gateway.exited).toBe(1)
      expect(gateway.output()).toContain('store.fatal')
    }
    const last = await startGateway(options)
    expectCharges(folder, acknowledged)
    expect(acknowledged.size).toBeGreaterThan(10)
    await last.close()
  } finally {
    copy.remove()
  }
}, 60_000)
