/**
 * bun bench/ledger.ts --clients N --written now|soon --run-ms N: hold and settlement on ONE account, through the ledger
 * and the store as the gateway uses them, and the time of a disk write in the same folder. Prints one line of JSON.
 * Each measurement is a process of its own, so that compiled code and a long log do not reach the next one.
 */
import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { openSqliteLedger } from '../src/ledger/sqlite-ledger.ts'
import { verifyLedger } from '../src/ledger/verify.ts'
import { openSqlRecords } from '../src/records/sql-records.ts'
import { mustWrite, openStore, type Store } from '../src/store/store.ts'
import { diskFolder } from './disk-folder.ts'
import type { Measurement } from './figures.ts'
import { ACCOUNT, accountStep, drive, holdsMade, type Books, type PairTimes } from './pairs.ts'

type Quantiles = { readonly p50: number; readonly p99: number }

const WARM_UP_MS = 1_500
const DISK_MS = 400
const { values: options } = parseArgs({
  options: {
    clients: { type: 'string', default: '64' },
    written: { type: 'string', default: 'now' },
    'run-ms': { type: 'string', default: '3000' },
  },
})

function quantiles(values: number[]): Quantiles {
  const sorted = Float64Array.from(values).toSorted()
  const at = (part: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? NaN
  return { p50: at(0.5), p99: at(0.99) }
}

/** The time of disk writes, in the sizes of small and large commits. */
function measureDisk(folder: string): number[] {
  const file = openSync(join(folder, 'disk.bin'), 'a')
  const blocks = [4, 8, 12, 16].map((kib) => new Uint8Array(kib * 1024).fill(kib))
  const times: number[] = []
  const endMs = performance.now() + DISK_MS
  for (let i = 0; performance.now() < endMs; i++) {
    const startedMs = performance.now()
    writeSync(file, blocks[i % blocks.length] as Uint8Array)
    fdatasyncSync(file)
    times.push(performance.now() - startedMs)
  }
  closeSync(file)
  return times
}

async function load(books: Books, runMs: number): Promise<PairTimes & { readonly tookMs: number }> {
  const times: PairTimes = { hold: [], pair: [] }
  const startedMs = performance.now()
  const written = options.written === 'soon' ? 'soon' : 'now'
  const clients = Array.from({ length: Number(options.clients) }, () =>
    drive(books, { untilMs: startedMs + runMs, written }, times),
  )
  await Promise.all(clients)
  return { ...times, tookMs: performance.now() - startedMs }
}

/** The errors in the books, which must hold every pair. */
async function inspect(store: Store): Promise<string | undefined> {
  const [finding] = await verifyLedger(store)
  if (finding) return `${finding.invariant}: ${finding.detail}`
  const [row] = await store.query("SELECT count(*) AS count FROM hold WHERE state = 'settled'")
  return Number(row?.['count']) === holdsMade()
    ? undefined
    : `${String(row?.['count'])} of ${holdsMade()} holds are settled`
}

async function measure(folder: string): Promise<Measurement> {
  const stop = (message: string): never => {
    throw new Error(message)
  }
  const store = await openStore(folder, stop)
  const { ledger } = await openSqliteLedger(store, { instance: 'bench', onBroken: stop })
  await mustWrite(store, [accountStep])
  ledger.register(ACCOUNT)
  const funds = { accountId: ACCOUNT, amount: 1_000_000_000_000_000n, kind: 'credit', ref: 'bench' } as const
  await ledger.adjust({ ...funds, reason: 'bench' })
  const books = { ledger, records: openSqlRecords(store) }
  await load(books, WARM_UP_MS)
  const disk = measureDisk(folder)
  const before = process.cpuUsage()
  const { hold, pair, tookMs } = await load(books, Number(options['run-ms']))
  const { user, system } = process.cpuUsage(before)
  const cpuUs = user + system
  disk.push(...measureDisk(folder))
  const problem = await inspect(store)
  await store.close()
  const [held, paired, slept] = [quantiles(hold), quantiles(pair), quantiles(disk)]
  const values = {
    pairsPerSecond: (pair.length / tookMs) * 1000,
    cpuUsPerPair: cpuUs / pair.length,
    // The time from a hold until it is on disk, and until its settlement is.
    holdP50Ms: held.p50,
    holdP99Ms: held.p99,
    pairP50Ms: paired.p50,
    pairP99Ms: paired.p99,
    // An append of 4 to 16 KiB and its fdatasync in the same folder, before and after the run.
    diskP50Ms: slept.p50,
    diskP99Ms: slept.p99,
  }
  return { values, problem }
}

const folder = mkdtempSync(join(diskFolder(), 'ledger-'))
try {
  console.log(JSON.stringify(await measure(folder)))
} finally {
  rmSync(folder, { recursive: true })
}
