/** Every forbidden address range, by its borders and middle, in every spelling of an address. */

type Range = readonly [first: string, last: string]

/** What `allow_private` opens for a provider. */
const privateIpv4: readonly Range[] = [
  ['10.0.0.0', '10.255.255.255'],
  ['100.64.0.0', '100.127.255.255'],
  ['127.0.0.0', '127.255.255.255'],
  ['172.16.0.0', '172.31.255.255'],
  ['192.168.0.0', '192.168.255.255'],
  ['198.18.0.0', '198.19.255.255'],
]
/** What nothing opens. */
const barredIpv4: readonly Range[] = [
  ['0.0.0.0', '0.255.255.255'],
  ['100.100.100.200', '100.100.100.200'],
  ['168.63.129.16', '168.63.129.16'],
  ['169.254.0.0', '169.254.255.255'],
  ['169.254.169.254', '169.254.169.254'],
  ['192.0.0.0', '192.0.0.255'],
  ['192.0.2.0', '192.0.2.255'],
  ['192.88.99.0', '192.88.99.255'],
  ['198.51.100.0', '198.51.100.255'],
  ['203.0.113.0', '203.0.113.255'],
  ['224.0.0.0', '239.255.255.255'],
  ['240.0.0.0', '255.255.255.255'],
]
const privateIpv6: readonly Range[] = [
  ['::1', '::1'],
  ['fc00::', 'fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
]
const barredIpv6: readonly Range[] = [
  ['::', '::'],
  ['::2', '::fffe:ffff:ffff'],
  ['::1:0:0:0', '63:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['64:ff9b:1::', '64:ff9b:1:ffff:ffff:ffff:ffff:ffff'],
  ['100::', '100::ffff:ffff:ffff:ffff'],
  ['2001:100::', '2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['2001:db8::', '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['3fff::', '3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['4000::', 'fbff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['5f00::', '5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['fd00:42::42', 'fd00:42::42'],
  ['fd00:ec2::23', 'fd00:ec2::23'],
  ['fd00:ec2::254', 'fd00:ec2::254'],
  ['fd20:ce::254', 'fd20:ce::254'],
  ['fe80::', 'febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['fec0::', 'feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['ff00::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
]

const numberOf = (ipv4: string): number => ipv4.split('.').reduce((sum, byte) => sum * 256 + Number(byte), 0)
const bytesOf = (ipv4: number): number[] => [24, 16, 8, 0].map((shift) => Math.floor(ipv4 / 2 ** shift) % 256)
const dotted = (ipv4: number): string => bytesOf(ipv4).join('.')
const hex = (value: number | bigint, digits = 0): string => value.toString(16).padStart(digits, '0')
/** Two groups of an IPv6 address. */
const groups = (ipv4: number): string => `${hex(Math.floor(ipv4 / 65_536))}:${hex(ipv4 % 65_536)}`

/** As the runtime has it, which is apart from the gateway's own reading of addresses. */
const canonical = (ipv6: string): string => new URL(`http://[${ipv6}]`).hostname.slice(1, -1)
function bitsOf(ipv6: string): bigint {
  const [before = [], after = []] = canonical(ipv6)
    .split('::')
    .map((half) => half.split(':').filter(Boolean))
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => '0')
  return [...before, ...zeros, ...after].reduce((bits, group) => (bits << 16n) | BigInt(`0x${group}`), 0n)
}
const eightOf = (bits: bigint): string[] =>
  Array.from({ length: 8 }, (_, i) => hex((bits >> BigInt(112 - 16 * i)) & 0xffffn))

/** Borders and middle. */
const ipv4In = (ranges: readonly Range[]): number[] =>
  ranges.flatMap(([first, last]) => {
    const [a, b] = [numberOf(first), numberOf(last)]
    return [...new Set([a, Math.floor((a + b) / 2), b])]
  })
const ipv6In = (ranges: readonly Range[]): bigint[] =>
  ranges.flatMap(([first, last]) => {
    const [a, b] = [bitsOf(first), bitsOf(last)]
    return [...new Set([a, (a + b) / 2n, b])]
  })

const digitsAt = (zero: number) => (text: string) =>
  text.replaceAll(/\d/g, (digit) => String.fromCodePoint(zero + Number(digit)))
const percent = (text: string): string => text.replaceAll(/./g, (char) => `%${hex(char.codePointAt(0) ?? 0, 2)}`)

/** What a URL's parser reads as this very IPv4 address. */
export function ipv4Hosts(ipv4: number): string[] {
  const [a = 0, b = 0, c = 0, d = 0] = bytesOf(ipv4)
  const plain = dotted(ipv4)
  const octal = (value: number): string => `0${value.toString(8)}`
  const each = (spell: (byte: number) => string): string => bytesOf(ipv4).map(spell).join('.')
  return [
    plain,
    `${plain}.`,
    String(ipv4),
    `${ipv4}.`,
    `0x${hex(ipv4)}`,
    `0X${hex(ipv4, 8).toUpperCase()}`,
    `0x0000${hex(ipv4, 8)}`,
    octal(ipv4),
    `000${octal(ipv4)}.`,
    each((byte) => `0x${hex(byte)}`),
    each((byte) => `0x000${hex(byte, 2)}`),
    each(octal),
    each((byte) => `0000${octal(byte)}`),
    `${a}.${b}.${c * 256 + d}`,
    `${a}.${ipv4 % 2 ** 24}`,
    `0x${hex(a)}.${octal(b)}.${c}.0x${hex(d)}`,
    `${octal(a)}.0x${hex(ipv4 % 2 ** 24)}`,
    digitsAt(0xff10)(plain),
    digitsAt(0x1d7ce)(plain),
    digitsAt(0x1d7ec)(String(ipv4)),
    plain.replaceAll('.', '。'),
    plain.replaceAll('.', '．'),
    plain.replaceAll('.', '｡'),
    percent(plain),
    plain.replaceAll('.', '%2e'),
    percent(String(ipv4)),
    plain.replace('.', '\u00ad.'),
  ]
}

/** Anybody's public address, where an embedding has room for two. */
const PUBLIC = numberOf('8.8.8.8')
const inverted = (ipv4: number): number => 2 ** 32 - 1 - ipv4

/** Ways to write an IPv4 address into an IPv6 one that lead wherever it leads. */
export const carriersOf = (ipv4: number): string[] => [
  `::ffff:${dotted(ipv4)}`,
  `::ffff:${groups(ipv4)}`,
  `0000:0:00:0:0:FFFF:${groups(ipv4).toUpperCase()}`,
  `64:ff9b::${dotted(ipv4)}`,
  `64:ff9b::${groups(ipv4)}`,
  `2002:${groups(ipv4)}::`,
  `2002:${groups(ipv4)}:1:2:3:4:5`,
  `2001:0:${groups(ipv4)}:0:0:${groups(inverted(PUBLIC))}`,
  `2001:0:${groups(PUBLIC)}:8000:63bf:${groups(inverted(ipv4))}`,
]
/** Ways that lead nowhere, or that only their network knows. */
const deadCarriersOf = (ipv4: number): string[] => [
  `::${groups(ipv4)}`,
  `::ffff:0:${dotted(ipv4)}`,
  `64:ff9b:1::${dotted(ipv4)}`,
]

function ipv6Hosts(bits: bigint): string[] {
  const eight = eightOf(bits)
  const long = eight.map((group) => group.padStart(4, '0')).join(':')
  const tail = dotted(Number(bits & 0xffff_ffffn))
  return [canonical(long), long, eight.join(':'), long.toUpperCase(), `${eight.slice(0, 6).join(':')}:${tail}`]
}

const bracketed = (ipv6: string): string => `[${ipv6}]`
const hostsOf = (ipv4: readonly number[], ipv6: readonly bigint[]): string[] => [
  ...ipv4.flatMap((one) => [...ipv4Hosts(one), ...[...carriersOf(one), ...deadCarriersOf(one)].map(bracketed)]),
  ...ipv6.flatMap((one) => [...ipv6Hosts(one), `${canonical(eightOf(one).join(':'))}%25eth0`].map(bracketed)),
]

const PORTS = ['', ':80', ':443', ':4010', ':0080', ':65535', ':22']
/** A host by itself, and where parsers have taken another for it. */
const urlsOf = (hosts: readonly string[]): string[] => [
  ...new Set(
    hosts.flatMap((host, i) => {
      const at = `${host}${PORTS[i % PORTS.length] ?? ''}`
      const odd = [
        `https://${at}/v1`,
        `http://vendor.example@${at}/v1`,
        `http://vendor.example:80@${at}/v1`,
        `http://vendor.example\\@${at}/v1`,
        `http://${at}\\@vendor.example/v1`,
        `http://${at}#@vendor.example/v1`,
        `http://${at}?@vendor.example/v1`,
        `http://:@${at}/v1`,
      ]
      return [`http://${at}/v1`, odd[i % odd.length] ?? '']
    }),
  ),
]

const ipv4 = { private: ipv4In(privateIpv4), barred: ipv4In(barredIpv4) }
const ipv6 = { private: ipv6In(privateIpv6), barred: ipv6In(barredIpv6) }

export const barredAddressUrls: readonly string[] = urlsOf(hostsOf(ipv4.barred, ipv6.barred))
export const hostileAddressUrls: readonly string[] = [
  ...new Set([...barredAddressUrls, ...urlsOf(hostsOf(ipv4.private, ipv6.private))]),
]

/** What a resolver, or somebody in its place, may answer for a name. */
export const hostileAnswers: readonly string[] = [
  ...new Set([
    ...[...ipv4.private, ...ipv4.barred].flatMap((one) => [
      dotted(one),
      ...[...carriersOf(one), ...deadCarriersOf(one)].flatMap((carrier) => [carrier, canonical(carrier)]),
    ]),
    ...[...ipv6.private, ...ipv6.barred].flatMap((one) => [...ipv6Hosts(one), `${eightOf(one).join(':')}%lo`]),
  ]),
]

/** The last address before each of the ranges and the first behind it, as far as anybody is there. */
const neighbours =
  '1.0.0.0 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0 168.63.129.15 168.63.129.17 ' +
  '169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0 191.255.255.255 192.0.1.0 192.0.1.255 192.0.3.0 192.88.98.255 ' +
  '192.88.100.0 192.167.255.255 192.169.0.0 198.17.255.255 198.20.0.0 198.51.99.255 198.51.101.0 203.0.112.255 ' +
  '203.0.114.0 223.255.255.255'
export const publicIpv4: readonly number[] = neighbours.split(' ').map(numberOf)
export const publicIpv6 =
  '2001:200:: 2001:db7:ffff:ffff:ffff:ffff:ffff:ffff 2001:db9:: 2003:: 2606:4700::1111 3ffe:ffff::1 3fff:1000::'.split(
    ' ',
  )

/** The address in a host, as the runtime writes it. */
export const addressIn = (host: string): string => new URL(`http://${host}`).hostname.replaceAll(/[[\]]/g, '')
export const dottedOf = dotted
