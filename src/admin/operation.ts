import type { z } from 'zod'
import type { Accounts } from '../accounts/accounts.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { Booking } from '../ledger/bookings.ts'
import type { Finding } from '../ledger/verify.ts'
import type { MarkUp } from '../prices/mark-up.ts'
import type { StoredRecord } from '../records/records.ts'
import type { Orphan } from '../video/tasks.ts'

/** A backup as it is asked for: `file` is absolute, and written by the process that has the data folder. */
export type BackupRequest = {
  readonly file: string
  readonly existing: 'kept' | 'replaced'
  readonly secrets: 'included' | 'left_out'
}

/** What operations work on: the parts of a running gateway, or of one opened for a single command. */
export type Office = {
  readonly accounts: Accounts
  readonly catalog: Catalog
  readonly ledger: Ledger
  /** What is put on list prices unless said otherwise. */
  readonly markUp: MarkUp
  /** What the operator booked on an account, newest first. */
  readonly adjustments: (accountId: string, limit: number) => Promise<readonly Booking[]>
  readonly verify: () => Promise<readonly Finding[]>
  readonly requests: (accountId: string, limit: number) => Promise<readonly StoredRecord[]>
  readonly request: (accountId: string, id: string) => Promise<StoredRecord | undefined>
  /** Videos that a vendor may be making for nobody. */
  readonly orphans: () => Promise<readonly Orphan[]>
  /** Takes one off the list; false when it is not on it. */
  readonly settleOrphan: (requestId: string) => Promise<boolean>
  readonly backup: (request: BackupRequest) => Promise<Result>
  /** Facts of this process for `doctor`. */
  readonly status: () => Readonly<Record<string, unknown>>
}

/** What an operation comes to. Errors have a code for programs and a message for people. */
export type Result =
  | { readonly ok: true; readonly value: unknown }
  | {
      readonly ok: false
      readonly code: 'invalid_input' | 'not_found' | 'conflict' | 'declared' | 'failed'
      readonly message: string
    }

export type Operation = {
  readonly input: z.ZodType
  readonly run: (office: Office, input: never) => Result | Promise<Result>
}

/** Ties an input schema to what is done with it. */
export function operation<S extends z.ZodType>(
  input: S,
  run: (office: Office, input: z.infer<S>) => Result | Promise<Result>,
): Operation {
  return { input, run }
}

export const done = (value: unknown): Result => ({ ok: true, value })
export const notFound = (what: string): Result => ({ ok: false, code: 'not_found', message: `there is no ${what}` })
export const conflict = (message: string): Result => ({ ok: false, code: 'conflict', message })
export const declaredElsewhere = (what: string): Result => ({
  ok: false,
  code: 'declared',
  message: `${what} is declared in tollgate.yaml or the environment; change it there`,
})

/** Results as JSON text: integers of the store are bigint, and leave as decimal text. */
export const resultJson = (result: Result): string =>
  JSON.stringify(result, (_, value: unknown) => (typeof value === 'bigint' ? value.toString() : value))
