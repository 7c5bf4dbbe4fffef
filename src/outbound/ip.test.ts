import { expect, test } from 'bun:test'
import { isIP } from 'node:net'
import fc from 'fast-check'
import { parseIp, placeOf } from './ip.ts'

const publicAddresses = [
  '1.1.1.1',
  '8.8.8.8',
  '9.255.255.255',
  '11.0.0.0',
  '100.63.255.255',
  '100.128.0.0',
  '104.18.6.192',
  '126.255.255.255',
  '128.0.0.0',
  '169.253.255.255',
  '169.255.0.0',
  '172.15.255.255',
  '172.32.0.0',
  '192.0.1.0',
  '192.0.3.0',
  '192.167.255.255',
  '192.169.0.0',
  '198.17.255.255',
  '198.20.0.0',
  '198.51.99.255',
  '203.0.112.255',
  '203.0.114.0',
  '223.255.255.255',
  '::ffff:8.8.8.8',
  '::FFFF:808:808',
  '64:ff9b::8.8.8.8',
  '64:ff9b::808:808',
  '2002:808:808::1',
  '2001:0:808:808::f7f7:f7f7',
  '2001:200::1',
  '2001:4860:4860::8888',
  '2003::1',
  '2606:4700::6812:6c0',
  '2a00:1450:4001:81b::200a',
  '3ffe:ffff::1',
  '3fff:1000::1',
]

const privateAddresses: Record<string, string[]> = {
  loopback: ['127.0.0.1', '127.0.0.0', '127.1.2.3', '127.255.255.255', '::1', '::ffff:127.0.0.1', '::ffff:7f00:1'],
  'private network': ['10.0.0.0', '10.255.255.255', '172.16.0.1', '172.31.255.255', '192.168.0.1', '192.168.255.255'],
  'shared network': ['100.64.0.0', '100.127.255.255'],
  benchmarking: ['198.18.0.1', '198.19.255.255'],
}
privateAddresses['private network']?.push('fc00::', 'fd12:3456:789a::1', 'fdff:ffff::1', '::ffff:10.1.2.3')
privateAddresses['loopback']?.push('64:ff9b::127.0.0.1', '64:ff9b::7f00:1', '2002:7f00:1::', '2001:0:7f00:1::f7f7:f7f7')
privateAddresses['loopback']?.push('2001:0:808:808::80ff:fffe', '0:0:0:0:0:0:0:1', '0:0:0:0:0:ffff:127.0.0.1')

const barredAddresses: Record<string, string[]> = {
  'cloud metadata': ['169.254.169.254', '169.254.170.2', '100.100.100.200', '192.0.0.192', '168.63.129.16'],
  unspecified: ['0.0.0.0', '0.1.2.3', '::', '::ffff:0.0.0.0', '64:ff9b::'],
  'link-local': ['169.254.0.0', '169.254.255.255', 'fe80::1', 'febf:ffff::1', '::ffff:169.254.1.1', '2002:a9fe:101::'],
  'protocol assignments': ['192.0.0.1', '192.0.0.170', '2001:1::1', '2001:2::1', '2001:20::1', '2001:1ff:ffff::'],
  documentation: ['192.0.2.1', '198.51.100.255', '203.0.113.7', '2001:db8::1', '3fff::1', '3fff:fff:ffff::'],
  '6to4 relay': ['192.88.99.1'],
  multicast: ['224.0.0.1', '239.255.255.255', 'ff02::1', 'ff0e::1', '::ffff:224.0.0.1'],
  reserved: ['240.0.0.1', '255.255.255.254', '::127.0.0.1', '::8.8.8.8', '::7f00:1', '::ffff:0:127.0.0.1', '100::1'],
  broadcast: ['255.255.255.255', '64:ff9b::255.255.255.255'],
  'local NAT64': ['64:ff9b:1::7f00:1', '64:ff9b:1::8.8.8.8', '64:ff9b:1:7f00:0:100::', '64:ff9b:1:ffff::'],
}
barredAddresses['cloud metadata']?.push('::ffff:169.254.169.254', '::ffff:a9fe:a9fe', '64:ff9b::a9fe:a9fe')
barredAddresses['cloud metadata']?.push('2002:a9fe:a9fe::', 'fd00:ec2::254', 'fd20:ce::254', '2001:0:a9fe:a9fe::')
barredAddresses['cloud metadata']?.push('fd00:ec2::23', 'fd00:42::42')
barredAddresses['reserved']?.push('fec0::1', '5f00::1', '4000::1', '1::1', '8000::1', 'fe00::1')

const seen = (text: string): object => {
  const address = parseIp(text)
  return address === undefined ? { text, place: undefined } : { text, place: placeOf(address) }
}

test.each(publicAddresses)('%s is public', (text) => {
  expect(seen(text)).toEqual({ text, place: { kind: 'public' } })
})

