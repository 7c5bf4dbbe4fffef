/**
 * The HTTP handler of the console. It takes a request's body in the tick in which the request arrives. The dispatcher
 * and all its schemas are loaded with the first request, so the start does not wait for them.
 */
import type { AdminServices } from '../admin/operation.ts'
import type { BodyText } from '../inbound/body-text.ts'
import type { BodyLimits, ServerExchange } from '../inbound/exchange.ts'
import { timeOrderedId } from '../lib/primitives/ids.ts'
import type { Log } from '../lib/runtime/log.ts'
import { SharedBudget } from '../lib/primitives/shared-budget.ts'
import type { TrustedProxies } from '../lib/http/trusted-proxies.ts'
import type { Dispatcher, ConsoleResponse } from './dispatch.ts'
import type { ConsoleFacts } from './context.ts'
import { securityHeaders } from './headers.ts'
import type { Pages } from './pages.ts'
import { principalOf, shareOfPrincipal } from './principal.ts'
import { sayConsoleRefusal } from './refusals.ts'
import { KIB, MIB } from '../lib/primitives/units.ts'
import { limit } from '../lib/primitives/limit.ts'

export type DoorOptions = {
  readonly services: AdminServices
  readonly facts: ConsoleFacts
  readonly proxies: TrustedProxies
  readonly log: Log
}

/** Larger than any form of the console, and small enough to be harmless. */
const BODY: BodyLimits = {
  bytesMax: limit('consoleBodyBytesMax', MIB, 'A larger request to the console is refused.'),
  graceMs: 10_000,
  bytesPerSecondMin: 8 * KIB,
}
/** The limit without a sign-in. It fits a name and a password, or the token of a link. */
const NOBODY_BYTES_MAX = limit(
  'consoleUnknownBodyBytesMax',
  8 * KIB,
  'A larger request to the console without a sign-in is refused.',
)
/** The memory of all arriving bodies, and the share of one person, one program, or all unknown senders together. */
const ARRIVING = {
  max: limit('consoleArrivingBytesMax', 16 * MIB, 'A further large request to the console is refused.'),
  shareMax: limit('consoleArrivingBytesPerUserMax', 4 * MIB, 'A further large request of the user is refused.'),
}
const isPage = (path: string): boolean => path === '/console' || path.startsWith('/console/')

/** Whether a path is the console's and not the public API's. */
export const isForConsole = (path: string): boolean => path.startsWith('/admin/') || isPage(path)

export function openDoor({ services, facts, proxies, log }: DoorOptions): (exchange: ServerExchange) => void {
  let dispatcher: Promise<Dispatcher> | undefined
  let pages: Promise<Pages> | undefined
  const arriving = new SharedBudget(ARRIVING)
  const read = (exchange: ServerExchange): Promise<BodyText> => {
    const { principal } = principalOf({ services, facts }, exchange)
    exchange.share = arriving.of(shareOfPrincipal(principal))
    const isKnown = principal.kind !== 'nobody'
    return exchange.readText({ ...BODY, bytesMax: isKnown ? BODY.bytesMax : NOBODY_BYTES_MAX })
  }
  const answer = async (exchange: ServerExchange): Promise<void> => {
    const requestId = timeOrderedId('req_')
    const { method } = exchange.head
    try {
      const reading = method === 'GET' || method === 'HEAD' ? undefined : read(exchange)
      if (isPage(exchange.head.path)) {
        pages ??= import('./pages.ts').then(
          (module) => new module.Pages({ ...facts, hasOperator: () => services.users.hasOperator() }),
        )
        return await (await pages).answer(exchange)
      }
      dispatcher ??= import('./dispatch.ts').then(({ createDispatcher }) => createDispatcher(services, facts))
      const [dispatch, body] = await Promise.all([dispatcher, reading])
      const address = proxies.clientOf(exchange.remoteAddress, exchange.header('x-forwarded-for'))
      const sent = await dispatch({ exchange, body, address, requestId })
      const headers = { ...sent.headers, 'x-request-id': requestId }
      if (sent.kind === 'events') beginEvents(exchange, headers, sent)
      else if (!exchange.isGone) exchange.reply(sent.status, headers, sent.text)
    } catch (error) {
      const { stack = '' } = error as Error
      log('error', 'console.internal', { request: requestId, message: String(error), stack })
      if (exchange.isGone) return
      if (!exchange.isUnanswered) return exchange.destroy()
      // A file that was missing or unreadable may be there for the next request.
      pages = undefined
      const told = { type: 'server_error', param: null, code: 'internal_error', ...sayConsoleRefusal('internal_error') }
      const body = JSON.stringify({ error: told })
      const headers = { ...securityHeaders('data', facts.isSecure), 'content-type': 'application/json; charset=utf-8' }
      exchange.reply(500, { ...headers, 'cache-control': 'no-store', 'x-request-id': requestId }, body)
    }
  }
  return (exchange) => void answer(exchange)
}

type Events = ConsoleResponse & { readonly kind: 'events' }

function beginEvents(
  exchange: ServerExchange,
  headers: Readonly<Record<string, string>>,
  { tail, first }: Events,
): void {
  if (!exchange.isGone && exchange.head.method === 'GET') return tail.begin(exchange, { headers, first })
  tail.close()
  if (!exchange.isGone) exchange.reply(200, headers, '')
}
