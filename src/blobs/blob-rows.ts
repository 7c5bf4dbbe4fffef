/** The rows of hosted files, and the port that stores them. The files themselves are behind `BlobFiles`. */
import type { WriteStep } from '../store/statement.ts'
import type { BlobPurpose, BlobType } from './blobs.ts'

export type BlobRow = {
  /** The digest of the id, hexadecimal. It is also the name of the file. */
  readonly digest: string
  readonly accountId: string
  readonly purpose: BlobPurpose
  readonly contentType: BlobType
  readonly bytes: number
  readonly createdAtMs: number
  readonly expiresAtMs: number
}

export type FoundRow = Omit<BlobRow, 'digest' | 'accountId' | 'purpose'> & { readonly isWithdrawn: boolean }

/**
 * The port of rows.
 *
 * - A digest has one row. A second insertion of it is refused.
 * - A withdrawn row stays withdrawn.
 */
export type BlobRows = {
  insertStep(row: BlobRow): WriteStep
  insert(row: BlobRow): Promise<void>
  /** Withdraws the row. The step changes nothing if the digest is unknown or withdrawn already. */
  withdrawStep(digest: string): WriteStep
  withdraw(digests: readonly string[]): Promise<void>
  /** Deletes rows that were withdrawn before a time. */
  forget(beforeMs: number): Promise<void>
  find(digest: string, purpose: BlobPurpose): Promise<FoundRow | undefined>
  /** When files expire, by digest. Withdrawn and unknown ones are left out. */
  expiries(digests: readonly string[]): Promise<ReadonlyMap<string, number>>
  /** Some of the rows that expired by a time and are not withdrawn. */
  expiredBy(nowMs: number): Promise<{ readonly digests: readonly string[]; readonly hasMore: boolean }>
  /** The digests of all rows that are not withdrawn. */
  keptDigests(): Promise<ReadonlySet<string>>
  /** The digests that have a row, and whether it is withdrawn. */
  statesOf(digests: readonly string[]): Promise<ReadonlyMap<string, 'kept' | 'withdrawn'>>
  /**
   * Rows, in order of their digests, that must have a file: not withdrawn, made before `madeBeforeMs`, not expired by
   * then. Their digests are above `above` and at most `upTo`, where undefined means no bound.
   */
  keptBetween(
    range: { readonly above: string; readonly upTo: string | undefined },
    madeBeforeMs: number,
    rowsMax: number,
  ): Promise<readonly string[]>
}
