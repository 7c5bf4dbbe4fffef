/**
 * The public API: routes, authentication, bodies, and failures in the envelope. What happens between a valid request
 * and its answer is the relay's.
 */
import type { Accounts } from '../accounts/accounts.ts'
import { Entry, type Limiter } from '../accounts/limiter.ts'
import { mayUse, type Caller } from '../domain/account.ts'
import type { Model } from '../domain/catalog.ts'
import type { Failure } from '../domain/failure.ts'
import type { FailureWriter } from '../formats/format.ts'
import type { Malformed } from '../inbound/connection.ts'
import type { BodyLimits, Exchange } from '../inbound/exchange.ts'
import type { ReplyHeaders } from '../inbound/reply-head.ts'
import { timeOrderedId } from '../lib/ids.ts'
import type { Log } from '../lib/log.ts'
import type { TrustedProxies } from '../lib/trusted-proxies.ts'
import { INVALID_KEY, modelFor, SUSPENDED } from '../relay/admit.ts'
import { Call } from '../relay/call.ts'
import type { Relay } from '../relay/context.ts'
import { limitFailure } from '../relay/limit-failure.ts'
import { relayChat } from '../relay/relay.ts'
import { balanceView } from './balance.ts'
import { readJsonBody } from './body.ts'
import type { Cors } from './cors.ts'
import { digestsEqual } from './digests-equal.ts'
import { readIdempotencyKey } from './idempotency-key.ts'
import type { Metrics } from './metrics.ts'
import { bearerOf, presentedKey } from './presented-key.ts'
import { replyWithStream } from './stream-reply.ts'
import { chatFailureWriter, surfaceOf, type Surface } from './surface.ts'

export type EdgeOptions = {
  readonly relay: Relay
  readonly metrics: Metrics
  readonly log: Log
  readonly chatBody: BodyLimits
  readonly limiter: Limiter
  readonly cors: Cors
  readonly proxies: TrustedProxies
  /** What `/metrics` and the reasons of `/readyz` are shown for; undefined: nobody sees them on this port. */
  readonly metricsToken: string | undefined
  /** Why new work is refused at the moment; undefined while it is not. */
  readonly notReady: () => string | undefined
}

/** What the server is started with. */
export type Edge = {
  /** The public API. */
  readonly handle: (exchange: Exchange) => void
  /** What a monitoring port of the operator's own shows. */
  readonly monitor: (exchange: Exchange) => void
  readonly refuse: (malformed: Malformed) => { readonly headers: ReplyHeaders; readonly body: string }
}

/** A request on its way through the edge. */
type Turn = {
  readonly exchange: Exchange
  readonly id: string
  readonly startedMs: number
  /** The port it came to. */
  readonly port: 'public' | 'monitor'
  failures: FailureWriter
  /** Go with every answer. */
  readonly headers: ReplyHeaders
}

type Route = {
  readonly methods: readonly string[]
  readonly handle: (turn: Turn) => void | Promise<void>
  /** Undefined: in the envelope of the chat dialect, as all that belongs to no dialect. */
  readonly failures?: FailureWriter
}

const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' }
const STREAM_TYPE = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache',
  'x-accel-buffering': 'no',
}
const READ = ['GET', 'HEAD']
const MODEL_PATH = '/v1/models/'

/** Builds the request handler of the public server. */
export function createEdge(options: EdgeOptions): Edge {
  const desk = new Desk(options)
  const oneModel: Route = { methods: READ, handle: (turn) => desk.oneModel(turn) }
  const monitored: [string, Route][] = [
    ['/healthz', { methods: READ, handle: (turn) => desk.reply(turn, 200, { status: 'ok' }) }],
    ['/readyz', { methods: READ, handle: (turn) => desk.ready(turn) }],
    ['/metrics', { methods: READ, handle: (turn) => desk.metrics(turn) }],
  ]
  const routes = new Map<string, Route>([
    ...monitored,
    ['/v1/models', { methods: READ, handle: (turn) => desk.models(turn) }],
    ['/v1/balance', { methods: READ, handle: (turn) => desk.balance(turn) }],
  ])
  const monitorRoutes = new Map(monitored)
  const generating = new Map<Surface, Route>()
  const routeOf = (path: string): Route | undefined => {
    const surface = surfaceOf(path)
    if (surface) {
      const route = generating.get(surface) ?? desk.generates(surface)
      generating.set(surface, route)
      return route
    }
    return routes.get(path) ?? (path.startsWith(MODEL_PATH) && path.length > MODEL_PATH.length ? oneModel : undefined)
  }
  return {
    handle: (exchange) => desk.serve(desk.open(exchange, 'public'), routeOf(exchange.head.path)),
    monitor: (exchange) => desk.serve(desk.open(exchange, 'monitor'), monitorRoutes.get(exchange.head.path)),
    refuse: (malformed) => desk.refuseMalformed(malformed),
  }
}

