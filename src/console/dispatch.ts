/** Answers a request: finds the route and the sender, checks the rights and the input, and runs the handler. */
import type { z } from 'zod'
import { runOperation, type AdminServices } from '../admin/operations.ts'
import { misfitIn, wordsForNull } from '../admin/rules.ts'
import type { BodyText } from '../inbound/body-text.ts'
import type { ServerExchange } from '../inbound/exchange.ts'
import type { Actor } from '../records/audit.ts'
import { judge, type Principal, type AccessDecision } from './access.ts'
import { noCookie } from './cookie.ts'
import { openDesk, type ConsoleContext, type ConsoleFacts } from './context.ts'
import { isOwnRequest, securityHeaders } from './headers.ts'
import { principalOf, stands } from './principal.ts'
import { sayConsoleRefusal } from './refusals.ts'
import { missing, problem, type RouteContext, type Problem, type RouteReply, type ConsoleRoute } from './route.ts'
import { routes } from './routes.ts'
import type { Tail } from './tail.ts'
import { hasProtoMember } from '../lib/json/plain-json.ts'
import { safeParse } from '../lib/json/safe-parse.ts'

export type ConsoleRequest = {
  readonly exchange: ServerExchange
  /** Undefined if the method has no body. */
  readonly body: BodyText | undefined
  readonly address: string
  readonly requestId: string
}
type ResponseHead = { readonly status: number; readonly headers: Readonly<Record<string, string>> }
export type ConsoleResponse =
  | (ResponseHead & { readonly kind: 'whole'; readonly text: string })
  /** The receiver must begin the tail or close it. */
  | (ResponseHead & { readonly kind: 'events'; readonly tail: Tail; readonly first: object })
export type Dispatcher = (arrived: ConsoleRequest) => Promise<ConsoleResponse>

export const ROOT = '/admin/v1'
const JSON_TYPE = 'application/json; charset=utf-8'

export function createDispatcher(services: AdminServices, facts: ConsoleFacts): Dispatcher {
  const context = openDesk(services, facts)
  const { isSecure } = facts
  return async (arrived) => {
    const { reply, hasStaleCookie } = await answerOf(context, arrived)
    return sent(reply, {
      ...securityHeaders('data', isSecure),
      'cache-control': 'no-store',
      ...(hasStaleCookie ? { 'set-cookie': noCookie(isSecure) } : {}),
    })
  }
}

type HandlerReply = { readonly reply: RouteReply; readonly hasStaleCookie?: boolean }

async function answerOf(context: ConsoleContext, arrived: ConsoleRequest): Promise<HandlerReply> {
  const { exchange } = arrived
  const { method, path } = exchange.head
  const found = findRoute(method === 'HEAD' ? 'GET' : method, path)
  if ('kind' in found) return { reply: found }
  if (!isOwnRequest(exchange, context.facts.publicUrl)) {
    return { reply: problem(403, 'cross_site', sayConsoleRefusal('cross_site')) }
  }
  const { principal, hasStaleCookie } = principalOf(context, exchange)
  const { route, params } = found
  const refusal = refusalOf(context, judge(route.access, principal, params['account']), params['account'])
  if (refusal) return { reply: refusal, hasStaleCookie }
  const waitMs = await changeWaitMs(context, route, principal)
  if (waitMs > 0) {
    const wait = problem(429, 'rate_limit_exceeded', sayConsoleRefusal('too_many_changes'), { retryAfterMs: waitMs })
    return { reply: wait, hasStaleCookie }
  }
  const input = inputOf(route, arrived)
  if ('kind' in input) return { reply: input, hasStaleCookie }
  const from = {
    address: arrived.address,
    agent: exchange.header('user-agent') ?? '',
    requestId: arrived.requestId,
  }
  const actor = actorOf(principal, from)
  const call: RouteContext = {
    context,
    principal,
    params,
    ...input,
    from,
    stands: () => stands(context.services, principal),
    operate: (name, value) => runOperation(context.services, name, value, actor),
  }
  return { reply: await route.run(call as never), hasStaleCookie }
}

type RouteMatch = { readonly route: ConsoleRoute; readonly params: Record<string, string> }

const patterns = routes.map((route) => {
  const parts = route.path.split('/').map((part) => (part.startsWith('{') ? '([^/]+)' : RegExp.escape(part)))
  const names = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
  return { route, pattern: new RegExp(`^${ROOT}${parts.join('/')}$`), names }
})

function findRoute(method: string, path: string): RouteMatch | Problem {
  const fitting = patterns.flatMap(({ route, pattern, names }) => {
    const match = pattern.exec(path)
    return match ? [{ route, names, values: match.slice(1).map(decoded) }] : []
  })
  // A path without parameters takes precedence over one with a parameter.
  const [one] = fitting
    .filter(({ route }) => route.method === method)
    .toSorted((a, b) => a.names.length - b.names.length)
  if (one)
    return { route: one.route, params: Object.fromEntries(one.names.map((name, i) => [name, one.values[i] ?? ''])) }
  if (fitting.length === 0)
    return problem(404, 'not_found', sayConsoleRefusal('no_route', { method, path: path.slice(0, 200) }))
  const allow = [...new Set(fitting.map(({ route }) => route.method))].toSorted()
  return problem(405, 'method_not_allowed', sayConsoleRefusal('method_not_allowed', { method }), { allow })
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part // Unchanged: nothing has such a name.
  }
}

