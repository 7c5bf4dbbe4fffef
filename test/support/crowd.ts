/** A gateway after a month with many people: 1,000 keys of one account, 500 people, 300 accounts. */
import { Database } from 'bun:sqlite'
import { join } from 'node:path'
import { timeOrderedId } from '../../src/lib/primitives/ids.ts'
import { DAY_MS } from '../../src/lib/primitives/units.ts'

const crowdCounts = { keys: 1_000, people: 500, accounts: 300 } as const

/** Names as they are given: short, long, of another script, and one that no line can be broken in. */
const words = ['prod', 'nightly evaluation of everything that was ever made', '华东区域推荐与搜索排序', 'W'.repeat(60)]
const nameOf = (what: string, at: number): string =>
  at % 50 < words.length ? `${words[at % 50]} ${what} ${at}` : `${what} ${String(at).padStart(4, '0')}`

/** Fills up a seeded data folder, as long as no gateway has it open. */
export function seedCrowd(folder: string, accountId: string): void {
  const db = new Database(join(folder, 'tollgate.db'))
  const sinceMs = Date.now() - 30 * DAY_MS
  const count = (sql: string): number => (db.query(sql).get() as { n: number }).n
  const account = db.prepare("INSERT INTO account (id, name, status, posted, created_at) VALUES (?, ?, 'active', ?, ?)")
  const key = db.prepare(
    'INSERT INTO api_key (id, account_id, name, digest, last4, created_at) VALUES (?, ?, ?, ?, ?, ?)',
  )
  const user = db.prepare(
    'INSERT INTO user (id, name, role, account_id, password, created_at) VALUES (?, ?, ?, ?, ?, ?)',
  )
  db.transaction(() => {
    for (let at = count('SELECT count(*) AS n FROM account'); at < crowdCounts.accounts; at++) {
      const posted = 10n ** BigInt(at % 19)
      account.run(timeOrderedId('acct_', sinceMs + at), nameOf('account', at), posted, sinceMs + at * 1_000)
    }
    for (let at = keysOf(db, accountId); at < crowdCounts.keys; at++) {
      const digest = crypto.getRandomValues(new Uint8Array(32))
      key.run(timeOrderedId('key_', sinceMs + at), accountId, nameOf('key', at), digest, 'abcd', sinceMs + at * 1_000)
    }
    for (let at = 0; at < crowdCounts.people; at++) {
      const [role, of] = at % 2 === 0 ? ['operator', null] : [at % 3 === 0 ? 'owner' : 'member', accountId]
      // Nobody has this password: it is no hash.
      user.run(timeOrderedId('user_', sinceMs + at), nameOf('person', at), role ?? '', of ?? null, 'none', sinceMs + at)
    }
  })()
  db.close()
}

const keysOf = (db: Database, accountId: string): number =>
  (db.query('SELECT count(*) AS n FROM api_key WHERE account_id = ?').get(accountId) as { n: number }).n

export type Hour = { readonly hourMs: number; readonly requests: number; readonly charged: bigint }

/** What an account came to in each hour, from the requests themselves. */
export function hoursOf(folder: string, accountId: string): readonly Hour[] {
  const db = new Database(join(folder, 'tollgate.db'), { readonly: true, safeIntegers: true })
  const sql =
    'SELECT created_at / 3600000 AS hour, count(*) AS n, sum(charged) AS charged FROM request_record WHERE account_id = ? GROUP BY 1'
  const rows = db.query(sql).all(accountId) as { hour: bigint; n: bigint; charged: bigint }[]
  db.close()
  return rows.map(({ hour, n, charged }) => ({ hourMs: Number(hour) * 3_600_000, requests: Number(n), charged }))
}
