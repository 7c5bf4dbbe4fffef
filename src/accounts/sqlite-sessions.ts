/** Sessions on SQLite. They are in memory, and on disk by digest, so that a restart ends no session. */
import { timeOrderedId } from '../lib/primitives/ids.ts'
import { makeToken, tokenDigest } from '../lib/primitives/token.ts'
import { MINUTE_MS } from '../lib/primitives/units.ts'
import { statement, type Row, type WriteStep } from '../store/statement.ts'
import { mustWrite, type Store } from '../store/store.ts'
import {
  hasEnded,
  PER_USER_MAX,
  type NewSession,
  type Session,
  type SessionOrigin,
  type Sessions,
  type SessionUse,
  type SignedInUser,
} from './sessions.ts'
import type { UserDirectory } from './users.ts'

const insert = statement(
  'INSERT INTO session (id, digest, user_id, address, agent, created_at, seen_at) VALUES (?, ?, ?, ?, ?, ?, ?)',
)
const touch = statement('UPDATE session SET seen_at = ? WHERE id = ?')
const setView = statement('UPDATE session SET view_as = ? WHERE id = ?')
const remove = statement('DELETE FROM session WHERE id = ?')

/** How far `seen_at` on disk may lag behind. */
const TOUCH_MS = MINUTE_MS
type StoredSession = Session & {
  readonly digest: string
  seenAtMs: number
  touchedAtMs: number
  viewAs: string | undefined
}

/** Opens the port. Loads the sessions. */
export async function openSqliteSessions(store: Store): Promise<Sessions> {
  return new SqliteSessions(store, await store.query('SELECT * FROM session ORDER BY id'))
}

class SqliteSessions implements Sessions {
  private readonly store: Store
  private readonly byDigest = new Map<string, StoredSession>()

  constructor(store: Store, rows: readonly Row[]) {
    this.store = store
    for (const row of rows) {
      const session = sessionOf(row)
      this.byDigest.set(session.digest, session)
    }
  }

  async begin(userId: string, from: SessionOrigin): Promise<NewSession> {
    const own = this.listOf(userId)
    const gone = this.forget(own.slice(0, Math.max(0, own.length - PER_USER_MAX + 1)))
    const token = makeToken()
    const nowMs = Date.now()
    const kept: StoredSession = {
      id: timeOrderedId('sess_'),
      digest: tokenDigest(token),
      userId,
      address: from.address,
      agent: from.agent.slice(0, 200),
      createdAtMs: nowMs,
      seenAtMs: nowMs,
      touchedAtMs: nowMs,
      viewAs: undefined,
    }
    this.byDigest.set(kept.digest, kept)
    const bind = [kept.id, kept.digest, userId, kept.address, kept.agent, nowMs, nowMs]
    await mustWrite(this.store, [...gone, { run: insert, bind }])
    return { token, session: kept }
  }

  find(
    token: string,
    users: UserDirectory,
    { nowMs = Date.now(), asks = 'person' }: SessionUse = {},
  ): SignedInUser | undefined {
    const kept = this.byDigest.get(tokenDigest(token))
    const user = kept && users.find(kept.userId)
    if (!kept || user?.status !== 'active' || hasEnded(kept, nowMs)) return undefined
    if (asks === 'page') return { session: kept, user }
    kept.seenAtMs = nowMs
    if (nowMs - kept.touchedAtMs >= TOUCH_MS) {
      kept.touchedAtMs = nowMs
      // A lost write is harmless, because `seen_at` is written again a minute later.
      this.store.write([{ run: touch, bind: [nowMs, kept.id] }], 'bulk').catch(() => undefined)
    }
    return { session: kept, user }
  }

  listOf(userId: string, nowMs = Date.now()): readonly Session[] {
    return [...this.byDigest.values()].filter((kept) => kept.userId === userId && !hasEnded(kept, nowMs))
  }

  async end(sessions: readonly Pick<Session, 'id'>[]): Promise<void> {
    const steps = this.forget(sessions)
    if (steps.length > 0) await mustWrite(this.store, steps)
  }

  /** Ends sessions in memory, and returns the steps for the disk. */
  private forget(sessions: readonly Pick<Session, 'id'>[]): WriteStep[] {
    const ids = new Set(sessions.map(({ id }) => id))
    for (const [digest, { id }] of this.byDigest) if (ids.has(id)) this.byDigest.delete(digest)
    return [...ids].map((id) => ({ run: remove, bind: [id] }))
  }

  endAllOf(userId: string): Promise<void> {
    return this.end([...this.byDigest.values()].filter((kept) => kept.userId === userId))
  }

  async lookAs({ id }: Pick<Session, 'id'>, accountId: string | undefined): Promise<void> {
    for (const kept of this.byDigest.values()) if (kept.id === id) kept.viewAs = accountId
    await mustWrite(this.store, [{ run: setView, bind: [accountId ?? null, id] }])
  }

  sweep(nowMs = Date.now()): Promise<void> {
    return this.end([...this.byDigest.values()].filter((kept) => hasEnded(kept, nowMs)))
  }
}

function sessionOf(row: Row): StoredSession {
  const seenAtMs = Number(row['seen_at'])
  return {
    id: row['id'] as string,
    digest: row['digest'] as string,
    userId: row['user_id'] as string,
    address: row['address'] as string,
    agent: row['agent'] as string,
    viewAs: (row['view_as'] as string | null) ?? undefined,
    createdAtMs: Number(row['created_at']),
    seenAtMs,
    touchedAtMs: seenAtMs,
  }
}
