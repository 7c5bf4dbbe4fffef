/**
 * The thread that reads PostgreSQL. Thousands of rows are parsed here, where no open stream waits for it. A query
 * changes nothing, so it is asked again if its connection breaks or is silent for too long.
 */
import type { SQL } from 'bun'
import { giveWay } from '../give-way.ts'
import type { Query, ReaderReply, ReaderRequest, ThreadPriority } from '../reader-worker.ts'
import type { Row } from '../statement.ts'
import { openClient, type DatabaseError } from './client.ts'
import { queryFailureOf } from './query-failure.ts'
import { numbered } from './text.ts'
import { rowsOf, toBound } from './values.ts'

declare const self: Worker

const CONNECTIONS = { first: 4, last: 2 }
/** Requests wait for the first kind, so an answer comes soon or never. The last kind reads for minutes. */
const SILENCE_MS = { first: 5_000, last: 600_000 }
const WATCH_MS = 500
const RETRY_MS = 50
/** A query that cannot be answered for so long fails. */
const GIVE_UP_MS = 15_000

let url: string
let priority: ThreadPriority
let sql: SQL
let watch: Timer
/** When each running query was last asked. */
const running = new Map<Promise<void>, { askedMs: number }>()

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

async function answer(id: number, queries: readonly Query[], asked: { askedMs: number }): Promise<void> {
  const giveUpMs = asked.askedMs + GIVE_UP_MS
  for (;;) {
    try {
      return post({ kind: 'rows', id, results: await askAll(queries) })
    } catch (error) {
      const isLost = queryFailureOf(error as DatabaseError) === 'lost'
      if (!isLost || performance.now() > giveUpMs) return post({ kind: 'failed', id, message: String(error) })
      await Bun.sleep(RETRY_MS)
      asked.askedMs = performance.now()
    }
  }
}

/** Gives up connections that do not answer. Their queries are asked again on others. */
function look(): void {
  const lateMs = performance.now() - SILENCE_MS[priority]
  if ([...running.values()].every(({ askedMs }) => askedMs > lateMs)) return
  for (const asked of running.values()) asked.askedMs = performance.now()
  const silent = sql
  connect()
  void silent.close({ timeout: 0 })
}

function connect(): void {
  sql = openClient(url, 'reader', { max: CONNECTIONS[priority] })
}

const post = (reply: ReaderReply): void => self.postMessage(reply)

async function handle(request: ReaderRequest): Promise<void> {
  if (request.kind === 'open') {
    url = request.database
    priority = request.turn
    connect()
    watch = setInterval(look, WATCH_MS)
    if (priority === 'last') giveWay()
    return post({ kind: 'ready' })
  }
  if (request.kind === 'close') {
    await Promise.all(running.keys())
    clearInterval(watch)
    await sql.close({ timeout: 0 })
    return post({ kind: 'closed' })
  }
  const asked = { askedMs: performance.now() }
  const answered = answer(request.id, request.queries, asked)
  running.set(answered, asked)
  await answered
  running.delete(answered)
}

self.onmessage = ({ data }: MessageEvent<ReaderRequest>) => void handle(data)