for (const [kind, table] of [
  ['private', privateAddresses],
  ['barred', barredAddresses],
] as const) {
  for (const [name, addresses] of Object.entries(table)) {
    test.each(addresses)(`%s is ${kind}: ${name}`, (text) => {
      expect(seen(text)).toEqual({ text, place: { kind, name } })
    })
  }
}

const spellings = ['127.1', '127.0.0.01', '0x7f.0.0.1', '2130706433', '127.0.0.1.', ' 127.0.0.1', '256.0.0.1', '1.2.3']
test.each([...spellings, '', '1.2.3.4.5', '::1%lo', 'fe80::1%eth0', '[::1]', ':::', '1::2::3', '1:2:3', '::12345'])(
  '%j is no address',
  (text) => expect(parseIp(text)).toBeUndefined(),
)
test.each(['1:2:3:4:5:6:7', '1:2:3:4:5:6:7:8:9', '1:2:3:4:5:6:7::8', '::1.2.3', '1.2.3.4::', '::g', 'localhost', ':1'])(
  '%j is no address either',
  (text) => expect(parseIp(text)).toBeUndefined(),
)

const ipv4 = fc.nat({ max: 0xffff_ffff }).map((bits) => BigInt(bits >>> 0))
const dotted = (bits: bigint): string => [24n, 16n, 8n, 0n].map((shift) => (bits >> shift) & 255n).join('.')
const ipv4Place = (bits: bigint): object => placeOf(parseIp(dotted(bits)) ?? 0n)

test('an IPv4 address is the same place in every disguise', () => {
  fc.assert(
    fc.property(ipv4, (bits) => {
      const disguises = [
        `::ffff:${dotted(bits)}`,
        `::ffff:${(bits >> 16n).toString(16)}:${(bits & 0xffffn).toString(16)}`,
        `64:ff9b::${dotted(bits)}`,
        `2002:${(bits >> 16n).toString(16)}:${(bits & 0xffffn).toString(16)}::1`,
      ]
      for (const text of disguises) expect(placeOf(parseIp(text) ?? 0n)).toEqual(ipv4Place(bits) as never)
    }),
  )
})

test('both ends of a Teredo address count', () => {
  const hostile = parseIp('127.0.0.1') as bigint
  fc.assert(
    fc.property(ipv4, (bits) => {
      const teredo = (server: bigint, client: bigint): string =>
        placeOf((0x2001_0000n << 96n) | (server << 64n) | (client ^ 0xffff_ffffn)).kind
      expect(teredo(bits, hostile & 0xffff_ffffn)).not.toBe('public')
      expect(teredo(hostile & 0xffff_ffffn, bits)).not.toBe('public')
    }),
  )
})

/** The same ranges once more, by comparison instead of by shift. */
test('no IPv4 address outside the public ranges is public', () => {
  const closed: [string, string][] = [
    ['0.0.0.0', '0.255.255.255'],
    ['10.0.0.0', '10.255.255.255'],
    ['100.64.0.0', '100.127.255.255'],
    ['127.0.0.0', '127.255.255.255'],
    ['168.63.129.16', '168.63.129.16'],
    ['169.254.0.0', '169.254.255.255'],
    ['172.16.0.0', '172.31.255.255'],
    ['192.0.0.0', '192.0.0.255'],
    ['192.0.2.0', '192.0.2.255'],
    ['192.88.99.0', '192.88.99.255'],
    ['192.168.0.0', '192.168.255.255'],
    ['198.18.0.0', '198.19.255.255'],
    ['198.51.100.0', '198.51.100.255'],
    ['203.0.113.0', '203.0.113.255'],
    ['224.0.0.0', '255.255.255.255'],
  ]
  const bounds = closed.map(([from, to]) => [parseIp(from), parseIp(to)] as [bigint, bigint])
  const edges = bounds.flatMap(([from, to]) => [from - 1n, from, to, to + 1n]).map((bits) => bits & 0xffff_ffffn)
  fc.assert(
    fc.property(fc.oneof(ipv4, fc.constantFrom(...edges)), (bits) => {
      const address = 0xffff_0000_0000n | bits
      const isClosed = bounds.some(([from, to]) => address >= from && address <= to)
      expect(placeOf(address).kind === 'public').toBe(!isClosed)
    }),
    { numRuns: 2_000 },
  )
})

test('the runtime agrees on which texts are addresses', () => {
  const group = fc.oneof(
    fc.nat({ max: 0xffff }).map((n) => n.toString(16)),
    fc.constantFrom('', '0', '1.2.3.4', '00001'),
  )
  const texts = fc.array(group, { maxLength: 9 }).map((groups) => groups.join(':'))
  fc.assert(
    fc.property(fc.oneof(fc.ipV4(), fc.ipV6(), texts, fc.string()), (text) => {
      // The runtime also accepts zone ids, which are no part of an address here.
      if (!text.includes('%')) expect([text, parseIp(text) !== undefined]).toEqual([text, isIP(text) !== 0])
    }),
    { numRuns: 2_000 },
  )
})
