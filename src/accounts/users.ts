/**
 * The users who may sign in, and the one-time links with which they choose their passwords. This is the port that every
 * store of users implements, and the rules that stores share. `people-contract.ts` is the suite that every
 * implementation passes.
 *
 * Invariants:
 * - Reads come from memory, in the tick of the call. A change is in force from that tick on, before it is on disk.
 * - A name belongs to one user, whatever its case. A link is used once. Links are stored as digests.
 * - A user who loses a permission, or gets a new password, is signed out everywhere.
 */
import type { User, UserRole } from '../domain/user.ts'
import { HOUR_MS } from '../lib/primitives/units.ts'
import { limit } from '../lib/primitives/limit.ts'
import type { WriteStep } from '../store/statement.ts'

/** An invitation may stay unread in a mailbox for a while. A user who requests another link is waiting for it. */
const LINK_MS = {
  invitation: limit('invitationMs', 7 * 24 * HOUR_MS, 'The link of an invitation expires.'),
  other: 24 * HOUR_MS,
}

export type UserDraft = { readonly name: string; readonly role: UserRole; readonly accountId: string | undefined }
export type UserChange = { readonly role?: UserRole | undefined; readonly status?: 'active' | 'disabled' | undefined }

/** The user who may choose a password with a link. `first`: whoever has the link becomes the first operator. */
export type LinkHolder = { readonly kind: 'first' } | { readonly kind: 'user'; readonly user: User }

export type NewPassword = {
  /** The name of the first operator, who has none yet. */
  readonly name: string | undefined
  readonly hash: string
}

export type LinkRedemption =
  | { readonly kind: 'redeemed'; readonly user: User }
  | { readonly kind: 'void' }
  /** The first operator must choose a free name. */
  | { readonly kind: 'name_needed' }

/** Signs a user out everywhere, in the tick of the call, and passes the steps on to the transaction of the user. */
export type OnUserBarred = (userId: string, write: (steps: readonly WriteStep[]) => Promise<void>) => Promise<void>

/** The look-up of a user by id. */
export type UserDirectory = Pick<Users, 'find'>

/** Methods that change an unknown user reject with an Error. */
export type Users = {
  /** Oldest first. */
  list(): readonly User[]
  find(id: string): User | undefined
  /** A user by id or name. */
  findNamed(reference: string): User | undefined
  /** The hash to check a password against, or undefined for a user who cannot sign in. */
  passwordOf(name: string): { readonly user: User; readonly hash: string } | undefined
  /** Whether an operator can sign in. */
  hasOperator(): boolean
  /** Makes an invited user. Resolves to undefined if the name is taken. It is taken from the tick of this call on. */
  create(draft: UserDraft): Promise<User | undefined>
  /** Changes a user. A user who loses a role or is disabled is signed out. Links of a disabled user are void. */
  update(id: string, change: UserChange): Promise<User>
  /** Sets a new password. All sessions of the user end, and all links for choosing another password are void. */
  setPassword(id: string, hash: string): Promise<void>
  /**
   * Makes a link for a user, or for the first operator. The user's former link is void, and so is the former link for
   * the first operator unless another instance may have made it. The token is returned only here.
   */
  makeLink(userId: string | undefined): Promise<string>
  /** The user of a token, or undefined if it is unknown, used, expired, or of a disabled user. */
  holderOf(token: string, nowMs?: number): LinkHolder | undefined
  /** Uses a link once, in the tick of the call, even if many people have it. */
  redeem(token: string, password: NewPassword): Promise<LinkRedemption>
}

export const sameName = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase()

/** The status of a user who is not disabled. Without a password, the user is still invited. */
export const enabledStatus = (hash: string | undefined): User['status'] => (hash === undefined ? 'invited' : 'active')

/** A user after a change. `hash` is the hash of the user's password. */
export const changedUser = (before: User, { role, status }: UserChange, hash: string | undefined): User => ({
  ...before,
  role: role ?? before.role,
  status: status === undefined ? before.status : status === 'active' ? enabledStatus(hash) : status,
})

/** How long a link is valid. Without a user, it is the link of the first operator. */
export const linkLifeMs = (user: User | undefined): number =>
  user?.status === 'invited' ? LINK_MS.invitation : LINK_MS.other

/** The page of the console that takes the token of a link. Browsers send nothing after the # to a server. */
export const setupPath = (token: string): string => `/console/setup#${token}`
