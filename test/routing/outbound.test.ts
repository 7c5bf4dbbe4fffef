import { afterEach, expect, test } from 'bun:test'
import { createServer } from 'node:net'
import type { IncomingResponse, OutboundResult } from '../../src/outbound/exchange.ts'
import { Outbound, type OutboundRequest, type WholeResult } from '../../src/outbound/send.ts'
import { Stop } from '../../src/outbound/stop.ts'
import { readText } from '../../src/outbound/text.ts'
import { answering, isComplete, startRawUpstream, type RawUpstream } from '../support/raw-upstream.ts'

const lines = (...all: string[]): string => all.join('\r\n')
const OK = 'HTTP/1.1 200 OK'
const whole = (body: string, ...headers: string[]): string =>
  lines(OK, `content-length: ${Buffer.byteLength(body)}`, ...headers, '', body)

const open: { stop?(): void; close?(): void }[] = []
afterEach(() => {
  for (const each of open.splice(0)) {
    each.stop?.()
    each.close?.()
  }
})

function upstream(...args: Parameters<typeof startRawUpstream>): RawUpstream {
  const started = startRawUpstream(...args)
  open.push(started)
  return started
}

function outbound(...args: ConstructorParameters<typeof Outbound>): Outbound {
  const made = new Outbound(...args)
  open.push(made)
  return made
}

const post = (origin: string, rest: Partial<OutboundRequest> = {}): OutboundRequest => ({
  url: `${origin}/v1/x?y=1`,
  method: 'POST',
  headers: { 'content-type': 'text/plain' },
  body: 'hello',
  stop: new Stop(),
  reach: 'private',
  ...rest,
})

const text = (result: WholeResult): string | undefined => (result.kind === 'whole' ? result.text : result.message)

function responseOf(result: OutboundResult): IncomingResponse {
  if (result.kind === 'network') throw new Error(result.message)
  return result.response
}

/** Until something holds; a second is an age here. */
async function until(holds: () => boolean): Promise<void> {
  for (let i = 0; i < 500 && !holds(); i++) await Bun.sleep(2)
  expect(holds()).toBe(true)
}

test('the request is written as it should be, its length in bytes', async () => {
  const { origin, port, callers } = upstream({
    onData: (caller) => void (isComplete(caller) && caller.socket.write(whole('ok'))),
  })
  const result = await outbound().sendForText(post(origin, { body: 'grüße 🌍' }), 1_000)
  expect(result).toMatchObject({ kind: 'whole', status: 200, text: 'ok' })
  const [head, body = ''] = (callers[0]?.received ?? '').split('\r\n\r\n')
  expect(head?.split('\r\n')).toEqual([
    'POST /v1/x?y=1 HTTP/1.1',
    `host: 127.0.0.1:${port}`,
    'accept: */*',
    'accept-encoding: identity',
    'user-agent: tollgate',
    'content-type: text/plain',
    'content-length: 12',
  ])
  expect(Buffer.from(body, 'latin1').toString()).toBe('grüße 🌍')
})

const framings: Record<string, { bytes: string; body: string; end: 'open' | 'close' }> = {
  'a length': { bytes: whole('grüße'), body: 'grüße', end: 'open' },
  'no body': { bytes: whole(''), body: '', end: 'open' },
  chunks: {
    bytes: lines(OK, 'transfer-encoding: chunked', '', '3', 'abc', '4;x=y', 'ü!!', '0', 'trailer: 1', '', ''),
    body: 'abcü!!',
    end: 'open',
  },
  'the end of the connection': { bytes: lines(OK, '', 'to the end'), body: 'to the end', end: 'close' },
  'a 204': { bytes: lines('HTTP/1.1 204 No Content', '', ''), body: '', end: 'open' },
  'a 304 with the length of another answer': {
    bytes: lines('HTTP/1.1 304 Not Modified', 'content-length: 50', '', ''),
    body: '',
    end: 'open',
  },
  'interim heads before it': {
    bytes: lines('HTTP/1.1 100 Continue', '', 'HTTP/1.1 103 Early Hints', 'link: </a>', '', whole('ok')),
    body: 'ok',
    end: 'open',
  },
}

