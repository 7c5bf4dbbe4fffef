import { afterEach, expect, test } from 'bun:test'
import { rawClient, type RawClient } from '../../test/support/raw-client.ts'
import type { ConnectionLimits } from './connection-limits.ts'
import type { BodyText } from './body-text.ts'
import type { ServerExchange } from './exchange.ts'
import { SharedBudget } from '../lib/primitives/shared-budget.ts'
import { listen, type Server } from './server.ts'

type Handler = (exchange: ServerExchange) => void

const open: Server[] = []
const clients: RawClient[] = []
const errors: Error[] = []
const rejections: unknown[] = []
process.on('unhandledRejection', (reason) => rejections.push(reason))

/** After each test, the server has no clients left, and there was no unexpected error. */
afterEach(async () => {
  for (const client of clients.splice(0)) client.close()
  for (const server of open.splice(0)) {
    for (let i = 0; i < 100 && server.connections > 0; i++) await Bun.sleep(5)
    expect(server.connections).toBe(0)
    server.close()
  }
  expect(errors.splice(0)).toEqual([])
  expect(rejections.splice(0)).toEqual([])
})

function start(handle: Handler, limits: Partial<ConnectionLimits> = {}): Server {
  const server = listen({
    hostname: '127.0.0.1',
    port: 0,
    handle,
    limits,
    refuse: ({ message }) => ({ headers: { 'content-type': 'text/plain' }, body: message }),
    onError: (error) => errors.push(error),
  })
  open.push(server)
  return server
}

async function dial(server: Server): Promise<RawClient> {
  const client = await rawClient(server.port)
  clients.push(client)
  return client
}

const sayPath: Handler = (exchange) => exchange.reply(200, {}, exchange.head.path + exchange.head.query)
const bodyLimits = { bytesMax: 1_000_000, graceMs: 5_000, bytesPerSecondMin: 1e6 }
/** Reads the body, then answers with the result of the reading. */
const sayBody: Handler = (exchange) => {
  void exchange.readText(bodyLimits).then((body) => exchange.reply(200, {}, describe(body)))
}
const describe = (body: BodyText): string => (body.kind === 'read' ? `<${body.text}>` : body.kind)
const later =
  (handle: Handler): Handler =>
  (exchange) =>
    void setTimeout(handle, 5, exchange)

const get = (target: string, ...headers: string[]): string =>
  [`GET ${target} HTTP/1.1`, 'Host: a', ...headers, '', ''].join('\r\n')
const post = (body: string, ...headers: string[]): string =>
  [`POST / HTTP/1.1`, 'Host: a', `Content-Length: ${body.length}`, ...headers, '', body].join('\r\n')
const chunked = (body: string, ...headers: string[]): string =>
  ['POST / HTTP/1.1', 'Host: a', 'Transfer-Encoding: chunked', ...headers, '', body].join('\r\n')

test('a request may come byte by byte, with line ends between requests', async () => {
  const client = await dial(start(sayBody))
  for (const byte of `\r\n${post('hello')}\r\n\r\n${chunked('3;x=1\r\nabc\r\n2\r\nde\r\n0\r\nT: 1\r\n\r\n')}`) {
    client.send(byte)
    await Promise.resolve()
  }
  await client.until(({ statuses }) => statuses.length === 2)
  expect(client.text).toContain('<hello>')
  expect(client.text).toContain('<abcde>')
})

test.each([
  ['at once', sayPath],
  ['later', later(sayPath)],
])('pipelined requests answered %s are answered in order', async (_, handle) => {
  const client = await dial(start(handle))
  client.send([get('/1'), get('/2?x'), get('/3'), get('/4', 'Connection: close'), get('/5')].join(''))
  await client.ended()
  expect(client.text.match(/(?<=\n)\/.*?(?=HTTP|$)/g)).toEqual(['/1', '/2?x', '/3', '/4'])
  expect(client.ending).toBe('fin')
})

test('a client that sends far ahead must wait, and loses nothing', async () => {
  let handled = 0
  const held: ServerExchange[] = []
  const server = start((exchange) => {
    handled++
    if (exchange.head.path === '/held') held.push(exchange)
    else exchange.reply(200, {}, '.')
  })
  const client = await dial(server)
  client.send(get('/held'))
  client.send(get('/next', `x-pad: ${'p'.repeat(8_000)}`).repeat(2_000))
  await Bun.sleep(50)
  expect(handled).toBe(1)
  expect(client.socket.writableLength).toBeGreaterThan(1_000_000)
  held[0]?.reply(200, {}, '.')
  await client.until(({ statuses }) => statuses.length === 2_001)
})

