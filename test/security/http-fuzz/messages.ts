/** Random HTTP/1.1 messages as text, one character per byte: well-formed ones, and ones with a few faults. */
import type { Chooser } from '../../support/random.ts'

const METHODS = ['GET', 'POST', 'PUT', 'DELETE', 'HEAD', 'OPTIONS', 'PATCH']
const TARGETS = ['/', '/v1/chat/completions', '/a?b=c&d=%20', '/a/../b//', '/%00?x', 'http://h/x?y', 'https://h:1', '*']
const NAMES = [
  'X-A',
  'x-b',
  'Accept',
  'User-Agent',
  'authorization',
  'Content-Type',
  "x-!#$%&'*+.^_`|~",
  'Cookie',
  'TE',
]
const VALUES = [
  '1',
  '',
  'text/plain; charset="a b"',
  'a, b',
  '\x80\xff',
  'a\tb',
  '  c  ',
  '\t',
  'close',
  'x'.repeat(80),
]
const CONNECTIONS = ['close', 'keep-alive', 'Keep-Alive, close', 'x', 'closed']
const PAYLOADS = [
  '',
  'a',
  '{"model":"m"}',
  '\r\n\r\n',
  '0\r\n\r\n',
  'GET / HTTP/1.1\r\n\r\n',
  '\x00\xff'.repeat(9),
  'z'.repeat(300),
]
const EXTENSIONS = ['', '', '', ';a', ';a=b', ';a;b=1', ';a="b;\\"c"']
/** With blanks, or none. */
const ODD_EXTENSIONS = [' ; a = "b;\\"c"', ' ', '	;q=x', ';a ', ';', ';a="']
const TRAILERS = ['', '', '', 'x-t: 1\r\n', 'X-T:\t2 \r\nContent-Length: 3\r\n', 'bad\r\n', ' folded: 1\r\n']

/** Lines that have made two programs read one message differently. */
const SMUGGLED = [
  'Content-Length: 3',
  'Content-Length: +3',
  'Content-Length: 3, 3',
  'Content-Length: 0x3',
  'Content-Length:\xa03',
  'Content-Length : 3',
  'Transfer-Encoding: chunked',
  'Transfer-Encoding: Chunked ',
  'Transfer-Encoding: gzip, chunked',
  'Transfer-Encoding: chunked, identity',
  'Transfer-Encoding:\x0bchunked',
  'Transfer_Encoding: chunked',
  'Host: b',
  'Host: b:99999',
  ' folded',
  ': nameless',
  'Expect: 100-continue',
  'Expect: 200-ok',
  'Idempotency-Key: a',
]
const ODD = ['\r', '\n', '\r\n', '\t', ' ', ':', ';', ',', '\x00', '\x7f', '\x80', '\xff', '0', 'a', 'G', '-', '"', '/']

const letters = (dice: Chooser, name: string): string =>
  dice.chance(0.8)
    ? name
    : name
        .split('')
        .map((char) => (dice.chance(0.5) ? char.toUpperCase() : char.toLowerCase()))
        .join('')

const header = (dice: Chooser, name: string, value: string): string =>
  `${letters(dice, name)}:${dice.pick(['', ' ', ' ', ' ', '\t', '  '])}${value}${dice.pick(['', '', '', ' ', '\t'])}\r\n`

/** Nearly always short, and sometimes about as long as they may be. */
const trailers = (dice: Chooser): string =>
  dice.chance(0.02)
    ? `x-long: ${'y'.repeat(8_192 - 24 + dice.upTo(30) + dice.pick([0, 0, 4_000]))}\r\n`
    : dice.pick(TRAILERS)

const extension = (dice: Chooser): string => dice.pick(dice.chance(0.02) ? ODD_EXTENSIONS : EXTENSIONS)

function chunked(dice: Chooser, payload: string): string {
  let text = ''
  for (let at = 0; at < payload.length;) {
    const most = Math.min(payload.length - at, 40)
    const length = most >= 16 && dice.chance(0.1) ? 16 : 1 + dice.upTo(most - 1)
    const size = sizeOf(dice, length)
    text += `${size}${extension(dice)}\r\n${payload.slice(at, at + length)}\r\n`
    at += length
  }
  return `${text}${'0'.repeat(1 + dice.upTo(2))}${extension(dice)}\r\n${trailers(dice)}\r\n`
}

/** Codings and lengths that nobody may take for the plain ones, though all else of the message fits them. */
const CODINGS = ['xchunked', 'chunkedx', 'x-chunked', 'identity', '\x0bchunked', 'chunked\xa0', '"chunked"']
function lengthOf(dice: Chooser, length: number): string {
  if (dice.chance(0.95)) return String(length)
  return dice.pick([
    `+${length}`,
    `${length},${length}`,
    `0x${length.toString(16)}`,
    `${length}.0`,
    `\xa0${length}`,
    `${length}e0`,
  ])
}

