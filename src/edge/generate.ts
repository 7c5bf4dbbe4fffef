/** How each route of the public API is answered. */
import { LimiterPermit } from '../accounts/limiter.ts'
import { mayUse, type Caller } from '../domain/account.ts'
import type { Failure } from '../domain/failure.ts'
import type { ServerExchange } from '../inbound/exchange.ts'
import type { ReplyHeaders } from '../inbound/reply-head.ts'
import type { MalformedRequest } from '../inbound/request-head.ts'
import { timeOrderedId } from '../lib/primitives/ids.ts'
import type { Answer } from '../relay/answer.ts'
import { INVALID_KEY, modelFor, SUSPENDED, turnedAway, unready } from '../relay/admit.ts'
import { GatewayRequest, CLIENT_CLOSED } from '../relay/call.ts'
import { isBackground } from '../relay/conversation.ts'
import { failureHeaders, JSON_TYPE } from '../relay/headers.ts'
import { limitFailure } from '../relay/limit-failure.ts'
import { relayRequest, type RelayResult } from '../relay/relay.ts'
import { balanceView } from './balance.ts'
import { type Recipient } from './media.ts'
import { digestsEqual } from './digests-equal.ts'
import { FreeRoutes } from './unbilled-routes.ts'
import { readIdempotencyKey } from './idempotency-key.ts'
import { receive, type ReceivedRequest } from './read-request.ts'
import { linkBaseOf } from './links.ts'
import type { EdgeOptions } from './edge-options.ts'
import { decoded, modelList, modelObject } from './model-view.ts'
import { bearerOf, presentedKey } from './presented-key.ts'
import { RefusalLog } from './refusal-log.ts'
import { refusedNote } from './refused-note.ts'
import { presenceOf, replyWithStream, type ReplyEvents } from './stream-reply.ts'
import { chatEnvelope, envelopeOf, type Endpoint } from './envelope.ts'
import {
  INTERNAL_ERROR,
  NOSNIFF,
  noRoute,
  refusedLine,
  type Responder,
  type PublicRoute,
  type RequestContext,
} from './request-context.ts'

const STREAM_TYPE = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache',
  'x-accel-buffering': 'no',
}
/** Google's clients ask for their own version, or for this one. */
export const MODEL_PATH = /^\/v1(?:beta|alpha)?\/models\/(?:models\/)?(.+)$/

/** Answers requests, one method a route. */
export class PublicApi implements Responder {
  readonly free: FreeRoutes
  private readonly options: EdgeOptions
  private readonly refusals: RefusalLog

  constructor(options: EdgeOptions) {
    this.options = options
    this.refusals = new RefusalLog(options.log)
    this.free = new FreeRoutes(options, this)
  }

  /** A file, to whoever has its address. */
  async file(context: RequestContext, serve: (recipient: Recipient) => Promise<Failure | undefined>): Promise<void> {
    const failure = await serve({ exchange: context.exchange, client: this.clientOf(context), always: context.headers })
    if (failure) this.refuse(context, failure)
  }

  serve(context: RequestContext, route: PublicRoute | undefined): void {
    const { exchange } = context
    const { method, path } = exchange.head
    if (!route) return this.refuse(context, noRoute(method, path))
    if (route.methods.includes(method)) return this.run(context, route)
    const preflight = isForPages(context.port, path) && this.options.cors.preflight(exchange, route.methods)
    // They stand in for the turn's own: a preflight varies with more than the origin.
    if (preflight) return this.write({ ...context, headers: { ...context.headers, ...preflight } }, 204, {}, '')
    const allow = route.methods.join(', ')
    const message = `${method} is not allowed here; allowed: ${allow}.`
    return this.refuse(context, { kind: 'method_not_allowed', message }, { allow })
  }

  /** Runs a route. A programmer's error is an answer too, and a line in the log. */
  private run(context: RequestContext, route: PublicRoute): void {
    try {
      route.handle(context)?.catch((error: unknown) => this.failed(context, error))
    } catch (error) {
      this.failed(context, error)
    }
  }

  private failed(context: RequestContext, error: unknown): void {
    const told = { request: context.id, message: String(error), stack: (error as Error).stack }
    this.options.log('error', 'edge.internal', told)
    if (context.exchange.isUnanswered) this.refuse(context, INTERNAL_ERROR)
    else context.exchange.destroy()
  }

  open(exchange: ServerExchange, port: RequestContext['port']): RequestContext {
    const id = timeOrderedId('req_')
    const forPages = isForPages(port, exchange.head.path) ? this.options.cors.headersFor(exchange) : {}
    const { dialect, failures, requestIdHeader } = envelopeOf(exchange.head.path, exchange)
    const ids = { 'x-request-id': id, ...(requestIdHeader && { [requestIdHeader]: id }) }
    const headers = { ...forPages, ...NOSNIFF, ...ids }
    return { exchange, id, startedMs: performance.now(), port, dialect, failures, headers }
  }

  reply(context: RequestContext, status: number, body: object): void {
    this.write(context, status, JSON_TYPE, JSON.stringify(body))
  }

