import { KIB, MINUTE_MS } from '../lib/primitives/units.ts'

export type ConnectionLimits = {
  readonly headBytesMax: number
  /** From the first byte of a request, or from the connect, to the end of its head. */
  readonly headTimeoutMs: number
  readonly idleTimeoutMs: number
  /** A client that takes nothing of what it was given for so long has gone in all but name. */
  readonly stallTimeoutMs: number
  /**
   * How long a closing connection still takes bytes, since the last of them; six times as long in all (nginx: 5 s and
   * 30 s). Closed while the client sends, its reset could overtake the answer.
   */
  readonly lingerTimeoutMs: number
}

/** What holds where `listen` is told nothing else. */
export const connectionLimits: ConnectionLimits = {
  headBytesMax: 16 * KIB,
  headTimeoutMs: 10_000,
  idleTimeoutMs: 75_000,
  stallTimeoutMs: MINUTE_MS,
  lingerTimeoutMs: 5_000,
}

/** Requests sent ahead of an answer are kept up to this size, then the client waits. */
export const AHEAD_BYTES_MAX = 64 * KIB
/** With less of them left to do the client may go on. */
export const WAITING_BYTES_MAX = 4 * AHEAD_BYTES_MAX
/** The rest of a body nobody wants is read and thrown away up to this size; beyond it the connection closes. */
export const UNREAD_BYTES_MAX = 256 * KIB
