import { KIB, MINUTE_MS } from '../lib/primitives/units.ts'

export type ConnectionLimits = {
  readonly headBytesMax: number
  /** From the first byte of a request, or from the connect, to the end of its head. */
  readonly headTimeoutMs: number
  readonly idleTimeoutMs: number
  /** A client that takes no bytes of its answer for this time counts as gone. */
  readonly stallTimeoutMs: number
  /**
   * How long a closing connection still reads bytes, counted from the last one, and six times as long in all (nginx: 5
   * s and 30 s). If it closed while the client sends, the reset could overtake the answer.
   */
  readonly lingerTimeoutMs: number
}

/** The defaults of `listen`. */
export const connectionLimits: ConnectionLimits = {
  headBytesMax: 16 * KIB,
  headTimeoutMs: 10_000,
  idleTimeoutMs: 75_000,
  stallTimeoutMs: MINUTE_MS,
  lingerTimeoutMs: 5_000,
}

/** Requests that are sent ahead of an answer are kept up to this size. Then the client must wait. */
export const AHEAD_BYTES_MAX = 64 * KIB
/** Reading goes on when fewer bytes than this wait to be processed. */
export const WAITING_BYTES_MAX = 4 * AHEAD_BYTES_MAX
/** An unwanted rest of a body is read and dropped up to this size. Beyond it, the connection closes. */
export const UNREAD_BYTES_MAX = 256 * KIB
