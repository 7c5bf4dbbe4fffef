import type { FailureWriter } from '../formats/format.ts'
import type { Exchange } from '../inbound/exchange.ts'
import type { ReplyHeaders } from '../inbound/reply-head.ts'
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
