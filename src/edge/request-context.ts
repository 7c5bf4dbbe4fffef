import type { Catalog } from '../catalog/catalog.ts'
import type { Caller } from '../domain/account.ts'
import type { Failure } from '../domain/failure.ts'
import type { ClientRequest, FailureWriter } from '../formats/core/contract.ts'
import type { ServerExchange } from '../inbound/exchange.ts'
import type { ReplyHeaders } from '../inbound/reply-head.ts'
import type { MessageContent } from '../lib/http/message-content.ts'
import type { LogFields } from '../lib/runtime/log.ts'
import type { RequestTrace } from '../telemetry/request-trace.ts'
import type { StreamClient, StreamOptions } from './stream-reply.ts'
import type { EnvelopeDialect } from './model-view.ts'

/** Sent with every answer. A browser then does not guess another content type. */
export const NOSNIFF = { 'x-content-type-options': 'nosniff' }

/** A request in the edge. */
export type RequestContext = {
  readonly exchange: ServerExchange
  readonly id: string
  readonly startedMs: number
  /** The port on which it arrived. */
  readonly port: 'public' | 'monitor'
  /** The dialect of the request and of its failures. */
  readonly dialect: EnvelopeDialect
  readonly failures: FailureWriter
  /** Headers of every answer. */
  headers: ReplyHeaders
  /** The caller and the requested model, once they are known. */
  caller?: Caller
  request?: Pick<ClientRequest, 'endpoint' | 'model'>
  /** The request held money, so it has a request record. */
  isRecorded?: boolean
  /** Its trace, once one has begun. */
  trace?: RequestTrace | undefined
}

type ClientMessage = { readonly client: string; readonly status: number; readonly code: string }

/** The log line of a refused request: who asked for what, as far as it is known. */
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
    // A name that is not a model's is the client's own text. It is not logged.
    model: request && catalog.modelNamed(request.model)?.id,
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
  /** The caller that the key belongs to, or the failure that refuses the key. */
  callerOf(context: RequestContext): Caller | Failure
  /** The address of the client. Forwarded addresses count only from trusted proxies. */
  clientOf(context: RequestContext): string
  /** Writes a failure and its log line. */
  refuse(context: RequestContext, failure: Failure, extra?: ReplyHeaders): void
  write(context: RequestContext, status: number, headers: ReplyHeaders, body: MessageContent): void
  reply(context: RequestContext, status: number, body: object): void
  /** Begins the trace of the request, if traces are sent. */
  traceOf(context: RequestContext): RequestTrace | undefined
  /** Answers with JSON text. */
  replyText(context: RequestContext, text: string): void
  replyWithStream(context: RequestContext, client: StreamClient, stream: ReplyStream): Promise<void>
  /** Sends the events of an answer that is produced independently of this client. */
  replyWithEvents(context: RequestContext, reply: DetachedReply): Promise<void>
}

/** The begin of a stream without one stated: its first event comes soon. */
export type DetachedReply = Pick<StreamOptions, 'events' | 'headers'> & {
  readonly begun?: StreamOptions['begun'] | undefined
}
export type ReplyStream = Pick<StreamOptions, 'events' | 'headers' | 'contentType' | 'heartbeat' | 'begun'>
