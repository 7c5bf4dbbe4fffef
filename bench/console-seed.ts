/** Writes a month of requests directly into a data folder: a million by default, half of them for one account. */
import { Database } from 'bun:sqlite'
import { join } from 'node:path'
import { timeOrderedId } from '../src/lib/primitives/ids.ts'
import { usageSums } from '../src/records/usage-rollups.ts'
import { DAY_MS } from '../src/lib/primitives/units.ts'

export type SeededAccounts = {
  readonly accountId: string
  readonly keyId: string
  readonly rareKeyId: string
  readonly requestId: string
  readonly requests: number
}

const DAYS = 30
const ENDPOINTS = ['chat.completions', 'responses', 'messages', 'embeddings', 'images.generations']
const MODELS = Array.from({ length: 12 }, (_, i) => `model-${i}`)
const KEYS = 12

const ATTEMPTS = JSON.stringify([
  {
    offerId: 'model-1@vendor/model-1',
    providerId: 'vendor',
    upstreamModel: 'model-1',
    result: 'ok',
    status: 200,
    startedMs: 3,
    tookMs: 700,
  },
])

/** A random index that favours small numbers: the first of a list is used the most. */
const skewed = (length: number): number => Math.floor(Math.random() ** 2 * length)

type Account = { readonly id: string; readonly keys: readonly string[] }

function makeAccounts(db: Database, count: number, sinceMs: number): readonly Account[] {
  return Array.from({ length: count }, (_, i) => {
    const id = timeOrderedId('acct_', sinceMs + i)
    const account = db.prepare(
      "INSERT INTO account (id, name, status, posted, created_at) VALUES (?, ?, 'active', 1000000000000, ?)",
    )
    account.run(id, `seeded ${i}`, sinceMs)
    const keys = Array.from({ length: KEYS }, (_unused, k) => {
      const key = timeOrderedId('key_', sinceMs + k)
      const insert = db.prepare(
        'INSERT INTO api_key (id, account_id, name, digest, last4, created_at) VALUES (?, ?, ?, ?, ?, ?)',
      )
      insert.run(key, id, `key ${k}`, crypto.getRandomValues(new Uint8Array(32)), 'abcd', sinceMs)
      return key
    })
    return { id, keys }
  })
}

const COLUMNS = [
  'account_id, id, key_id, endpoint, model, stream, status, outcome, error_code, offer_id, provider_id, upstream_model',
  'input_fresh, input_cached, cache_write_5m, cache_write_1h, output_text, output_reasoning, usage_source',
  'price_card_id, cost_card_id, held, charged, written_off, upstream_cost, attempts, created_at, first_event_ms, total_ms',
].join(', ')

/** Fills a database that has its schema. */
export function seed(folder: string, requests: number): SeededAccounts {
  const db = new Database(join(folder, 'tollgate.db'))
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; PRAGMA cache_size = -262144')
  const sinceMs = Date.now() - DAYS * DAY_MS
  const insert = db.prepare(`INSERT INTO request_record (${COLUMNS}) VALUES (${COLUMNS.replace(/\w+/g, '?')})`)
  let first: Account = { id: '', keys: [] }
  let requestId = ''
  db.transaction(() => {
    const accounts = makeAccounts(db, 50, sinceMs)
    first = accounts[0] ?? first
    const rest = accounts.slice(1)
    for (let i = 0; i < requests; i++) {
      const atMs = Math.floor(sinceMs + (i / requests) * DAYS * DAY_MS)
      const account = i % 2 === 0 ? first : (rest[skewed(rest.length)] ?? first)
      // The last key is used once in a hundred thousand requests, on the first days.
      const key = i < requests / 10 && i % 100_000 === 0 ? KEYS - 1 : skewed(KEYS - 1)
      const isFailed = Math.random() < 0.01
      const charged = isFailed ? 0 : Math.floor(Math.random() * 5_000_000)
      requestId = timeOrderedId('req_', atMs)
      // A key belongs to one program, which calls one endpoint with three models.
      const what = [ENDPOINTS[key % ENDPOINTS.length] ?? '', MODELS[(key + skewed(3)) % MODELS.length] ?? '']
      const end = isFailed ? [502, 'failed', 'upstream_error'] : [200, 'completed', null]
      const offer = ['model-1@vendor/model-1', 'vendor', 'model-1']
      const read = isFailed ? [0, 0] : [Math.floor(Math.random() * 4_000), Math.floor(Math.random() * 9_000)]
      const tokens = [...read, 0, 0, ...(isFailed ? [0, 0] : [300, 40]), 'reported']
      const money = [1, 2, 9_000_000, charged, 0, Math.floor(charged / 2), ATTEMPTS]
      const firstMs = Math.floor(Math.random() * 2_000)
      const times = [atMs, isFailed ? null : firstMs, firstMs + Math.floor(Math.random() * 3_000)]
      insert.run(
        account.id,
        requestId,
        account.keys[key] ?? '',
        ...what,
        1,
        ...end,
        ...offer,
        ...tokens,
        ...money,
        ...times,
      )
    }
    sumUp(db)
  })()
  const [mine] = db.query('SELECT id FROM request_record WHERE account_id = ? LIMIT 1 OFFSET 1000').all(first.id) as {
    id: string
  }[]
  // None of these days has sums yet. The server makes them when it starts.
  db.prepare('UPDATE usage_days_until SET day = ?').run(Math.floor(sinceMs / DAY_MS))
  db.exec('ANALYZE; PRAGMA wal_checkpoint(TRUNCATE)')
  db.close()
  const [keyId = '', rareKeyId = ''] = [first.keys[0], first.keys.at(-1)]
  return { accountId: first.id, keyId, rareKeyId, requestId: mine?.id ?? requestId, requests }
}

/** The sums by hour, as the migration makes them for an old database. */
function sumUp(db: Database): void {
  const firsts = [50, 100, 200, 400, 800, 1_600, 3_200, 6_400, 12_800, Number.MAX_SAFE_INTEGER].map(
    (bound, i, all) => `total(first_event_ms >= ${all[i - 1] ?? 0} AND first_event_ms < ${bound})`,
  )
  const own: Readonly<Record<string, string>> = {
    requests: 'count(*)',
    failed: "sum(outcome = 'failed')",
    cut: '0',
    estimated: '0',
    cache_write: '0',
    images: '0',
    seconds: '0',
  }
  const sums = usageSums.map((sum) => own[sum] ?? `sum(${sum})`)
  db.exec(`INSERT INTO usage_hour SELECT account_id, created_at / 3600000, key_id, model, endpoint, ${[...sums, ...firsts].join(', ')}
    FROM request_record GROUP BY 1, 2, 3, 4, 5`)
}