for (const [name, { bytes, body, end }] of Object.entries(framings)) {
  test(`an answer with ${name} is read whole, in any two pieces and byte by byte`, async () => {
    const raw = Buffer.from(bytes)
    // A cut of 0 is one piece, the length of the answer means byte by byte.
    let cut = 0
    const { origin } = upstream({
      async onData(caller) {
        if (!isComplete(caller)) return
        caller.received = ''
        const { socket } = caller
        socket.setNoDelay(true)
        const step = cut === raw.length ? 1 : cut
        if (step === 0) socket.write(raw)
        else if (step === 1 && cut !== 1) {
          for (const byte of raw) {
            socket.write(Uint8Array.of(byte))
            await Bun.sleep(0)
          }
        } else {
          socket.write(raw.subarray(0, cut))
          await Bun.sleep(1)
          socket.write(raw.subarray(cut))
        }
        if (end === 'close') socket.end()
      },
    })
    const client = outbound()
    for (cut = 0; cut <= raw.length; cut++) {
      expect({ cut, text: text(await client.sendForText(post(origin), 1_000)) }).toEqual({ cut, text: body })
      const streamed = responseOf(await client.send(post(origin)))
      expect(await readText(streamed, 1_000)).toBe(body)
    }
  })

  test(`an answer with ${name} that is cut at any byte is never taken for whole`, async () => {
    const raw = Buffer.from(bytes)
    let cut = 0
    const { origin } = upstream({
      onData: (caller) => void (isComplete(caller) && caller.socket.end(raw.subarray(0, cut))),
    })
    const client = outbound()
    const headEnd = end === 'close' ? bytes.indexOf('\r\n\r\n') + 4 : raw.length
    for (cut = 0; cut < headEnd; cut++) {
      const result = await client.sendForText(post(origin), 1_000)
      if (result.kind === 'network') expect(result.reached).toBe(true)
      else expect({ cut, text: result.text }).toEqual({ cut, text: undefined })
    }
  })
}

test('a HEAD answer has no body, whatever its length says', async () => {
  const { origin, callers } = upstream(answering(() => lines(OK, 'content-length: 5', '', '')))
  const client = outbound()
  const { body: _, ...rest } = post(origin, { method: 'HEAD' })
  for (let i = 0; i < 2; i++) expect(text(await client.sendForText(rest, 100))).toBe('')
  expect(callers).toHaveLength(1)
})

const malformed: Record<string, string> = {
  'is not HTTP': 'hello\r\n\r\n',
  'is another version': lines('HTTP/2.0 200 OK', 'content-length: 2', '', 'ok'),
  'has a length and chunks': lines(OK, 'content-length: 2', 'transfer-encoding: chunked', '', '0', '', ''),
  'has two lengths': lines(OK, 'content-length: 2', 'content-length: 3', '', 'ok!'),
  'changes the protocol': lines('HTTP/1.1 101 Switching Protocols', 'upgrade: x', '', ''),
  'never gets past interim heads': 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(50),
  'has an endless head': `${OK}\r\n${'x: '.padEnd(70_000, 'y')}`,
  'has a head that is too large': `${OK}\r\n${'x: '.padEnd(70_000, 'y')}\r\n\r\n`,
}

for (const [name, bytes] of Object.entries(malformed)) {
  test(`an answer that ${name} is a failure, and its connection is closed`, async () => {
    let closed = 0
    const { origin } = upstream({ ...answering(() => bytes), onClose: () => void closed++ })
    const client = outbound()
    expect(await client.sendForText(post(origin), 1_000)).toMatchObject({ kind: 'network', reached: true })
    await until(() => closed === 1)
    expect(client.idleCount).toBe(0)
  })
}

test('a body broken in its chunks has no text', async () => {
  const { origin } = upstream(answering(() => lines(OK, 'transfer-encoding: chunked', '', '3', 'abcXX', '')))
  expect(await outbound().sendForText(post(origin), 1_000)).toMatchObject({ kind: 'whole', text: undefined })
})

