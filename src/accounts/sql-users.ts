/** Users and their links in SQL. All of them are in memory, because there are few. A link is stored as its digest. */
import type { User, UserRole } from '../domain/user.ts'
import { timeOrderedId } from '../lib/primitives/ids.ts'
import { makeToken, tokenDigest } from '../lib/primitives/token.ts'
import { violates } from '../store/constraint.ts'
import { SharedRows } from '../store/shared-rows.ts'
import { statement, type Row, type WriteStep } from '../store/statement.ts'
import type { Store } from '../store/store.ts'
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

const insertUser = statement('INSERT INTO "user" (id, name, role, account_id, created_at) VALUES (?, ?, ?, ?, ?)')
const updateRole = statement('UPDATE "user" SET role = ? WHERE id = ?')
const updateDisabled = statement('UPDATE "user" SET disabled_at = ? WHERE id = ?')
const updatePassword = statement('UPDATE "user" SET password = ? WHERE id = ?')
const insertLink = statement('INSERT INTO setup_link (digest, user_id, created_at, expires_at) VALUES (?, ?, ?, ?)')
const useLink = statement('UPDATE setup_link SET used_at = ? WHERE digest = ? AND used_at IS NULL')
const dropLinks = statement(
  'DELETE FROM setup_link WHERE user_id IS NOT DISTINCT FROM ? OR used_at IS NOT NULL OR expires_at < ?',
)

/** A user has each name once, whatever its case. */
const NAME_KEY = 'user(name)'
/** Links of the first operator have no user. */
const NO_USER = ''
const selectLinks = 'SELECT * FROM setup_link WHERE used_at IS NULL'

type StoredUser = { readonly user: User; readonly password: string | undefined }
type Link = { readonly userId: string | undefined; readonly expiresAtMs: number }

const digestOf = tokenDigest

/** Opens the port. Loads users and their links. */
export async function openSqlUsers(store: Store, onBarred: OnUserBarred): Promise<Users> {
  const users = new SqlUsers(store, onBarred)
  await users.open()
  return users
}

class SqlUsers implements Users {
  private readonly store: Store
  private readonly users = new Map<string, StoredUser>()
  private readonly links = new Map<string, Link>()
  private readonly onBarred: OnUserBarred
  private readonly userRows: SharedRows
  private readonly linkRows: SharedRows

  constructor(store: Store, onBarred: OnUserBarred) {
    this.store = store
    this.onBarred = onBarred
    this.userRows = new SharedRows(store, {
      kind: 'user',
      all: 'SELECT * FROM "user" ORDER BY id',
      one: 'SELECT * FROM "user" WHERE id = ?',
      subjectOf: (row) => row['id'] as string,
      take: (id, [row]) => (row ? this.keep(keptOf(row)) : this.users.delete(id)),
    })
    this.linkRows = new SharedRows(store, {
      kind: 'setup_link',
      all: selectLinks,
      one: `${selectLinks} AND coalesce(user_id, '${NO_USER}') = ?`,
      subjectOf: (row) => linkSubject((row['user_id'] as string | null) ?? undefined),
      take: (subject, rows) => this.takeLinks(subject, rows),
    })
  }

  async open(): Promise<void> {
    await this.store.changes.watch(this.userRows)
    await this.store.changes.watch(this.linkRows)
  }

  private takeLinks(subject: string, rows: readonly Row[]): void {
    const userId = subject === NO_USER ? undefined : subject
    this.forgetLinks(userId)
    for (const row of rows) {
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
    const bind = [id, name, role, accountId ?? null, createdAtMs]
    const outcome = await this.userRows.tryWrite(id, [{ run: insertUser, bind }])
    if (outcome.kind === 'written') return user
    // Another instance may have taken the name.
    if (violates(outcome, NAME_KEY)) return undefined
    throw new Error(outcome.reason)
  }

  async update(id: string, { role, status }: UserChange): Promise<User> {
    const { user: before, password } = this.known(id)
    const changed = changedUser(before, { role, status }, password)
    this.keep({ user: changed, password })
    const isDisabled = changed.status === 'disabled'
    if (isDisabled) this.forgetLinks(id)
    const nowMs = Date.now()
    const steps = [
      ...(role === undefined ? [] : [{ run: updateRole, bind: [role, id], changes: 1 }]),
      ...(status === undefined ? [] : [{ run: updateDisabled, bind: [isDisabled ? nowMs : null, id], changes: 1 }]),
    ]
    if (isDisabled) await this.writeBarred(id, [...steps, { run: dropLinks, bind: [id, nowMs] }])
    else if (changed.role !== before.role) await this.writeBarred(id, steps)
    else if (steps.length > 0) await this.userRows.write(id, steps)
    return changed
  }

  async setPassword(id: string, hash: string): Promise<void> {
    const { user } = this.known(id)
    this.keep({ user: { ...user, status: user.status === 'invited' ? 'active' : user.status }, password: hash })
    this.forgetLinks(id)
    await this.writeBarred(id, [
      { run: updatePassword, bind: [hash, id], changes: 1 },
      { run: dropLinks, bind: [id, Date.now()] },
    ])
  }

  /** Writes a user who is signed out everywhere, with the ends of the sessions. Links may end with it. */
  private writeBarred(id: string, steps: readonly WriteStep[]): Promise<void> {
    const announced = this.linkRows.announce(id)
    return this.onBarred(id, (ends) =>
      this.linkRows.during(id, () => this.userRows.write(id, [...steps, ...ends, ...announced])),
    )
  }

  async makeLink(userId: string | undefined): Promise<string> {
    const token = makeToken('setup_')
    const nowMs = Date.now()
    const expiresAtMs = nowMs + linkLifeMs(userId === undefined ? undefined : this.find(userId))
    // Each of several instances shows a link of its own for the first operator. All end when there is one.
    const isKept = userId === undefined && this.store.changes.isShared
    if (!isKept) this.forgetLinks(userId)
    this.links.set(digestOf(token), { userId, expiresAtMs })
    await this.linkRows.write(linkSubject(userId), [
      { run: dropLinks, bind: [isKept ? NO_USER : (userId ?? null), nowMs] },
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
    const subject = linkSubject(holder.kind === 'user' ? holder.user.id : undefined)
    const use = { run: useLink, bind: [Date.now(), digestOf(token)], changes: 1 }
    // Another instance may have been faster.
    if ((await this.linkRows.tryWrite(subject, [use])).kind === 'refused') return { kind: 'void' }
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

const linkSubject = (userId: string | undefined): string => userId ?? NO_USER

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
