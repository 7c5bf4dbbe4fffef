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
  headBytesMax: 16 * 1024,
  headTimeoutMs: 10_000,
  idleTimeoutMs: 75_000,
  stallTimeoutMs: 60_000,
  lingerTimeoutMs: 5_000,
}
