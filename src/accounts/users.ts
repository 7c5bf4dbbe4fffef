/** Who may sign in, and the one-time links by which they choose their passwords. All of it in memory: there are few. */
import type { User, UserRole } from '../domain/user.ts'
import { timeOrderedId } from '../lib/primitives/ids.ts'
import { makeToken, tokenDigest } from '../lib/primitives/token.ts'
import { statement, type Row } from '../store/statement.ts'
import { mustWrite, type Store } from '../store/store.ts'
import { HOUR_MS } from '../lib/primitives/units.ts'

const insertUser = statement('INSERT INTO user (id, name, role, account_id, created_at) VALUES (?, ?, ?, ?, ?)')
const updateUser = statement('UPDATE user SET role = ?, disabled_at = ? WHERE id = ?')
const updatePassword = statement('UPDATE user SET password = ? WHERE id = ?')
const insertLink = statement('INSERT INTO setup_link (digest, user_id, created_at, expires_at) VALUES (?, ?, ?, ?)')
const useLink = statement('UPDATE setup_link SET used_at = ? WHERE digest = ? AND used_at IS NULL')
const dropLinks = statement('DELETE FROM setup_link WHERE user_id IS ? OR used_at IS NOT NULL OR expires_at < ?')

/** An invitation may lie in somebody's mail for a while; whoever asks for anything else is waiting for it. */
const LINK_MS = { invitation: 7 * 24 * HOUR_MS, other: 24 * HOUR_MS }

type StoredUser = { readonly user: User; readonly password: string | undefined }
type Link = { readonly userId: string | undefined; readonly expiresAtMs: number }

export type UserDraft = { readonly name: string; readonly role: UserRole; readonly accountId: string | undefined }
export type UserChange = { readonly role?: UserRole | undefined; readonly status?: 'active' | 'disabled' | undefined }

/** Whom a link lets choose a password. `first`: whoever has it, as the first operator. */
export type LinkHolder = { readonly kind: 'first' } | { readonly kind: 'user'; readonly user: User }

const digestOf = tokenDigest
const sameName = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase()

/** Where the console takes the token of a link: behind the #, which browsers send to nobody. */
export const setupPath = (token: string): string => `/console/setup#${token}`

export class Users {
  private readonly store: Store
  private readonly users = new Map<string, StoredUser>()
  private readonly links = new Map<string, Link>()
  /** Told when somebody must be signed out everywhere. */
  private readonly onBarred: (userId: string) => Promise<void>

  private constructor(store: Store, onBarred: (userId: string) => Promise<void>) {
    this.store = store
    this.onBarred = onBarred
  }

  static async open(store: Store, onBarred: (userId: string) => Promise<void>): Promise<Users> {
    const users = new Users(store, onBarred)
    for (const row of await store.query('SELECT * FROM user ORDER BY id')) users.keep(keptOf(row))
    for (const row of await store.query('SELECT * FROM setup_link WHERE used_at IS NULL')) {
      const userId = (row['user_id'] as string | null) ?? undefined
      users.links.set(row['digest'] as string, { userId, expiresAtMs: Number(row['expires_at']) })
    }
    return users
  }

  list(): readonly User[] {
    return [...this.users.values()].map(({ user }) => user)
  }

  find(id: string): User | undefined {
    return this.users.get(id)?.user
  }

  /** By id or name. */
  findNamed(reference: string): User | undefined {
    return (this.users.get(reference) ?? this.named(reference))?.user
  }

  /** The hash to check somebody's password against; undefined for whoever cannot sign in. */
  passwordOf(name: string): { readonly user: User; readonly hash: string } | undefined {
    const kept = this.named(name)
    if (!kept || kept.user.status !== 'active' || kept.password === undefined) return undefined
    return { user: kept.user, hash: kept.password }
  }

  hasOperator(): boolean {
    return this.list().some(({ role, status }) => role === 'operator' && status === 'active')
  }

  /** Undefined when somebody has that name. */
  async create({ name, role, accountId }: UserDraft): Promise<User | undefined> {
    if (this.named(name)) return undefined
    const id = timeOrderedId('user_')
    const createdAtMs = Date.now()
    const user: User = { id, name, role, accountId, status: 'invited', createdAtMs }
    this.keep({ user, password: undefined })
    await mustWrite(this.store, [{ run: insertUser, bind: [id, name, role, accountId ?? null, createdAtMs] }])
    return user
  }

