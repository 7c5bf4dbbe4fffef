/**
 * Where requests for the console come in. It takes their bodies in the tick in which they arrive; what answers them,
 * with all its schemas, is loaded with the first: a start does not wait for it.
 */
import type { Office } from '../admin/operation.ts'
import type { BodyLimits, Exchange } from '../inbound/exchange.ts'
import { timeOrderedId } from '../lib/ids.ts'
import type { Log } from '../lib/log.ts'
import type { TrustedProxies } from '../lib/trusted-proxies.ts'
import type { Dispatcher } from './dispatch.ts'
import type { Facts } from './desk.ts'
import { securityHeaders } from './headers.ts'
import type { Pages } from './pages.ts'

export type DoorOptions = {
  readonly office: Office
  readonly facts: Facts
  readonly proxies: TrustedProxies
  readonly log: Log
}

/** Larger than any form of the console, smaller than what would hurt. */
const BODY: BodyLimits = { bytesMax: 1024 * 1024, graceMs: 10_000, bytesPerSecondMin: 8 * 1024 }
const isPage = (path: string): boolean => path === '/console' || path.startsWith('/console/')

/** Whether a path is the console's and not the public API's. */
export const isForConsole = (path: string): boolean => path.startsWith('/admin/') || isPage(path)

export function openDoor({ office, facts, proxies, log }: DoorOptions): (exchange: Exchange) => void {
  let dispatcher: Promise<Dispatcher> | undefined
  let pages: Promise<Pages> | undefined
  const answer = async (exchange: Exchange): Promise<void> => {
    const requestId = timeOrderedId('req_')
    const { method } = exchange.head
    const reading = method === 'GET' || method === 'HEAD' ? undefined : exchange.readText(BODY)
    try {
      if (isPage(exchange.head.path)) {
        pages ??= import('./pages.ts').then((module) => new module.Pages(facts))
        return await (await pages).answer(exchange)
      }
      dispatcher ??= import('./dispatch.ts').then(({ createDispatcher }) => createDispatcher(office, facts))
      const [dispatch, body] = await Promise.all([dispatcher, reading])
      const address = proxies.clientOf(exchange.remoteAddress, exchange.header('x-forwarded-for'))
      const { status, headers, text } = await dispatch({ exchange, body, address, requestId })
      if (!exchange.isGone) exchange.reply(status, { ...headers, 'x-request-id': requestId }, text)
    } catch (error) {
      const { stack = '' } = error as Error
      log('error', 'console.internal', { request: requestId, message: String(error), stack })
      if (!exchange.isUnanswered || exchange.isGone) return
      const message = 'Internal error. The request id helps the operator to find it.'
      const body = JSON.stringify({ error: { message, type: 'server_error', param: null, code: 'internal_error' } })
      const headers = { ...securityHeaders('data', facts.isSecure), 'content-type': 'application/json; charset=utf-8' }
      exchange.reply(500, { ...headers, 'x-request-id': requestId }, body)
    }
  }
  return (exchange) => void answer(exchange)
}
