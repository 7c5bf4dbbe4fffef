/** Resolves host names to addresses. */
import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { limit } from '../lib/primitives/limit.ts'

const FRESH_MS = 30_000
/** Hosts are the operator's providers, so more entries than this are no longer a cache. */
const HOSTS_MAX = limit('upstreamHostsMax', 1_000, 'When this many are known, all remembered addresses are forgotten.')

type ResolvedHost = { readonly addresses: Promise<readonly string[]>; readonly staleAtMs: number }

const known = new Map<string, ResolvedHost>()

/**
 * The addresses of a host as a URL spells it, in the resolver's order. The caller connects to these very addresses,
 * because a second look-up for the connect could give others. Rejects with the resolver's error.
 */
export function addressesOf(hostname: string): Promise<readonly string[]> {
  const literal = bareHost(hostname)
  if (isIP(literal) !== 0) return Promise.resolve([literal])
  const nowMs = performance.now()
  const found = known.get(hostname)
  if (found && nowMs < found.staleAtMs) return found.addresses
  const addresses = lookup(hostname, { all: true, verbatim: true }).then((all) => all.map(({ address }) => address))
  if (known.size >= HOSTS_MAX) known.clear()
  const entry = { addresses, staleAtMs: nowMs + FRESH_MS }
  known.set(hostname, entry)
  // A failure is not cached. The next request resolves the name again.
  addresses.catch(() => {
    if (known.get(hostname) === entry) known.delete(hostname)
  })
  return addresses
}

/** A host without the brackets that URLs put around an IPv6 address. Certificates have no brackets either. */
export const bareHost = (hostname: string): string => (hostname.startsWith('[') ? hostname.slice(1, -1) : hostname)
