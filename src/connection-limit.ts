import type { Config } from './config.ts'
import { clientsWithin, descriptorsMax } from './lib/runtime/descriptors.ts'
import { limit } from './lib/primitives/limit.ts'

/** For the operator's own port. Monitoring programs make few requests. */
export const MONITORING_CONNECTIONS_MAX = limit(
  'monitoringConnectionsMax',
  64,
  'A further connection to the metrics port is closed.',
)

/** The maximum number of client connections: as configured, or as many as there are file descriptors for. */
export function connectionsMaxOf({ limits, sandbox, metricsPort }: Config): number {
  const use = { perClient: sandbox ? 3 : 2, others: metricsPort === undefined ? 0 : MONITORING_CONNECTIONS_MAX }
  return Math.min(limits.connectionsMax, clientsWithin(descriptorsMax(), use))
}

/** The maximum number of running requests of one account. A fifth of the connections is left for the others. */
export const accountCallsMax = (config: Config): number => Math.max(1, Math.floor(connectionsMaxOf(config) * 0.8))
