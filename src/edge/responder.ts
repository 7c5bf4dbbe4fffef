/** Answers requests with JSON, events, bytes or a failure. */
import type { Caller } from '../domain/account.ts'
import type { Failure } from '../domain/failure.ts'
import type { ReplyHeaders } from '../inbound/reply-head.ts'
import { INVALID_KEY, SUSPENDED } from '../domain/account-failures.ts'
import { EVENTS_TYPE, JSON_TYPE } from '../lib/http/content-types.ts'
import type { MessageContent } from '../lib/http/message-content.ts'
import type { EdgeOptions } from './edge-options.ts'
import { bearerOf, presentedKey } from './presented-key.ts'
import type { RefusalLog } from './refusal-log.ts'
import { pathWithoutIds, refusedNote } from './refused-note.ts'
import { templateOf } from './router.ts'
import type { RequestArrival, RequestTrace } from '../telemetry/request-trace.ts'
import type { ClientTrace } from '../telemetry/telemetry.ts'
import {
  refusedLine,
  type DetachedReply,
  type ReplyStream,
  type RequestContext,
  type Responder,
} from './request-context.ts'
import { presenceOf, replyWithStream, type StreamClient } from './stream-reply.ts'

const STREAM_TYPE = { ...EVENTS_TYPE, 'x-accel-buffering': 'no' }

export class EdgeResponder implements Responder {
  private readonly options: EdgeOptions
  private readonly refusals: RefusalLog

  constructor(options: EdgeOptions, refusals: RefusalLog) {
    this.options = options
    this.refusals = refusals
  }

  reply(context: RequestContext, status: number, body: object): void {
    this.write(context, status, JSON_TYPE, JSON.stringify(body))
  }

  replyText(context: RequestContext, text: string): void {
    this.write(context, 200, JSON_TYPE, text)
  }

  refuse(context: RequestContext, failure: Failure, extra?: ReplyHeaders): void {
    const { status, code, body, headers } = context.failures.write(failure, context.id)
    const { relay, refused } = this.options
    const line = refusedLine(context, relay.catalog, { client: this.clientOf(context), status, code })
    const isLogged = this.refusals.write(line)
    const isNoted = context.port === 'public' && !context.isRecorded
    // A flood of refusals has as few spans as lines in the log.
    if (this.options.telemetry && isNoted && isLogged) this.trace(context, status, code)
    if (isNoted) refused.note(refusedNote(context, relay, { status, code }))
    this.write(context, status, { ...JSON_TYPE, ...headers, ...extra }, body)
  }

  traceOf(context: RequestContext): RequestTrace | undefined {
    const { telemetry } = this.options
    return telemetry && (context.trace ??= telemetry.begin(...arrivalOf(context)))
  }

  private trace(context: RequestContext, status: number, code: string): void {
    const trace = this.traceOf(context)
    const accountId = context.caller?.account.id
    if (trace) this.options.telemetry?.refused({ requestId: context.id, status, code, accountId }, trace)
  }

  replyWithStream(context: RequestContext, client: StreamClient, { headers, ...stream }: ReplyStream): Promise<void> {
    const { contentType } = stream
    const type = contentType === undefined ? STREAM_TYPE : { 'content-type': contentType }
    const { log, metrics, relay } = this.options
    metrics.answered(200)
    return replyWithStream(context.exchange, client, {
      ...stream,
      headers: { ...type, ...headers, ...context.headers },
      heartbeatMs: relay.heartbeatMs,
      onError: (error) => log('error', 'edge.stream', { request: context.id, message: String(error) }),
    })
  }

  replyWithEvents(context: RequestContext, { begun = 'answering', ...rest }: DetachedReply): Promise<void> {
    return this.replyWithStream(context, presenceOf(context.exchange), { ...rest, begun })
  }

  clientOf({ exchange }: RequestContext): string {
    return this.options.proxies.clientOf(exchange.remoteAddress, exchange.header('x-forwarded-for'))
  }

  callerOf(context: RequestContext): Caller | Failure {
    const { exchange } = context
    const { notes } = exchange
    const { accounts } = this.options.relay
    // A client sends the same key with every request of a connection. It is parsed once. A playground token may expire.
    const authorization = exchange.header('authorization')
    const isSame = authorization !== undefined && authorization === notes.get('authorization')
    const presented = (isSame ? notes.get('presented') : presentedKey(exchange)) ?? ''
    const known = notes.get('presented') === presented ? notes.get('key') : undefined
    const caller = known === undefined ? accounts.authenticate(presented) : accounts.callerOf(known)
    if (!caller) {
      notes.clear()
      return INVALID_KEY
    }
    context.caller = caller
    if (known === undefined) {
      // The notes belong to one caller. A note of another caller would attribute this request to that caller.
      notes.clear()
      notes.set('account', caller.account.id)
      if (caller.key.kind === 'client') {
        notes.set('presented', presented).set('key', caller.key.id)
        if (authorization !== undefined && bearerOf(exchange) === presented) notes.set('authorization', authorization)
      }
    }
    exchange.share = this.options.arriving.of(caller.account.id)
    return caller.account.status === 'suspended' ? SUSPENDED : caller
  }

  write(
    { exchange, headers: always }: RequestContext,
    status: number,
    headers: ReplyHeaders,
    body: MessageContent,
  ): void {
    this.options.metrics.answered(status)
    exchange.reply(status, headers, body, always)
  }
}

/** What a trace has of a request: the client's part of the trace, and the route. */
function arrivalOf({ exchange, startedMs }: RequestContext): [ClientTrace, RequestArrival] {
  const { method, path } = exchange.head
  const template = templateOf(method, path)
  const isRoute = template !== undefined
  return [
    { traceparent: exchange.header('traceparent'), tracestate: exchange.header('tracestate') },
    { method, path: template ?? pathWithoutIds(path), isRoute, startedMs },
  ]
}
