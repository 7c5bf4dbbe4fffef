/** Users and their links on SQLite. All of them are in memory, because there are few. On disk a link is its digest. */
import type { User, UserRole } from '../domain/user.ts'
import { timeOrderedId } from '../lib/primitives/ids.ts'
import { makeToken, tokenDigest } from '../lib/primitives/token.ts'
import { statement, type Row } from '../store/statement.ts'
import { mustWrite, type Store } from '../store/store.ts'
import {
  changedUser,
  linkLifeMs,
  sameName,
  enabledStatus,
  type LinkHolder,
  type LinkRedemption,
  type NewPassword,
  type OnUserBarred,
  type UserChange,
  type UserDraft,
  type Users,
} from './users.ts'

const insertUser = statement('INSERT INTO user (id, name, role, account_id, created_at) VALUES (?, ?, ?, ?, ?)')
const updateUser = statement('UPDATE user SET role = ?, disabled_at = ? WHERE id = ?')
const updatePassword = statement('UPDATE user SET password = ? WHERE id = ?')
const insertLink = statement('INSERT INTO setup_link (digest, user_id, created_at, expires_at) VALUES (?, ?, ?, ?)')
const useLink = statement('UPDATE setup_link SET used_at = ? WHERE digest = ? AND used_at IS NULL')
const dropLinks = statement('DELETE FROM setup_link WHERE user_id IS ? OR used_at IS NOT NULL OR expires_at < ?')

type StoredUser = { readonly user: User; readonly password: string | undefined }
type Link = { readonly userId: string | undefined; readonly expiresAtMs: number }

type StoredRows = { readonly users: readonly Row[]; readonly links: readonly Row[] }

const digestOf = tokenDigest

/** Opens the port. Loads users and their links. */
export async function openSqliteUsers(store: Store, onBarred: OnUserBarred): Promise<Users> {
  const users = await store.query('SELECT * FROM user ORDER BY id')
  const links = await store.query('SELECT * FROM setup_link WHERE used_at IS NULL')
  return new SqliteUsers(store, onBarred, { users, links })
}

class SqliteUsers implements Users {
  private readonly store: Store
  private readonly users = new Map<string, StoredUser>()
  private readonly links = new Map<string, Link>()
  private readonly onBarred: OnUserBarred

  constructor(store: Store, onBarred: OnUserBarred, rows: StoredRows) {
    this.store = store
    this.onBarred = onBarred
    for (const row of rows.users) this.keep(keptOf(row))
    for (const row of rows.links) {
      const userId = (row['user_id'] as string | null) ?? undefined
      this.links.set(row['digest'] as string, { userId, expiresAtMs: Number(row['expires_at']) })
    }
  }

  list(): readonly User[] {
    return [...this.users.values()].map(({ user }) => user)
  }

  find(id: string): User | undefined {
    return this.users.get(id)?.user
  }

  findNamed(reference: string): User | undefined {
    return (this.users.get(reference) ?? this.named(reference))?.user
  }

  passwordOf(name: string): { readonly user: User; readonly hash: string } | undefined {
    const kept = this.named(name)
    if (!kept || kept.user.status !== 'active' || kept.password === undefined) return undefined
    return { user: kept.user, hash: kept.password }
  }

  hasOperator(): boolean {
    return this.list().some(({ role, status }) => role === 'operator' && status === 'active')
  }

  async create({ name, role, accountId }: UserDraft): Promise<User | undefined> {
    if (this.named(name)) return undefined
    const id = timeOrderedId('user_')
    const createdAtMs = Date.now()
    const user: User = { id, name, role, accountId, status: 'invited', createdAtMs }
    this.keep({ user, password: undefined })
    await mustWrite(this.store, [{ run: insertUser, bind: [id, name, role, accountId ?? null, createdAtMs] }])
    return user
  }

  async update(id: string, { role, status }: UserChange): Promise<User> {
    const { user: before, password } = this.known(id)
    const changed = changedUser(before, { role, status }, password)
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

  async makeLink(userId: string | undefined): Promise<string> {
    const token = makeToken('setup_')
    const nowMs = Date.now()
    const expiresAtMs = nowMs + linkLifeMs(userId === undefined ? undefined : this.find(userId))
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

  holderOf(token: string, nowMs = Date.now()): LinkHolder | undefined {
    const link = this.links.get(digestOf(token))
    if (!link || link.expiresAtMs <= nowMs) return undefined
    if (link.userId === undefined) return this.hasOperator() ? undefined : { kind: 'first' }
    const user = this.find(link.userId)
    return user && user.status !== 'disabled' ? { kind: 'user', user } : undefined
  }

  async redeem(token: string, { name, hash }: NewPassword): Promise<LinkRedemption> {
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

function keptOf(row: Row): StoredUser {
  const password = (row['password'] as string | null) ?? undefined
  const user: User = {
    id: row['id'] as string,
    name: row['name'] as string,
    role: row['role'] as UserRole,
    accountId: (row['account_id'] as string | null) ?? undefined,
    status: row['disabled_at'] !== null ? 'disabled' : enabledStatus(password),
    createdAtMs: Number(row['created_at']),
  }
  return { user, password }
}