test('a reset ends no body, not even one without a length', async () => {
  const server = createServer((socket) => {
    socket.write(lines(OK, '', 'half'))
    setTimeout(() => socket.resetAndDestroy(), 20)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  const result = await outbound().sendForText(post(`http://127.0.0.1:${port}`), 1_000)
  expect(result).toMatchObject({ kind: 'whole', text: undefined })
  server.close()
})

test('a body is read up to its limit, with and without a stated length', async () => {
  const answers = [
    whole('x'.repeat(101)),
    lines(OK, 'transfer-encoding: chunked', '', '65', 'x'.repeat(101), '0', '', ''),
  ]
  for (const answer of answers) {
    const { origin } = upstream(answering(() => answer))
    const client = outbound()
    expect(await client.sendForText(post(origin), 100)).toMatchObject({ kind: 'whole', text: undefined })
    expect(await client.sendForText(post(origin), 101)).toMatchObject({ text: 'x'.repeat(101) })
    expect(await readText(responseOf(await client.send(post(origin))), 100)).toBeUndefined()
  }
})

test('text is lenient UTF-8 without its byte order mark', async () => {
  const body = Buffer.from([0xef, 0xbb, 0xbf, 0x61, 0xff, 0x62])
  const { origin } = upstream(
    answering(() => Buffer.concat([Buffer.from(lines(OK, 'content-length: 6', '', '')), body])),
  )
  expect(text(await outbound().sendForText(post(origin), 100))).toBe('a\ufffdb')
})

test('a connection is used again, the one used last first', async () => {
  const { origin, callers } = upstream(answering(({ index }) => whole(String(index))))
  const client = outbound()
  for (let i = 0; i < 5; i++) expect(text(await client.sendForText(post(origin), 100))).toBe('0')
  await Promise.all(Array.from({ length: 3 }, () => client.sendForText(post(origin), 100)))
  expect(client.idleCount).toBe(3)
  const last = text(await client.sendForText(post(origin), 100))
  for (let i = 0; i < 3; i++) expect(text(await client.sendForText(post(origin), 100))).toBe(last)
  expect(callers).toHaveLength(3)
})

const last: Record<string, string> = {
  'connection: close': whole('ok', 'connection: Close'),
  'HTTP/1.0': lines('HTTP/1.0 200 OK', 'content-length: 2', '', 'ok'),
  'a keep-alive limit of a second': whole('ok', 'keep-alive: timeout=1'),
  'bytes behind its end': `${whole('ok')}HTTP/1.1 200 OK\r\n\r\n`,
}
for (const [name, answer] of Object.entries(last)) {
  test(`an answer with ${name} is the last on its connection`, async () => {
    const { origin, callers } = upstream(answering(() => answer))
    const client = outbound()
    for (let i = 0; i < 2; i++) expect(text(await client.sendForText(post(origin), 100))).toBe('ok')
    expect(client.idleCount).toBe(0)
    expect(callers).toHaveLength(2)
  })
}

test('bytes on an idle connection close it: they are nobody’s answer', async () => {
  const { origin, callers } = upstream(answering(() => whole('ok')))
  const client = outbound()
  await client.sendForText(post(origin), 100)
  callers[0]?.socket.write(whole('stray'))
  await until(() => client.idleCount === 0)
  expect(text(await client.sendForText(post(origin), 100))).toBe('ok')
})

test('an idle connection that the upstream closed is not used', async () => {
  const { origin, callers } = upstream(answering(() => whole('ok')))
  const client = outbound()
  await client.sendForText(post(origin), 100)
  callers[0]?.socket.end()
  await until(() => client.idleCount === 0)
  expect(text(await client.sendForText(post(origin), 100))).toBe('ok')
})

test('origins are forgotten when there are too many, with their connections; what is under way there ends well', async () => {
  const held: (() => void)[] = []
  const { port } = upstream(answering(() => whole('ok')))
  const slow = upstream({ onData: (caller) => void held.push(() => caller.socket.write(whole('late'))) })
  const client = outbound({ originsMax: 4, addressesOf: () => Promise.resolve(['127.0.0.1']) })
  const late = client.sendForText(post(`http://slow.test:${slow.port}`), 100)
  await until(() => held.length > 0)
  for (let i = 0; i < 20; i++) {
    expect(text(await client.sendForText(post(`http://h${i}.test:${port}`), 100))).toBe('ok')
    expect(client.idleCount).toBeLessThanOrEqual(4)
  }
  held[0]?.()
  expect(text(await late)).toBe('late')
  expect(text(await client.sendForText(post(`http://h0.test:${port}`), 100))).toBe('ok')
  expect(client.idleCount).toBeWithin(1, 5)
})

/** Answers the first request, and closes the connection at the second one. */
function closingAtSecond(): ReturnType<typeof upstream> & { requests: () => number } {
  let requests = 0
  const served = upstream({
    onData(caller) {
      if (!isComplete(caller)) return
      caller.received = ''
      if (++requests === 2) caller.socket.end()
      else caller.socket.write(whole('ok'))
    },
  })
  return { ...served, requests: () => requests }
}

test('a kept connection that closes without a byte of an answer is the keep-alive race: one more try for a GET', async () => {
  const { origin, callers, requests } = closingAtSecond()
  const client = outbound()
  const get = { ...post(origin), method: 'GET', body: undefined } as const
  for (let i = 0; i < 2; i++) expect(text(await client.sendForText(get, 100))).toBe('ok')
  expect(requests()).toBe(3)
  expect(callers).toHaveLength(2)
})

test('a POST that has left may have been carried out: it is not sent again', async () => {
  const { origin, callers, requests } = closingAtSecond()
  const client = outbound()
  await client.sendForText(post(origin), 100)
  expect(await client.sendForText(post(origin), 100)).toMatchObject({ kind: 'network', reached: true })
  expect([requests(), callers.length]).toEqual([2, 1])
  expect(text(await client.sendForText(post(origin), 100))).toBe('ok')
})

test('a connection is given up before an upstream would that was seen to close idle ones', async () => {
  const { origin, callers } = upstream(answering(() => whole('ok')))
  const client = outbound()
  await client.sendForText(post(origin), 100)
  callers[0]?.socket.end()
  await until(() => client.idleCount === 0)
  await client.sendForText(post(origin), 100)
  expect(client.idleCount).toBe(1)
  // It is still open at the other end, and would be kept for half a minute.
  for (let i = 0; i < 100 && client.idleCount > 0; i++) await Bun.sleep(100)
  expect(client.idleCount).toBe(0)
})

test('what must be sent once goes over a connection of its own, and never again', async () => {
  let requests = 0
  const { origin, callers } = upstream({
    onData(caller) {
      if (!isComplete(caller)) return
      caller.received = ''
      if (++requests === 2) caller.socket.end()
      else caller.socket.write(whole('ok'))
    },
  })
  const client = outbound()
  await client.sendForText(post(origin), 100)
  expect(client.idleCount).toBe(1)
  const once = { ...post(origin), sendOnce: true }
  expect(await client.sendForText(once, 100)).toMatchObject({ kind: 'network', reached: true })
  expect([requests, callers.length]).toEqual([2, 2])
})

test('the race is lost but once, a fresh connection has none, and neither has a begun answer', async () => {
  let requests = 0
  let answer = ''
  const { origin } = upstream({
    onData(caller) {
      if (!isComplete(caller)) return
      caller.received = ''
      if (++requests === 1) caller.socket.write(whole('ok'))
      else caller.socket.end(answer)
    },
  })
  const client = outbound()
  const get = { ...post(origin), method: 'GET', body: undefined } as const
  await client.sendForText(get, 100)
  expect(await client.sendForText(get, 100)).toMatchObject({ kind: 'network', reached: true })
  expect(requests).toBe(3)
  expect(await client.sendForText(get, 100)).toMatchObject({ kind: 'network', reached: true })
  expect(requests).toBe(4)
  requests = 0
  answer = 'H'
  await client.sendForText(get, 100)
  expect(await client.sendForText(get, 100)).toMatchObject({ kind: 'network', reached: true })
  expect(requests).toBe(2)
})

test('an answer that comes before the request is out is read, and its connection closed', async () => {
  let closed = 0
  const { origin } = upstream({
    onOpen({ socket }) {
      // Nothing is read: the client cannot get rid of its body.
      socket.pause()
      setTimeout(() => socket.write(lines('HTTP/1.1 413 Too Large', 'content-length: 3', '', 'big')), 50)
    },
    onClose: () => void closed++,
  })
  const client = outbound()
  const body = 'x'.repeat(64 * 1024 * 1024)
  expect(await client.sendForText(post(origin, { body }), 100)).toMatchObject({ status: 413, text: 'big' })
  expect(client.idleCount).toBe(0)
})

test('a large body arrives whole', async () => {
  const body = 'aü🌍'.repeat(1_000_000)
  let bytes = 0
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const received = await request.text()
      bytes = Buffer.byteLength(received)
      return new Response(received === body ? 'same' : 'other')
    },
  })
  const client = outbound()
  expect(text(await client.sendForText(post(server.url.origin, { body }), 100))).toBe('same')
  expect(bytes).toBe(7_000_000)
  await server.stop(true)
})