  replyText(context: RequestContext, text: string): void {
    this.write(context, 200, JSON_TYPE, text)
  }

  /** Writes a failure and its log line. */
  refuse(context: RequestContext, failure: Failure, extra?: ReplyHeaders): void {
    const { status, code, body, headers } = context.failures.write(failure, context.id)
    const { relay, refused } = this.options
    this.refusals.write(refusedLine(context, relay.catalog, { client: this.clientOf(context), status, code }))
    const isNoted = context.port === 'public' && !context.isRecorded
    if (isNoted) refused.note(refusedNote(context, relay.accounts, { status, code }))
    this.write(context, status, { ...JSON_TYPE, ...headers, ...extra }, body)
  }

  /** The envelope for what is not even a request. */
  refuseMalformed({ status, message }: MalformedRequest): { headers: ReplyHeaders; body: string } {
    const id = timeOrderedId('req_')
    const { code, body } = chatEnvelope.failures.write({ kind: 'malformed_request', message })
    this.refusals.write({ request: id, status, code })
    this.options.metrics.answered(status)
    return { headers: { ...JSON_TYPE, ...NOSNIFF, 'x-request-id': id }, body }
  }

  ready(context: RequestContext): void {
    const reason = this.options.relay.notReady()
    if (reason === undefined) return this.reply(context, 200, { status: 'ready' })
    const body = { status: 'not ready', ...(this.isOperator(context) ? { reason } : {}) }
    this.write(context, 503, { ...JSON_TYPE, 'retry-after': '1' }, JSON.stringify(body))
  }

  /** Without its token the route is not there: the figures say who buys what, and how much. */
  metrics(context: RequestContext): void {
    if (!this.isOperator(context))
      return this.refuse(context, { kind: 'not_found', message: 'There is no GET /metrics.' })
    this.write(context, 200, { 'content-type': 'text/plain; version=0.0.4' }, this.options.metrics.text())
  }

  private isOperator({ exchange, port }: RequestContext): boolean {
    if (port === 'monitor') return true
    const { metricsToken } = this.options
    return metricsToken !== undefined && digestsEqual(bearerOf(exchange) ?? '', metricsToken)
  }

  balance(context: RequestContext): void {
    const caller = this.callerOf(context)
    if ('kind' in caller) return this.refuse(context, caller)
    this.reply(context, 200, balanceView(caller, this.options.relay, this.options.limiter))
  }

  models(context: RequestContext): void {
    const caller = this.callerOf(context)
    if ('kind' in caller) return this.refuse(context, caller)
    const usable = this.options.relay.catalog.models().filter((model) => mayUse(caller, model))
    const answer = modelList[context.dialect](usable, new URLSearchParams(context.exchange.head.query))
    if (answer.kind === 'refused') this.refuse(context, answer.failure)
    else this.reply(context, 200, answer.list)
  }

  oneModel(context: RequestContext): void {
    const caller = this.callerOf(context)
    if ('kind' in caller) return this.refuse(context, caller)
    const id = decoded(MODEL_PATH.exec(context.exchange.head.path)?.[1] ?? '')
    const model = modelFor(this.options.relay.catalog, caller, id)
    if ('message' in model) this.refuse(context, model)
    else this.reply(context, 200, modelObject[context.dialect](model))
  }

  /** The route of an endpoint that generates. */
  generates(endpoint: Endpoint): PublicRoute {
    const list = endpoint.list && this.free.kept(endpoint.list)
    const handle = (context: RequestContext) =>
      list && context.exchange.head.method !== 'POST' ? list.handle(context) : this.generate(context, endpoint)
    return { methods: ['POST', ...(list?.methods ?? [])], handle }
  }

  private async generate(context: RequestContext, endpoint: Endpoint): Promise<void> {
    if (endpoint.count) return this.free.count(context, endpoint, endpoint.count)
    const caller = this.callerOf(context)
    if ('kind' in caller) return this.refuse(context, caller)
    const limiterPermit = this.options.limiter.enter(caller)
    if (!(limiterPermit instanceof LimiterPermit)) {
      return this.refuse(context, limitFailure(limiterPermit), this.options.limiter.headers(caller))
    }
    let call: GatewayRequest | Failure | undefined
    try {
      const refusal = turnedAway(this.options.relay, caller, context.exchange.header('idempotency-key') !== undefined)
      if (refusal) return this.refuse(context, refusal, limiterPermit.withRates())
      const receiving = receive(context, endpoint, this.options)
      // Nearly every request is there already: it is carried out in its own tick.
      const received = receiving instanceof Promise ? await receiving : receiving
      try {
        call =
          received.kind === 'rejected' ? received.failure : this.callFor(context, received, { caller, limiterPermit })
        if (!(call instanceof GatewayRequest)) return this.refuse(context, call)
        const streaming = this.answer(context, call, await relayRequest(this.options.relay, call))
        if (streaming) await streaming
      } finally {
        if (received.release) await received.release()
      }
    } finally {
      limiterPermit.leave()
      if (call instanceof GatewayRequest && call.replyMemory) await call.forgetReplies(context.exchange.drained())
    }
  }

