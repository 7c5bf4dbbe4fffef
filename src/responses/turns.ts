/** Stored turns of conversations: the port, and its bounds. */
import type { KeptTurn, PastTurn } from '../formats/core/contract.ts'
import { DAY_MS, MIB } from '../lib/primitives/units.ts'
import { limit } from '../lib/primitives/limit.ts'
import type { DiskRoom } from '../lib/runtime/disk-room.ts'
import type { WriteStep } from '../store/statement.ts'

/** The account that the turns belong to. */
export type TurnScope = { readonly accountId: string }

/** A turn and the turns before it, oldest first, or the reason why they are not available. */
export type Chain =
  | { readonly kind: 'found'; readonly turns: readonly PastTurn[] }
  /** A turn of it is unknown, deleted, expired, or another account's. The caller cannot tell which. */
  | { readonly kind: 'not_found' }
  /** A turn of it failed without a charge, and its input was not kept. */
  | { readonly kind: 'failed' }
  | { readonly kind: 'too_long' }
  /** The account already reads too many conversations at once. */
  | { readonly kind: 'busy' }

/** A turn without its input. */
export type ShownTurn = Omit<KeptTurn, 'input'>

export type PageRequest = {
  readonly order: 'asc' | 'desc'
  readonly limit: number
  /** The id of the item before it. */
  readonly after: string | undefined
}
/** An item, as JSON text. */
export type KeptItem = { readonly id: string; readonly json: string }
export type InputPage =
  | { readonly kind: 'page'; readonly items: readonly KeptItem[]; readonly hasMore: boolean }
  | { readonly kind: 'not_found' }
  | { readonly kind: 'no_such_item' }

export const KEPT_DAYS = limit('responseDays', 30, 'A stored response is deleted after this time.')
export const TURN_KEPT_MS = KEPT_DAYS * DAY_MS
/** The bytes of one conversation that are read back. A request may have as many. */
export const CHAIN_BYTES_MAX = limit('conversationBytesMax', 32 * MIB, 'A longer conversation is refused.')
export const CHAIN_TURNS_MAX = limit('conversationTurnsMax', 10_000, 'A conversation with more turns is refused.')
/** Conversations of one account that are being read or wait for it. */
export const RECALLS_MAX = limit(
  'recallsPerAccountMax',
  256,
  'A further recall of a conversation of the account is refused.',
)
/** The size at which a page of items ends. A single item may be larger. */
export const PAGE_BYTES_MAX = limit(
  'inputPageBytesMax',
  MIB,
  'A page of input items ends here. One item alone may be longer.',
)

export type TurnBounds = {
  /** The most that an account may keep. */
  readonly bytesPerAccountMax: number
  readonly room: Pick<DiskRoom, 'isShort'>
}

/** The turns that other instances make. They run in the background. */
export type RemoteTurns = {
  /** Asks the instance that makes a turn to cancel it. Resolves when the turn has ended, or after seconds. */
  cancel(scope: TurnScope, id: string): Promise<void>
  /** Calls the listener for each turn that some instance asks to cancel, whoever makes it. */
  onCancel(listener: (scope: TurnScope, id: string) => void): void
  /** Calls `ended` once a running turn has ended. The returned function ends the watch. */
  onEnd(id: string, ended: () => void): () => void
}

/**
 * The port of stored turns.
 *
 * - Every read and write names an account, so a turn cannot be reached by its id alone. The same id in two accounts is
 *   two turns.
 * - A turn is written in the transaction that resolves its request's hold, so it exists exactly when its charge does. A
 *   background turn exists from its hold on as `running`, and is replaced at its end.
 * - A turn is read back unchanged, to the byte.
 * - Each instance that shares the store reads what another has written. A running turn that an instance deletes stays
 *   deleted when another one ends it.
 * - A turn older than `KEPT_DAYS` is gone for all readers at once.
 * - The bytes of an account's turns and of its promises are at most `bytesPerAccountMax`. Of instances that share the
 *   store, each learns within minutes what the others keep.
 * - A hold that expires ends its running turn as failed, without its input. The store does this itself.
 */
export type Turns = {
  /** The bytes of an account's turns and of its promises. */
  bytesOf(scope: TurnScope): number
  /** The most that an account may keep, in bytes. */
  readonly bytesMax: number
  /**
   * Reserves bytes of an account's share for a request, until `release`. `full`: the account has no room. `no_room`:
   * the disk is short of space.
   */
  promise(scope: TurnScope, requestId: string, bytes: number): 'promised' | 'full' | 'no_room'
  /** Releases what was promised to a request. By then its turn is counted itself, or there is none. May be repeated. */
  release(scope: TurnScope, requestId: string): void
  /** Forgets the running turn of a request whose steps were refused by the store. May be repeated. */
  forget(scope: TurnScope, requestId: string): void
  /** Steps that keep a turn, or replace a running one. They count from now on, so they must be written. */
  keep(scope: TurnScope, turn: KeptTurn): WriteStep[]
  /** Steps for a turn that failed without a charge. Its input is not kept, and nobody can continue it. */
  keepUnserved(scope: TurnScope, turn: KeptTurn): WriteStep[]
  /** A turn without its input, which can be large. */
  find(scope: TurnScope, id: string): Promise<ShownTurn | undefined>
  /** The bytes of a turn, or 0 if there is none. */
  sizeOf(scope: TurnScope, id: string): Promise<number>
  /** The instance that makes a running turn: the owner of its hold. Undefined if the turn does not run. */
  runBy(scope: TurnScope, id: string): Promise<string | undefined>
  /** Undefined if no other instance shares the store. */
  readonly remote: RemoteTurns | undefined
  /** Items of a turn's input, each as the text that was received. A page ends by number or at `PAGE_BYTES_MAX`. */
  inputPage(scope: TurnScope, id: string, page: PageRequest): Promise<InputPage>
  /** A turn and all turns before it, within `CHAIN_BYTES_MAX` and `CHAIN_TURNS_MAX`. */
  chain(scope: TurnScope, id: string): Promise<Chain>
  /** Those of these turns that exist, in any order. */
  some(scope: TurnScope, ids: readonly string[]): Promise<Exclude<Chain, { kind: 'not_found' | 'failed' }>>
  /** Deletes a turn. Resolves to true once it is gone from the disk, and to false if there is none. */
  delete(scope: TurnScope, id: string): Promise<boolean>
  /** Deletes turns older than `KEPT_DAYS`, in small steps that requests go before. */
  sweep(): Promise<void>
}
