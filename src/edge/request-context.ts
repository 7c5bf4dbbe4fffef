import type { Catalog } from '../catalog/catalog.ts'
import type { Caller } from '../domain/account.ts'
import type { Failure } from '../domain/failure.ts'
import type { ClientRequest, FailureWriter } from '../formats/core/contract.ts'
import type { ServerExchange } from '../inbound/exchange.ts'
import type { ReplyHeaders } from '../inbound/reply-head.ts'
import type { LogFields } from '../lib/runtime/log.ts'
import type { ReplyEvents, StreamClient, StreamOptions } from './stream-reply.ts'
import type { EnvelopeDialect } from './model-view.ts'

/** With every answer: a browser takes it for what it is said to be, and for nothing else. */
export const NOSNIFF = { 'x-content-type-options': 'nosniff' }

/** A request on its way through the edge. */
export type RequestContext = {
  readonly exchange: ServerExchange
  readonly id: string
  readonly startedMs: number
  /** The port it came to. */
  readonly port: 'public' | 'monitor'
  /** The words it is asked in, and refused in. */
  readonly dialect: EnvelopeDialect
  readonly failures: FailureWriter
  /** Go with every answer. */
  headers: ReplyHeaders
  /** Whose key it came with, and what it asks for: once that is known. */
  caller?: Caller
  request?: Pick<ClientRequest, 'endpoint' | 'model'>
  /** It held money, so it has a record. */
  isRecorded?: boolean
}

type ClientMessage = { readonly client: string; readonly status: number; readonly code: string }

/** What the log says of a request that was refused: who wanted what, as far as that was known. */
export function refusedLine(
  { exchange, id, startedMs, caller, request }: RequestContext,
  catalog: Catalog,
  told: ClientMessage,
): LogFields {
  return {
    request: id,
    account: caller?.account.id,
    key: caller?.key.id,
    client: told.client,
    method: exchange.head.method,
    endpoint: request?.endpoint,
    // A name that no model has is the client's own text.
    model: request && catalog.model(request.model)?.id,
    status: told.status,
    code: told.code,
    tookMs: Math.round(performance.now() - startedMs),
  }
}

export const INTERNAL_ERROR: Failure = {
  kind: 'internal',
  message: 'Internal error. The request id helps the operator to find it.',
}

/** How handlers answer. */
export type Responder = {
  /** The caller behind the key of a request, or why not. */
  callerOf(context: RequestContext): Caller | Failure
  /** The address of the client, as far as the proxies in between are trusted. */
  clientOf(context: RequestContext): string
  /** Writes a failure and its log line. */
  refuse(context: RequestContext, failure: Failure, extra?: ReplyHeaders): void
  write(context: RequestContext, status: number, headers: ReplyHeaders, body: string): void
  reply(context: RequestContext, status: number, body: object): void
  /** JSON that is written already. */
  replyText(context: RequestContext, text: string): void
  replyWithStream(context: RequestContext, client: StreamClient, stream: ReplyStream): Promise<void>
  /** Events of an answer that is made without this client. */
  replyWithEvents(context: RequestContext, events: ReplyEvents, headers: ReplyHeaders): Promise<void>
}

export type ReplyStream = Pick<StreamOptions, 'events' | 'headers' | 'heartbeat' | 'begun'>
