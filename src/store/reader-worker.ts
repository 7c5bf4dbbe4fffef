/** The reader thread. `bun:sqlite` is synchronous, so a query of a few milliseconds would stall every open stream. */
import { Database } from 'bun:sqlite'
import { readlinkSync } from 'node:fs'
import { getPriority, setPriority } from 'node:os'
import type { Row, SqlValue } from './statement.ts'

declare const self: Worker

/** Whether the thread runs before or after the others when all are busy. Requests wait for the first kind. */
export type ThreadPriority = 'first' | 'last'
export type Query = { readonly sql: string; readonly bind: readonly SqlValue[] }
export type ReaderRequest =
  | { readonly kind: 'open'; readonly path: string; readonly turn: ThreadPriority }
  | { readonly kind: 'close' }
  /** All queries read one state of the database. */
  | { readonly kind: 'query'; readonly id: number; readonly queries: readonly Query[] }
export type ReaderReply =
  | { readonly kind: 'ready' }
  | { readonly kind: 'closed' }
  | { readonly kind: 'rows'; readonly id: number; readonly results: readonly (readonly Row[])[] }
  | { readonly kind: 'failed'; readonly id: number; readonly message: string }

let db: Database

function handle(request: ReaderRequest): ReaderReply {
  if (request.kind === 'open') {
    db = new Database(request.path, { readonly: true, safeIntegers: true })
    db.exec('PRAGMA busy_timeout = 5000')
    if (request.turn === 'last') giveWay()
    return { kind: 'ready' }
  }
  if (request.kind === 'close') {
    db.close()
    return { kind: 'closed' }
  }
  try {
    const { id, queries } = request
    const ask = (): Row[][] => queries.map(({ sql, bind }) => db.query(sql).all(...bind) as Row[])
    return { kind: 'rows', id, results: queries.length === 1 ? ask() : db.transaction(ask)() }
  } catch (error) {
    return { kind: 'failed', id: request.id, message: String(error) }
  }
}

const NICE_MAX = 19
/** A thread that yields gets about a tenth of a core beside a thread that wants all of it. */
const GIVES_WAY_BY = 10

/** Lets the other threads go first. It still gets a part of a busy machine. Only Linux has priorities of threads. */
function giveWay(): void {
  try {
    const thread = Number(readlinkSync('/proc/thread-self').split('/').at(-1))
    setPriority(thread, Math.min(NICE_MAX, getPriority() + GIVES_WAY_BY))
  } catch {
    // Other systems run this thread with the same priority as the others.
  }
}

self.onmessage = ({ data }: MessageEvent<ReaderRequest>) => self.postMessage(handle(data))
