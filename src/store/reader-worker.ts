/** The reader thread. `bun:sqlite` is synchronous, so a query of a few milliseconds would stall every open stream. */
import { Database } from 'bun:sqlite'
import { giveWay } from './give-way.ts'
import type { Row, SqlValue } from './statement.ts'

declare const self: Worker

/** Whether the thread runs before or after the others when all are busy. Requests wait for the first kind. */
export type ThreadPriority = 'first' | 'last'
export type Query = { readonly sql: string; readonly bind: readonly SqlValue[] }
export type ReaderRequest =
  /** `database` is the file of SQLite, or the URL of PostgreSQL. */
  | { readonly kind: 'open'; readonly database: string; readonly turn: ThreadPriority }
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
    db = new Database(request.database, { readonly: true, safeIntegers: true })
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

self.onmessage = ({ data }: MessageEvent<ReaderRequest>) => self.postMessage(handle(data))
