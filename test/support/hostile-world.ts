/** An Internet of two servers on this machine: a vendor at some addresses, and a canary at all others. */
import { isIP } from 'node:net'
import type { AddressReach } from '../../src/outbound/guard.ts'
import { Outbound, type OutboundRequest } from '../../src/outbound/send.ts'
import { Stop } from '../../src/outbound/stop.ts'
import { answering, startRawUpstream, type RawUpstream } from './raw-upstream.ts'

export type Zones = Readonly<Record<string, readonly string[]>>

export type HostileWorld = {
  /** Must never be called: a connection alone is a hit. */
  readonly canary: RawUpstream
  readonly vendor: RawUpstream
  /** Where the vendor redirects to, for requests that ask for it. */
  redirectTo: string
  hits(): number
  /** A client for which every address but the vendor's, and every unknown name, leads to the canary. */
  client(zones?: Zones): Outbound
  stop(): void
}

export function startHostileWorld(vendorAddresses: readonly string[]): HostileWorld {
  const atVendor = new Set(vendorAddresses)
  const canary = startRawUpstream(answering(() => 'HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\ncanary'))
  const vendor = startRawUpstream(
    answering(({ received }) => {
      if (!received.startsWith('GET /redirect')) return 'HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nvendor'
      return Buffer.from(`HTTP/1.1 302 Found\r\nlocation: ${world.redirectTo}\r\ncontent-length: 0\r\n\r\n`)
    }),
  )
  const world: HostileWorld = {
    canary,
    vendor,
    redirectTo: '',
    hits: () => canary.callers.length,
    client: (zones = {}) =>
      new Outbound({
        connectTimeoutMs: 1_000,
        async addressesOf(hostname) {
          await Bun.sleep(0)
          const literal = hostname.replace(/^\[|\]$/g, '')
          return isIP(literal) === 0 ? (zones[hostname] ?? ['127.0.0.1']) : [literal]
        },
        connect: (options) =>
          Bun.connect({
            ...options,
            hostname: '127.0.0.1',
            port: atVendor.has(options.hostname) ? vendor.port : canary.port,
          }),
      }),
    stop() {
      canary.stop()
      vendor.stop()
    },
  }
  return world
}

/** A request with a credential, which must not travel. */
export const get = (url: string, reach: AddressReach = 'public'): OutboundRequest => ({
  url,
  method: 'GET',
  headers: { authorization: 'Bearer secret' },
  stop: new Stop(),
  reach,
})
