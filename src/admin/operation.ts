import type { z } from 'zod'
import type { Accounts } from '../accounts/accounts.ts'
import type { ManagementKeys } from '../accounts/management-keys.ts'
import type { Limiter } from '../accounts/limiter.ts'
import type { SavedViews } from '../accounts/saved-views.ts'
import type { Sessions } from '../accounts/sessions.ts'
import type { Throttle, ThrottleRule } from '../accounts/throttle.ts'
import type { Users } from '../accounts/users.ts'
import type { Blobs } from '../blobs/blobs.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { LedgerQueries } from '../ledger/ledger-queries.ts'
import type { Codes } from '../ledger/codes.ts'
import type { Finding } from '../lib/primitives/checks.ts'
import type { MessageFacts, LocalizedMessage } from '../lib/primitives/localized-message.ts'
import type { MarkUp } from '../prices/mark-up.ts'
import type { Actor, Audit } from '../records/audit.ts'
import type { RecordFeed } from '../records/feed.ts'
import type { MovementQueries } from '../records/balance-movements.ts'
import type { Records } from '../records/records.ts'
import type { RefusedRequests } from '../records/refused.ts'
import type { UsageRollups } from '../records/usage-rollups.ts'
import type { ProviderKeys } from '../relay/provider-keys.ts'
import type { ProviderTally } from '../relay/provider-tally.ts'
import type { OfferHealth } from '../router/health.ts'
import type { SignalBook } from '../router/signal-book.ts'
import type { Tasks } from '../video/tasks.ts'
import { sayRefusal, type ResourceName } from './refusals.ts'

/** A request for a backup. `file` is an absolute path. The process that has the data folder writes it. */
export type BackupRequest = {
  readonly file: string
  readonly existing: 'kept' | 'replaced'
  readonly secrets: 'included' | 'left_out'
}

/**
 * What operations work on: the parts of a running gateway, or of one opened for a single command. Ports are handed over
 * whole, so that a new query is a method of its port and a use of it.
 */
export type AdminServices = {
  /** Waits until what other instances changed before is known here. Undefined if there are none. */
  readonly catchUp: () => Promise<void> | undefined
  /** A throttle of a kind. It holds for all instances together. */
  readonly openThrottle: (kind: string, rule: ThrottleRule) => Throttle
  readonly accounts: Accounts
  readonly catalog: Catalog
  readonly ledger: Ledger
  readonly books: LedgerQueries
  readonly movements: MovementQueries
  readonly records: Records
  readonly rollups: UsageRollups
  /** Requests that were refused before any money was held. */
  readonly refused: RefusedRequests
  readonly tasks: Tasks
  readonly blobs: Blobs
  readonly users: Users
  readonly sessions: Sessions
  readonly savedViews: SavedViews
  readonly managementKeys: ManagementKeys
  readonly audit: Audit
  /** The default mark-up on list prices. */
  readonly markUp: MarkUp
  readonly verify: () => Promise<readonly Finding[]>
  /** What the last verification of this process found. */
  readonly lastVerification: () => Verification | undefined
  readonly limiter: Limiter
  readonly health: () => ReadonlyMap<string, OfferHealth>
  /** What routing policies know of the offers. */
  readonly signals: SignalBook
  /** Ends the rests of a provider's offers, at all instances. Resolves to how many rested here. */
  readonly resume: (providerId: string) => Promise<number>
  /** The standing of keys, of providers that have several. */
  readonly providerKeys: Pick<ProviderKeys, 'standingOf'>
  readonly tally: ProviderTally
  /** Requests as they end. */
  readonly feed: RecordFeed
  readonly codes: Codes
  readonly backup: (request: BackupRequest) => Promise<Result>
  /** Facts of this process for `doctor`. */
  readonly status: () => Readonly<Record<string, unknown>>
  /** Private addresses that send `X-Forwarded-For` but are not trusted. */
  readonly ignoredProxies: () => readonly string[]
}

/** What a verification of the books found, and when it began. */
export type Verification = {
  readonly findings: readonly Finding[]
  readonly atMs: number
  readonly tookMs: number
}

type RefusalCode = 'invalid_input' | 'not_found' | 'conflict' | 'declared' | 'failed'
export type OperationRefusal = {
  readonly ok: false
  readonly code: RefusalCode
  readonly message: string
  /** The message as data, for the console. */
  readonly reason?: string
  readonly facts?: MessageFacts
  /** The field of the input at fault. */
  readonly param?: string | undefined
}

/** The result of an operation. Errors have a code for programs and a message for people. */
export type Result = { readonly ok: true; readonly value: unknown } | OperationRefusal

/** Marks an operation that changes something. The audit log records it. */
export type Changes<I> = {
  /** The name of what is changed. The log keeps the id of the result instead, if it has one. Undefined: no change. */
  readonly subject: (input: I) => string | undefined
  /** The state of the subject, taken before and after. */
  readonly view?: (services: AdminServices, input: I) => unknown
  /** What the log keeps of a newly made thing, without its secrets. It replaces the view afterwards. */
  readonly made?: (value: unknown) => unknown
}

export type Operation = {
  readonly input: z.ZodType
  readonly run: (services: AdminServices, input: never, actor: Actor) => Result | Promise<Result>
  readonly changes?: Changes<never> | undefined
}

/** Makes an operation from its input schema and its function. */
export function operation<S extends z.ZodType>(
  input: S,
  run: (services: AdminServices, input: z.infer<S>, actor: Actor) => Result | Promise<Result>,
  changes?: Changes<z.infer<S>>,
): Operation {
  return { input, run, changes }
}

/** An operation that changes what it has read of the catalogue. Such operations run one after the other. */
export const catalogChange = <S extends z.ZodType>(
  input: S,
  run: (services: AdminServices, input: z.infer<S>) => Promise<Result>,
  changes: Changes<z.infer<S>>,
): Operation => operation(input, (services, data) => services.catalog.inTurn(() => run(services, data)), changes)

export const done = (value: unknown): Result => ({ ok: true, value })
export const refused = (code: RefusalCode, said: LocalizedMessage): OperationRefusal => ({ ok: false, code, ...said })
export const conflict = (said: LocalizedMessage): OperationRefusal => refused('conflict', said)
export const notFound = (what: ResourceName, name: string): OperationRefusal =>
  refused('not_found', sayRefusal('none_named', { what, name }))
export const declaredElsewhere = (what: ResourceName, name: string): OperationRefusal =>
  refused('declared', sayRefusal('declared', { what, name }))

/** A result as JSON text. Integers of the store are bigint, and become decimal text. */
export const resultJson = (result: Result): string =>
  JSON.stringify(result, (_, value: unknown) => (typeof value === 'bigint' ? value.toString() : value))
