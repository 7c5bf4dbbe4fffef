/** URLs that could make a gateway call forbidden addresses. All of them mean port 4010. */

const PORT = 4010
const at = (hosts: readonly string[]): string[] => hosts.map((host) => `http://${host}:${PORT}/v1`)
const words = (text: string): string[] => text.trim().split(/ +|\n */)

const loopbackIpv4 = at(
  words(`
    127.0.0.1 127.0.0.1. 127.1 127.1. 127.0.1 127.127.127.127 127.255.255.254 127.0.0.01
    2130706433 2130706433. 0x7f000001 0X7F000001 0x7f000001. 0x7f.0.0.1 0x7f.0x0.0x0.0x1
    0x7f.1 0x7f.0.1 0x0000007f.1 0177.0.0.1 0177.0.0.01 00000177.1 017700000001 0177.0x0.1
    127.000.000.001 127.0x0.0.1 127.0.0x1 127.0.0.0x1 127.0.0.00000001 127.0.256 127.65536
    ①②⑦.⓪.⓪.① 127。0。0。1 127．0．0．1 127｡0｡0｡1 １２７.０.０.１ 𝟏𝟐𝟕.𝟎.𝟎.𝟏 𝟭𝟮𝟳.1 ⑴27.0.0.1
    %31%32%37.0.0.1 127%2e0%2e0%2e1 127.0.0.%31 %3127.0.0.1 127.0.0.1%2e %32%31%33%30706433
    0 0. 0x0 00 0.0.0.0 0.0.0.0. 000.000.000.000 0.0 0.0.0.1 0x00000000
  `),
)

const loopbackIpv6 = at(
  words(`
    [::1] [0:0:0:0:0:0:0:1] [0000:0000:0000:0000:0000:0000:0000:0001] [0::1] [::0001] [::0.0.0.1]
    [::ffff:127.0.0.1] [::ffff:7f00:1] [::FFFF:7F00:0001] [0:0:0:0:0:ffff:127.0.0.1]
    [0::ffff:7f00:1] [::127.0.0.1] [::7f00:1] [::ffff:0:127.0.0.1] [::ffff:0:7f00:1] [::ffff:127.1]
    [::ffff:0.0.0.0] [64:ff9b::127.0.0.1] [64:ff9b::7f00:1] [64:ff9b:1::127.0.0.1]
    [64:ff9b:1:7f00:0:100::] [64:ff9b::0] [2002:7f00:1::] [2002:7f00:1::1]
    [2002:7f00:0001:0:0:0:0:7f00] [2001:0:7f00:1::] [2001::7f00:1]
    [2001:0:808:808:8000:63bf:80ff:fffe] [::] [0:0:0:0:0:0:0:0] [::1%25lo] [::1%lo] [fe80::1%25lo]
    [fe80::1%25eth0] [::1]x [::1 ::1 [::ffff:127.0.0.1%25lo] [v1.127.0.0.1]
  `),
)

const elsewhere = at(
  words(`
    169.254.169.254 169.254.169.254. 2852039166 0xa9fea9fe 0251.0376.0251.0376 169.254.43518
    [::ffff:169.254.169.254] [::ffff:a9fe:a9fe] [64:ff9b::a9fe:a9fe] [2002:a9fe:a9fe::]
    [::a9fe:a9fe] 169.254.170.2 100.100.100.200 192.0.0.192 168.63.129.16 [fd00:ec2::254]
    [fd20:ce::254] 10.0.0.1 10.1 167772161 172.16.0.1 172.31.255.254 192.168.0.1 192.168.257
    3232235521 100.64.0.1 198.18.0.1 192.0.2.1 198.51.100.1 203.0.113.1 192.88.99.1 224.0.0.1
    239.1.1.1 240.0.0.1 255.255.255.255 4294967295 [fc00::1] [fd12:3456::1] [fe80::1] [febf::1]
    [fec0::1] [ff02::1] [2001:db8::1] [3fff::1] [100::1] [5f00::1] [::ffff:10.0.0.1]
    [64:ff9b::10.0.0.1] [2002:c0a8:101::1] [2001:0:a00:1::1] [2001:2::1] [2001:20::1] [4000::1]
    [::ffff:192.168.0.1]
  `),
)

const localhosts = at(
  words(`
    localhost LOCALHOST lOcAlHoSt localhost. x.localhost a.b.localhost. vendor.example.localhost
    ⓛⓞⓒⓐⓛⓗⓞⓢⓣ ℓocalhost ｌｏｃａｌｈｏｓｔ loc\u00adalhost localhoſt localhost。 %6cocalhost localhost%2e
  `),
)

