/** The audit log: who changed what, from where, and what came of it. */
import { timeOrderedId } from '../lib/primitives/ids.ts'
import { maskedAddress } from '../lib/primitives/masked-address.ts'
import { statement, type Row } from '../store/statement.ts'
import { mustWrite, type Store } from '../store/store.ts'

/** Who acts: a command of the machine's operator, somebody signed in, a program, or nobody that is known. */
export type Actor = {
  readonly kind: 'command' | 'user' | 'management_key' | 'nobody'
  readonly id?: string
  readonly name?: string
  readonly address?: string
  readonly requestId?: string
}

export type AuditNote = {
  readonly actor: Actor
  /** `account.credit`, as operations are named. */
  readonly action: string
  readonly subject: string | undefined
  readonly input: unknown
  readonly before?: unknown
}

/** `done`, or the code of the refusal. */
export type AuditEnd = {
  readonly action: string
  readonly outcome: string
  readonly after?: unknown
  readonly subject?: string | undefined
}

export type AuditEntry = {
  readonly id: string
  readonly actor: Actor
  readonly action: string
  readonly subject: string | null
  readonly input: unknown
  readonly before: unknown
  readonly after: unknown
  /** Null: under way, or cut short. */
  readonly outcome: string | null
  readonly createdAtMs: number
}

export type AuditFilter = {
  readonly subject?: string | undefined
  readonly actorId?: string | undefined
  readonly action?: string | undefined
}
type AuditPage = {
  /** Entries before this one. */
  readonly before?: string | undefined
  readonly limit: number
}

const begin = statement(
  `INSERT INTO audit (id, actor_kind, actor_id, actor_name, address, request_id, action, subject, input, before, created_at)
   VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
)
const end = statement('UPDATE audit SET outcome = ?, after = ?, subject = coalesce(?, subject) WHERE id = ?')

/** Names of inputs that are secrets. */
const SECRETS = new Set(['key', 'secret', 'password', 'token', 'current', 'code'])

/** After every id. */
const LAST = 'aud_~'

/** Where `key` is an id, and what is shown of a key is its end. */
const OF_KEYS = /^(?:management_)?key\./

const textOf = (value: unknown, action: string): string | null =>
  value === undefined
    ? null
    : JSON.stringify(value, (name, part: unknown) =>
        SECRETS.has(name) && typeof part === 'string' && !(name === 'key' && OF_KEYS.test(action))
          ? '[secret]'
          : typeof part === 'bigint'
            ? part.toString()
            : typeof part === 'string'
              ? maskedAddress(part)
              : part,
      )

export class Audit {
  private readonly store: Store

  constructor(store: Store) {
    this.store = store
  }

  /** Notes a change that is about to be made. Resolves when the note is on disk, with its id for `end`. */
  async begin({ actor, action, subject, input, before }: AuditNote): Promise<string> {
    const id = timeOrderedId('aud_')
    const { kind, id: actorId = null, name = null, address = null, requestId = null } = actor
    const [inputText, beforeText] = [textOf(input ?? {}, action), textOf(before, action)]
    const bind = [id, kind, actorId, name, address, requestId, action, subject ?? null, inputText, beforeText]
    await mustWrite(this.store, [{ run: begin, bind: [...bind, Date.now()] }])
    return id
  }

  async end(id: string, { action, outcome, after, subject }: AuditEnd): Promise<void> {
    const bind = [outcome, textOf(after, action), subject ?? null, id]
    await mustWrite(this.store, [{ run: end, bind, changes: 1 }])
  }

  /** A page of those that fit, the newest first. */
  async list({ before, limit, ...filter }: AuditFilter & AuditPage): Promise<readonly AuditEntry[]> {
    const { where, bind } = conditionsOf(filter, before)
    const sql = `SELECT * FROM audit WHERE ${where} ORDER BY id DESC LIMIT ?`
    return (await this.store.query(sql, [...bind, limit])).map(entryOf)
  }

  async find(id: string): Promise<AuditEntry | undefined> {
    const [row] = await this.store.query('SELECT * FROM audit WHERE id = ?', [id])
    return row && entryOf(row)
  }

  /** How many fit; undefined: more than `max`. */
  async count(filter: AuditFilter, max: number): Promise<number | undefined> {
    const { where, bind } = conditionsOf(filter)
    const sql = `SELECT count(*) AS n FROM (SELECT 1 FROM audit WHERE ${where} LIMIT ?)`
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
