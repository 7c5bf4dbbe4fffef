/** Stored turns of conversations: the port that keeps them, and its bounds. */
import type { KeptTurn, PastTurn } from '../formats/core/contract.ts'
import { DAY_MS, MIB } from '../lib/primitives/units.ts'
import { limit } from '../lib/primitives/limit.ts'
import type { DiskRoom } from '../lib/runtime/disk-room.ts'
import type { WriteStep } from '../store/statement.ts'

/** Whose turns are meant. */
export type TurnScope = { readonly accountId: string }

/** The turns before one, oldest first; or why they cannot be had. */
export type Chain =
  | { readonly kind: 'found'; readonly turns: readonly PastTurn[] }
  /** A turn of it is unknown, deleted, expired, or another account's: nobody is told which. */
  | { readonly kind: 'not_found' }
  /** A turn of it failed without a charge, and what it was asked was not kept. */
  | { readonly kind: 'failed' }
  | { readonly kind: 'too_long' }
  /** The account has so many conversations read already. */
  | { readonly kind: 'busy' }

/** A turn without what it brought. */
export type ShownTurn = Omit<KeptTurn, 'input'>

export type PageRequest = {
  readonly order: 'asc' | 'desc'
  readonly limit: number
  /** The id of the item before it. */
  readonly after: string | undefined
}
/** An item as JSON. */
export type KeptItem = { readonly id: string; readonly json: string }
export type InputPage =
  | { readonly kind: 'page'; readonly items: readonly KeptItem[]; readonly hasMore: boolean }
  | { readonly kind: 'not_found' }
  | { readonly kind: 'no_such_item' }

export const KEPT_DAYS = limit('responseDays', 30, 'A stored response is deleted after this time.')
export const TURN_KEPT_MS = KEPT_DAYS * DAY_MS
/** Bytes of one conversation that are read back: as much as a request may bring. */
export const CHAIN_BYTES_MAX = limit('conversationBytesMax', 32 * MIB, 'A longer conversation is refused.')
export const CHAIN_TURNS_MAX = limit('conversationTurnsMax', 10_000, 'A conversation with more turns is refused.')
/** Conversations of one account that are being read, or wait to be. */
export const RECALLS_MAX = limit(
  'recallsPerAccountMax',
  256,
  'A further recall of a conversation of the account is refused.',
)
/** A page of items is no larger, unless one item alone is. */
export const PAGE_BYTES_MAX = limit(
  'inputPageBytesMax',
  MIB,
  'A page of input items ends here. One item alone may be longer.',
)

export type TurnBounds = {
  /** What an account may keep at most. */
  readonly bytesPerAccountMax: number
  readonly room: Pick<DiskRoom, 'isShort'>
}

/**
 * The port of stored turns.
 *
 * - Every read and write is one account's: there is no way to ask for a turn by its id alone. The same id of two
 *   accounts is two turns.
 * - A turn is written in the transaction that resolves its request's hold: it is there exactly when its charge is. One
 *   that is made in the background is there with its hold, `running`, and is replaced at its end.
 * - What was kept comes back as it was, to the byte.
 * - A turn that is older than `KEPT_DAYS` is gone for every reader at once.
 * - The bytes of an account's turns, and of those that are promised, are at most `bytesPerAccountMax`.
 * - A hold that expires ends its running turn as failed, without its input. This is the store's own doing.
 */
export type Turns = {
  /** Bytes that an account's turns take, with those that are promised. */
  bytesOf(scope: TurnScope): number
  /** What an account may keep, in bytes. */
  readonly bytesMax: number
  /**
   * Takes so many bytes of an account's share for a request, until `release`. `full`: the account has no room.
   * `no_room`: the disk is short.
   */
  promise(scope: TurnScope, requestId: string, bytes: number): 'promised' | 'full' | 'no_room'
  /** Gives back what a request was promised. Its turn counts for itself by then, or there is none. Safe to repeat. */
  release(scope: TurnScope, requestId: string): void
  /** Steps that keep a turn, or replace a running one. They count from now on, so they must be written. */
  keep(scope: TurnScope, turn: KeptTurn): WriteStep[]
  /** The same for a turn that failed and cost nothing: its input is not kept, and nobody can continue it. */
  keepUnserved(scope: TurnScope, turn: KeptTurn): WriteStep[]
  /** A turn as it is shown: without its input, which can be large. */
  find(scope: TurnScope, id: string): Promise<ShownTurn | undefined>
  /** Bytes that a turn takes; 0 where there is none. */
  sizeOf(scope: TurnScope, id: string): Promise<number>
  /** Items of a turn's input, each as the text that it came as. A page ends by number, or at `PAGE_BYTES_MAX`. */
  inputPage(scope: TurnScope, id: string, page: PageRequest): Promise<InputPage>
  /** A turn and all turns before it, within `CHAIN_BYTES_MAX` and `CHAIN_TURNS_MAX`. */
  chain(scope: TurnScope, id: string): Promise<Chain>
  /** Those of these turns that there are, in any order. */
  some(scope: TurnScope, ids: readonly string[]): Promise<Exclude<Chain, { kind: 'not_found' | 'failed' }>>
  /** Deletes a turn. Resolves once it is gone from the disk; false where there is none. */
  delete(scope: TurnScope, id: string): Promise<boolean>
  /** Deletes turns older than `KEPT_DAYS`, in small steps behind the requests. */
  sweep(): Promise<void>
}
