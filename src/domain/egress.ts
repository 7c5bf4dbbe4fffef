/** How requests leave for an upstream: through which proxy, and which certificate authorities are trusted. */

/** Who resolves the names of hosts: an `http` or `socks5h` proxy does it itself, before a `socks5` one the gateway. */
export type ProxyScheme = 'http' | 'socks5' | 'socks5h'

export type ProxyAddress = {
  readonly scheme: ProxyScheme
  /** As in a URL, so an IPv6 address has brackets. */
  readonly hostname: string
  readonly port: number
  /** `user:password`. Undefined: the proxy asks for none. */
  readonly secret: string | undefined
}

/** `environment`: the proxy that `HTTP_PROXY` and the like name for a URL, if they name one. */
export type ProxyChoice = ProxyAddress | 'direct' | 'environment'

export type Egress = {
  readonly proxy: ProxyChoice
  /** Certificate authorities in PEM that are trusted beside the system's. */
  readonly ca: string | undefined
  /**
   * Who named the host. `operator`: a proxy that resolves names gets the name. `stranger`: a vendor or a client, whose
   * zone may lead into the network of the proxy. The gateway resolves and judges it, and the proxy gets the address.
   */
  readonly namedBy: 'operator' | 'stranger'
}

/** Straight to the host, whatever the environment says. */
export const DIRECT: Egress = { proxy: 'direct', ca: undefined, namedBy: 'operator' }

const BY_ENVIRONMENT: Egress = { proxy: 'environment', ca: undefined, namedBy: 'stranger' }
const strangers = new WeakMap<Egress, Egress>()

/** The egress for a host that is not the provider's own: the same proxy, and only the system's authorities. */
export function egressToStranger(own: Egress | undefined): Egress {
  if (own === undefined) return BY_ENVIRONMENT
  let made = strangers.get(own)
  if (!made) strangers.set(own, (made = { proxy: own.proxy, ca: undefined, namedBy: 'stranger' }))
  return made
}
