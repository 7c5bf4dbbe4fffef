/**
 * Codes that add to a balance: made by the operator, given to a customer, redeemed once. This is the port that every
 * store of them implements. `codes-contract.ts` is the suite that every implementation passes.
 *
 * Invariants:
 * - A code is redeemed once, by one account. Its end and its credit are one transaction.
 * - The code itself is returned once, by `create`. It is stored as a digest.
 */
import type { NanoUsd } from '../domain/money.ts'

export type CodeDraft = {
  readonly count: number
  /** Of each. */
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
  /** Unknown, redeemed, voided, expired: nobody is told which. */
  | { readonly kind: 'void' }
  /** The balance would exceed what an account can hold. */
  | { readonly kind: 'too_large' }

export type NewCode = { readonly id: string; readonly secret: string }
export type CodeFilter = {
  readonly batchId?: string | undefined
  readonly state?: Code['state'] | undefined
  /** Part of the note, or the code's end. */
  readonly text?: string | undefined
}
export type CodePage = { readonly before?: string | undefined; readonly limit: number }

/** A batch of codes. The codes themselves are there once. */
export type NewBatch = { readonly batchId: string; readonly codes: readonly NewCode[] }

export type Codes = {
  create(draft: CodeDraft): Promise<NewBatch>
  /** Adds a code to a balance. A code that is refused for the sake of the balance can be redeemed later. */
  redeem(typed: string, by: { readonly accountId: string }): Promise<Redemption>
  /** False when there is nothing to void: the code is unknown, redeemed or voided. */
  void(id: string): Promise<boolean>
  /** A page of those that fit, the newest first. Those of one moment are in the order of their ids. */
  list(query: CodeFilter & CodePage): Promise<readonly Code[]>
  /** How many fit. */
  count(filter: CodeFilter): Promise<number>
  /** The code that was typed; undefined: there is none. */
  codeOfSecret(typed: string): Promise<Code | undefined>
  find(id: string): Promise<Code | undefined>
}