test('an upstream that is not read is made to wait, and loses nothing by it', async () => {
  const total = 32 * 1024 * 1024
  let sent = 0
  const piece = Buffer.alloc(64 * 1024, 'x')
  const fill = ({ socket }: { socket: { write(bytes: Uint8Array): number } }): void => {
    for (let taken = 1; taken > 0 && sent < total; sent += taken) {
      taken = Math.max(0, socket.write(piece.subarray(0, Math.min(piece.length, total - sent))))
    }
  }
  const { origin } = upstream({
    onData(caller) {
      caller.socket.write(lines(OK, `content-length: ${total}`, '', ''))
      fill(caller)
    },
    onDrain: fill,
  })
  const client = outbound()
  const response = responseOf(await client.send(post(origin)))
  await Bun.sleep(200)
  const stalled = sent
  await Bun.sleep(100)
  expect(sent).toBe(stalled)
  // What the two kernels hold, and ours.
  expect(stalled).toBeLessThan(total / 2)
  expect((await readText(response, total))?.length).toBe(total)
  expect(client.idleCount).toBe(1)
})

test('a request can be stopped before the connect, before the head and in the body; its connection closes', async () => {
  let closed = 0
  let answer = ''
  const { origin } = upstream({
    onData: ({ socket }) => void socket.write(answer),
    onClose: () => void closed++,
  })
  const client = outbound()
  const early = new Stop()
  early.stop()
  expect(await client.send(post(origin, { stop: early }))).toEqual({
    kind: 'network',
    message: 'aborted',
    reached: false,
  })

  const connecting = new Stop()
  const unconnected = client.send(post(origin, { stop: connecting }))
  connecting.stop()
  expect(await unconnected).toEqual({ kind: 'network', message: 'aborted', reached: false })

  const waiting = new Stop()
  const unanswered = client.send(post(origin, { stop: waiting }))
  setTimeout(() => waiting.stop(), 50)
  expect(await unanswered).toEqual({ kind: 'network', message: 'aborted', reached: true })
  await until(() => closed === 1)

  answer = lines(OK, 'content-length: 10', '', 'half')
  const reading = new Stop()
  const response = responseOf(await client.send(post(origin, { stop: reading })))
  setTimeout(() => reading.stop(), 50)
  expect(await readText(response, 100)).toBeUndefined()
  await until(() => closed === 2)
})