/** The answer is the same for an account that does not exist and for an account of others. */
function refusalOf(
  { services }: ConsoleContext,
  verdict: AccessDecision,
  accountId: string | undefined,
): Problem | undefined {
  switch (verdict) {
    case 'sign_in':
      return problem(401, 'not_signed_in', sayConsoleRefusal('not_signed_in'))
    case 'forbidden':
      return problem(403, 'not_allowed', sayConsoleRefusal('not_allowed'))
    case 'hidden':
      return missing('account')
    case 'allowed': {
      const isThere = accountId === undefined || services.accounts.find(accountId)?.id === accountId
      return isThere ? undefined : missing('account')
    }
  }
}

/** How long a person of an account must wait before another change. Operators are not throttled. */
function changeWaitMs(
  { throttles }: ConsoleContext,
  { method, access }: ConsoleRoute,
  principal: Principal,
): number | Promise<number> {
  const isChange = method !== 'GET' && access.startsWith('account_')
  if (!isChange || principal.kind === 'nobody' || principal.role === 'operator') return 0
  return throttles.changes.take(principal.accountId ?? '')
}

const JSON_BODY = /^application\/json\s*(?:;|$)/i

function inputOf(route: ConsoleRoute, { exchange, body }: ConsoleRequest): { query: unknown; body: unknown } | Problem {
  const query = route.query ? checked(route.query, queryOf(exchange.head.query)) : { value: undefined }
  if ('kind' in query) return query
  if (!route.body) return { query: query.value, body: undefined }
  const isEncoded = exchange.header('content-encoding') !== undefined
  if (isEncoded || !JSON_BODY.test(exchange.header('content-type') ?? '')) {
    return problem(415, 'unsupported_media_type', sayConsoleRefusal('not_plain_json'))
  }
  const value = parsed(body)
  if ('problem' in value) return value.problem
  const checkedBody = checked(route.body, value.json)
  return 'kind' in checkedBody ? checkedBody : { query: query.value, body: checkedBody.value }
}

const unread: Readonly<Record<Exclude<BodyText['kind'], 'read'>, Problem>> = {
  too_large: problem(413, 'request_too_large', sayConsoleRefusal('body_too_large')),
  timeout: problem(408, 'request_timeout', sayConsoleRefusal('body_late')),
  broken_off: problem(400, 'invalid_value', sayConsoleRefusal('body_broken_off')),
  not_utf8: problem(400, 'invalid_json', sayConsoleRefusal('body_not_utf8')),
  full: problem(503, 'service_unavailable', sayConsoleRefusal('bodies_full')),
  share_full: problem(429, 'rate_limit_exceeded', sayConsoleRefusal('bodies_full')),
}
const PROTO_MEMBER = problem(400, 'invalid_value', sayConsoleRefusal('body_proto'))
const NOT_JSON = problem(400, 'invalid_json', sayConsoleRefusal('body_not_json'))

function parsed(body: BodyText | undefined): { readonly json: unknown } | { readonly problem: Problem } {
  if (body === undefined) return { problem: NOT_JSON }
  if (body.kind !== 'read') return { problem: unread[body.kind] }
  try {
    // Copying an object drops this member. A price body with it in `above` would silently lose all tiers.
    if (hasProtoMember(body.text)) return { problem: PROTO_MEMBER }
    return { json: JSON.parse(body.text) as unknown }
  } catch {
    return { problem: NOT_JSON }
  }
}

/** If a name comes more than once, its last value counts. */
const queryOf = (query: string): Record<string, string> => Object.fromEntries(new URLSearchParams(query))

function checked(schema: z.ZodType, value: unknown): { readonly value: unknown } | Problem {
  const result = safeParse(schema, value, { error: wordsForNull })
  if (result.success) return { value: result.data }
  const { param, ...said } = misfitIn(result.error)
  return problem(400, 'invalid_value', said, { param })
}

function actorOf(principal: Principal, { address, requestId }: RouteContext['from']): Actor {
  switch (principal.kind) {
    case 'nobody':
      return { kind: 'nobody', address, requestId }
    case 'user':
      return { kind: 'user', id: principal.user.id, name: principal.user.name, address, requestId }
    case 'program':
      return { kind: 'management_key', id: principal.key.id, name: principal.key.name, address, requestId }
  }
}

const typeOf = (status: number): string =>
  status === 429
    ? 'rate_limit_error'
    : status === 409
      ? 'conflict_error'
      : status < 500
        ? 'invalid_request_error'
        : 'server_error'

function sent(reply: RouteReply, headers: Readonly<Record<string, string>>): ConsoleResponse {
  switch (reply.kind) {
    case 'json': {
      const cookie = reply.cookie === undefined ? {} : { 'set-cookie': reply.cookie }
      return {
        kind: 'whole',
        status: 200,
        headers: { ...headers, 'content-type': JSON_TYPE, ...cookie },
        text: JSON.stringify(reply.value),
      }
    }
    case 'file': {
      const disposition = `attachment; filename="${reply.name}"`
      return {
        kind: 'whole',
        status: 200,
        headers: { ...headers, 'content-type': reply.contentType, 'content-disposition': disposition },
        text: reply.text,
      }
    }
    case 'events': {
      const { tail, first } = reply
      // The header stops proxies from buffering an answer that must be live.
      const type = { 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' }
      return { kind: 'events', status: 200, headers: { ...headers, ...type }, tail, first }
    }
    case 'problem': {
      const { status, code, said, param = null, retryAfterMs, allow } = reply
      const { message, reason, facts } = said
      const wait = retryAfterMs === undefined ? {} : { 'retry-after': String(Math.ceil(retryAfterMs / 1000)) }
      const allowed = allow === undefined ? {} : { allow: allow.join(', ') }
      const text = JSON.stringify({ error: { message, type: typeOf(status), param, code, reason, facts } })
      return { kind: 'whole', status, headers: { ...headers, 'content-type': JSON_TYPE, ...wait, ...allowed }, text }
    }
  }
}
