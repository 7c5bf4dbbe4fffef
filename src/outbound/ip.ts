/** Classifies an IP address by its 128 bits, because the same address has too many spellings as text. */

/**
 * `public`: anywhere on the Internet. `private`: this machine or its own networks, which an operator may allow.
 * `barred`: addresses at which no model is served, and cloud metadata services, which give credentials to any caller.
 */
export type Place =
  | { readonly kind: 'public' }
  | { readonly kind: 'private'; readonly name: string }
  | { readonly kind: 'barred'; readonly name: string }

type Block = { readonly first: bigint; readonly hostBits: bigint; readonly place: Place }

/** The name of the addresses at which clouds give keys to their machines. */
export const CLOUD_METADATA = 'cloud metadata'
const MAPPED_IPV4 = 0xffff_0000_0000n
const PUBLIC: Place = { kind: 'public' }

const block = (text: string, place: Place): Block => {
  const [address = '', bits] = text.split('/')
  const first = parseIp(address)
  if (first === undefined) throw new Error(`${text} is no block of addresses`)
  const width = address.includes(':') ? 128 : 32
  return { first, hostBits: BigInt(width - Number(bits ?? width)), place }
}
const blocks = (kind: 'private' | 'barred', name: string, ...texts: string[]): Block[] =>
  texts.map((text) => block(text, { kind, name }))

/** IANA's special-purpose registries (2026-08) and the clouds' own addresses. The first matching block decides. */
const special: readonly Block[] = [
  // Some are outside link-local, and one is among public addresses. They belong to AWS (fd00:ec2::23 for pods), Google,
  // Scaleway, Alibaba, Oracle and Azure.
  ...blocks(
    'barred',
    CLOUD_METADATA,
    '169.254.169.254',
    '169.254.170.2',
    '169.254.170.23',
    'fd00:ec2::254',
    'fd00:ec2::23',
  ),
  ...blocks('barred', CLOUD_METADATA, 'fd20:ce::254', 'fd00:42::42'),
  ...blocks('barred', CLOUD_METADATA, '100.100.100.200', '192.0.0.192', '168.63.129.16'),
  ...blocks('private', 'loopback', '127.0.0.0/8', '::1'),
  ...blocks('private', 'private network', '10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'),
  ...blocks('private', 'shared network', '100.64.0.0/10'),
  // Reserved for benchmarks. Local proxies also answer with these addresses for names that they handle.
  ...blocks('private', 'benchmarking', '198.18.0.0/15'),
  ...blocks('barred', 'unspecified', '0.0.0.0/8', '::'),
  ...blocks('barred', 'link-local', '169.254.0.0/16', 'fe80::/10'),
  ...blocks('barred', 'protocol assignments', '192.0.0.0/24', '2001::/23'),
  ...blocks('barred', 'documentation', '192.0.2.0/24', '198.51.100.0/24', '203.0.113.0/24'),
  ...blocks('barred', 'documentation', '2001:db8::/32', '3fff::/20'),
  ...blocks('barred', '6to4 relay', '192.88.99.0/24'),
  ...blocks('barred', 'multicast', '224.0.0.0/4', 'ff00::/8'),
  ...blocks('barred', 'broadcast', '255.255.255.255'),
  ...blocks('barred', 'reserved', '240.0.0.0/4'),
  // The embedded IPv4 address depends on a prefix length that only the local network knows.
  ...blocks('barred', 'local NAT64', '64:ff9b:1::/48'),
]

/** Ways to embed an IPv4 address in an IPv6 address. `shifts` is its distance from the last bit. */
const embeddings = [
  { within: block('64:ff9b::/96', PUBLIC), shifts: [0n], mask: 0n },
  { within: block('2002::/16', PUBLIC), shifts: [80n], mask: 0n },
  // A Teredo address holds its server, and its client with inverted bits.
  { within: block('2001::/32', PUBLIC), shifts: [64n], mask: 0n },
  { within: block('2001::/32', PUBLIC), shifts: [0n], mask: 0xffff_ffffn },
] as const

const GLOBAL_UNICAST = block('2000::/3', PUBLIC)
const ALL_IPV4 = block('::ffff:0:0/96', PUBLIC)

const isWithin = (address: bigint, { first, hostBits }: Block): boolean => address >> hostBits === first >> hostBits
const severity = { public: 0, private: 1, barred: 2 } as const

/**
 * The place of an address as `parseIp` returns it. An address that embeds IPv4 addresses has the worst place of them.
 */
export function placeOf(address: bigint): Place {
  const carried = embeddings.filter(({ within }) => isWithin(address, within))
  if (carried.length > 0) {
    return carried
      .flatMap(({ shifts, mask }) => shifts.map((shift) => ((address >> shift) & 0xffff_ffffn) ^ mask))
      .map((ipv4) => placeOf(MAPPED_IPV4 | ipv4))
      .reduce((worst, place) => (severity[place.kind] > severity[worst.kind] ? place : worst))
  }
  const known = special.find((candidate) => isWithin(address, candidate))
  if (known) return known.place
  // Deprecated IPv4-compatible addresses, IPv4-translated addresses, and everything unassigned.
  if (!isWithin(address, ALL_IPV4) && !isWithin(address, GLOBAL_UNICAST)) return { kind: 'barred', name: 'reserved' }
  return PUBLIC
}

/**
 * The 128 bits of an address in its one strict spelling: four decimal numbers without leading zeros, or IPv6. An IPv4
 * address becomes its IPv4-mapped one. Undefined for everything else, zone ids included.
 */
export function parseIp(text: string): bigint | undefined {
  const tailAt = text.lastIndexOf(':') + 1
  const ipv4 = parseIpv4(text.slice(tailAt))
  if (tailAt === 0) return ipv4 === undefined ? undefined : MAPPED_IPV4 | ipv4
  // The last 32 bits of an IPv6 address may be written as IPv4.
  const tail =
    ipv4 === undefined ? text.slice(tailAt) : `${(ipv4 >> 16n).toString(16)}:${(ipv4 & 0xffffn).toString(16)}`
  const halves = (text.slice(0, tailAt) + tail).split('::').map(parseGroups)
  const [before, after] = halves
  if (!before || halves.length > 2 || (halves.length === 2 && !after)) return undefined
  const missing = 8 - before.length - (after?.length ?? 0)
  if (halves.length === 2 ? missing < 1 : missing !== 0) return undefined
  const groups = [...before, ...Array<bigint>(missing).fill(0n), ...(after ?? [])]
  return groups.reduce((bits, group) => (bits << 16n) | group, 0n)
}

function parseGroups(text: string): bigint[] | undefined {
  if (text === '') return []
  const groups = text.split(':')
  return groups.every((group) => /^[\da-f]{1,4}$/i.test(group))
    ? groups.map((group) => BigInt(`0x${group}`))
    : undefined
}

function parseIpv4(text: string): bigint | undefined {
  if (!/^(?:0|[1-9]\d{0,2})(?:\.(?:0|[1-9]\d{0,2})){3}$/.test(text)) return undefined
  const bytes = text.split('.').map(BigInt)
  return bytes.every((byte) => byte <= 255n) ? bytes.reduce((bits, byte) => (bits << 8n) | byte, 0n) : undefined
}
