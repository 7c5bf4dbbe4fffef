/** Opens one connection to an origin: directly, to a proxy that forwards, or through a tunnel. */
import { rootCertificates } from 'node:tls'
import type { ProxyAddress } from '../domain/egress.ts'
import { bareHost } from './address.ts'
import { handlers, type ClientConnection } from './connection.ts'
import type { AddressReach } from './guard.ts'
import { handshakeWith } from './proxy-handshake.ts'
import { Tunnel, tunnelHandlers } from './tunnel.ts'

export type PoolOrigin = {
  readonly security: 'plain' | 'tls'
  /** As in a URL, so an IPv6 address has brackets. */
  readonly hostname: string
  readonly port: number
  /** A connection of one reach never serves another reach. */
  readonly reach: AddressReach
  /** The proxy that leads there. Undefined: the origin is connected to directly. */
  readonly proxy?: OriginProxy | undefined
  /** Certificate authorities that are trusted beside the system's. */
  readonly ca?: string | undefined
}

/**
 * How a proxy is used. `forwards`: requests without TLS are sent to it in absolute form. `tunnels`: it opens a way to
 * the host. `named`: the proxy gets the name of the host and resolves it. `resolved`: it gets a judged address.
 */
export type OriginProxy = {
  readonly address: ProxyAddress
  readonly use: 'forwards' | 'tunnels'
  readonly host: 'named' | 'resolved'
}

/** Where a connection goes: to an address, and from there to the host if the address is a proxy's. */
export type Way = { readonly address: string; readonly host: string }

export type DialOptions = {
  /** Opens a socket to an address that the guard has admitted. Tests replace it. */
  connect<Data>(options: Bun.TCPSocketConnectOptions<Data>): Promise<unknown>
  /** Certificates to trust instead of the system's; `NODE_EXTRA_CA_CERTS` adds to those. */
  readonly ca?: string
}

type Dial = DialOptions & { readonly origin: PoolOrigin }

/** Begins to connect. The connection learns of the result. Returns what gives it up. */
export function beginToDial(way: Way, connection: ClientConnection, dial: Dial): () => void {
  const { proxy } = dial.origin
  if (proxy) return dialProxy(proxy, way, { ...dial, connection })
  const { security, port } = dial.origin
  const tls = security === 'tls' ? { tls: tlsOf(dial) } : {}
  dial
    .connect({ hostname: way.address, port, data: connection, socket: handlers, ...tls })
    .catch((error: unknown) => connection.ready(codeOf(error)))
  return () => connection.ready('connect timeout')
}

type ProxyDial = Dial & { readonly connection: ClientConnection }

function dialProxy({ address: proxy, use }: OriginProxy, way: Way, dial: ProxyDial): () => void {
  const { connection, origin } = dial
  const at = { hostname: way.address, port: proxy.port }
  if (use === 'forwards') {
    dial
      .connect({ ...at, data: connection, socket: handlers })
      .catch((error: unknown) => connection.ready(unreachable(codeOf(error))))
    return () => connection.ready(unreachable('connect timeout'))
  }
  const handshake = handshakeWith(proxy, { host: way.host, port: origin.port })
  const tunnel = new Tunnel({ handshake, connection, tls: origin.security === 'tls' ? tlsOf(dial) : undefined })
  dial
    .connect({ ...at, data: tunnel, socket: tunnelHandlers })
    .catch((error: unknown) => tunnel.fail(unreachable(codeOf(error))))
  return () => {
    tunnel.fail('the proxy did not connect in time')
    connection.ready('connect timeout')
  }
}

/** How the host is verified. Its name counts, whatever address was connected to. */
function tlsOf({ origin: { hostname, ca: own }, ca }: Dial): { serverName: string; ca?: string | string[] } {
  const serverName = bareHost(hostname)
  if (own !== undefined) return { serverName, ca: [own, ...(ca === undefined ? rootCertificates : [ca])] }
  return ca === undefined ? { serverName } : { serverName, ca }
}

export const unreachable = (why: string): string => `the proxy cannot be reached (${why})`

/** Names an error without the address that its message holds. */
export function codeOf(error: unknown): string {
  const { code, name } = error as { code?: unknown; name?: string }
  return typeof code === 'string' ? code : (name ?? 'network error')
}
