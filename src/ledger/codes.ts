/**
 * Codes that add to a balance. The operator makes them, a customer gets one, and each is redeemed once. This is the
 * port that every store of codes implements. `codes-contract.ts` is the suite that every implementation passes.
 *
 * Invariants:
 * - A code is redeemed once, by one account. Its end and its credit are one transaction.
 * - The code itself is returned once, by `create`. It is stored as a digest.
 */
import type { NanoUsd } from '../domain/money.ts'

export type CodeDraft = {
  readonly count: number
  /** The amount of each code. */
  readonly amount: NanoUsd
  readonly note: string
  readonly expiresAtMs: number | undefined
}

export type Code = {
  readonly id: string
  readonly batchId: string
  readonly last4: string
  readonly amount: NanoUsd
  readonly note: string
  readonly state: 'open' | 'redeemed' | 'voided' | 'expired'
  readonly createdAtMs: number
  readonly expiresAtMs: number | undefined
  readonly redeemedAtMs: number | undefined
  readonly redeemedBy: string | undefined
}

export type Redemption =
  | { readonly kind: 'redeemed'; readonly id: string; readonly amount: NanoUsd }
  /** Unknown, redeemed, voided or expired. The caller cannot tell which. */
  | { readonly kind: 'void' }
  /** The balance would exceed what an account can hold. */
  | { readonly kind: 'too_large' }

export type NewCode = { readonly id: string; readonly secret: string }
export type CodeFilter = {
  readonly batchId?: string | undefined
  readonly state?: Code['state'] | undefined
  /** A part of the note, or the end of the code. */
  readonly text?: string | undefined
}
export type CodePage = { readonly before?: string | undefined; readonly limit: number }

/** A batch of codes. The codes themselves are only in this result. */
export type NewBatch = { readonly batchId: string; readonly codes: readonly NewCode[] }

export type Codes = {
  create(draft: CodeDraft): Promise<NewBatch>
  /** Adds a code to a balance. If the balance would become too large, the code stays open and can be redeemed later. */
  redeem(typed: string, by: { readonly accountId: string }): Promise<Redemption>
  /** Voids a code. Resolves to false if it is unknown, redeemed or already voided. */
  void(id: string): Promise<boolean>
  /** A page of the codes that fit, newest first. Codes of one moment are in the order of their ids. */
  list(query: CodeFilter & CodePage): Promise<readonly Code[]>
  /** How many codes fit. */
  count(filter: CodeFilter): Promise<number>
  /** The code that was typed, or undefined if there is none. */
  codeOfSecret(typed: string): Promise<Code | undefined>
  find(id: string): Promise<Code | undefined>
}
