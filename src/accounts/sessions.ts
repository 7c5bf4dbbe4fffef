/**
 * Who is signed in. This is the port that every store of sessions implements, and the rules that they share.
 * `people-contract.ts` is the suite that every implementation passes.
 *
 * Invariants:
 * - Reads come from memory, in the tick of the call. The end of a session holds from that tick on.
 * - A restart signs nobody out. Tokens are stored as digests.
 * - A user has at most `PER_USER_MAX` sessions: the oldest gives way.
 */
import type { User } from '../domain/user.ts'
import { HOUR_MS, MINUTE_MS } from '../lib/primitives/units.ts'
import type { UserDirectory } from './users.ts'
import { limit } from '../lib/primitives/limit.ts'

/** Half an hour without a request, or a working day, and one has to sign in again. */
export const sessionBounds = {
  idleMs: limit('sessionIdleMs', 30 * MINUTE_MS, 'A session without requests for this time ends.'),
  absoluteMs: limit('sessionMs', 8 * HOUR_MS, 'A session of this age ends.'),
}
/** Of one user: the oldest gives way. */
export const PER_USER_MAX = limit('sessionsPerUserMax', 20, 'The oldest session of the user ends.')

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
export type SessionUse = { readonly nowMs?: number; readonly asks?: 'person' | 'page' }

export type SessionOrigin = Pick<Session, 'address' | 'agent'>

export type NewSession = {
  /** For the cookie, the only time. */
  readonly token: string
  readonly session: Session
}

export type SignedInUser = { readonly session: Session; readonly user: User }

export type Sessions = {
  /** Signs a user in, in the tick of the call. */
  begin(userId: string, from: SessionOrigin): Promise<NewSession>
  /**
   * The session of a token and its user; undefined where it has ended or the user is not active. The use by a person
   * puts its end off.
   */
  find(token: string, users: UserDirectory, use?: SessionUse): SignedInUser | undefined
  /** Those of a user that have not ended, the oldest first. */
  listOf(userId: string, nowMs?: number): readonly Session[]
  /** Ends sessions. Those that have ended already are no error. */
  end(sessions: readonly Pick<Session, 'id'>[]): Promise<void>
  endAllOf(userId: string): Promise<void>
  /** Shows an operator an account as its members see it; undefined: their own view again. */
  lookAs(session: Pick<Session, 'id'>, accountId: string | undefined): Promise<void>
  /** Forgets the sessions that have expired. */
  sweep(nowMs?: number): Promise<void>
}

/** Whether a session has expired. */
export const hasEnded = ({ createdAtMs, seenAtMs }: Session, nowMs: number): boolean =>
  nowMs - seenAtMs >= sessionBounds.idleMs || nowMs - createdAtMs >= sessionBounds.absoluteMs
