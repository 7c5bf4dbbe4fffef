import type { ConnectionLimits } from './connection-limits.ts'
import type { ServerExchange } from './exchange.ts'
import type { ReplyHeaders } from './reply-head.ts'
import type { MalformedRequest } from './request-head.ts'

/** What a connection needs of its server. */
export type Host = {
  readonly limits: ConnectionLimits
  /** Answers a request. It may return before the answer is complete, and must not throw. */
  handle(exchange: ServerExchange): void
  /**
   * What a request waits for before it is handled. Undefined: nothing. The promise must not reject. What arrives
   * meanwhile is kept, within the bounds of what may be sent ahead of an answer.
   */
  waitFor?: ((exchange: ServerExchange) => Promise<void> | undefined) | undefined
  /** The answer to something that is not a request. */
  refuse(malformed: MalformedRequest): { readonly headers: ReplyHeaders; readonly body: string }
  /** Called with a programming error. */
  readonly onError: (error: Error) => void
  /** Whether the server is about to stop. An answer that begins now says that its connection closes. */
  readonly isRetiring: boolean
  readonly isHeld: boolean
}
