/** Routes for operators and their monitoring: liveness, readiness and metrics. */
import { JSON_TYPE } from '../lib/http/content-types.ts'
import type { MetricsFormat } from '../lib/runtime/prometheus.ts'
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

const METRICS_TYPES: Readonly<Record<MetricsFormat, string>> = {
  prometheus: 'text/plain; version=0.0.4',
  openmetrics: 'application/openmetrics-text; version=1.0.0; charset=utf-8',
}

/** Prometheus prefers OpenMetrics. A client that does not accept it by name gets the older format. */
function formatFor(accept: string | undefined): MetricsFormat {
  const ranges = (accept ?? '').split(',').map((range) => range.replaceAll(/\s/g, '').toLowerCase())
  const isAccepted = (range: string): boolean => !/;q=0(?:\.0*)?(?:;|$)/.test(range)
  const named = ranges.filter((range) => range.split(';')[0] === 'application/openmetrics-text')
  return named.some(isAccepted) ? 'openmetrics' : 'prometheus'
}

/** Without the token the answer is 404, because the figures show what is sold and how much. */
export function showMetrics(services: EdgeServices, context: RequestContext): void {
  const { responder, metrics } = services
  if (!isOperator(services, context)) {
    return responder.refuse(context, { kind: 'not_found', message: 'There is no GET /metrics.' })
  }
  const format = formatFor(context.exchange.header('accept'))
  responder.write(context, 200, { 'content-type': METRICS_TYPES[format] }, metrics.text(format))
}

function isOperator({ metricsToken }: EdgeServices, { exchange, port }: RequestContext): boolean {
  if (port === 'monitor') return true
  return metricsToken !== undefined && digestsEqual(bearerOf(exchange) ?? '', metricsToken)
}
