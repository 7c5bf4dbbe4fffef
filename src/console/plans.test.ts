/** Every query of the console finds its rows by an index. None reads a growing table. */
import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { openConsole, type TestConsole } from '../../test/support/console.ts'
import { freshFolder } from '../../test/support/gateway.ts'
import { DATABASE, type Queryable } from '../store/store.ts'
import { routes } from './routes.ts'

let context: TestConsole
let db: Database
const seen: { sql: string; bind: readonly unknown[] }[] = []

/** Records the queries to the store on both threads. */
function listen(queryable: Queryable): void {
  const asked: { query: Queryable['query'] } = queryable
  const { query } = asked
  asked.query = (sql, bind = []) => {
    seen.push({ sql: typeof sql === 'string' ? sql : sql.sqlite, bind })
    return query(sql, bind)
  }
}

beforeAll(async () => {
  context = await openConsole(freshFolder(), { env: { TOLLGATE_PUBLIC_MODELS: 'on' } })
  const { store } = context.gateway
  listen(store)
  listen(store.aside)
  db = new Database(join(store.folder, DATABASE), { readonly: true })
})
afterAll(async () => {
  db.close()
  await context.close()
})

/**
 * Accounts are few, and walked one by one; open holds have an index of nothing else; two are tables of one query. Codes
 * are counted on an index alone: a million take 10 ms of the reader's thread.
 */
const allowed =
  /^SCAN (?:a\b|recent\b|older\b|account\b|hold USING INDEX hold_open|usage_days_until|json_each|redemption_code USING COVERING INDEX|parts\b|found\b)/

const queries: Readonly<Record<string, readonly string[]>> = {
  '/accounts/{account}/requests': [
    '?key=k&model=m&endpoint=e&outcome=failed&status=502&provider=p&charged_min_nano_usd=5&total_ms_min=9',
    '?from=2026-01-01T00:00:00Z&to=2026-02-01T00:00:00Z&cursor=req_1',
  ],
  '/accounts/{account}/usage': ['?by=key', '?by=model&step=hour', '?key=k&model=m', '?time_zone=Europe/Berlin'],
  '/usage': ['?by=account', '?by=model', '?by=endpoint', '?key=k'],
  '/accounts/{account}/tasks': ['?kind=image&cursor=01', '?kind=video', '?kind=video&cursor=01'],
  '/audit': ['?subject=s', '?actor=a', '?action=account.credit', '?cursor=aud_1'],
  '/codes': ['?batch=b', '?cursor=code_1'],
  '/accounts/{account}/ledger': ['?cursor=2026-01'],
}

const reading = routes.filter(({ method }) => method === 'GET')
describe.each(reading.map(({ path }) => path))('GET %s', (path) => {
  test.each(['', ...(queries[path] ?? [])])('%s', async (query) => {
    const operator = await context.as('operator')
    seen.length = 0
    const at = path.replace('{account}', context.accountId).replace(/\{\w+\}/g, 'none')
    expect([200, 404]).toContain((await context.call(operator, `GET ${at}${query}`)).status)
    for (const { sql, bind } of seen) {
      const plan = db.query(`EXPLAIN QUERY PLAN ${sql}`).all(...(bind as [])) as { detail: string }[]
      const scans = plan
        .map(({ detail }) => detail)
        .filter((detail) => detail.startsWith('SCAN') && !allowed.test(detail))
      expect({ sql, scans }).toEqual({ sql, scans: [] })
    }
  })
})
