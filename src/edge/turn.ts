import type { Caller } from '../domain/account.ts'
import type { Failure } from '../domain/failure.ts'
import type { FailureWriter } from '../formats/format.ts'
import type { Exchange } from '../inbound/exchange.ts'
import type { ReplyHeaders } from '../inbound/reply-head.ts'
import type { EventSource } from './stream-reply.ts'
import type { Surface } from './surface.ts'

/** A request on its way through the edge. */
export type Turn = {
  readonly exchange: Exchange
  readonly id: string
  readonly startedMs: number
  /** The port it came to. */
  readonly port: 'public' | 'monitor'
  failures: FailureWriter
  /** Go with every answer. */
  headers: ReplyHeaders
}

export type Route = {
  readonly methods: readonly string[]
  readonly handle: (turn: Turn) => void | Promise<void>
  /** Undefined: in the envelope of the chat dialect, as all that belongs to no dialect. */
  readonly failures?: FailureWriter
  readonly requestIdHeader?: Surface['requestIdHeader']
}

/** How routes answer. */
export type Answering = {
  /** The caller behind the key of a request, or why not. */
  callerOf(turn: Turn): Caller | Failure
  /** A failure and its log line. */
  refuse(turn: Turn, failure: Failure, extra?: ReplyHeaders): void
  /** JSON that is written already. */
  replyText(turn: Turn, text: string): void
  /** Events of an answer that is made without this client. */
  replyWithEvents(turn: Turn, events: EventSource, headers: ReplyHeaders): Promise<void>
}
