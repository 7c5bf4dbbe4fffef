/**
 * Input that is not HTTP, or almost is: request lines, versions, framing, smuggling, control characters, sizes,
 * garbage.
 */
import fc from 'fast-check'
import { CHAT, chatText, HOPELESS, type Case } from './case.ts'

const anyByte = fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code))
const control = fc.constantFrom(...'\0\x01\x07\x08\x0b\x0c\x1b\x1f\x7f\r\n'.split(''))
const bytesOf = (minLength: number, maxLength: number): fc.Arbitrary<string> =>
  fc.string({ unit: anyByte, minLength, maxLength })

const wire = (name: string, bytes: fc.Arbitrary<string>, answersMax?: number): fc.Arbitrary<Case> =>
  bytes.map((text) => ({ kind: 'wire', name, bytes: text, ...(answersMax === undefined ? {} : { answersMax }) }))

const lineEnd = fc.constantFrom('\r\n', '\n', '\r', '\r\r\n', '\n\r', '\0\r\n')
const space = fc.constantFrom(' ', '  ', '\t', '', '\x0b', '\xa0', ' \t ')
const method = fc.constantFrom(
  'GET',
  'get',
  'POST',
  'G ET',
  '',
  'GET:',
  'PRI',
  '\0GET',
  'A'.repeat(25),
  'GËT',
  'CONNECT',
)
const target = fc.oneof(
  fc.constantFrom(
    CHAT,
    '*',
    '//',
    '/%',
    '/%zz',
    '/..',
    '\\',
    'http://',
    'https://a@b/',
    'ftp://x/',
    '/\x80',
    'a:1',
    '',
  ),
  bytesOf(0, 40),
)
const version = fc.constantFrom(
  'HTTP/1.1',
  'HTTP/1.0',
  'HTTP/0.9',
  'HTTP/1.2',
  'HTTP/2.0',
  'HTTP/3',
  'HTTP/11.1',
  'HTTP/1.1 ',
  'http/1.1',
  'HTTP/1,1',
  'HTTP 1.1',
  '',
  'HTTP/1.1\0',
)

const requestLine = fc
  .tuple(method, space, target, space, version, lineEnd, lineEnd)
  .map(([verb, one, path, two, spoken, end, last]) => `${verb}${one}${path}${two}${spoken}${end}host: x${last}\r\n`)

const head = `POST ${CHAT} HTTP/1.1\r\nhost: gateway\r\ncontent-type: application/json\r\n`
const inner = 'GET /healthz HTTP/1.1\r\nhost: smuggled\r\n\r\n'

const chunkSize = fc.oneof(
  fc.constantFrom('zz', '-1', '0x5', '5 ', ' 5', '+5', '', '5;', '5;a=b', '5\t', '٥', '1e1', '00000000005', '5\0'),
  fc.constantFrom('FFFFFFFF', 'FFFFFFFFF', '7fffffffffffffff', `5;${'x'.repeat(400)}`),
  bytesOf(0, 12),
)
const chunks = fc
  .tuple(chunkSize, lineEnd, fc.constantFrom('hello', 'hell', 'hello!', ''), lineEnd, bytesOf(0, 20))
  .map(([size, end, payload, last, rest]) => `${size}${end}${payload}${last}0${end}${rest}\r\n\r\n`)

const coding = fc.constantFrom(
  'chunked',
  'Chunked',
  'xchunked',
  'chunked, identity',
  'identity, chunked',
  'chunked, chunked',
  'gzip, chunked',
  '"chunked"',
  '\x0bchunked',
  'chunked\x00',
  'chun ked',
  '',
)
const codingName = fc.constantFrom(
  'transfer-encoding: ',
  'Transfer-Encoding:',
  'transfer-encoding : ',
  ' transfer-encoding: ',
  'transfer_encoding: ',
  'transfer-encoding:\t',
  'x: y\r\n transfer-encoding: ',
  'transfer-encoding:\r\n ',
  'transfer-encoding\0: ',
)
const length = fc.constantFrom(
  '0',
  '5',
  '6',
  '44',
  '-5',
  '+5',
  '5, 5',
  '5,6',
  '0x5',
  '5 5',
  '5.0',
  '1e1',
  '٥',
  '',
  '5\x0b',
  '99999999999999999999',
)

/** Two lengths, or a length and a coding, and a second request where one reading ends and the other goes on. */
const smuggling = fc
  .tuple(codingName, coding, length, fc.option(length), fc.boolean())
  .map(([name, how, one, two, codingFirst]) => {
    const coded = `${name}${how}\r\n`
    const sized = `content-length: ${one}\r\n${two === null ? '' : `Content-Length: ${two}\r\n`}`
    return `${head}${codingFirst ? coded + sized : sized + coded}\r\n0\r\n\r\n${inner}`
  })

const valid = (key: string): string => chatText(key, HOPELESS)
const at = (text: string, position: number): number => Math.floor(position * (text.length + 1))
const position = fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true })

const oversize = fc
  .tuple(fc.integer({ min: 16_500, max: 70_000 }), fc.constantFrom('line', 'name', 'value', 'query', 'blank'))
  .map(([size, where]) => {
    const long = 'a'.repeat(size)
    if (where === 'line') return `${long} / HTTP/1.1\r\nhost: x\r\n\r\n`
    if (where === 'query') return `GET /?${long} HTTP/1.1\r\nhost: x\r\n\r\n`
    if (where === 'blank') return `${'\r\n'.repeat(size)}!\r\n\r\n`
    return `GET /healthz HTTP/1.1\r\nhost: x\r\n${where === 'name' ? `${long}: 1` : `x: ${long}`}\r\n\r\n`
  })

const protocols = fc.constantFrom(
  '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
  'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\x12\x04\0\0\0\0\0',
  'SSH-2.0-OpenSSH_9.9\r\n',
  'EHLO mail\r\n',
  '*1\r\n$4\r\nPING\r\n',
  '\x05\x01\x00',
  '{"jsonrpc":"2.0"}\r\n\r\n',
)

/** What comes over a connection that is not, or not only, a request. */
export const wireCases = (key: string): fc.Arbitrary<Case> =>
  fc.oneof(
    wire('request line', requestLine),
    wire(
      'chunks',
      chunks.map((text) => `${head}transfer-encoding: chunked\r\n\r\n${text}`),
      2,
    ),
    wire('smuggling', smuggling, 2),
    wire(
      'control character',
      fc.tuple(control, position).map(([code, where]) => {
        const text = valid(key)
        return text.slice(0, at(text, where)) + code + text.slice(at(text, where))
      }),
    ),
    wire(
      'random byte',
      fc.tuple(fc.array(fc.tuple(anyByte, position), { minLength: 1, maxLength: 6 })).map(([edits]) => {
        let text = valid(key)
        for (const [byte, where] of edits)
          text = text.slice(0, at(text, where)) + byte + text.slice(at(text, where) + 1)
        return text
      }),
    ),
    wire(
      'cut off',
      position.map((where) => valid(key).slice(0, at(valid(key), where))),
    ),
    wire(
      'pipelined garbage',
      bytesOf(1, 200).map((text) => `${inner}${valid(key)}${text}\r\n\r\n${inner}`),
    ),
    wire('garbage', bytesOf(1, 2_000)),
    wire('another protocol', protocols),
    { arbitrary: wire('oversize', oversize), weight: 1 },
  )
