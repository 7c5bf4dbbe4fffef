import type { z } from 'zod'
import type { VideoTask } from '../domain/video-task.ts'
import type { Accounts } from '../accounts/accounts.ts'
import type { ManagementKeys } from '../accounts/management-keys.ts'
import type { Limiter } from '../accounts/limiter.ts'
import type { SavedViews } from '../accounts/saved-views.ts'
import type { Sessions } from '../accounts/sessions.ts'
import type { Users } from '../accounts/users.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { NanoUsd } from '../domain/money.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { Booking, BookingPage, OpenHold, StoredHold } from '../ledger/bookings.ts'
import type { Codes } from '../ledger/codes.ts'
import type { Finding } from '../lib/primitives/checks.ts'
import type { MessageFacts, LocalizedMessage } from '../lib/primitives/localized-message.ts'
import type { MarkUp } from '../prices/mark-up.ts'
import type { Actor, Audit } from '../records/audit.ts'
import type { RecordFeed } from '../records/feed.ts'
import type { RecentPage, RecordPage, RecordSearch, StoredRecord } from '../records/records.ts'
import type { RefusedRequests } from '../records/refused.ts'
import type { Totals, UsageQuery, UsageRow } from '../records/usage-rollups.ts'
import type { ProviderTally } from '../relay/provider-tally.ts'
import type { OfferHealth } from '../router/health.ts'
import type { OrphanTask } from '../video/tasks.ts'
import { sayRefusal, type ResourceName } from './refusals.ts'

/** A request for a backup. `file` is an absolute path. The process that has the data folder writes it. */
export type BackupRequest = {
  readonly file: string
  readonly existing: 'kept' | 'replaced'
  readonly secrets: 'included' | 'left_out'
}

/** What operations work on: the parts of a running gateway, or of one opened for a single command. */
export type AdminServices = {
  readonly accounts: Accounts
  readonly catalog: Catalog
  readonly ledger: Ledger
  readonly users: Users
  readonly sessions: Sessions
  readonly savedViews: SavedViews
  readonly managementKeys: ManagementKeys
  readonly audit: Audit
  /** The default mark-up on list prices. */
  readonly markUp: MarkUp
  /** The operator's bookings on an account, newest first. */
  readonly adjustments: (accountId: string, page: BookingPage) => Promise<readonly Booking[]>
  readonly verify: () => Promise<readonly Finding[]>
  /** What the last verification of this process found. */
  readonly lastVerification: () => Verification | undefined
  readonly limiter: Limiter
  readonly health: () => ReadonlyMap<string, OfferHealth>
  /** Ends the rests of a provider's offers. Returns how many rested. */
  readonly resume: (providerId: string) => number
  readonly tally: ProviderTally
  /** Requests as they end. */
  readonly feed: RecordFeed
  readonly codes: Codes
  readonly usage: (query: UsageQuery) => Promise<readonly UsageRow[]>
  /** The hour of the last use by key, from an hour on. All are Unix hours. */
  readonly lastUsed: (accountId: string, fromHour: number) => Promise<ReadonlyMap<string, number>>
  /** The totals of all accounts from an hour (Unix hours) on. */
  readonly totalsSince: (fromHour: number) => Promise<Totals>
  /** What moved an account's balance from an hour (Unix hours) on, and the resulting balance, from one snapshot. */
  readonly moved: (accountId: string, fromHour: number) => Promise<BalanceMovements>
  readonly openHolds: (
    accountId: string,
    page: { readonly after?: string | undefined; readonly limit: number },
  ) => Promise<readonly OpenHold[]>
  readonly countOpenHolds: (accountId: string) => Promise<number>
  readonly oldestHold: () => Promise<number | undefined>
  readonly searchRecords: (accountId: string, search: RecordSearch) => Promise<RecordPage>
  /** Requests that were refused before any money was held. */
  readonly refused: Pick<RefusedRequests, 'list' | 'find' | 'counted'>
  /** A request of any account. */
  readonly findAnywhere: (id: string) => Promise<StoredRecord | undefined>
  readonly requests: (accountId: string, page: RecentPage) => Promise<readonly StoredRecord[]>
  readonly request: (accountId: string, id: string) => Promise<StoredRecord | undefined>
  /** The hold of a request of any account, also if the request has no record. */
  readonly findHold: (id: string) => Promise<StoredHold | undefined>
  /** The charges of requests, by their ids. */
  readonly charged: (accountId: string, ids: readonly string[]) => Promise<ReadonlyMap<string, NanoUsd>>
  /** Videos of an account, newest first. `before` is the id of a request. */
  readonly videos: (
    accountId: string,
    page: { readonly limit: number; readonly before: string | undefined },
  ) => Promise<readonly VideoTask[]>
  /** A video by its own id, or by the id of its request. */
  readonly video: (accountId: string, id: string) => Promise<VideoTask | undefined>
  /** The expiry of the files of videos, by the ids of their tasks. Files that are gone are left out. */
  readonly keptUntil: (ids: readonly string[]) => Promise<ReadonlyMap<string, number>>
  /** Videos without an owner that a vendor may still make. */
  readonly orphans: () => Promise<readonly OrphanTask[]>
  /** Takes an orphan off the list. False if it is not on the list. */
  readonly settleOrphan: (requestId: string) => Promise<boolean>
  readonly backup: (request: BackupRequest) => Promise<Result>
  /** Facts of this process for `doctor`. */
  readonly status: () => Readonly<Record<string, unknown>>
  /** Private addresses that send `X-Forwarded-For` but are not trusted. */
  readonly ignoredProxies: () => readonly string[]
}

export type BalanceMovements = {
  readonly posted: NanoUsd
  /** The newest first. */
  readonly bookings: readonly Booking[]
  /** Charges by the day (UTC). */
  readonly days: readonly UsageRow[]
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