/** Answers requests, one method a route. */
class Desk {
  private readonly options: EdgeOptions

  constructor(options: EdgeOptions) {
    this.options = options
  }

  serve(turn: Turn, route: Route | undefined): void {
    const { exchange } = turn
    const { method, path } = exchange.head
    if (route?.failures) turn.failures = route.failures
    if (!route) return this.refuse(turn, { kind: 'not_found', message: `There is no ${method} ${path.slice(0, 200)}.` })
    if (route.methods.includes(method)) return this.run(turn, route)
    const preflight = this.options.cors.preflight(exchange, route.methods)
    if (preflight) return this.write(turn, 204, preflight, '')
    const allow = route.methods.join(', ')
    const message = `${method} is not allowed here; allowed: ${allow}.`
    return this.refuse(turn, { kind: 'method_not_allowed', message }, { allow })
  }

  /** Runs a route. A programmer's error is an answer too, and a line in the log. */
  private run(turn: Turn, route: Route): void {
    Promise.try(route.handle, turn).catch((error: unknown) => {
      const { stack = '' } = error as Error
      this.options.log('error', 'edge.internal', { request: turn.id, message: String(error), stack })
      if (!turn.exchange.isUnanswered) return turn.exchange.destroy()
      const message = 'Internal error. The request id helps the operator to find it.'
      return this.refuse(turn, { kind: 'internal', message })
    })
  }

  open(exchange: Exchange, port: Turn['port']): Turn {
    const id = timeOrderedId('req_')
    const headers = { ...this.options.cors.headersFor(exchange), 'x-request-id': id }
    return { exchange, id, startedMs: performance.now(), port, failures: chatFailureWriter, headers }
  }

  reply(turn: Turn, status: number, body: object): void {
    this.write(turn, status, JSON_TYPE, JSON.stringify(body))
  }

  /** Writes a failure and its log line. */
  refuse(turn: Turn, failure: Failure, extra?: ReplyHeaders): void {
    const { status, code, body, headers } = turn.failures.write(failure)
    const tookMs = Math.round(performance.now() - turn.startedMs)
    this.options.log('info', 'request.refused', {
      request: turn.id,
      method: turn.exchange.head.method,
      client: this.clientOf(turn),
      status,
      code,
      tookMs,
    })
    this.write(turn, status, { ...JSON_TYPE, ...headers, ...extra }, body)
  }

  /** The envelope for what is not even a request. */
  refuseMalformed({ status, message }: Malformed): { headers: ReplyHeaders; body: string } {
    const id = timeOrderedId('req_')
    const { code, body } = chatFailureWriter.write({ kind: 'malformed_request', message })
    this.options.log('info', 'request.refused', { request: id, status, code })
    this.options.metrics.answered(status)
    return { headers: { ...JSON_TYPE, 'x-request-id': id }, body }
  }

  ready(turn: Turn): void {
    const reason = this.options.notReady()
    if (reason === undefined) this.reply(turn, 200, { status: 'ready' })
    else this.reply(turn, 503, { status: 'not ready', ...(this.isOperator(turn) ? { reason } : {}) })
  }

  /** Without its token the route is not there: the figures say who buys what, and how much. */
  metrics(turn: Turn): void {
    if (!this.isOperator(turn)) return this.refuse(turn, { kind: 'not_found', message: 'There is no GET /metrics.' })
    this.write(turn, 200, { 'content-type': 'text/plain; version=0.0.4' }, this.options.metrics.text())
  }

  private isOperator({ exchange, port }: Turn): boolean {
    if (port === 'monitor') return true
    const { metricsToken } = this.options
    return metricsToken !== undefined && digestsEqual(bearerOf(exchange) ?? '', metricsToken)
  }

  balance(turn: Turn): void {
    const caller = this.callerOf(turn)
    if ('kind' in caller) return this.refuse(turn, caller)
    this.reply(turn, 200, balanceView(caller, this.options.relay, this.options.limiter))
  }

  models(turn: Turn): void {
    const caller = this.callerOf(turn)
    if ('kind' in caller) return this.refuse(turn, caller)
    const usable = this.options.relay.catalog.models().filter(({ id }) => mayUse(caller, id))
    this.reply(turn, 200, { object: 'list', data: usable.map(modelObject) })
  }

