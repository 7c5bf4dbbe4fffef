/** The audit log: who changed what, from where and with what result. Also the port that writes and reads it. */
import { maskedAddress } from '../lib/primitives/masked-address.ts'

/** The actor: a command of the machine's operator, a signed-in user, a program, or nobody known. */
export type Actor = {
  readonly kind: 'command' | 'user' | 'management_key' | 'nobody'
  readonly id?: string
  readonly name?: string
  readonly address?: string
  readonly requestId?: string
}

export type AuditNote = {
  readonly actor: Actor
  /** The name of an operation, such as `account.credit`. */
  readonly action: string
  readonly subject: string | undefined
  readonly input: unknown
  readonly before?: unknown
}

/** `done`, or the code of a refusal. */
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
  /** Null while the change runs, or if it was cut short. */
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

/** The names of inputs that are secret. */
const SECRETS = new Set(['key', 'secret', 'password', 'token', 'current', 'code'])

/** For these actions `key` is an id, which may be shown. */
const OF_KEYS = /^(?:management_)?key\./

/** Inputs whose fields have names of the operator's choice. Any of them may be secret. */
const SECRET_FIELDS = new Set(['headers', 'query'])

/** The JSON text that the log keeps of a value. It has no secrets and no full addresses. */
export const auditText = (value: unknown, action: string): string | null =>
  value === undefined ? null : JSON.stringify(value, (name, part: unknown) => keptPart(name, part, action))

function keptPart(name: string, part: unknown, action: string): unknown {
  if (typeof part === 'bigint') return part.toString()
  if (typeof part === 'string') {
    if (SECRETS.has(name) && !(name === 'key' && OF_KEYS.test(action))) return '[secret]'
    return maskedAddress(name === 'proxy' ? withoutPassword(part) : part)
  }
  const isSecret = SECRET_FIELDS.has(name) && typeof part === 'object' && part !== null && !Array.isArray(part)
  return isSecret ? Object.fromEntries(Object.keys(part).map((field) => [field, '[secret]'])) : part
}

/** A proxy may be named without a scheme, and its password may have a slash, which would end the host of an address. */
function withoutPassword(proxy: string): string {
  const [, scheme = 'http://', place] = /^([a-z][a-z\d+.-]*:\/\/)?.*@(.*)$/is.exec(proxy) ?? []
  return place === undefined ? proxy : `${scheme}secret@${place}`
}

/**
 * The port of the audit log.
 *
 * - An entry is written before its change is made, without an outcome. If it never gets one, the change was cut short.
 * - Inputs and states are kept as `auditText` writes them.
 * - Entries are never deleted. Lists are newest first.
 */
export type Audit = {
  /** Notes a change before it is made. Resolves to the id for `end` once the entry is on disk. */
  begin(note: AuditNote): Promise<string>
  /** Adds the outcome of a change. A `subject` replaces that of the note. Rejects if there is no such entry. */
  end(id: string, end: AuditEnd): Promise<void>
  /** A page of the entries that fit. */
  list(page: AuditFilter & AuditPage): Promise<readonly AuditEntry[]>
  find(id: string): Promise<AuditEntry | undefined>
  /** How many entries fit, or undefined if there are more than `max`. */
  count(filter: AuditFilter, max: number): Promise<number | undefined>
}
