/**
 * Who may sign in, and the one-time links by which they choose their passwords. This is the port that every store of
 * them implements, and the rules that they share. `people-contract.ts` is the suite that every implementation passes.
 *
 * Invariants:
 * - Reads come from memory, in the tick of the call. A change holds from that tick on, before it is on disk.
 * - A name belongs to one user, whatever its case. A link is used once. Links are stored as digests.
 * - A user who loses a right, or gets a new password, is signed out everywhere.
 */
import type { User, UserRole } from '../domain/user.ts'
import { HOUR_MS } from '../lib/primitives/units.ts'
import { limit } from '../lib/primitives/limit.ts'

/** An invitation may lie in somebody's mail for a while; whoever asks for anything else is waiting for it. */
const LINK_MS = {
  invitation: limit('invitationMs', 7 * 24 * HOUR_MS, 'The link of an invitation expires.'),
  other: 24 * HOUR_MS,
}

export type UserDraft = { readonly name: string; readonly role: UserRole; readonly accountId: string | undefined }
export type UserChange = { readonly role?: UserRole | undefined; readonly status?: 'active' | 'disabled' | undefined }

/** Whom a link lets choose a password. `first`: whoever has it, as the first operator. */
export type LinkHolder = { readonly kind: 'first' } | { readonly kind: 'user'; readonly user: User }

export type NewPassword = {
  /** Of the first operator, who has none yet. */
  readonly name: string | undefined
  readonly hash: string
}

export type LinkRedemption =
  | { readonly kind: 'redeemed'; readonly user: User }
  | { readonly kind: 'void' }
  /** The first operator must have a name that is free. */
  | { readonly kind: 'name_needed' }

/** Called when a user must be signed out everywhere. The change waits for it. */
export type OnUserBarred = (userId: string) => Promise<void>

/** Where a user is found by id. */
export type UserDirectory = Pick<Users, 'find'>

/** Methods that change a user who is not there reject with an Error. */
export type Users = {
  /** The oldest first. */
  list(): readonly User[]
  find(id: string): User | undefined
  /** By id or name. */
  findNamed(reference: string): User | undefined
  /** The hash to check a password against; undefined for a user who cannot sign in. */
  passwordOf(name: string): { readonly user: User; readonly hash: string } | undefined
  /** Whether an operator can sign in. */
  hasOperator(): boolean
  /** An invited user. Undefined where the name is taken, from the tick of the call that takes it. */
  create(draft: UserDraft): Promise<User | undefined>
  /** A user who loses a role or is disabled is signed out. A disabled user's links are void. */
  update(id: string, change: UserChange): Promise<User>
  /** Takes a new password: all sessions with the old one end, and every link by which another could be chosen. */
  setPassword(id: string, hash: string): Promise<void>
  /** A link for a user, or for the first operator. Any former one is void. Returns its token, the only time. */
  makeLink(userId: string | undefined): Promise<string>
  /** Whom a token lets in; undefined when it is unknown, used, expired, or of a disabled user. */
  holderOf(token: string, nowMs?: number): LinkHolder | undefined
  /** Uses a link, once: in the tick of the call, also where many hold it. */
  redeem(token: string, password: NewPassword): Promise<LinkRedemption>
}

export const sameName = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase()

/** The status of a user who is not disabled: an invited user has no password yet. */
export const enabledStatus = (hash: string | undefined): User['status'] => (hash === undefined ? 'invited' : 'active')

/** A user after a change. `hash` is that of their password. */
export const changedUser = (before: User, { role, status }: UserChange, hash: string | undefined): User => ({
  ...before,
  role: role ?? before.role,
  status: status === undefined ? before.status : status === 'active' ? enabledStatus(hash) : status,
})

/** How long a link is valid. Without a user, it is that of the first operator. */
export const linkLifeMs = (user: User | undefined): number =>
  user?.status === 'invited' ? LINK_MS.invitation : LINK_MS.other

/** Where the console takes the token of a link: behind the #, which browsers send to nobody. */
export const setupPath = (token: string): string => `/console/setup#${token}`
