/**
 * One instance of `bench/cluster.ts`, in a process of its own: hold and settlement on ONE account, through the ledger
 * and the store as the gateway uses them. It reads `go` and then prints one line of JSON.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openPostgresLedger } from '../src/ledger/postgres-ledger.ts'
import { openSqlRecords } from '../src/records/sql-records.ts'
import { timeOrderedId } from '../src/lib/primitives/ids.ts'
import { openPostgresStore } from '../src/store/postgres/store.ts'
import { ACCOUNT, drive, type PairTimes } from './pairs.ts'

export type InstanceReport = { readonly pairs: number; readonly cpuUs: number; readonly holds: readonly number[] }

const [url = '', clients = '16', warmUpMs = '1500', runMs = '5000'] = process.argv.slice(2)
const instance = timeOrderedId('run_')
const stop = (message: string): never => {
  throw new Error(message)
}
const folder = mkdtempSync(join(tmpdir(), 'tollgate-cluster-'))
const store = await openPostgresStore(url, { folder, instance, onFatal: stop })
const ledger = await openPostgresLedger(store, { instance, onBroken: stop })
ledger.register(ACCOUNT)
const books = { ledger, records: openSqlRecords(store, instance) }
const load = async (ms: number): Promise<PairTimes> => {
  const times: PairTimes = { hold: [], pair: [] }
  const untilMs = performance.now() + ms
  await Promise.all(Array.from({ length: Number(clients) }, () => drive(books, { untilMs, written: 'now' }, times)))
  return times
}
console.log('ready')
for await (const line of console) if (line === 'go') break
await load(Number(warmUpMs))
const before = process.cpuUsage()
const { hold, pair } = await load(Number(runMs))
const { user, system } = process.cpuUsage(before)
console.log(JSON.stringify({ pairs: pair.length, cpuUs: user + system, holds: hold } satisfies InstanceReport))
await store.close()
rmSync(folder, { recursive: true })
process.exit(0)
