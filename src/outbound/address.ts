/** Names to addresses. */
import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'

const FRESH_MS = 30_000
/** Hosts are the operator's providers: more than this is no cache any more. */
const HOSTS_MAX = 1_000

type ResolvedHost = { readonly addresses: Promise<readonly string[]>; readonly staleAtMs: number }

const known = new Map<string, ResolvedHost>()

/**
 * The addresses of a host as a URL spells it, in the resolver's order. They are connected to as they are: a name
 * looked up again for the connect could have changed in between. Rejects with the resolver's error.
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
  // A failure is not kept: the next request asks again.
  addresses.catch(() => {
    if (known.get(hostname) === entry) known.delete(hostname)
  })
  return addresses
}

/** A host without the brackets that only URLs put around an address; so it stands in certificates too. */
export const bareHost = (hostname: string): string => (hostname.startsWith('[') ? hostname.slice(1, -1) : hostname)