function sizeOf(dice: Chooser, length: number): string {
  // One more letter than there are digits, with the value that it would have.
  if (length === 16 && dice.chance(0.3)) return dice.pick(['g', 'G'])
  if (dice.chance(0.01)) return dice.pick([`+${length}`, `0x${length.toString(16)}`, `-${length}`, `${length}.`])
  const digits = length.toString(16)
  return (dice.chance(0.5) ? digits : digits.toUpperCase()).padStart(1 + dice.upTo(3), '0')
}

function fields(dice: Chooser, payload: string, framing: 'none' | 'length' | 'chunked'): string {
  const lines = Array.from({ length: dice.upTo(4) }, () => header(dice, dice.pick(NAMES), dice.pick(VALUES)))
  if (framing === 'length') lines.push(header(dice, 'Content-Length', lengthOf(dice, payload.length)))
  if (framing === 'chunked')
    lines.push(header(dice, 'Transfer-Encoding', dice.chance(0.1) ? dice.pick(CODINGS) : letters(dice, 'chunked')))
  if (dice.chance(0.2)) lines.push(header(dice, 'Connection', dice.pick(CONNECTIONS)))
  return dice.shuffled(lines).join('')
}

function request(dice: Chooser): string {
  const payload = dice.pick(PAYLOADS)
  const framing =
    payload === '' ? dice.pick(['none', 'length', 'chunked'] as const) : dice.pick(['length', 'chunked'] as const)
  const version = dice.chance(0.1) ? '1.0' : '1.1'
  const start = `${dice.pick(METHODS)} ${dice.pick(TARGETS)} HTTP/${version}\r\n${header(dice, 'Host', dice.pick(['h', 'h:80', '[::1]']))}`
  const body = framing === 'chunked' ? chunked(dice, payload) : framing === 'length' ? payload : ''
  return `${start}${fields(dice, payload, framing)}\r\n${body}`
}

function answer(dice: Chooser): string {
  const interims = dice.chance(0.2) ? 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(1 + dice.upTo(9)) : ''
  const payload = dice.pick(PAYLOADS)
  const framing = dice.pick(['none', 'length', 'chunked'] as const)
  const status = dice.pick([
    '200 OK',
    '200 ',
    '200',
    '204 No Content',
    '304 Not Modified',
    '404 N\x80',
    '101 Switching',
    '599 x',
  ])
  const version = dice.chance(0.1) ? '1.0' : '1.1'
  const body = framing === 'chunked' ? chunked(dice, payload) : payload
  return `${interims}HTTP/${version} ${status}\r\n${fields(dice, payload, framing)}\r\n${body}`
}

function broken(dice: Chooser, text: string): string {
  const at = dice.upTo(text.length)
  const lineAt = text.indexOf('\r\n', at)
  switch (dice.upTo(7)) {
    case 0:
      return text.slice(0, at) + text.slice(at + 1 + dice.upTo(3))
    case 1:
      return text.slice(0, at) + dice.pick(ODD) + text.slice(at)
    case 2:
      return text.slice(0, at) + dice.pick(ODD) + text.slice(at + 1)
    case 3:
      return text.slice(0, at) + text.slice(Math.max(0, at - dice.upTo(20)))
    case 4:
      return text.slice(0, at)
    case 5:
      return lineAt === -1 ? text : `${text.slice(0, lineAt)}\n${text.slice(lineAt + 2)}`
    default:
      return lineAt === -1 ? text : `${text.slice(0, lineAt)}\r\n${dice.pick(SMUGGLED)}${text.slice(lineAt)}`
  }
}

/** What a client sends on one connection, or an upstream answers to one request. */
export function randomStream(dice: Chooser, side: 'request' | 'answer'): string {
  let text = ''
  // A client often repeats a head, and then only the bytes are compared.
  const one = side === 'request' ? request(dice) : answer(dice)
  if (side === 'answer') text = one
  else for (let left = 1 + dice.upTo(2); left > 0; left--) text += dice.chance(0.5) ? one : request(dice)
  if (dice.chance(0.1)) text = `\r\n${text}`
  if (dice.chance(0.03)) text = text.replace('\r\n\r\n', `\r\n${'x-long: y\r\n'.repeat(dice.pick([10, 99, 120]))}\r\n`)
  for (let faults = dice.pick([0, 0, 1, 1, 1, 2, 3]); faults > 0; faults--) text = broken(dice, text)
  return text
}