const authorities = [
  `http://vendor.example@127.0.0.1:${PORT}/v1`,
  `http://vendor.example:80@127.0.0.1:${PORT}/v1`,
  `http://vendor.example%40127.0.0.1:${PORT}/v1`,
  `http://127.0.0.1:${PORT}#@vendor.example/v1`,
  `http://127.0.0.1:${PORT}?@vendor.example/v1`,
  `http://127.0.0.1:${PORT}/@vendor.example/v1`,
  `http://user:secret@localhost:${PORT}/v1`,
  `http://@127.0.0.1:${PORT}/v1`,
  `http://:@127.0.0.1:${PORT}/v1`,
  `http://a@b@127.0.0.1:${PORT}/v1`,
  `http://vendor.example;@127.0.0.1:${PORT}/v1`,
  `http://vendor.example&@127.0.0.1:${PORT}#@vendor.example/`,
  `http://127.0.0.1:${PORT}:80/v1`,
  `http://127.0.0.1:0x0faa/v1`,
  `http://vendor.example:80:${PORT}/v1`,
  `http://127.0.0.1:${PORT}\\@vendor.example/v1`,
  `http://vendor.example\\@127.0.0.1:${PORT}/v1`,
  `http://vendor.example:80\\@127.0.0.1:${PORT}/v1`,
  `http:\\\\127.0.0.1:${PORT}\\v1`,
  `http:/\\127.0.0.1:${PORT}/v1`,
  `http:\\/127.0.0.1:${PORT}/v1`,
  `\\\\127.0.0.1:${PORT}/v1`,
  `/\\127.0.0.1:${PORT}/v1`,
  `//127.0.0.1:${PORT}/v1`,
  `///127.0.0.1:${PORT}/v1`,
  `http:127.0.0.1:${PORT}/v1`,
  `http:/127.0.0.1:${PORT}/v1`,
  `http:///127.0.0.1:${PORT}/v1`,
  `http:////127.0.0.1:${PORT}/v1`,
  `http://///localhost:${PORT}/v1`,
  `https:127.0.0.1:${PORT}/v1`,
  `https://127.0.0.1:${PORT}/v1`,
  `hTTpS://localhost:${PORT}/v1`,
  `127.0.0.1:${PORT}/v1`,
  `localhost:${PORT}/v1`,
  `http://http://127.0.0.1:${PORT}/v1`,
]

/** What parsers strip, fold or stumble over, at the places where they do. */
const whiteSpace = ['\t', '\n', '\r', '\r\n', ' ', '\0', '\v', '\f', '\u007f', '\u0085', '\u00a0', '\u2028', '\u3000']
const spaced = whiteSpace.flatMap((space) => [
  `${space}http://127.0.0.1:${PORT}/v1`,
  `ht${space}tp://127.0.0.1:${PORT}/v1`,
  `http:/${space}/127.0.0.1:${PORT}/v1`,
  `http://127.0${space}.0.1:${PORT}/v1`,
  `http://vendor.example${space}@127.0.0.1:${PORT}/v1`,
  `http://127.0.0.1:${PORT}/v1${space}`,
])

const schemes =
  'file ftp ftps gopher dict ldap ldaps tftp sftp ssh smb telnet ws wss jar netdoc php phar blob about data javascript ' +
  'mailto unix http+unix httpx httpss view-source chrome ipfs s3 git redis'
const schemed = schemes.split(' ').map((scheme) => `${scheme}://127.0.0.1:${PORT}/v1`)
const opaque = [
  'file:///etc/passwd',
  'data:text/plain,hello',
  'javascript:alert(1)',
  'about:blank',
  'mailto:a@b.example',
]

/** Names that anybody can have, and what their zone answers. */
export const hostileZones: Readonly<Record<string, readonly string[]>> = {
  '127.0.0.1.nip.example': ['127.0.0.1'],
  'localtest.example': ['127.0.0.1', '::1'],
  'six.example': ['::1'],
  'mapped.example': ['::ffff:127.0.0.1'],
  'mapped-hex.example': ['::ffff:7f00:1'],
  'compatible.example': ['::127.0.0.1'],
  'translated.example': ['64:ff9b::7f00:1'],
  'locally-translated.example': ['64:ff9b:1::7f00:1'],
  'tunnelled.example': ['2002:7f00:1::1'],
  'teredo.example': ['2001:0:808:808::80ff:fffe'],
  'nothing.example': ['0.0.0.0'],
  'nothing-six.example': ['::'],
  'metadata.example': ['169.254.169.254'],
  'metadata-six.example': ['fd00:ec2::254'],
  'ten.example': ['10.0.0.1'],
  'home.example': ['192.168.1.1'],
  'office.example': ['172.20.0.1'],
  'shared.example': ['100.64.0.1'],
  'unique-local.example': ['fd00::1'],
  'link.example': ['fe80::1'],
  'link-zone.example': ['fe80::1%lo', '::1%lo'],
  'everybody.example': ['224.0.0.1', 'ff02::1', '255.255.255.255'],
  'several.example': ['10.0.0.1', '127.0.0.1', '::1', '169.254.169.254'],
  'name.example': ['localhost'],
  'short.example': ['127.1'],
  'hexadecimal.example': ['0x7f.0.0.1'],
  'number.example': ['2130706433'],
  'dotted.example': ['127.0.0.1.'],
  'spaced.example': [' 127.0.0.1', '127.0.0.1\n'],
  'bracketed.example': ['[::1]'],
  'empty.example': [''],
  'none.example': [],
}

export const hostileUrls: readonly string[] = [
  ...loopbackIpv4,
  ...loopbackIpv6,
  ...elsewhere,
  ...localhosts,
  ...authorities,
  ...spaced,
  ...schemed,
  ...opaque,
  ...at(Object.keys(hostileZones)),
]
