/**
 * The ports, bound before anything else is done and kept: a start that fails for a taken port has made nothing, and
 * nobody meets a port that listens and then refuses. What clients send to a gateway that is still starting waits, as it
 * would in the backlog; where the start takes long, they are told so. An upgrade of the database runs on this thread:
 * until it is over they do wait in the backlog.
 */
import type { Config } from './config.ts'
import { connectionsMaxOf, MONITORING_CONNECTIONS_MAX } from './connection-limit.ts'
import { Cors } from './edge/cors.ts'
import type { Edge } from './edge/edge-options.ts'
import { replyWithInternalError } from './edge/internal-error.ts'
import { startingEdge } from './edge/starting.ts'
import type { ServerExchange } from './inbound/exchange.ts'
import { listen, type Server } from './inbound/server.ts'
import type { Log } from './lib/runtime/log.ts'

export type Ports = {
  /** The port of clients. */
  readonly server: Server
  /** The operator's own port, where one is wished for. */
  readonly monitoring: Server | undefined
  /** From now on the gateway answers. */
  open(edge: Edge): void
}

/** A start is over in a tenth of this; who checks whether the process lives waits about so long. */
const START_WAIT_MS = 1_000

/** Throws what the system says about a port that cannot be had. */
export function bindPorts(config: Config, log: Log): Ports {
  watchProxies(config, log)
  let edge = startingEdge(new Cors(config.corsOrigins))
  const onError = ({ message, stack }: Error): void => log('error', 'inbound.internal', { message, stack })
  const shared = { isHeld: true, refuse: (malformed) => edge.refuse(malformed), onError } satisfies Partial<PortOptions>
  /** A programmer's error is an answer, whoever made it. */
  const guarded = (handle: (exchange: ServerExchange) => void) => (exchange: ServerExchange) => {
    try {
      handle(exchange)
    } catch (error) {
      onError(error as Error)
      replyWithInternalError(exchange)
    }
  }
  const server = bindPublic(config, log, { ...shared, handle: guarded((exchange) => edge.handle(exchange)) })
  const monitoring = bindMonitoring(config, log, { ...shared, handle: guarded((exchange) => edge.monitor(exchange)) })
  const begin = (): void => {
    clearTimeout(waiting)
    server.begin()
    monitoring?.begin()
  }
  const waiting = setTimeout(begin, START_WAIT_MS)
  return {
    server,
    monitoring,
    open(opened) {
      edge = opened
      begin()
    },
  }
}

type PortOptions = Omit<Parameters<typeof listen>[0], 'hostname' | 'port'>

function bindPublic(config: Config, log: Log, shared: PortOptions): Server {
  const { host: hostname, port, trustedProxies } = config
  const { strangersPerAddressMax } = config.limits
  const connectionsMax = connectionsMaxOf(config)
  return listen({
    ...shared,
    hostname,
    port,
    limits: { ...config.limits, connectionsMax },
    originOf: (address) => trustedProxies.originOf(address),
    onConnectionLimit: (stats) =>
      log('warn', 'connections.limit_reached', { ...stats, connectionsMax, strangersPerAddressMax }),
  })
}

function bindMonitoring(
  { metricsHost: hostname, metricsPort: port }: Config,
  log: Log,
  shared: PortOptions,
): Server | undefined {
  if (port === undefined) return undefined
  const server = listen({ hostname, port, limits: { connectionsMax: MONITORING_CONNECTIONS_MAX }, ...shared })
  log('info', 'serve.monitoring', { monitoring: `http://${urlHost(hostname)}:${server.port}` })
  return server
}

/** How a URL names the address that is listened on. */
export const urlHost = (host: string): string =>
  host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host

/** Behind a proxy that is not trusted all clients are one: what one of them may not do any more, none may. */
function watchProxies({ trustedProxies, publicUrl }: Config, log: Log): void {
  const help = 'name the proxy in TOLLGATE_TRUSTED_PROXIES, or all clients behind it count as one'
  trustedProxies.onUnheard = (proxy) => log('warn', 'proxy.untrusted', { proxy, help })
  // This server speaks no TLS: something in front of it does.
  if (publicUrl?.startsWith('https:') && trustedProxies.isEmpty) log('warn', 'proxy.untrusted', { publicUrl, help })
}
