/** Requests that were refused before any money was held, and the port by which they are noted and read. */
import { limit } from '../lib/primitives/limit.ts'

export type RefusedRequest = {
  readonly id: string
  /** Undefined: nobody's that is known. */
  readonly accountId: string | undefined
  readonly keyId: string | undefined
  readonly method: string
  readonly endpoint: string
  /** The model that was asked for, also where there is none of that name. */
  readonly model: string | undefined
  readonly status: number
  readonly code: string
  readonly atMs: number
}

/** A refusal as it is kept; `repeats` like it followed until `lastAtMs`, without rows of their own. */
export type KeptRefusal = RefusedRequest & { readonly repeats: number; readonly lastAtMs: number }

export type RefusedPage = {
  readonly limit: number
  /** Only those before this id. */
  readonly before?: string | undefined
} & RefusedFilter

/** Only those of which all that is named holds. */
export type RefusedFilter = {
  readonly code?: string | undefined
  readonly status?: number | undefined
  readonly keyId?: string | undefined
  readonly model?: string | undefined
  readonly endpoint?: string | undefined
  /** Whose like came in this time, the end not included. Unix ms. */
  readonly fromMs?: number | undefined
  readonly toMs?: number | undefined
}

export type RefusedCount = { readonly status: number; readonly code: string; readonly requests: number }

/** How many refusals are kept; counts are kept for longer. */
export const refusedBounds = {
  rowsPerAccountMax: limit(
    'refusedRowsPerAccountMax',
    1_000,
    'The oldest refused requests of the account are deleted.',
  ),
  rowsMax: limit('refusedRowsMax', 100_000, 'The oldest refused requests are deleted.'),
}
/** For how long the counts of an hour are kept. */
export const COUNTED_HOURS = 400 * 24

/**
 * The port of refused requests. They lead a client's request id somewhere.
 *
 * - `note` waits for nothing. What was noted is on disk after `flush`, and each read flushes first. A crash may lose
 *   what was noted in the last second: nothing depends on it.
 * - Every refusal is counted, in the hour of the first one like it since the last flush.
 * - A flood has few rows: one row stands for others like it, which `repeats` counts (`RefusalCoalescer` has the rule).
 * - A read that names an account never returns a refusal of another one.
 */
export type RefusedRequests = {
  note(refusal: RefusedRequest): void
  flush(): Promise<void>
  /** Refusals of one account, newest first. */
  list(accountId: string, page: RefusedPage): Promise<readonly KeptRefusal[]>
  /**
   * A refusal by its id. One without a row of its own is found by the row that stands for it, as far as the time in the
   * id tells. Without `accountId`: of any account.
   */
  find(id: string, accountId?: string): Promise<KeptRefusal | undefined>
  /** How many an account had, or all had, by status and code, the most first. Unix hours, the last not included. */
  counted(
    accountId: string | undefined,
    hours: { readonly fromHour: number; readonly toHour: number },
  ): Promise<readonly RefusedCount[]>
  /** Forgets rows beyond `refusedBounds`, and counts older than `COUNTED_HOURS`. */
  sweep(): Promise<void>
}
