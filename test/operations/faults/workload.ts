/**
 * bun test/operations/faults/workload.ts --folder F --seed S --rounds N: works on a ledger as a server would.
 * It prints what it begins and what was acknowledged, a line each. It stops, as the gateway does, when the store or the
 * ledger breaks. It runs in a process of its own so that it can be killed, or made to fail, at any instant.
 */
import { closeSync, openSync, readSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { recordOf } from '../../money/histories/history.ts'
import type { Ledger } from '../../../src/ledger/ledger.ts'
import { openSqliteLedger } from '../../../src/ledger/sqlite-ledger.ts'
import { statement } from '../../../src/store/statement.ts'
import { mustWrite, openStore, type Store } from '../../../src/store/store.ts'

const { values: options } = parseArgs({
  options: {
    folder: { type: 'string', default: '' },
    seed: { type: 'string', default: '1' },
    rounds: { type: 'string', default: '4' },
    /** Requests begun in one round. */
    width: { type: 'string', default: '4' },
  },
})

const insertAccount = statement("INSERT INTO account (id, name, status, created_at) VALUES (?1, ?1, 'active', 0)")
const ACCOUNTS = 3
/** More than a round takes out, less than all of them: some holds are refused and some charges written off. */
const CREDIT_MAX = 400

/** mulberry32: the same script for the same seed. */
let state = Number(options.seed) >>> 0
function below(limit: number): number {
  state = (state + 0x6d2b79f5) >>> 0
  let mixed = Math.imul(state ^ (state >>> 15), state | 1)
  mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
  return ((mixed ^ (mixed >>> 14)) >>> 0) % limit
}

// One write, one line: what has left this process is in the pipe, whatever happens to it next.
const say = (line: string): void => void writeSync(1, `${line}\n`)

/**
 * Where the log ends for all who read it: its salt, which names one filling of it, and the number of its last frame.
 * What was acknowledged by now is at or before that frame, or in the database. (The wal-index header of SQLite's file
 * format: mxFrame at byte 16, aSalt at 32; it is kept twice, and the copies differ while it is being written.)
 */
function logEnd(file: number): string {
  const header = Buffer.alloc(96)
  for (;;) {
    readSync(file, header, 0, 96, 0)
    if (header.subarray(0, 48).equals(header.subarray(48))) break
  }
  return `${header.subarray(32, 40).toString('hex')}:${header.readUInt32LE(16)}`
}

type Desk = {
  readonly store: Store
  readonly ledger: Ledger
  readonly life: string
  readonly acknowledge: (line: string) => void
}

async function request({ ledger, acknowledge, life }: Desk, serial: number): Promise<void> {
  const id = `${life}r${serial}`
  const amount = BigInt(below(60))
  const written = below(2) === 0 ? 'now' : 'soon'
  const cost = BigInt(below(90))
  const end = below(4)
  const result = ledger.hold({ id, accountId: `a${below(ACCOUNTS)}`, amount, written })
  if (result.kind !== 'held') return
  say(`try ${id}`)
  if (written === 'now') {
    await result.durable
    acknowledge(`held ${id}`)
    // What a growing answer asks for, once or more, whether it has been waited for or not.
    for (let steps = below(3); steps > 0; steps--) {
      const extended = ledger.extend(result.hold, BigInt(below(20)))
      if (extended.kind === 'held' && below(2) === 0) await extended.durable
    }
  }
  // One in four is left open, for the next start to find.
  if (end === 0) return
  if (end === 1) {
    await ledger.release(result.hold, [recordOf(result.hold, 0n, 0n)])
    return acknowledge(`released ${id} 0`)
  }
  let taken = 0n
  await ledger.settle(result.hold, { cost, priceCardId: 1 }, ({ charged, writtenOff }) => {
    taken = charged
    return [recordOf(result.hold, charged, writtenOff)]
  })
  acknowledge(`settled ${id} ${taken}`)
}

/** The same reference twice at once: one of the two is refused, and its batch has to be run apart. */
async function bookTwice({ ledger, acknowledge, life }: Desk, serial: number): Promise<void> {
  const ref = `${life}j${serial}`
  const amount = BigInt(1 + below(CREDIT_MAX))
  const booking = { accountId: `a${below(ACCOUNTS)}`, amount, kind: 'credit', ref, reason: 'test' } as const
  say(`try ${ref}`)
  const [first, second] = await Promise.all([ledger.adjust(booking), ledger.adjust(booking)])
  if (first.kind !== 'booked' || second.kind !== 'duplicate_ref') throw new Error(`${first.kind} and ${second.kind}`)
  acknowledge(`booked ${ref} ${amount}`)
}

const stop = (message: string): never => {
  say(`stopped ${message}`)
  process.exit(1)
}

const store = await openStore(options.folder, stop, { deferMs: 3 })
const life = `${options.seed}.`
const { ledger } = await openSqliteLedger(store, { instance: life, onBroken: stop })
const [known] = await store.query('SELECT count(*) AS count FROM account')
for (let i = Number(known?.['count']); i < ACCOUNTS; i++) {
  await mustWrite(store, [{ run: insertAccount, bind: [`a${i}`] }])
  ledger.register(`a${i}`)
}
const index = openSync(join(options.folder, 'tollgate.db-shm'), 'r')
const context: Desk = { store, ledger, life, acknowledge: (line) => say(`${line} @${logEnd(index)}`) }
say('ready')
for (let round = 0; round < Number(options.rounds); round++) {
  const width = Number(options.width)
  const requests = Array.from({ length: width }, (_, i) => request(context, round * width + i))
  await Promise.all([bookTwice(context, round), ...requests])
}
closeSync(index)
await store.close()
say('end')
process.exit(0)
