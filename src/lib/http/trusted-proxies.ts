import { BlockList, isIP } from 'node:net'
import { networkOf } from '../primitives/network.ts'

/** Whose `X-Forwarded-For` counts. */
export class TrustedProxies {
  private readonly list = new BlockList()
  /** Whether it trusts nobody. */
  readonly isEmpty: boolean
  /** Who looks like a proxy that was forgotten. */
  private readonly unheard = new Set<string>()
  /** Told of each of them once. */
  onUnheard: ((address: string) => void) | undefined

  /** Addresses and ranges (`10.0.0.0/8`, `::1`). Throws RangeError naming one that is neither. */
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
   * The address a request came from: that of the socket, unless a trusted proxy holds it; then the last hop of
   * `X-Forwarded-For` that is not one of ours. Everything left of it is the client's own claim.
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

  /** What an address is counted as; undefined where many may be behind it: a proxy of ours, or this machine. */
  originOf(remoteAddress: string): string | undefined {
    const address = plain(remoteAddress)
    return LOOPBACK.test(address) || this.includes(address) ? undefined : networkOf(address)
  }

  /** The addresses, near ones and not trusted, whose `X-Forwarded-For` did not count so far; a few of them. */
  get ignored(): readonly string[] {
    return [...this.unheard]
  }

  /** A stranger may claim what it likes. A neighbour that says for whom it speaks is a proxy, as a rule. */
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
/** This machine, and networks that nobody is in who was not let in. */
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

/** Without brackets, port, zone and the IPv6 form of an IPv4 address: proxies differ in how they write a hop. */
function plain(text: string): string {
  if (IPV4.test(text)) return text
  const bracketed = /^\[([^\]]+)\](?::\d+)?$/.exec(text)?.[1]
  const bare = (bracketed ?? text.replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, '$1')).replace(/%.*$/, '')
  return bare.replace(/^::ffff:(\d+\.\d+\.\d+\.\d+)$/i, '$1')
}
