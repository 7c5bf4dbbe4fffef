import { KIB, MINUTE_MS } from '../lib/primitives/units.ts'
import { limit } from '../lib/primitives/limit.ts'

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
  headBytesMax: limit('headBytesMax', 16 * KIB, 'A larger request head is refused, and its connection ends.'),
  headTimeoutMs: limit('headTimeoutMs', 10_000, 'If a request head takes longer to arrive, the connection is closed.'),
  idleTimeoutMs: limit('idleTimeoutMs', 75_000, 'A connection without a request for this time is closed.'),
  stallTimeoutMs: MINUTE_MS,
  lingerTimeoutMs: limit(
    'lingerTimeoutMs',
    5_000,
    'A closing connection is reset when its client sends nothing for this time.',
  ),
}

/** Requests that are sent ahead of an answer are kept up to this size. Then the client must wait. */
export const AHEAD_BYTES_MAX = limit('aheadBytesMax', 64 * KIB, 'Further pipelined requests wait in the socket.')
/** Reading goes on when fewer bytes than this wait to be processed. */
export const WAITING_BYTES_MAX = 4 * AHEAD_BYTES_MAX
/** An unwanted rest of a body is read and dropped up to this size. Beyond it, the connection closes. */
export const UNREAD_BYTES_MAX = limit(
  'discardedBodyBytesMax',
  256 * KIB,
  'If the unread rest of a request body is longer, the connection is closed.',
)

/** The slowest pace at which a body may arrive. */
export const bodyPace = {
  graceMs: limit('bodyGraceMs', 10_000, 'Before this time, no body counts as too slow.'),
  bytesPerSecondMin: limit('bodyBytesPerSecondMin', 8 * KIB, 'A request whose body arrives more slowly is given up.'),
}
