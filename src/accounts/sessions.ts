/**
 * Signed-in users. This is the port that every store of sessions implements, and the rules that stores share.
 * `people-contract.ts` is the suite that every implementation passes.
 *
 * Invariants:
 * - Reads come from memory, in the tick of the call. The end of a session is in force from that tick on.
 * - A restart ends no session. Tokens are stored as digests.
 * - A user has at most `PER_USER_MAX` sessions. A further one ends the oldest.
 */
import type { User } from '../domain/user.ts'
import { HOUR_MS, MINUTE_MS } from '../lib/primitives/units.ts'
import type { UserDirectory } from './users.ts'
import { limit } from '../lib/primitives/limit.ts'
import type { WriteStep } from '../store/statement.ts'

/** A session ends after half an hour without a request, or after a working day. */
export const sessionBounds = {
  idleMs: limit('sessionIdleMs', 30 * MINUTE_MS, 'A session without requests for this time ends.'),
  absoluteMs: limit('sessionMs', 8 * HOUR_MS, 'A session of this age ends.'),
}
/** The number of sessions per user. A further one ends the oldest. */
export const PER_USER_MAX = limit('sessionsPerUserMax', 20, 'The oldest session of the user ends.')

export type Session = {
  readonly id: string
  readonly userId: string
  /** The address that opened it, by which the user may recognise it. */
  readonly address: string
  readonly agent: string
  readonly createdAtMs: number
  readonly seenAtMs: number
  /** The account that an operator views as its members do, or undefined for the operator's own view. */
  readonly viewAs: string | undefined
}

/** An open page sends requests by itself, even if nobody is there. Only use by a person extends a session. */
export type SessionUse = { readonly nowMs?: number; readonly asks?: 'person' | 'page' }

export type SessionOrigin = Pick<Session, 'address' | 'agent'>

export type NewSession = {
  /** The token for the cookie. It is returned only here. */
  readonly token: string
  readonly session: Session
}

export type SignedInUser = { readonly session: Session; readonly user: User }

export type Sessions = {
  /**
   * Signs a user in, in the tick of the call. With the hash of the password that was verified, rejects if the user has
   * another one by now.
   */
  begin(userId: string, from: SessionOrigin, passwordHash?: string): Promise<NewSession>
  /**
   * The session of a token and its user, or undefined if the session has ended or the user is not active. Use by a
   * person extends the session.
   */
  find(token: string, users: UserDirectory, use?: SessionUse): SignedInUser | undefined
  /** The sessions of a user that have not ended, oldest first. */
  listOf(userId: string, nowMs?: number): readonly Session[]
  /** Ends sessions. Sessions that have already ended are no error. */
  end(sessions: readonly Pick<Session, 'id' | 'userId'>[]): Promise<void>
  /** Ends all sessions of a user, in the tick of the call. `write` runs the steps, perhaps with others. */
  endAllOf(userId: string, write: (steps: readonly WriteStep[]) => Promise<void>): Promise<void>
  /** Shows an operator an account as its members see it. Undefined returns to the operator's own view. */
  lookAs(session: Pick<Session, 'id' | 'userId'>, accountId: string | undefined): Promise<void>
  /** Deletes expired sessions. */
  sweep(nowMs?: number): Promise<void>
}

/** Whether a session has expired. */
export const hasEnded = ({ createdAtMs, seenAtMs }: Session, nowMs: number): boolean =>
  nowMs - seenAtMs >= sessionBounds.idleMs || nowMs - createdAtMs >= sessionBounds.absoluteMs
