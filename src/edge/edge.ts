/** The public server. It finds the route of a request and runs its handler within the limits of the route. */
import type { Failure } from '../domain/failure.ts'
import type { ServerExchange } from '../inbound/exchange.ts'
import type { MalformedRequest } from '../inbound/request-head.ts'
import type { ReplyHeaders } from '../inbound/reply-head.ts'
import { timeOrderedId } from '../lib/primitives/ids.ts'
import { JSON_TYPE } from '../lib/http/content-types.ts'
import type { Edge, EdgeOptions, EdgeServices } from './edge-options.ts'
import { chatEnvelope, envelopeOf } from './envelope.ts'
import { ContentServer, type Media } from './media.ts'
import { RefusalLog } from './refusal-log.ts'
import { INTERNAL_ERROR, NOSNIFF, type RequestContext } from './request-context.ts'
import { EdgeResponder } from './responder.ts'
import type { PublicRoute } from './route.ts'
import { meantPath, monitoredAt, routesAt, type RouteMatch } from './router.ts'
import { FreeRoutes } from './unbilled-routes.ts'

/** Builds the request handler of the public server. */
export function createEdge(options: EdgeOptions): Edge {
  const server = new EdgeServer(options)
  return {
    handle: (exchange) => server.serve(exchange, 'public', routesAt(exchange.head.method, exchange.head.path)),
    monitor: (exchange) => server.serve(exchange, 'monitor', monitoredAt(exchange.head.path)),
    refuse: (malformed) => server.refuseMalformed(malformed),
  }
}

class EdgeServer {
  private readonly services: EdgeServices
  private readonly free: FreeRoutes
  private readonly media: Media
  private readonly refusals: RefusalLog

  constructor(options: EdgeOptions) {
    this.refusals = new RefusalLog(options.log)
    const responder = new EdgeResponder(options, this.refusals)
    this.services = { ...options, responder }
    this.free = new FreeRoutes(options, responder)
    this.media = { files: new ContentServer(options.blobs, options.visitors), tasks: options.relay.videos.tasks }
  }

  serve(exchange: ServerExchange, port: RequestContext['port'], match: RouteMatch | undefined): void {
    const context = this.open(exchange, port)
    const { method, path } = exchange.head
    const { responder, cors } = this.services
    if (!match) return responder.refuse(context, noRoute(method, path))
    const { byMethod, methods } = match.routes
    const route = byMethod.get(method)
    if (route) return this.run(context, route, match.param)
    const preflight = isForPages(port, path) && cors.preflight(exchange, methods)
    // These headers replace those of the context: the `vary` of a preflight names more than the origin.
    if (preflight) {
      return responder.write({ ...context, headers: { ...context.headers, ...preflight } }, 204, {}, '')
    }
    const allow = methods.join(', ')
    const message = `${method} is not allowed here; allowed: ${allow}.`
    return responder.refuse(context, { kind: 'method_not_allowed', message }, { allow })
  }

  private open(exchange: ServerExchange, port: RequestContext['port']): RequestContext {
    const id = timeOrderedId('req_')
    const forPages = isForPages(port, exchange.head.path) ? this.services.cors.headersFor(exchange) : {}
    const { dialect, failures, requestIdHeader } = envelopeOf(exchange.head.path, exchange)
    const ids = { 'x-request-id': id, ...(requestIdHeader && { [requestIdHeader]: id }) }
    const headers = { ...forPages, ...NOSNIFF, ...ids }
    return { exchange, id, startedMs: performance.now(), port, dialect, failures, headers }
  }

  /** Runs a handler. A programming error becomes an answer and a line in the log. */
  private run(context: RequestContext, route: PublicRoute, param: string): void {
    try {
      this.handle(context, route, param)?.catch((error: unknown) => this.failed(context, error))
    } catch (error) {
      this.failed(context, error)
    }
  }

  /** Calls a handler with the parts that the limits of its route allow. */
  private handle(context: RequestContext, route: PublicRoute, param: string): void | Promise<void> {
    switch (route.limits) {
      case 'key_and_account':
        return route.handler(this.services, context, route.reads)
      case 'free_counts':
        return route.handler(this.free, context, route.reads)
      case 'free_reads':
        return this.free.state(context, route, param)
      case 'files':
        return this.sendFile(context, route, param)
      case 'none':
        return route.handler(this.services, context, param)
    }
  }

  private async sendFile(context: RequestContext, { handler }: FileRoute, param: string): Promise<void> {
    const { responder } = this.services
    const recipient = { exchange: context.exchange, client: responder.clientOf(context), always: context.headers }
    const failure = await handler(this.media, recipient, param)
    if (failure) responder.refuse(context, failure)
  }

  private failed(context: RequestContext, error: unknown): void {
    const told = { request: context.id, message: String(error), stack: (error as Error).stack }
    this.services.log('error', 'edge.internal', told)
    if (context.exchange.isUnanswered) this.services.responder.refuse(context, INTERNAL_ERROR)
    else context.exchange.destroy()
  }

  /** Writes the refusal of a malformed request. */
  refuseMalformed({ status, message }: MalformedRequest): { headers: ReplyHeaders; body: string } {
    const id = timeOrderedId('req_')
    const { code, body } = chatEnvelope.failures.write({ kind: 'malformed_request', message })
    this.refusals.write({ request: id, status, code })
    this.services.metrics.answered(status)
    return { headers: { ...JSON_TYPE, ...NOSNIFF, 'x-request-id': id }, body }
  }
}

type FileRoute = Extract<PublicRoute, { readonly limits: 'files' }>

/** The usual cause is a base URL that lacks its version, or has it twice. The message names the path that was meant. */
function noRoute(method: string, path: string): Failure {
  const meant = method === 'POST' ? meantPath(path) : undefined
  const hint = meant === undefined ? '' : ` There is POST ${meant.slice(0, 200)}: check the base URL of your client.`
  return { kind: 'not_found', message: `There is no ${method} ${path.slice(0, 200)}.${hint}` }
}

/** Whether web pages of allowed origins may read this path. They may read the API, but not the monitoring routes. */
const isForPages = (port: RequestContext['port'], path: string): boolean => port === 'public' && path.startsWith('/v1')
