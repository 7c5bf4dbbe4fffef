/**
 * The writer thread has the only connection that writes. A message is a batch of transactions, and the whole batch is
 * one commit. This thread knows SQL but not the meaning of a row.
 */
import { Database, type Statement as Prepared } from 'bun:sqlite'
import { violationIn } from './constraint.ts'
import { Rows } from './rows.ts'
import { AddedSums } from './sums.ts'
import type { WriteOutcome } from './statement.ts'
import { bindOf, decodeBatch, stepEnd, type WireTx } from './wire.ts'

declare const self: Worker

/** A batch is sent as plain text, everything else as an object. */
export type WriterRequest = string | { readonly kind: 'open'; readonly path: string } | { readonly kind: 'close' }
export type WriterReply =
  /** Nothing in the batch was refused. This is nearly always the case. */
  | 'written'
  | { readonly kind: 'ready' }
  | { readonly kind: 'outcomes'; readonly refused: readonly (readonly [number, WriteOutcome])[] }
  | { readonly kind: 'fatal'; readonly message: string }

let db: Database
const prepared: Prepared[] = []
/** Slots of statements that read the rows that others add to. */
const readers = new Set<number>()
const sums = new AddedSums()
const rows = new Rows()

/** Runs the steps of one transaction. With `together`, additions and rows are kept for the end of the commit. */
function runSteps(tx: WireTx, how: 'together' | 'apart'): WriteOutcome | undefined {
  for (let at = 0, step = 0; at < tx.length; at = stepEnd(tx, at), step++) {
    if (how === 'together') {
      if (sums.take(tx, at) || rows.take(tx, at)) continue
      if (readers.has(tx[at] as number)) writeSums()
    }
    const reason = runStep(tx, at)
    if (reason !== undefined) return { kind: 'refused', step, reason }
  }
  return undefined
}

/** Writes the additions so far. Throws if one is refused. */
function writeSums(): void {
  for (const step of sums.steps()) {
    const reason = runStep(step, 0)
    if (reason !== undefined) throw new Error(reason)
  }
  sums.clear()
}

function runStep(tx: WireTx, at: number): string | undefined {
  const expected = tx[at + 1] as number
  const { changes } = (prepared[tx[at] as number] as Prepared).run(...bindOf(tx, at))
  return expected === -1 || changes === expected ? undefined : `changed ${changes} rows instead of ${expected}`
}

/**
 * The fast path: all transactions in one commit without savepoints. Additions to one row are combined, and written
 * before a statement that reads the row. Rows of one table are inserted together. A transaction whose first step is
 * refused has written nothing and is left out. Any later refusal or error sends the whole batch to the slow path.
 */
function runTogether(txs: readonly WireTx[]): [number, WriteOutcome][] | undefined {
  const refused: [number, WriteOutcome][] = []
  db.exec('BEGIN IMMEDIATE')
  try {
    for (let i = 0; i < txs.length; i++) {
      const outcome = runSteps(txs[i] as WireTx, 'together')
      if (outcome === undefined) continue
      if (outcome.kind === 'refused' && outcome.step > 0) throw new Error(outcome.reason)
      refused.push([i, outcome])
    }
    writeSums()
    rows.write()
  } catch {
    if (db.inTransaction) db.exec('ROLLBACK') // Some errors, such as a full disk, have already rolled back.
    return undefined
  } finally {
    sums.clear()
    rows.clear()
  }
  db.exec('COMMIT')
  return refused
}

/** The slow path: each transaction has its own savepoint, so that it can fail alone. */
function runApart(txs: readonly WireTx[]): [number, WriteOutcome][] {
  const refused: [number, WriteOutcome][] = []
  db.exec('BEGIN IMMEDIATE')
  txs.forEach((tx, i) => {
    db.exec('SAVEPOINT tx')
    const outcome = runGuarded(tx)
    if (outcome !== undefined) {
      db.exec('ROLLBACK TO tx')
      refused.push([i, outcome])
    }
    db.exec('RELEASE tx')
  })
  db.exec('COMMIT')
  return refused
}

/**
 * A constraint that refuses a row, or a value that does not fit into 64 bits, concerns this transaction only. Any other
 * error is the disk's and is fatal.
 */
function runGuarded(tx: WireTx): WriteOutcome | undefined {
  try {
    return runSteps(tx, 'apart')
  } catch (error) {
    const { code, message } = error as { code?: string; message: string }
    if (error instanceof RangeError) return { kind: 'refused', step: -1, reason: message }
    if (!code?.startsWith('SQLITE_CONSTRAINT')) throw error
    return { kind: 'refused', step: -1, reason: message, violation: violationIn(message) }
  }
}

function openWriter(path: string): void {
  db = new Database(path, { create: true, safeIntegers: true })
  db.exec('PRAGMA busy_timeout = 5000')
  db.exec('PRAGMA journal_mode = WAL')
  // With FULL, an acknowledged charge survives a power cut. NORMAL would lose the last commits.
  db.exec('PRAGMA synchronous = FULL')
  db.exec('PRAGMA foreign_keys = ON')
  db.exec('PRAGMA wal_autocheckpoint = 4000')
  // The log shrinks again after a large batch.
  db.exec('PRAGMA journal_size_limit = 67108864')
}

function runBatch(text: string): WriterReply {
  const { define, txs } = decodeBatch(text)
  for (const { slot, sql, keys, tuple, readsSums } of define) {
    prepared[slot] = db.prepare(sql)
    if (readsSums) readers.add(slot)
    if (keys !== undefined) sums.define(slot, keys)
    if (tuple !== undefined) rows.define(db, slot, { sql, tuple })
  }
  const refused = runTogether(txs) ?? runApart(txs)
  return refused.length === 0 ? 'written' : { kind: 'outcomes', refused }
}

function handle(request: WriterRequest): WriterReply {
  if (typeof request === 'string') return runBatch(request)
  switch (request.kind) {
    case 'open':
      openWriter(request.path)
      return { kind: 'ready' }
    case 'close':
      // A connection with open statements stays open until they are collected, and would then lock the database.
      for (const made of prepared) made?.finalize()
      rows.finalize()
      db.close()
      return { kind: 'ready' }
  }
}

self.onmessage = ({ data }: MessageEvent<WriterRequest>) => {
  try {
    self.postMessage(handle(data))
  } catch (error) {
    const { code, message } = error as { code?: string; message: string }
    self.postMessage({ kind: 'fatal', message: code ? `${code}: ${message}` : message } satisfies WriterReply)
  }
}
