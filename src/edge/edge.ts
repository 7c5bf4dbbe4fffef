/**
 * The public HTTP server: routes, authentication, bodies, and failures in the envelope. What happens between a valid
 * request and its answer is the relay's.
 */
import { Hono, type Context } from 'hono'
import type { Accounts } from '../accounts/accounts.ts'
import { mayUse, type Caller } from '../domain/account.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { Model } from '../domain/catalog.ts'
import type { Failure } from '../domain/failure.ts'
import { writeFailure } from '../formats/chat/failure.ts'
import { readChatRequest } from '../formats/chat/request.ts'
import { timeOrderedId } from '../lib/ids.ts'
import type { Log } from '../lib/log.ts'
import { INVALID_KEY, modelFor, SUSPENDED } from '../relay/admit.ts'
import { Call } from '../relay/call.ts'
import type { Relay } from '../relay/context.ts'
import { relayChat } from '../relay/relay.ts'
import { readJsonBody, type BodyLimits } from './body.ts'
import type { Metrics } from './metrics.ts'
import { streamBody } from './stream-body.ts'

export type EdgeOptions = {
  readonly relay: Relay
  readonly metrics: Metrics
  readonly log: Log
  readonly chatBody: BodyLimits
  /** Why new work is refused at the moment; undefined while it is not. */
  readonly notReady: () => string | undefined
}

type Env = { Variables: { requestId: string; startedMs: number } }
type Ctx = Context<Env>

const JSON_TYPE = 'application/json; charset=utf-8'
const jsonHeaders = { 'content-type': JSON_TYPE }
const streamHeaders = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache',
  'x-accel-buffering': 'no',
}

/** Builds the request handler of the public server. */
export function createEdge(options: EdgeOptions): (request: Request) => Response | Promise<Response> {
  const { relay, metrics, notReady } = options
  const app = new Hono<Env>()

  app.use(async (c, next) => {
    c.set('requestId', timeOrderedId('req_'))
    c.set('startedMs', performance.now())
    await next()
    c.res.headers.set('x-request-id', c.get('requestId'))
    metrics.answered(c.res.status)
  })

  app.post('/v1/chat/completions', (c) => chat(c, options))
  app.get('/v1/models', (c) => authenticated(c, options, (caller) => listModels(relay.catalog, caller)))
  app.get('/v1/models/:id{.+}', (c) => authenticated(c, options, (caller) => oneModel(c, options, caller)))
  app.get('/healthz', () => json({ status: 'ok' }))
  app.get('/readyz', () => {
    const reason = notReady()
    return reason === undefined ? json({ status: 'ready' }) : json({ status: 'not ready', reason }, 503)
  })
  app.get(
    '/metrics',
    async () => new Response(await metrics.text(), { headers: { 'content-type': 'text/plain; version=0.0.4' } }),
  )

  const allowed: Readonly<Record<string, string>> = {
    '/v1/chat/completions': 'POST',
    '/v1/models': 'GET, HEAD',
    '/v1/models/:id{.+}': 'GET, HEAD',
    '/healthz': 'GET, HEAD',
    '/readyz': 'GET, HEAD',
    '/metrics': 'GET, HEAD',
  }
  for (const [path, methods] of Object.entries(allowed))
    app.all(path, (c) => refuse(c, options, notAllowed(c, methods), { allow: methods }))
  app.notFound((c) =>
    refuse(c, options, { kind: 'not_found', message: `There is no ${c.req.method} ${c.req.path.slice(0, 200)}.` }),
  )
  app.onError((error, c) => {
    options.log('error', 'edge.internal', { request: c.get('requestId'), message: String(error), stack: error.stack })
    return refuse(c, options, {
      kind: 'internal',
      message: 'Internal error. The request id helps the operator to find it.',
    })
  })
  return (request) => app.fetch(request)
}

const json = (body: unknown, status = 200): Response =>
  new Response(JSON.stringify(body), { status, headers: jsonHeaders })

const notAllowed = (c: Ctx, methods: string): Failure => ({
  kind: 'method_not_allowed',
  message: `${c.req.method} is not allowed here; allowed: ${methods}.`,
})

/** Writes a failure and its log line. */
function refuse(c: Ctx, { log }: EdgeOptions, failure: Failure, extra?: Record<string, string>): Response {
  const { status, code, body, headers } = writeFailure(failure)
  const tookMs = Math.round(performance.now() - c.get('startedMs'))
  log('info', 'request.refused', { request: c.get('requestId'), method: c.req.method, status, code, tookMs })
  return new Response(body, { status, headers: { ...jsonHeaders, ...headers, ...extra } })
}

/** The caller behind the Authorization header, or why not. */
function callerOf(c: Ctx, accounts: Accounts): Caller | Failure {
  const [scheme, key = ''] = (c.req.header('authorization') ?? '').split(' ', 2)
  const caller = scheme?.toLowerCase() === 'bearer' ? accounts.authenticate(key) : undefined
  if (!caller) return INVALID_KEY
  return caller.account.status === 'suspended' ? SUSPENDED : caller
}

function authenticated(c: Ctx, options: EdgeOptions, handle: (caller: Caller) => Response): Response {
  const caller = callerOf(c, options.relay.accounts)
  return 'kind' in caller ? refuse(c, options, caller) : handle(caller)
}

async function chat(c: Ctx, options: EdgeOptions): Promise<Response> {
  const { relay, chatBody, notReady } = options
  const caller = callerOf(c, relay.accounts)
  if ('kind' in caller) return refuse(c, options, caller)
  const request = c.req.raw
  const body = await readJsonBody(request, chatBody)
  if (body.kind === 'rejected') return refuse(c, options, body.failure)
  const read = readChatRequest(body.text, body.bytes)
  if (read.kind === 'rejected') return refuse(c, options, read.failure)

  // Asked after the body has arrived: from here to the hold there is no await in which a shutdown could begin.
  const reason = notReady()
  if (reason) {
    const failure: Failure = { kind: 'unavailable', message: `Not ready: ${reason}.`, retryAfterMs: 1_000 }
    return refuse(c, options, failure, { connection: 'close' })
  }
  const call = new Call(c.get('requestId'), caller, read.request, c.get('startedMs'))
  if (request.signal.aborted) call.cancel('client_closed')
  request.signal.addEventListener('abort', () => call.cancel('client_closed'), { once: true })
  const relayed = await relayChat(relay, call)
  if (relayed.kind === 'failure') return refuse(c, options, relayed.failure)
  const { answer } = relayed
  if (answer.kind === 'whole') return new Response(answer.text, { headers: { ...jsonHeaders, ...answer.headers } })
  const stream = streamBody(call, answer.events, {
    heartbeatMs: relay.limits.heartbeatMs,
    begun: answer.begun,
    onError: (error) => options.log('error', 'edge.stream', { request: call.id, message: String(error) }),
  })
  return new Response(stream, { headers: { ...streamHeaders, ...answer.headers } })
}

const modelObject = ({ id, createdAtMs, ownedBy }: Model): object => ({
  id,
  object: 'model',
  created: Math.floor(createdAtMs / 1000),
  owned_by: ownedBy,
})

function listModels(catalog: Catalog, caller: Caller): Response {
  const usable = catalog.models().filter(({ id }) => mayUse(caller, id))
  return json({ object: 'list', data: usable.map(modelObject) })
}

function oneModel(c: Ctx, options: EdgeOptions, caller: Caller): Response {
  const model = modelFor(options.relay.catalog, caller, c.req.param('id') ?? '')
  return 'kind' in model ? refuse(c, options, model) : json(modelObject(model))
}
