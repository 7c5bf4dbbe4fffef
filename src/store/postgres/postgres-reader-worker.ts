/** The thread that reads PostgreSQL. Thousands of rows are parsed here, where no open stream waits for it. */
import type { SQL } from 'bun'
import { giveWay } from '../give-way.ts'
import type { Query, ReaderReply, ReaderRequest } from '../reader-worker.ts'
import type { Row } from '../statement.ts'
import { openClient } from './client.ts'
import { numbered } from './text.ts'
import { rowsOf, toBound } from './values.ts'

declare const self: Worker

const CONNECTIONS = { first: 4, last: 2 }

let sql: SQL
/** Queries whose answers are not there yet. */
const running = new Set<Promise<void>>()

async function ask(on: SQL, { sql: text, bind }: Query): Promise<readonly Row[]> {
  return rowsOf(await on.unsafe(numbered(text), bind.map(toBound)))
}

/** Several queries read one state of the database. */
const askAll = (queries: readonly Query[]): Promise<readonly (readonly Row[])[]> =>
  queries.length === 1
    ? Promise.all(queries.map((query) => ask(sql, query)))
    : sql.begin('ISOLATION LEVEL REPEATABLE READ, READ ONLY', (one) =>
        Promise.all(queries.map((query) => ask(one, query))),
      )

async function answer(id: number, queries: readonly Query[]): Promise<void> {
  try {
    post({ kind: 'rows', id, results: await askAll(queries) })
  } catch (error) {
    post({ kind: 'failed', id, message: String(error) })
  }
}

const post = (reply: ReaderReply): void => self.postMessage(reply)

async function handle(request: ReaderRequest): Promise<void> {
  if (request.kind === 'open') {
    const { database, turn } = request
    sql = openClient(database, 'reader', { max: CONNECTIONS[turn] })
    if (turn === 'last') giveWay()
    return post({ kind: 'ready' })
  }
  if (request.kind === 'close') {
    await Promise.all(running)
    await sql.close()
    return post({ kind: 'closed' })
  }
  const answered = answer(request.id, request.queries)
  running.add(answered)
  await answered
  running.delete(answered)
}

self.onmessage = ({ data }: MessageEvent<ReaderRequest>) => void handle(data)