  /** The call that a request is, or why it is none. */
  private callFor(
    context: RequestContext,
    { request, fingerprint }: ReceivedRequest,
    { caller, limiterPermit }: AdmittedCaller,
  ): GatewayRequest | Failure {
    const { exchange, id, startedMs } = context
    context.request = request
    // Asked after the body has arrived: from here to the hold a shutdown can only begin while an idempotency key is
    // looked up, and the relay asks again after that.
    const refusal = unready(this.options.relay)
    if (refusal) return refusal
    const clientAddress = this.clientOf(context)
    const linkBase = linkBaseOf(exchange, this.options.links)
    const { replies } = this.options
    const once = readIdempotencyKey(exchange.header('idempotency-key'), exchange.head.path, fingerprint)
    if (once && 'kind' in once) return once
    const call = new GatewayRequest({
      id,
      caller,
      request,
      limiterPermit,
      startedMs,
      clientAddress,
      once,
      linkBase,
      replies,
    })
    if (!isBackground(request)) {
      if (exchange.isGone) call.cancel('client_closed')
      exchange.onClosed = () => this.options.relay.live.left(call)
    }
    return call
  }

  /** Gives the client what became of its call. A promise where that takes a while. */
  private answer(context: RequestContext, call: GatewayRequest, relayed: RelayResult): void | Promise<void> {
    const { limiterPermit } = call
    switch (relayed.kind) {
      case 'failure':
        if (relayed.failure === CLIENT_CLOSED) return undefined
        context.isRecorded = call.attempts.length > 0
        return this.refuse(context, relayed.failure, limiterPermit.withRates(failureHeaders(call.attempts, call.paid)))
      case 'repeated': {
        const { answer, requestId } = relayed
        const headers = { ...answer.headers, 'idempotent-replayed': 'true', 'x-tollgate-request': requestId }
        return this.write(context, answer.status, limiterPermit.withRates(headers), answer.body)
      }
      case 'background':
        return this.answerBackground(context, call, {
          ...relayed,
          headers: limiterPermit.withRates({ ...relayed.headers }),
        })
      case 'answer': {
        const { answer } = relayed
        const headers = limiterPermit.withRates(answer.headers)
        if (answer.kind === 'stream') return this.answerWithStream(context, call, answer, headers)
        return this.write(context, 200, headers, answer.text)
      }
    }
  }

  /** Answers for a call that goes on without its client. */
  private async answerBackground(
    context: RequestContext,
    { request }: GatewayRequest,
    { run, text, headers }: Background,
  ): Promise<void> {
    if (request.conversation?.mode === 'followed') await this.replyWithEvents(context, run.follow(-1), headers)
    else this.write(context, 200, { ...JSON_TYPE, ...headers }, text)
    // It counts among the requests of its key until it is over.
    return run.over
  }

  private answerWithStream(
    context: RequestContext,
    call: GatewayRequest,
    answer: StreamedAnswer,
    headers: ReplyHeaders,
  ): Promise<void> {
    const { log, metrics, relay } = this.options
    metrics.answered(200)
    return replyWithStream(context.exchange, call, {
      events: answer.events,
      headers: { ...STREAM_TYPE, ...headers, ...context.headers },
      heartbeatMs: relay.limits.heartbeatMs,
      heartbeat: call.request.heartbeat,
      begun: answer.begun,
      onError: (error) => log('error', 'edge.stream', { request: call.id, message: String(error) }),
    })
  }

  /** Events of an answer that is made without this client. */
  async replyWithEvents(context: RequestContext, events: ReplyEvents, headers: ReplyHeaders): Promise<void> {
    const { exchange, id } = context
    this.options.metrics.answered(200)
    await replyWithStream(exchange, presenceOf(exchange), {
      events,
      headers: { ...STREAM_TYPE, ...headers, ...context.headers },
      heartbeatMs: this.options.relay.limits.heartbeatMs,
      begun: 'answering',
      onError: (error) => this.options.log('error', 'edge.stream', { request: id, message: String(error) }),
    })
  }

  private clientOf({ exchange }: RequestContext): string {
    return this.options.proxies.clientOf(exchange.remoteAddress, exchange.header('x-forwarded-for'))
  }

  /** The caller behind the key of a request, or why not. */
  callerOf(context: RequestContext): Caller | Failure {
    const { exchange } = context
    const { notes } = exchange
    const { accounts } = this.options.relay
    // A client sends the same key with every request of a connection: it is read once. A pass may have ended.
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
      // All of one caller: what is left of another would make this one's requests theirs.
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

  private write(
    { exchange, headers: always }: RequestContext,
    status: number,
    headers: ReplyHeaders,
    body: string,
  ): void {
    this.options.metrics.answered(status)
    exchange.reply(status, headers, body, always)
  }
}

type AdmittedCaller = { readonly caller: Caller; readonly limiterPermit: LimiterPermit }
type Background = Extract<RelayResult, { kind: 'background' }>
type StreamedAnswer = Extract<Answer, { kind: 'stream' }>

/** Whether web pages of listed origins may read what is there: the API, never what operators watch. */
const isForPages = (port: RequestContext['port'], path: string): boolean => port === 'public' && path.startsWith('/v1')
