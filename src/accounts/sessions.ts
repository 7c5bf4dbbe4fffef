/** Who is signed in. In memory, and by digest on disk, so that a restart signs nobody out. */
import type { User } from '../domain/user.ts'
import { timeOrderedId } from '../lib/primitives/ids.ts'
import { makeToken, tokenDigest } from '../lib/primitives/token.ts'
import { statement, type WriteStep } from '../store/statement.ts'
import { mustWrite, type Store } from '../store/store.ts'
import type { Users } from './users.ts'
import { HOUR_MS, MINUTE_MS } from '../lib/primitives/units.ts'

const insert = statement(
  'INSERT INTO session (id, digest, user_id, address, agent, created_at, seen_at) VALUES (?, ?, ?, ?, ?, ?, ?)',
)
const touch = statement('UPDATE session SET seen_at = ? WHERE id = ?')
const setView = statement('UPDATE session SET view_as = ? WHERE id = ?')
const remove = statement('DELETE FROM session WHERE id = ?')

/** Half an hour without a request, or a working day, and one has to sign in again. */
export const sessionBounds = { idleMs: 30 * MINUTE_MS, absoluteMs: 8 * HOUR_MS }
/** How much `seen_at` on disk may be behind. */
const TOUCH_MS = MINUTE_MS
/** Of one user: the oldest gives way. */
const PER_USER_MAX = 20

export type Session = {
  readonly id: string
  readonly userId: string
  /** Where it was opened from, to recognise it by. */
  readonly address: string
  readonly agent: string
  readonly createdAtMs: number
  readonly seenAtMs: number
  /** The account an operator looks at as its members do; undefined: their own view. */
  readonly viewAs: string | undefined
}

/** A page asks by itself as long as it is open, whether somebody is there or not: only people keep a session going. */
type SessionUse = { readonly nowMs?: number; readonly asks?: 'person' | 'page' }

type StoredSession = Session & {
  readonly digest: string
  seenAtMs: number
  touchedAtMs: number
  viewAs: string | undefined
}

export class Sessions {
  private readonly store: Store
  private readonly byDigest = new Map<string, StoredSession>()

  private constructor(store: Store) {
    this.store = store
  }

  static async open(store: Store): Promise<Sessions> {
    const sessions = new Sessions(store)
    for (const row of await store.query('SELECT * FROM session ORDER BY id')) {
      const seenAtMs = Number(row['seen_at'])
      sessions.byDigest.set(row['digest'] as string, {
        id: row['id'] as string,
        digest: row['digest'] as string,
        userId: row['user_id'] as string,
        address: row['address'] as string,
        agent: row['agent'] as string,
        viewAs: (row['view_as'] as string | null) ?? undefined,
        createdAtMs: Number(row['created_at']),
        seenAtMs,
        touchedAtMs: seenAtMs,
      })
    }
    return sessions
  }

  /** Signs somebody in, in the tick of the call. Returns the token for the cookie, the only time. */
  async begin(userId: string, from: Pick<Session, 'address' | 'agent'>): Promise<{ token: string; session: Session }> {
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

  /** The session of a token and whose it is; undefined when it has ended, in whichever way. */
  find(
    token: string,
    users: Users,
    { nowMs = Date.now(), asks = 'person' }: SessionUse = {},
  ): { session: Session; user: User } | undefined {
    const kept = this.byDigest.get(tokenDigest(token))
    const user = kept && users.find(kept.userId)
    if (!kept || user?.status !== 'active' || hasEnded(kept, nowMs)) return undefined
    if (asks === 'page') return { session: kept, user }
    kept.seenAtMs = nowMs
    if (nowMs - kept.touchedAtMs >= TOUCH_MS) {
      kept.touchedAtMs = nowMs
      // A session that is seen again a minute later on disk is no loss.
      this.store.write([{ run: touch, bind: [nowMs, kept.id] }], 'bulk').catch(() => undefined)
    }
    return { session: kept, user }
  }

  /** The oldest first. */
  listOf(userId: string, nowMs = Date.now()): readonly Session[] {
    return [...this.byDigest.values()].filter((kept) => kept.userId === userId && !hasEnded(kept, nowMs))
  }

  async end(sessions: readonly Pick<Session, 'id'>[]): Promise<void> {
    const steps = this.forget(sessions)
    if (steps.length > 0) await mustWrite(this.store, steps)
  }

  /** Ends them in memory; the steps are for the disk. */
  private forget(sessions: readonly Pick<Session, 'id'>[]): WriteStep[] {
    const ids = new Set(sessions.map(({ id }) => id))
    for (const [digest, { id }] of this.byDigest) if (ids.has(id)) this.byDigest.delete(digest)
    return [...ids].map((id) => ({ run: remove, bind: [id] }))
  }

  endAllOf(userId: string): Promise<void> {
    return this.end([...this.byDigest.values()].filter((kept) => kept.userId === userId))
  }

  async lookAs({ id }: Session, accountId: string | undefined): Promise<void> {
    for (const kept of this.byDigest.values()) if (kept.id === id) kept.viewAs = accountId
    await mustWrite(this.store, [{ run: setView, bind: [accountId ?? null, id] }])
  }

  /** Forgets those that have ended by themselves. */
  sweep(nowMs = Date.now()): Promise<void> {
    return this.end([...this.byDigest.values()].filter((kept) => hasEnded(kept, nowMs)))
  }
}

const hasEnded = ({ createdAtMs, seenAtMs }: Session, nowMs: number): boolean =>
  nowMs - seenAtMs >= sessionBounds.idleMs || nowMs - createdAtMs >= sessionBounds.absoluteMs