test('a released body is read to its end and its connection used again, unless it does not end', async () => {
  const endless = { left: true }
  const { origin, callers } = upstream({
    onData(caller) {
      caller.received = ''
      caller.socket.write(lines(OK, 'transfer-encoding: chunked', '', '4', 'done', ''))
      if (!endless.left) setTimeout(() => caller.socket.write('0\r\n\r\n'), 20)
    },
  })
  const client = outbound()
  endless.left = false
  responseOf(await client.send(post(origin))).release()
  await until(() => client.idleCount === 1)
  endless.left = true
  responseOf(await client.send(post(origin))).release()
  expect(callers).toHaveLength(1)
  const closed = callers[0]?.socket
  for (let i = 0; i < 40 && (closed?.readyState ?? 0) > 0; i++) await Bun.sleep(100)
  expect(closed?.readyState).toBeLessThan(1)
}, 10_000)

test('500 requests at once each get their own answer', async () => {
  const { origin } = upstream(answering(({ received }) => whole(received.slice(received.indexOf('\r\n\r\n') + 4))))
  const client = outbound()
  for (let round = 0; round < 2; round++) {
    const requests = Array.from({ length: 500 }, (_, i) => client.sendForText(post(origin, { body: `n${i}` }), 100))
    expect((await Promise.all(requests)).map(text)).toEqual(Array.from({ length: 500 }, (_, i) => `n${i}`))
  }
  expect(client.idleCount).toBe(256)
})

test('what cannot be a request is refused before anything is sent', async () => {
  const { origin, callers } = upstream({})
  const client = outbound()
  for (const value of ['a\r\nx-evil: 1', 'a\nb', 'a\0', 'ключ']) {
    const sent = await client.send(post(origin, { headers: { authorization: value } }))
    expect(sent).toEqual({ kind: 'network', message: 'ERR_INVALID_HEADER', reached: false })
  }
  for (const url of ['nonsense', 'ftp://127.0.0.1/', 'file:///etc/passwd']) {
    expect(await client.send(post('', { url }))).toEqual({
      kind: 'network',
      message: 'the URL must be an absolute http or https URL',
      reached: false,
    })
  }
  expect(callers).toHaveLength(0)
})

test('a process with nothing but idle connections ends', async () => {
  const { origin } = upstream(answering(() => whole('ok')))
  const script = `
    import { outbound } from ${JSON.stringify(new URL('../../src/outbound/send.ts', import.meta.url).pathname)}
    import { Stop } from ${JSON.stringify(new URL('../../src/outbound/stop.ts', import.meta.url).pathname)}
    const request = { url: '${origin}/', method: 'GET', headers: {}, stop: new Stop(), reach: 'private' }
    for (let i = 0; i < 2; i++) console.log((await outbound.sendForText(request, 100)).text, outbound.idleCount)`
  const child = Bun.spawn([process.execPath, '-e', script], { stdout: 'pipe', stderr: 'inherit' })
  const startedMs = performance.now()
  expect(await new Response(child.stdout).text()).toBe('ok 1\nok 1\n')
  expect(await child.exited).toBe(0)
  expect(performance.now() - startedMs).toBeLessThan(5_000)
})
