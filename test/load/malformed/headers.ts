/** Requests with headers that are too large, too many, repeated, contradictory, or contain forbidden bytes. */
import fc from 'fast-check'
import { CHAT, HOPELESS, type Case } from './case.ts'

const START = `POST ${CHAT} HTTP/1.1\r\n`
const HOST = 'host: gateway\r\n'
const JSON_TYPE = 'content-type: application/json\r\n'
const LENGTH = `content-length: ${HOPELESS.length}\r\n`
const request = (name: string, headers: fc.Arbitrary<string>): fc.Arbitrary<Case> =>
  headers.map((text) => ({ kind: 'request', name, bytes: `${START}${text}\r\n${HOPELESS}` }))

const value = fc.string({
  unit: fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code)),
  maxLength: 60,
})
const letters = fc.constantFrom(...'abcdefghijklmnopqrstuvwxyz-'.split(''))
const name = fc.string({ unit: letters, minLength: 1, maxLength: 20 }).map((text) => `x-${text}`)

/** A key that is nearly the right one. */
function nearly(key: string): fc.Arbitrary<string> {
  const position = fc.integer({ min: 0, max: key.length - 1 })
  return fc.oneof(
    fc.tuple(position, letters).map(([at, letter]) => `${key.slice(0, at)}${letter}${key.slice(at + 1)}!`),
    position.map((at) => key.slice(0, at)),
    fc.constantFrom(key.toUpperCase(), key.toLowerCase(), ` ${key}`.repeat(2), `${key}${key}`, `"${key}"`, `sk-${key}`),
    value,
  )
}
const scheme = fc.constantFrom(
  'Bearer ',
  'bearer',
  'Basic ',
  'Bearer\t',
  'BEARER  ',
  'Token ',
  '',
  'Bearer: ',
  'Bearer=',
)

const authorization = (key: string): fc.Arbitrary<string> =>
  fc
    .tuple(
      fc.constantFrom('authorization', 'x-api-key', 'api-key', 'cookie', 'proxy-authorization'),
      scheme,
      nearly(key),
    )
    .map(([header, how, what]) => `${HOST}${JSON_TYPE}${LENGTH}${header}: ${how}${what}\r\n`)

const doubled = (key: string): fc.Arbitrary<string> => {
  const lines = [HOST, JSON_TYPE, LENGTH, `authorization: Bearer ${key}\r\n`]
  const isDoubled = fc.array(fc.boolean(), { minLength: 4, maxLength: 4 }).filter((flags) => flags.includes(true))
  return isDoubled.map((flags) => lines.map((line, i) => (flags[i] ? line + line.toUpperCase() : line)).join(''))
}

/** Bytes that a name, or a value, must not have. */
const forbidden = fc.oneof(
  fc
    .tuple(fc.constantFrom(...'\0 \t"(),/:;<=>?@[\\]{}\x7f\x80\xff'.split('')), name)
    .map(([byte, text]) => `${text}${byte}x: 1`),
  fc
    .tuple(fc.constantFrom(...'\0\x01\x08\x0b\x0c\x1f\x7f\r\n'.split('')), name, value)
    .map(([byte, text, rest]) => `${text}: a${byte}${rest}`),
  fc.constantFrom(': no name', 'no colon', ' folded: 1', '\tfolded', 'x:\r\n y'),
)

const types = fc.constantFrom(
  '',
  'content-type:',
  'content-type: text/plain',
  'content-type: application/jsonp',
  'content-type: multipart/form-data; boundary=x',
  `content-type: ${'a'.repeat(9_000)}`,
)
const odd = fc.constantFrom(
  'content-encoding: gzip',
  'content-encoding: identity',
  'expect: 200-ok',
  'expect: 100-continue, x',
  `idempotency-key: ${'k'.repeat(256)}`,
  'idempotency-key: \xff',
  'upgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-key: x',
  'upgrade: h2c\r\nconnection: upgrade, http2-settings',
  'connection: \x7e, close',
  `x-forwarded-for: ${'1.1.1.1, '.repeat(1_500)}`,
  'origin: null',
  'trailer: content-length',
  'te: trailers, deflate;q=0.5',
  'x-http-method-override: DELETE',
  'range: bytes=0-0,1-1',
)

/** Lengths that are none, too short or too long: the body, or what is left of it, is then something else. */
const lengths = fc.oneof(
  fc.constantFrom(
    '-1',
    '+55',
    '55 55',
    '0x37',
    '5e1',
    '55.0',
    ' ',
    '\xa055',
    '55\xa0',
    '٥٥',
    '99999999999999999999',
    'NaN',
  ),
  fc.integer({ min: 0, max: 200 }).map(String),
  fc.constantFrom('33554433', '999999999999999'),
)

/** The fourth part of what the headers can be wrong with, each as likely. */
export function headerCases(key: string): fc.Arbitrary<Case> {
  const sound = `${HOST}${JSON_TYPE}${LENGTH}authorization: Bearer ${key}\r\n`
  const withTail = (line: fc.Arbitrary<string>): fc.Arbitrary<string> => line.map((text) => `${sound}${text}\r\n`)
  const unsure = lengths.map((length): Case => ({
    kind: 'wire',
    name: 'content-length',
    bytes: `${START}${HOST}${JSON_TYPE}authorization: Bearer ${key}\r\ncontent-length: ${length}\r\n\r\n${HOPELESS}`,
  }))
  return fc.oneof(
    { arbitrary: request('authorization', authorization(key)), weight: 6 },
    { arbitrary: request('doubled', doubled(key)), weight: 2 },
    { arbitrary: request('forbidden bytes', withTail(forbidden)), weight: 4 },
    { arbitrary: request('odd', withTail(odd)), weight: 4 },
    {
      arbitrary: request(
        'content-type',
        types.map((line) => `${HOST}${LENGTH}authorization: Bearer ${key}\r\n${line}${line === '' ? '' : '\r\n'}`),
      ),
      weight: 1,
    },
    { arbitrary: unsure, weight: 3 },
    {
      arbitrary: request('many', withTail(fc.integer({ min: 98, max: 900 }).map((n) => 'x: 1\r\n'.repeat(n) + 'y: 2'))),
      weight: 1,
    },
    {
      arbitrary: request('giant', withTail(fc.integer({ min: 16_400, max: 60_000 }).map((n) => `x: ${'v'.repeat(n)}`))),
      weight: 1,
    },
    { arbitrary: request('no host', fc.constant(`${JSON_TYPE}${LENGTH}authorization: Bearer ${key}\r\n`)), weight: 1 },
  )
}