  oneModel(turn: Turn): void {
    const caller = this.callerOf(turn)
    if ('kind' in caller) return this.refuse(turn, caller)
    const id = decoded(turn.exchange.head.path.slice(MODEL_PATH.length))
    const model = modelFor(this.options.relay.catalog, caller, id)
    if ('message' in model) this.refuse(turn, model)
    else this.reply(turn, 200, modelObject(model))
  }

  /** The route of an endpoint that generates. */
  generates(surface: Surface): Route {
    return { methods: ['POST'], failures: surface.failures, handle: (turn) => this.generate(turn, surface) }
  }

  private async generate(turn: Turn, surface: Surface): Promise<void> {
    const caller = this.callerOf(turn)
    if ('kind' in caller) return this.refuse(turn, caller)
    const entry = this.options.limiter.enter(caller)
    if (!(entry instanceof Entry)) return this.refuse(turn, limitFailure(entry))
    try {
      await this.generateWithin(turn, surface, { caller, entry })
    } finally {
      entry.leave()
    }
  }

  private async generateWithin(turn: Turn, surface: Surface, { caller, entry }: Admitted): Promise<void> {
    const { relay, chatBody, notReady } = this.options
    const { exchange, id, startedMs } = turn
    const body = await readJsonBody(exchange, chatBody)
    if (body.kind === 'rejected') return this.refuse(turn, body.failure)
    const read = surface.read(body, exchange.head.path)
    if (read.kind === 'rejected') return this.refuse(turn, read.failure)

    // Asked after the body has arrived: from here to the hold there is no await in which a shutdown could begin.
    const reason = notReady()
    if (reason) {
      return this.refuse(turn, { kind: 'unavailable', message: `Not ready: ${reason}.`, retryAfterMs: 1_000 })
    }
    const clientAddress = this.clientOf(turn)
    const once = readIdempotencyKey(exchange.header('idempotency-key'), exchange.head.path, body.text)
    if (once && 'kind' in once) return this.refuse(turn, once)
    const call = new Call({ id, caller, request: read.request, entry, startedMs, clientAddress, once })
    if (exchange.isGone) call.cancel('client_closed')
    exchange.onClosed = () => call.cancel('client_closed')
    const relayed = await relayChat(relay, call)
    const rates = entry.headers()
    if (relayed.kind === 'failure') return this.refuse(turn, relayed.failure, rates)
    if (relayed.kind === 'repeated') {
      const { answer, requestId } = relayed
      const headers = { ...answer.headers, ...rates, 'idempotent-replayed': 'true', 'x-tollgate-request': requestId }
      return this.write(turn, answer.status, headers, answer.body)
    }
    const { answer } = relayed
    if (answer.kind === 'whole') {
      return this.write(turn, 200, { ...JSON_TYPE, ...answer.headers, ...rates }, answer.text)
    }
    this.options.metrics.answered(200)
    await replyWithStream(exchange, call, {
      events: answer.events,
      headers: { ...STREAM_TYPE, ...answer.headers, ...rates, ...turn.headers },
      heartbeatMs: relay.limits.heartbeatMs,
      begun: answer.begun,
      onError: (error) => this.options.log('error', 'edge.stream', { request: call.id, message: String(error) }),
    })
  }

  private clientOf({ exchange }: Turn): string {
    return this.options.proxies.clientOf(exchange.remoteAddress, exchange.header('x-forwarded-for'))
  }

  /** The caller behind the key of a request, or why not. */
  private callerOf({ exchange }: Turn): Caller | Failure {
    const { accounts }: { accounts: Accounts } = this.options.relay
    const presented = presentedKey(exchange) ?? ''
    // A client sends the same key with every request of a connection: its digest is made once.
    const known = exchange.notes.get('presented') === presented ? exchange.notes.get('key') : undefined
    const caller = known === undefined ? accounts.authenticate(presented) : accounts.callerOf(known)
    if (!caller) return INVALID_KEY
    if (known === undefined) exchange.notes.set('presented', presented).set('key', caller.key.id)
    return caller.account.status === 'suspended' ? SUSPENDED : caller
  }

  private write({ exchange, headers: always }: Turn, status: number, headers: ReplyHeaders, body: string): void {
    this.options.metrics.answered(status)
    exchange.reply(status, { ...headers, ...always }, body)
  }
}

type Admitted = { readonly caller: Caller; readonly entry: Entry }

/** A path segment as text; what cannot be decoded is no model's id. */
function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment // An id with a stray percent sign: the answer names it as it came.
  }
}

const modelObject = ({ id, createdAtMs, ownedBy }: Model): object => ({
  id,
  object: 'model',
  created: Math.floor(createdAtMs / 1000),
  owned_by: ownedBy,
})
