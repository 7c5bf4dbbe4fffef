/** The audit log in SQL. */
import { timeOrderedId } from '../lib/primitives/ids.ts'
import { statement, type Row } from '../store/statement.ts'
import { mustWrite, type Store } from '../store/store.ts'
import {
  auditText,
  type Actor,
  type Audit,
  type AuditEnd,
  type AuditEntry,
  type AuditFilter,
  type AuditNote,
  type AuditPage,
} from './audit.ts'

const begin = statement(
  `INSERT INTO audit (id, actor_kind, actor_id, actor_name, address, request_id, action, subject, input, before, created_at)
   VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
)
const end = statement('UPDATE audit SET outcome = ?, after = ?, subject = coalesce(?, subject) WHERE id = ?')

/** This sorts after every id. */
const LAST = 'aud_~'

export const openSqlAudit = (store: Store): Audit => new SqlAudit(store)

class SqlAudit implements Audit {
  private readonly store: Store

  constructor(store: Store) {
    this.store = store
  }

  async begin({ actor, action, subject, input, before }: AuditNote): Promise<string> {
    const id = timeOrderedId('aud_')
    const { kind, id: actorId = null, name = null, address = null, requestId = null } = actor
    const [inputText, beforeText] = [auditText(input ?? {}, action), auditText(before, action)]
    const bind = [id, kind, actorId, name, address, requestId, action, subject ?? null, inputText, beforeText]
    await mustWrite(this.store, [{ run: begin, bind: [...bind, Date.now()] }])
    return id
  }

  async end(id: string, { action, outcome, after, subject }: AuditEnd): Promise<void> {
    const bind = [outcome, auditText(after, action), subject ?? null, id]
    await mustWrite(this.store, [{ run: end, bind, changes: 1 }])
  }

  async list({ before, limit, ...filter }: AuditFilter & AuditPage): Promise<readonly AuditEntry[]> {
    const { where, bind } = conditionsOf(filter, before)
    const sql = `SELECT * FROM audit WHERE ${where} ORDER BY id DESC LIMIT ?`
    return (await this.store.query(sql, [...bind, limit])).map(entryOf)
  }

  async find(id: string): Promise<AuditEntry | undefined> {
    const [row] = await this.store.query('SELECT * FROM audit WHERE id = ?', [id])
    return row && entryOf(row)
  }

  async count(filter: AuditFilter, max: number): Promise<number | undefined> {
    const { where, bind } = conditionsOf(filter)
    const sql = `SELECT count(*) AS n FROM (SELECT 1 FROM audit WHERE ${where} LIMIT ?) AS found`
    const [row] = await this.store.query(sql, [...bind, max + 1])
    const count = Number(row?.['n'] ?? 0)
    return count > max ? undefined : count
  }
}

function conditionsOf({ subject, actorId, action }: AuditFilter, before = LAST) {
  const wanted: [string, string | undefined][] = [
    ['id < ?', before],
    ['subject = ?', subject],
    ['actor_id = ?', actorId],
    ['action = ?', action],
  ]
  const stated = wanted.filter((each): each is [string, string] => each[1] !== undefined)
  return { where: stated.map(([sql]) => sql).join(' AND '), bind: stated.map(([, value]) => value) }
}

const optional = (name: string, value: unknown): object => (value === null ? {} : { [name]: value })
const parsed = (text: unknown): unknown => (typeof text === 'string' ? JSON.parse(text) : null)

const entryOf = (row: Row): AuditEntry => ({
  id: row['id'] as string,
  actor: {
    kind: row['actor_kind'] as Actor['kind'],
    ...optional('id', row['actor_id']),
    ...optional('name', row['actor_name']),
    ...optional('address', row['address']),
    ...optional('requestId', row['request_id']),
  },
  action: row['action'] as string,
  subject: row['subject'] as string | null,
  input: parsed(row['input']),
  before: parsed(row['before']),
  after: parsed(row['after']),
  outcome: row['outcome'] as string | null,
  createdAtMs: Number(row['created_at']),
})
