/**
 * Requests with an `Idempotency-Key`: one execution and one charge for a key, however often its request is sent. The
 * first one claims the key, in memory at once and on disk with its hold; the others wait their turn or get its answer.
 */
import { statement, type Step } from '../store/statement.ts'
import type { Queryable, Store } from '../store/store.ts'

/** An answer as it is sent again. `body` is undefined when it was too large to keep. */
export type KeptAnswer = {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
}

export type IdempotencyKey = {
  /** As the client sent it. */
  readonly key: string
  /** A digest of what was asked: the same key for something else is a mistake. */
  readonly fingerprint: Uint8Array
}

export type Claimed =
  | { readonly kind: 'claimed'; readonly claim: Claim }
  | { readonly kind: 'running' }
  | { readonly kind: 'mismatch' }
  | { readonly kind: 'kept'; readonly requestId: string; readonly answer: KeptAnswer }

/** How long an answer is kept. */
const KEPT_MS = 24 * 3_600_000
/** An answer up to this size, in UTF-8, is kept. */
const ANSWER_BYTES_MAX = 1024 * 1024
const SWEEP_ROWS = 200

const forgetStale = statement('DELETE FROM idempotency WHERE account_id = ? AND key = ? AND created_at < ?')
const insert = statement(
  'INSERT INTO idempotency (account_id, key, fingerprint, request_id, created_at) VALUES (?, ?, ?, ?, ?)',
)
const keep = statement('UPDATE idempotency SET status = ?, headers = ?, body = ? WHERE account_id = ? AND key = ?')
const drop = statement('DELETE FROM idempotency WHERE account_id = ? AND key = ?')
const dropRunning = statement('DELETE FROM idempotency WHERE request_id = ? AND status IS NULL')
// What still runs is an open hold's: its row goes with the hold, however long a request may take.
const STALE = 'FROM idempotency WHERE created_at < ? AND status IS NOT NULL'
const sweep = statement(`DELETE FROM idempotency WHERE rowid IN (SELECT rowid ${STALE} LIMIT ${SWEEP_ROWS})`)

/** What a hold that expires takes with it: a request that died with its process may be sent again. */
export const forgetExpired = (holdId: string): Step[] => [{ run: dropRunning, bind: [holdId] }]

/** The right to answer for a key, until `end`. Its steps go along with those of the hold. */
export class Claim {
  readonly fingerprint: Uint8Array
  private readonly accountId: string
  private readonly key: string
  /** The key is free again, or has its answer on disk. Safe to call again. */
  readonly end: () => void

  constructor(accountId: string, { key, fingerprint }: IdempotencyKey, end: () => void) {
    this.accountId = accountId
    this.key = key
    this.fingerprint = fingerprint
    this.end = end
  }

  begin(requestId: string): Step[] {
    const { accountId, key, fingerprint } = this
    const nowMs = Date.now()
    return [
      { run: forgetStale, bind: [accountId, key, nowMs - KEPT_MS] },
      { run: insert, bind: [accountId, key, fingerprint, requestId, nowMs], changes: 1 },
    ]
  }

  keep({ status, headers, body }: KeptAnswer): Step[] {
    const text = body !== undefined && Buffer.byteLength(body) <= ANSWER_BYTES_MAX ? body : null
    return [{ run: keep, bind: [status, JSON.stringify(headers), text, this.accountId, this.key], changes: 1 }]
  }

  /** Nothing was charged: the next request with this key is a new one. */
  drop(): Step[] {
    return [{ run: drop, bind: [this.accountId, this.key], changes: 1 }]
  }
}

export class Idempotency {
  private readonly store: Store
  private readonly claims = new Map<string, Claim>()

  constructor(store: Store) {
    this.store = store
  }

  /** Claims a key for an account. While a claim lasts no other is given, so what is on disk cannot change under it. */
  async claim(accountId: string, wanted: IdempotencyKey): Promise<Claimed> {
    const name = `${accountId}\n${wanted.key}`
    const running = this.claims.get(name)
    if (running) return isSame(running.fingerprint, wanted.fingerprint) ? { kind: 'running' } : { kind: 'mismatch' }
    const claim: Claim = new Claim(accountId, wanted, () => {
      if (this.claims.get(name) === claim) this.claims.delete(name)
    })
    this.claims.set(name, claim)
    try {
      const found = await this.find(accountId, wanted)
      if (!found) return { kind: 'claimed', claim }
      claim.end()
      return found
    } catch (error) {
      claim.end()
      throw error
    }
  }

  private async find(accountId: string, { key, fingerprint }: IdempotencyKey): Promise<Claimed | undefined> {
    const [row] = await this.store.query(
      `SELECT fingerprint, request_id, status, headers, body FROM idempotency
       WHERE account_id = ? AND key = ? AND created_at >= ?`,
      [accountId, key, Date.now() - KEPT_MS],
    )
    if (!row) return undefined
    if (!isSame(row['fingerprint'] as Uint8Array, fingerprint)) return { kind: 'mismatch' }
    const answer = {
      status: Number(row['status']),
      headers: JSON.parse(row['headers'] as string) as Record<string, string>,
      body: (row['body'] as string | null) ?? undefined,
    }
    return { kind: 'kept', requestId: row['request_id'] as string, answer }
  }

  /** Deletes what is older than it needs to be, in small steps behind the requests. */
  async sweep(): Promise<void> {
    const before = Date.now() - KEPT_MS
    const [row] = await this.store.query(`SELECT count(*) AS stale ${STALE}`, [before])
    for (let left = Number(row?.['stale'] ?? 0); left > 0; left -= SWEEP_ROWS) {
      await this.store.write([{ run: sweep, bind: [before] }], 'bulk')
    }
  }
}

const isSame = (a: Uint8Array, b: Uint8Array): boolean => Buffer.compare(a, b) === 0

/**
 * Keys whose state and hold disagree; empty means none. The answer to a request that makes a task is the task, which is
 * there from the start, whatever becomes of it.
 */
export async function verifyIdempotency(store: Queryable): Promise<readonly { subject: string; detail: string }[]> {
  const sql = `SELECT i.account_id || ' ' || i.request_id AS subject, coalesce(h.state, 'no hold') AS detail
    FROM idempotency i LEFT JOIN hold h ON h.id = i.request_id
    WHERE h.state IS NULL OR CASE h.owner WHEN 'task' THEN i.status IS NULL
      ELSE h.state <> CASE WHEN i.status IS NULL THEN 'open' ELSE 'settled' END END`
  return (await store.query(sql)).map((row) => ({ subject: String(row['subject']), detail: String(row['detail']) }))
}

/** The text of an answer while it is made, as far as it is worth keeping. */
export class Transcript {
  private parts: string[] | undefined = []
  private bytes = 0

  add(text: string): void {
    if (!this.parts) return
    this.bytes += Buffer.byteLength(text)
    if (this.bytes > ANSWER_BYTES_MAX) this.parts = undefined
    this.parts?.push(text)
  }

  /** Undefined when it became too long. */
  get text(): string | undefined {
    return this.parts?.join('')
  }
}
