import type { Config } from './config.ts'
import { clientsWithin, descriptorsMax } from './lib/runtime/descriptors.ts'
import { limit } from './lib/primitives/limit.ts'

/** Of the operator's own port: whoever watches comes once in a while. */
export const MONITORING_CONNECTIONS_MAX = limit(
  'monitoringConnectionsMax',
  64,
  'A further connection to the metrics port is closed.',
)

/** How many connections of clients there may be: what is set, or what there are descriptors for. */
export function connectionsMaxOf({ limits, sandbox, metricsPort }: Config): number {
  const use = { perClient: sandbox ? 3 : 2, others: metricsPort === undefined ? 0 : MONITORING_CONNECTIONS_MAX }
  return Math.min(limits.connectionsMax, clientsWithin(descriptorsMax(), use))
}

/** How many requests one account may have under way: a fifth of the connections is left to the others. */
export const accountCallsMax = (config: Config): number => Math.max(1, Math.floor(connectionsMaxOf(config) * 0.8))
