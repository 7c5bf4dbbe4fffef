import { BlockList, isIP } from 'node:net'
import { networkOf } from '../primitives/network.ts'

/** The proxies whose `X-Forwarded-For` is trusted. */
export class TrustedProxies {
  private readonly list = new BlockList()
  /** Whether it trusts no proxy. */
  readonly isEmpty: boolean
  /** Addresses that look like proxies that the operator forgot to name. */
  private readonly unheard = new Set<string>()
  /** Called once for each of them. */
  onUnheard: ((address: string) => void) | undefined

  /** Takes addresses and ranges (`10.0.0.0/8`, `::1`). Throws a RangeError that names an invalid one. */
  constructor(ranges: readonly string[]) {
    this.isEmpty = ranges.length === 0
    for (const range of ranges) {
      const [address = '', prefix, ...rest] = range.split('/')
      const version = isIP(address)
      const bits = version === 4 ? 32 : 128
      const length = prefix === undefined ? bits : /^\d{1,3}$/.test(prefix) ? Number(prefix) : Number.NaN
      if (version === 0 || rest.length > 0 || !(length <= bits)) {
        throw new RangeError(`'${range}' is neither an IP address nor a range of them, such as 10.0.0.0/8`)
      }
      this.list.addSubnet(address, length, version === 4 ? 'ipv4' : 'ipv6')
    }
  }

  /**
   * The address of the client: the socket's address, unless that is a trusted proxy. Then it is the last hop of
   * `X-Forwarded-For` that is no trusted proxy. Everything left of that hop is the client's own claim.
   */
  clientOf(remoteAddress: string, forwardedFor: string | undefined): string {
    let address = plain(remoteAddress)
    if (this.isEmpty || !this.includes(address)) {
      if (forwardedFor !== undefined) this.noteUnheard(address)
      return address
    }
    const hops = (forwardedFor ?? '').split(',')
    for (const hop of hops.toReversed()) {
      const next = plain(hop.trim())
      if (isIP(next) === 0) return address
      address = next
      if (!this.includes(address)) return address
    }
    return address
  }

  /**
   * The origin under which an address is counted. Undefined for a trusted proxy or this machine: many may be behind.
   */
  originOf(remoteAddress: string): string | undefined {
    const address = plain(remoteAddress)
    return LOOPBACK.test(address) || this.includes(address) ? undefined : networkOf(address)
  }

  /** Some of the private addresses whose `X-Forwarded-For` was ignored because they are not trusted. */
  get ignored(): readonly string[] {
    return [...this.unheard]
  }

  /** Notes a private address that sends the header, because it usually is a proxy. A public one may send anything. */
  private noteUnheard(address: string): void {
    if (this.unheard.has(address) || this.unheard.size >= UNHEARD_MAX || isIP(address) === 0) return
    if (!NEAR.check(address, familyOf(address))) return
    this.unheard.add(address)
    this.onUnheard?.(address)
  }

  private includes(address: string): boolean {
    const version = isIP(address)
    return version !== 0 && this.list.check(address, version === 4 ? 'ipv4' : 'ipv6')
  }
}

const UNHEARD_MAX = 16
/** This machine, and private networks. */
const NEAR = new BlockList()
for (const [address, bits] of [
  ['127.0.0.0', 8],
  ['10.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['100.64.0.0', 10],
  ['169.254.0.0', 16],
  ['::1', 128],
  ['fc00::', 7],
  ['fe80::', 10],
] as const) {
  NEAR.addSubnet(address, bits, familyOf(address))
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4'
}

const LOOPBACK = /^(?:127\.\d+\.\d+\.\d+|::1)$/
const IPV4 = /^\d+\.\d+\.\d+\.\d+$/

/** Removes brackets, port, zone and the IPv6 form of an IPv4 address, because proxies write hops differently. */
function plain(text: string): string {
  if (IPV4.test(text)) return text
  const bracketed = /^\[([^\]]+)\](?::\d+)?$/.exec(text)?.[1]
  const bare = (bracketed ?? text.replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, '$1')).replace(/%.*$/, '')
  return bare.replace(/^::ffff:(\d+\.\d+\.\d+\.\d+)$/i, '$1')
}
