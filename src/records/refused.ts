/** Requests that were refused before money was held, and the port that notes and reads them. */
import { limit } from '../lib/primitives/limit.ts'

export type RefusedRequest = {
  readonly id: string
  /** Undefined if the account is not known. */
  readonly accountId: string | undefined
  readonly keyId: string | undefined
  readonly method: string
  readonly endpoint: string
  /** The requested model, even if no model has that name. */
  readonly model: string | undefined
  readonly status: number
  readonly code: string
  readonly atMs: number
}

/** A refusal as it is stored. `repeats` similar ones followed until `lastAtMs`, without rows of their own. */
export type KeptRefusal = RefusedRequest & { readonly repeats: number; readonly lastAtMs: number }

export type RefusedPage = {
  readonly limit: number
  /** Only refusals before this id. */
  readonly before?: string | undefined
} & RefusedFilter

/** Refusals that meet all given conditions. */
export type RefusedFilter = {
  readonly code?: string | undefined
  readonly status?: number | undefined
  readonly keyId?: string | undefined
  readonly model?: string | undefined
  readonly endpoint?: string | undefined
  /** Refusals that occurred, themselves or their repeats, in this time. Unix ms, the end is excluded. */
  readonly fromMs?: number | undefined
  readonly toMs?: number | undefined
}

export type RefusedCount = { readonly status: number; readonly code: string; readonly requests: number }

/** How many refusals are kept. Counts are kept longer. */
export const refusedBounds = {
  rowsPerAccountMax: limit(
    'refusedRowsPerAccountMax',
    1_000,
    'The oldest refused requests of the account are deleted.',
  ),
  rowsMax: limit('refusedRowsMax', 100_000, 'The oldest refused requests are deleted.'),
}
/** How long the hourly counts are kept. */
export const COUNTED_HOURS = 400 * 24

/**
 * The port of refused requests. With it, a client's request id can be looked up.
 *
 * - `note` waits for nothing. Noted refusals are on disk after `flush`, and each read flushes first. A crash may lose
 *   those of the last second. Nothing depends on them.
 * - Every refusal is counted, in the hour of the first similar one since the last flush.
 * - A flood has few rows. One row stands for similar ones, which `repeats` counts. `RefusalCoalescer` has the rule.
 * - A read that names an account never returns a refusal of another account.
 */
export type RefusedRequests = {
  note(refusal: RefusedRequest): void
  flush(): Promise<void>
  /** The refusals of one account, newest first. */
  list(accountId: string, page: RefusedPage): Promise<readonly KeptRefusal[]>
  /**
   * A refusal by its id. A refusal without its own row is found by the row that stands for it, as far as the time in
   * the id shows. Without `accountId`, all accounts are searched.
   */
  find(id: string, accountId?: string): Promise<KeptRefusal | undefined>
  /** The number of refusals of one account, or of all, by status and code, largest first. Unix hours, end excluded. */
  counted(
    accountId: string | undefined,
    hours: { readonly fromHour: number; readonly toHour: number },
  ): Promise<readonly RefusedCount[]>
  /** Deletes rows beyond `refusedBounds`, and counts older than `COUNTED_HOURS`. */
  sweep(): Promise<void>
}
