/** Sessions in SQL. They are in memory, and in the database by digest, so that a restart ends no session. */
import { timeOrderedId } from '../lib/primitives/ids.ts'
import { makeToken, tokenDigest } from '../lib/primitives/token.ts'
import { MINUTE_MS } from '../lib/primitives/units.ts'
import { SharedRows } from '../store/shared-rows.ts'
import { statement, type Row, type WriteStep } from '../store/statement.ts'
import type { Store } from '../store/store.ts'
import {
  hasEnded,
  PER_USER_MAX,
  sessionBounds,
  type NewSession,
  type Session,
  type SessionOrigin,
  type Sessions,
  type SessionUse,
  type SignedInUser,
} from './sessions.ts'
import type { UserDirectory } from './users.ts'

/** A session of a user who is disabled or has got another password is not begun. */
const insertText = `INSERT INTO session (id, digest, user_id, address, agent, created_at, seen_at)
  SELECT ?1, ?2, id, ?4, ?5, CAST(?6 AS bigint), CAST(?6 AS bigint) FROM "user"
  WHERE id = ?3 AND disabled_at IS NULL AND coalesce(?7, password, '') = coalesce(password, '')`
/** With the lock, a change of the password sees this session and ends it, or this statement sees the change. */
const insert = statement({ sqlite: insertText, postgres: `${insertText} FOR SHARE` })
const touch = statement('UPDATE session SET seen_at = ? WHERE id = ? AND seen_at < ?1')
const setView = statement('UPDATE session SET view_as = ? WHERE id = ?')
const remove = statement('DELETE FROM session WHERE id = ?')
const removeAll = statement('DELETE FROM session WHERE user_id = ?')
/** Another instance may have seen the user later. */
const removeEnded = statement('DELETE FROM session WHERE id = ? AND (seen_at <= ? OR created_at <= ?)')

/** How far `seen_at` on disk may lag behind. */
const TOUCH_MS = MINUTE_MS
type StoredSession = Session & {
  readonly digest: string
  seenAtMs: number
  touchedAtMs: number
  viewAs: string | undefined
}

/** Opens the port. Loads the sessions. */
export async function openSqlSessions(store: Store): Promise<Sessions> {
  const sessions = new SqlSessions(store)
  await sessions.open()
  return sessions
}

class SqlSessions implements Sessions {
  private readonly store: Store
  private readonly byDigest = new Map<string, StoredSession>()
  /** The sessions of one user are read together. */
  private readonly rows: SharedRows

  constructor(store: Store) {
    this.store = store
    this.rows = new SharedRows(store, {
      kind: 'session',
      all: 'SELECT * FROM session ORDER BY id',
      one: 'SELECT * FROM session WHERE user_id = ? ORDER BY id',
      subjectOf: (row) => row['user_id'] as string,
      take: (userId, rows) => this.takeSessions(userId, rows.map(sessionOf)),
    })
  }

  open(): Promise<void> {
    return this.store.changes.watch(this.rows)
  }

  private takeSessions(userId: string, sessions: readonly StoredSession[]): void {
    const known = new Map(this.byDigest.entries().filter(([, kept]) => kept.userId === userId))
    for (const digest of known.keys()) this.byDigest.delete(digest)
    for (const session of sessions) {
      const seenAtMs = Math.max(session.seenAtMs, known.get(session.digest)?.seenAtMs ?? 0)
      this.byDigest.set(session.digest, { ...session, seenAtMs })
    }
  }

  async begin(userId: string, from: SessionOrigin, passwordHash?: string): Promise<NewSession> {
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
    const bind = [kept.id, kept.digest, userId, kept.address, kept.agent, nowMs, passwordHash ?? null]
    await this.rows.write(userId, [...gone, { run: insert, bind, changes: 1 }])
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
      const steps = [{ run: touch, bind: [nowMs, kept.id] }, ...this.rows.announce(kept.userId)]
      this.store.write(steps, 'bulk').catch(() => undefined)
    }
    return { session: kept, user }
  }

  listOf(userId: string, nowMs = Date.now()): readonly Session[] {
    return [...this.byDigest.values()].filter((kept) => kept.userId === userId && !hasEnded(kept, nowMs))
  }

  async end(sessions: readonly Pick<Session, 'id' | 'userId'>[]): Promise<void> {
    const byUser = Map.groupBy(sessions, ({ userId }) => userId)
    await Promise.all([...byUser].map(([userId, own]) => this.rows.write(userId, this.forget(own))))
  }

  /** Ends sessions in memory, and returns the steps for the database. */
  private forget(sessions: readonly Pick<Session, 'id'>[]): WriteStep[] {
    const ids = new Set(sessions.map(({ id }) => id))
    for (const [digest, { id }] of this.byDigest) if (ids.has(id)) this.byDigest.delete(digest)
    return [...ids].map((id) => ({ run: remove, bind: [id] }))
  }

  endAllOf(userId: string, write: (steps: readonly WriteStep[]) => Promise<void>): Promise<void> {
    this.takeSessions(userId, [])
    return this.rows.during(userId, () => write([{ run: removeAll, bind: [userId] }, ...this.rows.announce(userId)]))
  }

  async lookAs({ id, userId }: Pick<Session, 'id' | 'userId'>, accountId: string | undefined): Promise<void> {
    for (const kept of this.byDigest.values()) if (kept.id === id) kept.viewAs = accountId
    await this.rows.write(userId, [{ run: setView, bind: [accountId ?? null, id] }])
  }

  async sweep(nowMs = Date.now()): Promise<void> {
    const ended = [...this.byDigest.values()].filter((kept) => hasEnded(kept, nowMs))
    const { idleMs, absoluteMs } = sessionBounds
    const byUser = Map.groupBy(ended, ({ userId }) => userId)
    await Promise.all(
      [...byUser].map(([userId, own]) => {
        this.forget(own)
        const steps = own.map(({ id }) => ({ run: removeEnded, bind: [id, nowMs - idleMs, nowMs - absoluteMs] }))
        return this.rows.write(userId, steps)
      }),
    )
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
