/** The audit log: who changed what, from where, and what came of it; and the port by which it is written and read. */
import { maskedAddress } from '../lib/primitives/masked-address.ts'

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
export type AuditPage = {
  /** Entries before this one. */
  readonly before?: string | undefined
  readonly limit: number
}

/** Names of inputs that are secrets. */
const SECRETS = new Set(['key', 'secret', 'password', 'token', 'current', 'code'])

/** Where `key` is an id, and what is shown of a key is its end. */
const OF_KEYS = /^(?:management_)?key\./

/** What the log keeps of a value, as JSON text: no secrets, and no full addresses. */
export const auditText = (value: unknown, action: string): string | null =>
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

/**
 * The port of the audit log.
 *
 * - An entry is written before its change is made, without an outcome. An entry that never gets one is of a change that
 *   was cut short.
 * - Inputs and states are kept as `auditText` writes them.
 * - Entries are never deleted. Lists are newest first.
 */
export type Audit = {
  /** Notes a change that is about to be made. Resolves to the id for `end` once the entry is on disk. */
  begin(note: AuditNote): Promise<string>
  /** Adds the outcome of a change. A `subject` replaces that of the note. Rejects where there is no such entry. */
  end(id: string, end: AuditEnd): Promise<void>
  /** A page of the entries that fit. */
  list(page: AuditFilter & AuditPage): Promise<readonly AuditEntry[]>
  find(id: string): Promise<AuditEntry | undefined>
  /** How many entries fit; undefined where there are more than `max`. */
  count(filter: AuditFilter, max: number): Promise<number | undefined>
}
