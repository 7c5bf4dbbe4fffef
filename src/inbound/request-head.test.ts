import { expect, test } from 'bun:test'
import { LastHead, readRequestHead, type ReadHead } from './request-head.ts'

const head = (...headers: string[]): string => ['POST /v1/x HTTP/1.1', 'Host: a', ...headers].join('\r\n')

function read(text: string): ReadHead {
  const got = readRequestHead(text)
  if (got.kind === 'malformed') throw new Error(got.message)
  return got
}

function after(text: string): LastHead {
  const last = new LastHead()
  last.remember(text, read(text))
  return last
}

const bytesOf = (text: string): Buffer => Buffer.from(text, 'latin1')

test('two idempotency keys in one request are refused', () => {
  expect(readRequestHead(head('Idempotency-Key: a', 'idempotency-key: a'))).toEqual({
    kind: 'malformed',
    status: 400,
    message: 'There is more than one Idempotency-Key.',
  })
})

test.each([
  ['a length', head('Content-Length: 17', 'X: 1'), head('Content-Length: 17', 'X: 1')],
  ['another length', head('Content-Length: 17', 'X: 1'), head('Content-Length: 99', 'X: 1')],
  ['a longer one', head('content-length:9', 'X: 1'), head('content-length:123456789012345', 'X: 1')],
  ['one with blanks, at the end', head('X: 1', 'Content-Length: \t 5 '), head('X: 1', 'Content-Length: \t 67 ')],
  ['no length', head('X: 1'), head('X: 1')],
  ['chunks', head('Transfer-Encoding: chunked'), head('Transfer-Encoding: chunked')],
])('a head with %s is recognised, and gives the same as if it were parsed', (_, first, second) => {
  const behind = bytesOf(`..${second}\r\n\r\n{"a":1}`)
  const last = after(first)
  const anew = read(second)
  expect(last.again(behind, 2)).toEqual({ ...anew, framing: read(first).framing })
  expect([last.framing, last.end]).toEqual([anew.framing, behind.length - 7])
})

test.each([
  ['nothing was read before', '', head()],
  ['a name differs', head('X-A: 1'), head('X-B: 1')],
  ['a value differs behind the length', head('Content-Length: 5', 'X: 1'), head('Content-Length: 5', 'X: 2')],
  ['there is one more', head('Content-Length: 5'), head('Content-Length: 5', 'X: 1')],
  ['there is one less', head('X: 1', 'Y: 2'), head('X: 1')],
  ['the length is none', head('Content-Length: 5'), head('Content-Length: +5')],
  ['the length is missing', head('Content-Length: 5'), head('Content-Length: ')],
  ['the length is two', head('Content-Length: 5'), head('Content-Length: 5, 5')],
  ['the length is too long', head('Content-Length: 5'), head('Content-Length: 1234567890123456')],
  ['the length is in a name that ends alike', head('X-Content-Length: 5'), head('X-Content-Length: 6')],
  ['it is large', head(`X: ${'x'.repeat(5_000)}`), head(`X: ${'x'.repeat(5_000)}`)],
])('a head is parsed anew if %s', (_, first, second) => {
  const last = first === '' ? new LastHead() : after(first)
  expect(last.again(bytesOf(`${second}\r\n\r\n`), 0)).toBeUndefined()
})

test('an incomplete head is not recognised, wherever it is cut', () => {
  const whole = head('Content-Length: 17', 'X: 1')
  const last = after(whole)
  const bytes = bytesOf(`${whole}\r\n\r\n`)
  for (let end = 0; end < bytes.length; end++) expect(last.again(bytes.subarray(0, end), 0)).toBeUndefined()
  expect(last.again(bytes, 0)).toBeDefined()
})

test.each(['', ' ', ':80', 'a:99999', 'a b', 'a/b', 'a,b', 'user@a'])('the Host %j is invalid', (host) => {
  const text = ['POST /v1/x HTTP/1.1', `Host: ${host}`].join('\r\n')
  expect(readRequestHead(text)).toMatchObject({
    kind: 'malformed',
    status: 400,
    message: 'The Host header is not a valid host.',
  })
  expect(readRequestHead(text.replace('1.1', '1.0'))).toMatchObject({ kind: 'malformed', status: 400 })
})

test.each(['a', 'a:', 'a:65535', '[::1]:80', '127.0.0.1'])('the Host %j is valid', (host) => {
  expect(readRequestHead(['POST /v1/x HTTP/1.1', `Host: ${host}`].join('\r\n')).kind).toBe('read')
})