test('a client that sends requests and never reads does not fill the memory', async () => {
  let handled = 0
  const server = start((exchange) => {
    handled++
    exchange.reply(200, {}, 'x'.repeat(100_000))
  })
  const client = await dial(server)
  client.socket.pause()
  client.send(get('/').repeat(5_000))
  await Bun.sleep(100)
  // The kernel's buffers and the one waiting answer. 5,000 answers would be 500 MB.
  expect(handled).toBeLessThan(200)
  client.socket.resume()
  await client.until(() => handled > 1_000)
})

test.each<[string, string, number]>([
  ['no host', 'GET / HTTP/1.1\r\n\r\n', 400],
  ['a path for a host', 'GET / HTTP/1.1\r\nHost: a/../b\r\n\r\n', 400],
  ['a host with a space', 'GET / HTTP/1.1\r\nHost: a b\r\n\r\n', 400],
  ['a host with somebody at it', 'GET / HTTP/1.1\r\nHost: a@b\r\n\r\n', 400],
  ['two hosts', 'GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n', 400],
  ['a target without a slash', get('x'), 400],
  ['a target with a space', get('/a b'), 400],
  ['a target that is not ASCII', get('/\xe9'), 400],
  ['a URL without an authority', get('http:///x'), 400],
  ['another scheme', get('ftp://a/x'), 400],
  ['CONNECT', 'CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n', 400],
  ['a method in lower case', 'get / HTTP/1.1\r\nHost: a\r\n\r\n', 400],
  ['HTTP/0.9', 'GET /\r\n\r\n', 400],
  ['HTTP/1.2', 'GET / HTTP/1.2\r\nHost: a\r\n\r\n', 400],
  ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400],
  ['the hello of TLS', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 400],
  ['a length and a coding', chunked('0\r\n\r\n', 'Content-Length: 5'), 400],
  ['two lengths', post('', 'Content-Length: 5'), 400],
  ['two lengths in one', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5, 5\r\n\r\nabcde', 400],
  ['a signed length', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: +5\r\n\r\nabcde', 400],
  ['a length behind another space', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: \xa05\r\n\r\nabcde', 400],
  ['an empty length', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length:\r\n\r\nabcde', 400],
  ['an unknown coding', 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n', 400],
  ['two codings', 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n', 400],
  ['a coding in HTTP/1.0', 'POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n', 400],
  ['a folded line', get('/', 'x: 1', ' y'), 400],
  ['a bare line feed', 'GET / HTTP/1.1\r\nHost: a\nX: 1\r\n\r\n', 400],
  ['a null', get('/', 'x: \0'), 400],
  ['a space before the colon', get('/', 'Content-Length : 5'), 400],
  ['a header without a colon', get('/', 'nonsense'), 400],
  ['an expectation', post('', 'Expect: gold'), 417],
  ['many headers', get('/', ...Array.from({ length: 100 }, (_, i) => `x${i}: 1`)), 431],
  ['a large head', get('/', `x: ${'x'.repeat(20_000)}`), 431],
])('%s is refused and nothing after it is read', async (_, message, status) => {
  const client = await dial(start(sayBody))
  client.send(message + get('/smuggled'))
  await client.ended()
  expect(client.statuses).toEqual([status])
  expect(client.ending).toBe('fin')
  expect(client.text).toContain('connection: close\r\n')
  expect(client.text).not.toContain('smuggled')
})

test('TLS is refused at once, because both sides would wait', async () => {
  const client = await dial(start(sayPath))
  expect(await client.send('\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03').ended()).toContain(' 400 ')
})

test.each([
  ['a path', '/a%20b?c=/d', '/a%20b', '?c=/d'],
  ['a URL', 'http://a:1/b/c?d', '/b/c', '?d'],
  ['a URL without a path', 'https://a', '/', ''],
  ['a URL with only a query', 'http://a?b=/c', '/', '?b=/c'],
  ['an asterisk', '*', '*', ''],
])('the target may be %s', async (_, target, path, query) => {
  const heads: string[][] = []
  const server = start((exchange) => {
    heads.push([exchange.head.path, exchange.head.query])
    exchange.reply(200, {}, '')
  })
  const client = await dial(server)
  client.send(`OPTIONS ${target} HTTP/1.1\r\nHost: a\r\n\r\n`)
  await client.has('200')
  expect(heads).toEqual([[path, query]])
})

test.each([
  ['HTTP/1.0', '', 'close'],
  ['HTTP/1.0', 'Connection: Keep-Alive\r\n', 'keep-alive'],
  ['HTTP/1.0', 'Connection: upgrade\r\n', 'close'],
  ['HTTP/1.1', 'Host: a\r\n', 'open'],
  ['HTTP/1.1', 'Host: a\r\nConnection: keep-alive, Close\r\n', 'close'],
  ['HTTP/1.1', 'Host: a\r\nConnection: x-close\r\n', 'open'],
])('%s with %j leaves the connection %s', async (version, headers, expected) => {
  const client = await dial(start(sayPath))
  client.send(`GET /x ${version}\r\n${headers}\r\n`)
  await client.has('/x')
  if (expected === 'close') await client.ended()
  else expect(client.send(`GET /y ${version}\r\n${headers}\r\n`) && (await client.has('/y'))).toContain('/y')
  expect(/connection: (.*)\r/.exec(client.text)?.[1] ?? 'open').toBe(expected)
})

test('a stream for HTTP/1.0 has no framing, and ends with its connection despite keep-alive', async () => {
  const server = start((exchange) => {
    exchange.begin(200, {})
    exchange.send('one ')
    exchange.end('two')
  })
  const client = await dial(server)
  await client.send('GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n').ended()
  expect(client.text).toEndWith('connection: close\r\n\r\none two')
})

test('a stream is framed correctly to the byte', async () => {
  const server = start((exchange) => {
    exchange.begin(200, { 'x-a': 'b' })
    expect(exchange.send('one')).toBe(true)
    exchange.send('')
    exchange.send('zw\u00f6lf \u{1f600}')
    exchange.end('.')
    exchange.end('never')
    exchange.send('never')
  })
  const client = await dial(server)
  await client.send(get('/')).has('0\r\n\r\n')
  const bodyAt = client.text.indexOf('\r\n\r\n') + 4
  expect(client.text.slice(0, bodyAt)).toMatch(
    /^HTTP\/1\.1 200 OK\r\ndate: .*\r\nx-a: b\r\ntransfer-encoding: chunked\r\n\r\n$/,
  )
  const framed = '3\r\none\r\nb\r\nzw\u00f6lf \u{1f600}\r\n1\r\n.\r\n0\r\n\r\n'
  expect(client.text.slice(bodyAt)).toBe(Buffer.from(framed).toString('latin1'))
})

test('a 204 has no length, and the connection goes on after it', async () => {
  const server = start((exchange) => exchange.reply(exchange.head.path === '/none' ? 204 : 200, {}, ''))
  const client = await dial(server)
  client.send(get('/none') + get('/some'))
  await client.until(({ statuses }) => statuses.length === 2)
  const [none = ''] = client.text.split('\r\n\r\n')
  expect(none).toStartWith('HTTP/1.1 204 No Content')
  expect(none).not.toContain('content-length')
  expect(client.text.slice(none.length)).toStartWith('\r\n\r\nHTTP/1.1 200')
})

test('HEAD gets the headers of GET and no body, streamed or whole', async () => {
  const server = start((exchange) => {
    if (exchange.head.path === '/whole') return exchange.reply(200, {}, 'abc')
    exchange.begin(200, {})
    exchange.send('abc')
    exchange.end()
  })
  const client = await dial(server)
  client.send('HEAD /whole HTTP/1.1\r\nHost: a\r\n\r\nHEAD /stream HTTP/1.1\r\nHost: a\r\n\r\n')
  await client.until(({ statuses }) => statuses.length === 2)
  expect(client.text).toContain('content-length: 3\r\n\r\nHTTP/1.1 200')
  expect(client.text).toEndWith('transfer-encoding: chunked\r\n\r\n')
})

test.each([
  ['a size that is none', 'zz\r\n'],
  ['a negative size', '-1\r\na\r\n'],
  ['a size as 0x', '0x1\r\na\r\n'],
  ['a space in the size', '1 \r\na\r\n'],
  ['a size of nine digits', '000000001\r\na\r\n'],
  ['a bare line feed', '1\na\n0\n\n'],
  ['a chunk longer than its size', '1\r\nab\r\n0\r\n\r\n'],
  ['a line feed in an extension', '1;x\n\r\na\r\n0\r\n\r\n'],
  ['a null in an extension', '1;\0\r\na\r\n0\r\n\r\n'],
  ['a bare line feed in the trailers', '0\r\nx: 1\n\nGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['a request in the trailers', '0\r\nGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n'],
])('a chunked body with %s is broken off, answered, and the last', async (_, body) => {
  const client = await dial(start(sayBody))
  client.send(chunked(body) + get('/smuggled'))
  await client.ended()
  expect(client.statuses).toEqual([200])
  expect(client.text).toEndWith('broken_off')
  expect(client.text).toContain('connection: close\r\n')
})

test('a broken body leaves a slow handler the time to answer', async () => {
  const server = start(
    (exchange) => {
      void exchange.readText(bodyLimits).then(async (body) => {
        await Bun.sleep(300)
        exchange.reply(400, {}, describe(body))
      })
    },
    { lingerTimeoutMs: 100 },
  )
  const client = await dial(server)
  await client.send(chunked('zz\r\n')).ended()
  expect(client.text).toEndWith('broken_off')
})

test('a body at its limit is read, and one byte more is refused, with or without a declared length', async () => {
  const limits = { bytesMax: 10, graceMs: 5_000, bytesPerSecondMin: 1e6 }
  const server = start((exchange) => {
    void exchange.readText(limits).then((body) => exchange.reply(200, {}, describe(body)))
  })
  for (const message of [post('0123456789'), chunked('5\r\n01234\r\n5\r\n56789\r\n0\r\n\r\n')]) {
    const client = await dial(server)
    expect(await client.send(message).has('>')).toContain('<0123456789>')
  }
  for (const message of [post('0123456789x'), chunked('5\r\n01234\r\n6\r\n567890\r\n0\r\n\r\n')]) {
    const client = await dial(server)
    expect(await client.send(message).has('large')).toEndWith('too_large')
    expect(client.text).toContain('connection: close')
  }
})

test('a body in chunks of one byte costs about its size', async () => {
  const server = start((exchange) => {
    void exchange.readText(bodyLimits).then((body) => exchange.reply(200, {}, `${body.kind} ${describe(body).length}`))
  })
  const client = await dial(server)
  client.send(chunked(`${'1\r\na\r\n'.repeat(200_000)}0\r\n\r\n`))
  expect(await client.has('read')).toEndWith('read 200002')
})

test('bodies that are not UTF-8 are detected, and a byte order mark is dropped', async () => {
  const client = await dial(start(sayBody))
  expect(await client.send(post('\xff')).has('utf8')).toContain('not_utf8')
  expect(await client.send(post('\xef\xbb\xbf{}')).has('<')).toEndWith('<{}>')
  expect(await client.send(post('')).has('<>')).toEndWith('<>')
})

test.each([1, 50])(
  'the client of a refused upload of %d MB learns why before it has sent everything',
  async (megabytes) => {
    const server = start((exchange) => exchange.reply(401, {}, 'no'))
    const client = await dial(server)
    const bytes = Buffer.alloc(megabytes * 1_000_000)
    client.send(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${bytes.length}\r\n\r\n`)
    await client.has('401')
    client.send(bytes)
    await client.until(({ socket }) => socket.writableLength === 0)
    expect(await client.ended()).toEndWith('no')
    expect(client.error).toBeUndefined()
    client.socket.end()
    await client.until(() => server.connections === 0)
  },
)

test('an unread chunked upload is read for a while, then abandoned', async () => {
  const server = start((exchange) => exchange.reply(401, {}, 'no'))
  const client = await dial(server)
  client.send(chunked(`${'8000\r\n'}${'x'.repeat(0x8000)}\r\n`.repeat(100)))
  expect(await client.ended()).toEndWith('no')
  expect(client.error).toBeUndefined()
})

test.each([
  ['at once', sayPath],
  ['later', later(sayPath)],
])('an unread small body, answered %s, does not end the connection', async (_, handle) => {
  const client = await dial(start(handle))
  client.send(post('x'.repeat(200_000)) + chunked('3\r\nabc\r\n0\r\n\r\n') + get('/last'))
  await client.has('/last')
  expect(client.statuses).toEqual([200, 200, 200])
})

test('a body that was read does not count as unread', async () => {
  const server = start((exchange) => {
    void exchange
      .readText({ bytesMax: 400_000, graceMs: 300, bytesPerSecondMin: 1e6 })
      .then(({ kind }) => exchange.reply(200, {}, kind))
  })
  const client = await dial(server)
  client.send(post('x'.repeat(390_000)))
  await client.has('read')
  client.send(get('/'))
  await client.until(({ statuses }) => statuses.length === 2)
})

test('100 Continue is sent once, when the body is read, and not to HTTP/1.0', async () => {
  const client = await dial(start(sayBody))
  const expecting = 'Host: a\r\nContent-Length: 3\r\nExpect: 100-Continue\r\n\r\n'
  await client.send(`POST / HTTP/1.1\r\n${expecting}`).has('\r\n\r\n')
  expect(client.text).toBe('HTTP/1.1 100 Continue\r\n\r\n')
  await client.send('abc').has('<abc>')
  client.send(`POST / HTTP/1.0\r\n${expecting}`)
  await Bun.sleep(20)
  await client.send('def').has('<def>')
  expect(client.statuses).toEqual([100, 200, 200])
})

test('a client that expects 100 Continue and gets an answer instead cannot send a second request', async () => {
  const client = await dial(start(sayPath))
  client.send('POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 20\r\nExpect: 100-continue\r\n\r\n')
  expect(await client.ended()).toContain('connection: close\r\n\r\n/x')
  client.send(get('/y'))
  await Bun.sleep(20)
  expect(client.statuses).toEqual([200])
})

test('a client that leaves is reported once before the answer, and not after it', async () => {
  const gone: string[] = []
  const held: ServerExchange[] = []
  const server = start((exchange) => {
    exchange.onClosed = () => gone.push(exchange.head.path)
    held.push(exchange)
    if (exchange.head.path === '/answered') exchange.reply(200, {}, '')
    if (exchange.head.path === '/streaming') {
      exchange.begin(200, {})
      exchange.send('x')
    }
  })
  const leave = async (path: string, go: (client: RawClient) => void): Promise<void> => {
    const client = await dial(server)
    client.send(get(path))
    await client.until(() => held.some(({ head }) => head.path === path))
    go(client)
    await client.until(() => held.find(({ head }) => head.path === path)?.isGone === true)
  }
  await leave('/answered', ({ socket }) => socket.destroy())
  await leave('/closed', ({ socket }) => socket.destroy())
  await leave('/half', ({ socket }) => socket.end())
  await leave('/reset', ({ socket }) => socket.resetAndDestroy())
  await leave('/streaming', ({ socket }) => socket.destroy())
  expect(gone).toEqual(['/closed', '/half', '/reset', '/streaming'])
  for (const exchange of held) {
    if (exchange.isUnanswered) exchange.reply(200, {}, 'too late')
    expect(exchange.send('too late')).toBe(true)
    exchange.end()
    await exchange.flushed()
  }
  expect(gone.length).toBe(4)
})

test('a pipelined request of a client that has left is not begun', async () => {
  const held: ServerExchange[] = []
  const server = start((exchange) => void held.push(exchange))
  const client = await dial(server)
  client.send(get('/1') + get('/2'))
  await client.until(() => held.length === 1)
  client.close()
  await client.until(() => server.connections === 0)
  held[0]?.reply(200, {}, '')
  expect(held.length).toBe(1)
})

test('leaving in the middle of a body breaks it off', async () => {
  const bodies: string[] = []
  const server = start((exchange) => {
    void exchange.readText(bodyLimits).then(({ kind }) => {
      bodies.push(kind)
      exchange.reply(400, {}, kind)
    })
  })
  for (const message of [post('abcdef').slice(0, -3), chunked('5\r\nab')]) {
    const client = await dial(server)
    client.send(message)
    await Bun.sleep(10)
    client.socket.end()
  }
  const client = await dial(server)
  await client.until(() => bodies.length === 2)
  expect(bodies).toEqual(['broken_off', 'broken_off'])
})

test('a handler that throws breaks its connection and no other', async () => {
  const server = start((exchange) => {
    if (exchange.head.path === '/throw') throw new Error('thrown')
    if (exchange.head.path === '/twice') exchange.reply(200, {}, 'first')
    exchange.reply(200, {}, 'second')
  })
  const other = await dial(server)
  const client = await dial(server)
  await client.send(get('/throw')).ended()
  expect(errors.splice(0).map(String)).toEqual(['Error: thrown'])
  const again = await dial(server)
  await again.send(get('/twice')).ended()
  expect(errors.splice(0).map(String)).toEqual(['Error: this request has an answer already'])
  expect(await other.send(get('/')).has('second')).toContain('second')
})

test('a listener for a leaving client that throws is reported and nothing else', async () => {
  const waits: Promise<void>[] = []
  const server = start((exchange) => {
    exchange.onClosed = () => {
      throw new Error('thrown')
    }
    exchange.begin(200, {})
    exchange.send('x'.repeat(20_000_000))
    waits.push(exchange.flushed())
  })
  const client = await dial(server)
  client.socket.pause()
  client.send(get('/'))
  await client.until(() => waits.length === 1)
  client.socket.resetAndDestroy()
  await client.until(() => server.connections === 0)
  await waits[0]
  expect(errors.splice(0).map(String)).toEqual(['Error: thrown'])
})

test('a header with a line break is a programming error, not a second answer', async () => {
  const server = start((exchange) => {
    expect(() => exchange.reply(200, { 'x-a': 'b\r\nc: d' }, '')).toThrow('line break')
    exchange.reply(500, {}, 'sorry')
  })
  const client = await dial(server)
  expect(await client.send(get('/')).has('sorry')).not.toContain('c: d')
})

test('a large answer for a slow reader arrives whole, closing connection or not', async () => {
  const body = '\u00e9\u6f22\u{1f600}a'.repeat(2_000_000)
  const expected = Bun.hash(body)
  let flushed = 0
  const server = start((exchange) => {
    exchange.reply(200, {}, body)
    void exchange.flushed().then(() => flushed++)
  })
  for (const connection of ['close', 'keep-alive']) {
    flushed = 0
    const client = await dial(server)
    const parts: Buffer[] = []
    client.socket.removeAllListeners('data')
    client.socket.on('data', (part: Buffer) => parts.push(part)).pause()
    client.send(get('/', `Connection: ${connection}`))
    await Bun.sleep(30)
    expect(flushed).toBe(0)
    client.socket.resume()
    const received = (): Buffer => Buffer.concat(parts)
    await client.until(() => flushed === 1)
    const bodyBytes = Buffer.byteLength(body)
    await client.until(() => received().length > bodyBytes)
    expect(Bun.hash(received().subarray(-bodyBytes))).toBe(expected)
    if (connection === 'close') await client.ended()
  }
})

test('a stream of large pieces for a reader that stops again and again arrives whole', async () => {
  const piece = (n: number): string => `${n} \ud83d \u00e9\u6f22\u{1f600}`.repeat(40_000)
  const pieces = Array.from({ length: 24 }, (_, n) => piece(n))
  let stalls = 0
  const server = start((exchange) => {
    exchange.begin(200, {})
    const pour = async (): Promise<void> => {
      for (const text of pieces) {
        if (exchange.send(text)) continue
        stalls++
        exchange.send('more')
        await exchange.flushed()
      }
      exchange.end('end')
    }
    void pour()
  })
  const client = await dial(server)
  const parts: Buffer[] = []
  client.socket.removeAllListeners('data')
  client.socket.on('data', (part: Buffer) => {
    parts.push(part)
    client.socket.pause()
    setTimeout(() => client.socket.resume(), 1)
  })
  client.socket.pause()
  client.send(get('/', 'Connection: close'))
  await Bun.sleep(50)
  client.socket.resume()
  for (let tries = 0; tries < 500 && client.ending === 'open'; tries++) await Bun.sleep(20)
  const body = Buffer.concat(parts)
    .toString()
    .replace(/^[^]*?\r\n\r\n/, '')
  const text = body.replace(/[\da-f]+\r\n([^]*?)\r\n/g, '$1')
  expect(stalls).toBeGreaterThan(0)
  expect(text.split('more')).toHaveLength(stalls + 1)
  expect(Bun.hash(text.replaceAll('more', ''))).toBe(Bun.hash(`${pieces.join('').toWellFormed()}end`))
}, 30_000)

test('half a surrogate pair counts as the bytes that are sent for it', async () => {
  const server = start((exchange) => {
    if (exchange.head.path === '/whole') return exchange.reply(200, {}, 'a\ud83d')
    exchange.begin(200, {})
    exchange.end('\ude00\u6f22')
  })
  const client = await dial(server)
  client.send(get('/whole') + get('/stream', 'Connection: close'))
  const text = await client.ended()
  const sign = '\xef\xbf\xbd'
  expect(text).toContain(`content-length: 4\r\n\r\na${sign}HTTP/1.1 200`)
  expect(text).toEndWith(`6\r\n${sign}\xe6\xbc\xa2\r\n0\r\n\r\n`)
})

test('address in use is an error', () => {
  const { port } = start(sayPath)
  const again = (): Server =>
    listen({ hostname: '127.0.0.1', port, handle: sayPath, refuse: () => ({ headers: {}, body: '' }), onError })
  expect(again).toThrow(`127.0.0.1`)
})
const onError = (): void => undefined

test('stop lets busy connections finish with a close header, ends idle ones, and takes no new ones', async () => {
  const held: ServerExchange[] = []
  const server = start((exchange) => {
    held.push(exchange)
    if (exchange.head.path === '/begun') {
      exchange.begin(200, {})
      exchange.send('begun')
    }
    if (exchange.head.path === '/now') exchange.reply(200, {}, '')
  })
  const [silent, used, busy, begun, half] = await Promise.all(Array.from({ length: 5 }, () => dial(server)))
  await used?.send(get('/now')).has('200')
  half?.send('GET /now HTT')
  busy?.send(get('/busy'))
  await begun?.send(get('/begun')).has('begun')
  await busy?.until(() => held.length === 3)
  server.stop()
  server.stop()
  await Promise.all([silent?.ended(), used?.ended()])
  for (const exchange of held) {
    if (exchange.isUnanswered) exchange.reply(200, {}, 'late')
    else exchange.end()
  }
  half?.send('P/1.1\r\nHost: a\r\n\r\n')
  expect(await half?.ended()).toContain('connection: close')
  expect(await busy?.ended()).toContain('connection: close')
  expect(await begun?.ended()).toEndWith('0\r\n\r\n')
  expect(await rawClient(server.port).catch((error: Error) => error)).toBeInstanceOf(Error)
  for (const client of [silent, used, busy, begun, half]) {
    expect(client?.ending).toBe('fin')
    client?.close()
  }
})

test('close ends everything, but complete answers still arrive', async () => {
  const server = start((exchange) => {
    if (exchange.head.path === '/held') return
    exchange.reply(200, {}, 'x'.repeat(1_000_000))
  })
  const idle = await dial(server)
  const held = await dial(server)
  const slow = await dial(server)
  slow.socket.pause()
  held.send(get('/held'))
  slow.send(get('/', 'Connection: close'))
  await Bun.sleep(20)
  server.close()
  expect(server.connections).toBe(0)
  await Promise.all([idle.ended(), held.ended()])
  slow.socket.resume()
  await slow.ended()
  expect([idle.ending, held.ending, slow.ending]).toEqual(['fin', 'reset', 'fin'])
  expect(slow.text.length).toBeGreaterThan(1_000_000)
})

test('slow heads, silent clients and idle connections are ended in time', async () => {
  const server = start(sayPath, { headTimeoutMs: 100, idleTimeoutMs: 100 })
  const [slow, silent, idle] = await Promise.all([dial(server), dial(server), dial(server)])
  slow.send('GET / HT')
  await idle.send(get('/x')).has('/x')
  await Promise.all([slow.ended(), silent.ended(), idle.ended()])
  expect([slow.statuses, silent.statuses, idle.statuses]).toEqual([[408], [], [200]])
  expect([slow.ending, silent.ending, idle.ending]).toEqual(['fin', 'fin', 'fin'])
})

test('a slow body is a timeout for the handler, and the answer is the last', async () => {
  const server = start((exchange) => {
    void exchange
      .readText({ bytesMax: 10, graceMs: 100, bytesPerSecondMin: 1e6 })
      .then(({ kind }) => exchange.reply(400, {}, kind))
  })
  const client = await dial(server)
  await client.send(post('abc').slice(0, -1)).ended()
  expect(client.text).toContain('connection: close\r\n\r\ntimeout')
})

test('a body that stops arriving is given up after a while, however much came before', async () => {
  const limits = { bytesMax: 1_000_000, graceMs: 200, bytesPerSecondMin: 1_000 }
  const ended: [string, number][] = []
  const server = start((exchange) => {
    const startedMs = performance.now()
    void exchange.readText(limits).then(({ kind }) => {
      ended.push([kind, performance.now() - startedMs])
      exchange.reply(200, {}, kind)
    })
  })
  const [stalled, steady] = [await dial(server), await dial(server)]
  // By its mean pace it would have 200 s.
  stalled.send(post('x'.repeat(200_000)).slice(0, -1))
  const body = post('x'.repeat(800))
  steady.send(body.slice(0, -800))
  for (let i = 0; i < 8; i++) {
    await Bun.sleep(80)
    steady.send('x'.repeat(100))
  }
  expect(await stalled.ended()).toEndWith('timeout')
  await steady.has('read')
  expect(ended.map(([kind]) => kind)).toEqual(['timeout', 'read'])
  expect(ended[0]?.[1]).toBeWithin(190, 600)
})

test('arriving bodies have a share of the memory, and give it back', async () => {
  const shares = new SharedBudget({ max: 1_000_000, shareMax: 600_000 })
  const server = start((exchange) => {
    exchange.share = shares.of(exchange.head.path)
    void exchange.readText(bodyLimits).then(({ kind }) => exchange.reply(200, {}, kind))
  })
  const begun = async (path: string): Promise<RawClient> => {
    const client = await dial(server)
    const text = post('x'.repeat(500_000)).replace('POST /', `POST ${path}`)
    client.send(text.slice(0, -1))
    await Bun.sleep(50)
    return client
  }
  const [first, second, other] = [await begun('/a'), await begun('/a'), await begun('/b')]
  expect(await second.ended()).toContain('connection: close\r\n\r\nshare_full')
  expect(await (await begun('/c')).ended()).toEndWith('\r\n\r\nfull')
  await first.send('x').has('read')
  other.close()
  await Bun.sleep(20)
  const [again, third] = [await begun('/a'), await begun('/c')]
  await Promise.all([again.send('x').has('read'), third.send('x').has('read')])
})

test('a body that never comes after its answer keeps no connection open', async () => {
  const client = await dial(start(sayPath, { headTimeoutMs: 100 }))
  await client.send(post('abc').slice(0, -1)).ended()
  expect(client.statuses).toEqual([200])
})

test('a client that reads nothing is cut off', async () => {
  const gone = Promise.withResolvers<void>()
  const server = start(
    (exchange) => {
      exchange.onClosed = gone.resolve
      exchange.begin(200, {})
      exchange.send('x'.repeat(20_000_000))
    },
    { stallTimeoutMs: 100 },
  )
  const client = await dial(server)
  client.socket.pause()
  client.send(get('/'))
  await gone.promise
  expect(server.connections).toBe(0)
})

test('a slow reader gets all of a last answer, although the linger time is over', async () => {
  const server = start((exchange) => exchange.reply(200, {}, 'x'.repeat(1_500_000)), { lingerTimeoutMs: 50 })
  const client = await dial(server)
  client.socket.pause()
  client.send(get('/', 'Connection: close'))
  await client.until(() => server.connections === 0)
  client.socket.resume()
  await client.ended()
  expect(client.ending).toBe('fin')
  expect(client.text.length).toBeGreaterThan(1_500_000)
})

test('an error in the sweep is reported and ends that connection only', async () => {
  const server = start(
    (exchange) => {
      exchange.onClosed = () => {
        throw new Error('thrown')
      }
      exchange.begin(200, {})
      exchange.send('x'.repeat(20_000_000))
    },
    { stallTimeoutMs: 100, idleTimeoutMs: 10_000 },
  )
  const client = await dial(server)
  client.socket.pause()
  client.send(get('/'))
  await client.until(() => errors.length > 0)
  expect(errors.splice(0).map(String)).toEqual(['Error: thrown'])
})

test.each([3, 4, 5, 9])('a large body after %d pipelined requests arrives', async (count) => {
  const server = start((exchange) => (exchange.head.method === 'GET' ? sayPath(exchange) : sayBody(exchange)))
  const client = await dial(server)
  const blank = '\r\n'.repeat(40_000)
  client.send(
    get('/ahead').repeat(count) + post('b'.repeat(900_000)) + get('/ahead').repeat(count) + blank + get('/last'),
  )
  await client.has('/last')
  expect(client.statuses).toEqual(Array.from({ length: 2 * count + 2 }, () => 200))
  expect(client.text).toContain(`<${'b'.repeat(100)}`)
})

test('an error in a later request of a connection ends it, as in the first', async () => {
  const server = start((exchange) => {
    if (exchange.head.path === '/6') throw new Error('in the sixth')
    sayPath(exchange)
  })
  const client = await dial(server)
  client.send(Array.from({ length: 10 }, (_, i) => get(`/${i}`)).join(''))
  await client.ended()
  expect(errors.splice(0).map(({ message }) => message)).toEqual(['in the sixth'])
})