  /** What somebody may do changes at once: whoever loses something is signed out. */
  async update(id: string, { role, status }: UserChange): Promise<User> {
    const { user: before, password } = this.known(id)
    const enabled = password === undefined ? 'invited' : 'active'
    const changed: User = {
      ...before,
      role: role ?? before.role,
      status: status === undefined ? before.status : status === 'active' ? enabled : status,
    }
    this.keep({ user: changed, password })
    if (changed.status === 'disabled') this.forgetLinks(id)
    if (changed.role !== before.role || changed.status === 'disabled') await this.onBarred(id)
    const disabledAt = changed.status === 'disabled' ? Date.now() : null
    await mustWrite(this.store, [
      { run: updateUser, bind: [changed.role, disabledAt, id], changes: 1 },
      ...(disabledAt === null ? [] : [{ run: dropLinks, bind: [id, disabledAt] }]),
    ])
    return changed
  }

  /** Takes a new password: all sessions with the old one end, and every link by which another could be chosen. */
  async setPassword(id: string, hash: string): Promise<void> {
    const { user } = this.known(id)
    this.keep({ user: { ...user, status: user.status === 'invited' ? 'active' : user.status }, password: hash })
    this.forgetLinks(id)
    await this.onBarred(id)
    await mustWrite(this.store, [
      { run: updatePassword, bind: [hash, id], changes: 1 },
      { run: dropLinks, bind: [id, Date.now()] },
    ])
  }

  /** A link for somebody, or for the first operator. Any former one is void. Returns its token, the only time. */
  async makeLink(userId: string | undefined): Promise<string> {
    const token = makeToken('setup_')
    const nowMs = Date.now()
    const isInvited = userId !== undefined && this.find(userId)?.status === 'invited'
    const expiresAtMs = nowMs + (isInvited ? LINK_MS.invitation : LINK_MS.other)
    this.forgetLinks(userId)
    this.links.set(digestOf(token), { userId, expiresAtMs })
    await mustWrite(this.store, [
      { run: dropLinks, bind: [userId ?? null, nowMs] },
      { run: insertLink, bind: [digestOf(token), userId ?? null, nowMs, expiresAtMs] },
    ])
    return token
  }

  private forgetLinks(userId: string | undefined): void {
    for (const [digest, link] of this.links) if (link.userId === userId) this.links.delete(digest)
  }

  /** Whom a token lets in; undefined when it is unknown, used, too old, or of somebody who is barred. */
  holderOf(token: string, nowMs = Date.now()): LinkHolder | undefined {
    const link = this.links.get(digestOf(token))
    if (!link || link.expiresAtMs <= nowMs) return undefined
    if (link.userId === undefined) return this.hasOperator() ? undefined : { kind: 'first' }
    const user = this.find(link.userId)
    return user && user.status !== 'disabled' ? { kind: 'user', user } : undefined
  }

  /** Uses a link, once: in the tick in which it is asked, whoever else holds it. */
  async redeem(token: string, { name, hash }: { name: string | undefined; hash: string }): Promise<CodeRedemption> {
    const holder = this.holderOf(token)
    if (!holder) return { kind: 'void' }
    if (holder.kind === 'first' && (name === undefined || this.named(name))) return { kind: 'name_needed' }
    this.links.delete(digestOf(token))
    await mustWrite(this.store, [{ run: useLink, bind: [Date.now(), digestOf(token)], changes: 1 }])
    const user = holder.kind === 'user' ? holder.user : await this.firstOperator(name ?? '')
    if (!user) return { kind: 'name_needed' }
    await this.setPassword(user.id, hash)
    return { kind: 'redeemed', user: this.find(user.id) ?? user }
  }

  private firstOperator(name: string): Promise<User | undefined> {
    return this.create({ name, role: 'operator', accountId: undefined })
  }

  private named(name: string): StoredUser | undefined {
    return [...this.users.values()].find(({ user }) => sameName(user.name, name))
  }

  private known(id: string): StoredUser {
    const kept = this.users.get(id)
    if (!kept) throw new Error(`no user ${id}`)
    return kept
  }

  private keep(kept: StoredUser): void {
    this.users.set(kept.user.id, kept)
  }
}

export type CodeRedemption =
  | { readonly kind: 'redeemed'; readonly user: User }
  | { readonly kind: 'void' }
  /** The first operator must have a name that is free. */
  | { readonly kind: 'name_needed' }

function keptOf(row: Row): StoredUser {
  const password = (row['password'] as string | null) ?? undefined
  const user: User = {
    id: row['id'] as string,
    name: row['name'] as string,
    role: row['role'] as UserRole,
    accountId: (row['account_id'] as string | null) ?? undefined,
    status: row['disabled_at'] !== null ? 'disabled' : password === undefined ? 'invited' : 'active',
    createdAtMs: Number(row['created_at']),
  }
  return { user, password }
}
