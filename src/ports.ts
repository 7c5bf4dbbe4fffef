/**
 * The ports. A process that has its data alone binds them before anything else, so a start that fails for a taken port
 * has made nothing. No client meets a port that listens and then refuses. Requests to a gateway that is still starting
 * wait, as in the backlog. If the start takes longer than a second, they are answered that the gateway is starting. An
 * upgrade of the database runs on this thread, so requests wait in the backlog until it is done.
 */
import type { Address } from './admin/control.ts'
import type { CertificateWatch } from './certificate.ts'
import type { Config } from './config.ts'
import { connectionsMaxOf, MONITORING_CONNECTIONS_MAX } from './connection-limit.ts'
import { Cors } from './edge/cors.ts'
import type { Edge } from './edge/edge-options.ts'
import type { Links } from './edge/links.ts'
import { replyWithInternalError } from './edge/internal-error.ts'
import { unreadyEdge } from './edge/unready.ts'
import type { ServerExchange } from './inbound/exchange.ts'
import { listen, type Server } from './inbound/server.ts'
import { LOOPBACK } from './lib/http/loopback.ts'
import type { Log } from './lib/runtime/log.ts'

export type Ports = {
  /** The port of clients. */
  readonly server: Server
  /** The operator's own port, if configured. */
  readonly monitoring: Server | undefined
  /** From now on the gateway answers. */
  open(edge: Edge): void
}

/** A start takes a tenth of this. Programs that check whether the process lives usually wait about this long. */
const START_WAIT_MS = 1_000

/** Throws the system's error if a port cannot be bound. */
export function bindPorts(config: Config, log: Log, certificate?: CertificateWatch): Ports {
  watchProxies(config, log)
  let edge = unreadyEdge(new Cors(config.corsOrigins), 'starting')
  const onError = ({ message, stack }: Error): void => log('error', 'inbound.internal', { message, stack })
  const shared = { isHeld: true, refuse: (malformed) => edge.refuse(malformed), onError } satisfies Partial<PortOptions>
  /** A programmer's error is also answered, whichever handler threw it. */
  const guarded = (handle: (exchange: ServerExchange) => void) => (exchange: ServerExchange) => {
    try {
      handle(exchange)
    } catch (error) {
      onError(error as Error)
      replyWithInternalError(exchange)
    }
  }
  // A gateway that has its database alone does not even ask.
  const isShared = config.databaseUrl !== undefined
  const waitFor = isShared ? (exchange: ServerExchange) => edge.waitFor?.(exchange) : undefined
  const tls = certificate?.credentials
  const handle = guarded((exchange) => edge.handle(exchange))
  const server = bindPublic(config, log, { ...shared, tls, waitFor, handle })
  if (certificate) certificate.onRenewed = (credentials) => server.renew(credentials)
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

/**
 * Binds the ports of an instance among others, once it can serve. A balancer without health checks sends requests to
 * whichever port listens. If a connection is refused, it tries another instance.
 */
export async function bindLate(store: { close(): Promise<void> }, bind: () => Ports): Promise<Ports> {
  try {
    return bind()
  } catch (error) {
    await store.close()
    throw error
  }
}

/** A certificate that cannot be used ends the start before anything is made. */
export const openCertificate = async ({ tls }: Config, log: Log): Promise<CertificateWatch | undefined> =>
  tls && (await import('./certificate.ts')).CertificateWatch.open(tls, log)

export const listenAddress = ({ tls, host, publicUrl }: Config, { port }: Server): Address => ({
  scheme: tls ? 'https' : 'http',
  host,
  port,
  publicUrl,
})

export const originOf = ({ scheme, host, port, publicUrl }: Address): string =>
  publicUrl ?? `${scheme}://${urlHost(host)}:${port}`

/** How the gateway writes links to itself. */
export const linksOf = ({ publicUrl, host, tls }: Config): Links => ({
  publicUrl,
  isLoopback: LOOPBACK.test(host),
  scheme: tls ? 'https' : 'http',
})

type PortOptions = Omit<Parameters<typeof listen>[0], 'hostname' | 'port'>

function bindPublic(config: Config, log: Log, shared: PortOptions): Server {
  const { host: hostname, port, trustedProxies } = config
  const { strangersPerAddressMax } = config.limits
  const connectionsMax = connectionsMaxOf(config)
  return listen({
    ...shared,
    hostname,
    port,
    isShared: config.workers > 1,
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

/** The listening address as the host of a URL. */
const urlHost = (host: string): string =>
  host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host

/** Warns about a proxy that is not trusted. All clients behind it share the limits of one address. */
function watchProxies({ trustedProxies, publicUrl, tls }: Config, log: Log): void {
  const help = 'name the proxy in TOLLGATE_TRUSTED_PROXIES; until then all clients behind it count as one'
  trustedProxies.onUnheard = (proxy) => log('warn', 'proxy.untrusted', { proxy, help })
  // A server that speaks no TLS has a proxy in front of it that does.
  if (publicUrl?.startsWith('https:') && !tls && trustedProxies.isEmpty)
    log('warn', 'proxy.untrusted', { publicUrl, help })
}
