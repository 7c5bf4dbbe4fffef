/** Routes for operators and their monitoring: liveness, readiness and metrics. */
import { JSON_TYPE } from '../lib/http/content-types.ts'
import { digestsEqual } from './digests-equal.ts'
import type { EdgeServices } from './edge-options.ts'
import { bearerOf } from './presented-key.ts'
import type { RequestContext } from './request-context.ts'

export const showAlive = ({ responder }: EdgeServices, context: RequestContext): void =>
  responder.reply(context, 200, { status: 'ok' })

export function showReady(services: EdgeServices, context: RequestContext): void {
  const { responder, notReady } = services
  const reason = notReady()
  if (reason === undefined) return responder.reply(context, 200, { status: 'ready' })
  const body = { status: 'not ready', ...(isOperator(services, context) ? { reason } : {}) }
  responder.write(context, 503, { ...JSON_TYPE, 'retry-after': '1' }, JSON.stringify(body))
}

/** Without the token the answer is 404, because the figures show what is sold and how much. */
export function showMetrics(services: EdgeServices, context: RequestContext): void {
  const { responder, metrics } = services
  if (!isOperator(services, context)) {
    return responder.refuse(context, { kind: 'not_found', message: 'There is no GET /metrics.' })
  }
  responder.write(context, 200, { 'content-type': 'text/plain; version=0.0.4' }, metrics.text())
}

function isOperator({ metricsToken }: EdgeServices, { exchange, port }: RequestContext): boolean {
  if (port === 'monitor') return true
  return metricsToken !== undefined && digestsEqual(bearerOf(exchange) ?? '', metricsToken)
}
