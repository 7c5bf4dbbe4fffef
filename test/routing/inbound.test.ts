/** The public server with many, noisy and hostile clients. src/inbound/server.test.ts tests its rules one by one. */
import { expect, test } from 'bun:test'
import type { ConnectionLimits } from '../../src/inbound/connection-limits.ts'
import type { ServerExchange } from '../../src/inbound/exchange.ts'
import { listen, type Server } from '../../src/inbound/server.ts'
import { useGateway } from '../support/use-gateway.ts'
import { rawClient, type RawClient } from '../support/raw-client.ts'
import { countOf, seedOfRun } from '../support/soaks.ts'

const errors: unknown[] = []
process.on('unhandledRejection', (reason) => errors.push(reason))

/** A server that reads the body and answers with its kind. */
const startEcho = (limits: Partial<ConnectionLimits>): Server =>
  listen({
    hostname: '127.0.0.1',
    port: 0,
    limits,
    handle: (exchange) =>
      void exchange
        .readText({ bytesMax: 10_000, graceMs: 50, bytesPerSecondMin: 1e6 })
        .then(({ kind }) => exchange.reply(kind === 'read' ? 200 : 400, {}, kind)),
    refuse: ({ message }) => ({ headers: {}, body: message }),
    onError: (error) => errors.push(error),
  })

const goneFrom = async (server: Server): Promise<void> => {
  for (let i = 0; i < 400 && server.connections > 0; i++) await Bun.sleep(10)
  expect(server.connections).toBe(0)
}

/** Numbers from 0 up to 1, the same for the same seed. */
function random(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

const seeds = [
  'POST /v1/chat/completions HTTP/1.1\r\nHost: a\r\nContent-Length: 7\r\nAuthorization: Bearer x\r\n\r\n{"a":1}',
  'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3;x=1\r\nabc\r\n4\r\ndefg\r\n0\r\nT: 1\r\n\r\n',
  'GET /a?b HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\nGET http://a/ HTTP/1.0\r\nExpect: 100-continue\r\n\r\n',
].map((text) => Buffer.from(text))
const splices = [
  '\r\n',
  '\n',
  '\r',
  '\0',
  ' ',
  ':',
  '\r\n\r\n',
  '0\r\n\r\n',
  'Content-Length: 3\r\n',
  'ffffffff',
  '-',
  '\xff',
]
  .concat('Transfer-Encoding: chunked\r\n', 'HTTP/2.0', 'Expect: x\r\n', 'x'.repeat(3_000))
  .map((text) => Buffer.from(text, 'latin1'))

/** A few edits of a good request: bytes flipped, cut out, doubled, and what breaks parsers put in between. */
function mutate(next: () => number): Buffer {
  const pick = (below: number): number => Math.floor(next() * below)
  let bytes = Buffer.from(seeds[pick(seeds.length)] as Buffer)
  for (let edits = 1 + pick(4); edits > 0; edits--) {
    const at = pick(bytes.length + 1)
    const to = Math.min(bytes.length, at + pick(12))
    const [before, cut, after] = [bytes.subarray(0, at), bytes.subarray(at, to), bytes.subarray(to)]
    const edited = [
      () => [before, Buffer.of(pick(256)), bytes.subarray(at + 1)],
      () => [before, splices[pick(splices.length)] as Buffer, cut, after],
      () => [before, cut, cut, after],
      () => [before, after],
    ][pick(4)]
    bytes = Buffer.concat(edited?.() ?? [])
  }
  return bytes
}

/** Sends bytes in up to three pieces and gives what comes back until the end. */
function exchangeBytes(port: number, bytes: Buffer, cuts: readonly number[]): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>()
  let text = ''
  const pieces = [0, ...cuts.toSorted((a, b) => a - b)].map((from, i, all) => bytes.subarray(from, all[i + 1]))
  void Bun.connect({
    hostname: '127.0.0.1',
    port,
    socket: {
      async open(socket) {
        for (const piece of pieces) {
          if (socket.write(piece) < piece.length) break
          await Bun.sleep(0)
        }
      },
      data: (_, data) => void (text += data.toString('latin1')),
      close: () => resolve(text),
      connectError: (_, error) => resolve(String(error)),
    },
  })
  return promise
}

const BROKEN = countOf('broken-requests')

test(
  `${BROKEN} broken requests crash nothing, and a good one is answered afterwards`,
  async () => {
    const seed = seedOfRun()
    const next = random(seed)
    const server = startEcho({ headBytesMax: 2_000, headTimeoutMs: 40, idleTimeoutMs: 40, lingerTimeoutMs: 40 })
    const seen = new Map<string, number>()
    let left = BROKEN
    const work = async (): Promise<void> => {
      while (left-- > 0) {
        const bytes = mutate(next)
        const cuts = [next(), next()].map((share) => Math.floor(share * bytes.length))
        const answer = await exchangeBytes(server.port, bytes, cuts)
        const status = /^HTTP\/1\.1 (\d{3}) /.exec(answer)?.[1] ?? (answer === '' ? 'nothing' : 'garbage')
        seen.set(status, (seen.get(status) ?? 0) + 1)
      }
    }
    await Promise.all(Array.from({ length: 256 }, work))
    const unexpected = [...seen.keys()].filter((status) => !/^(?:100|200|400|408|417|431|nothing)$/.test(status))
    expect({ seed, unexpected, errors }).toEqual({ seed, unexpected: [], errors: [] })
    expect(seen.get('200')).toBeGreaterThan(BROKEN / 20)
    expect(seen.get('400')).toBeGreaterThan(BROKEN / 20)
    expect(await exchangeBytes(server.port, seeds[0] as Buffer, [])).toStartWith('HTTP/1.1 200 OK')
    await goneFrom(server)
    server.close()
  },
  20_000 + BROKEN * 2,
)

test('2,000 connections at once are all answered, and all ended', async () => {
  const server = startEcho({})
  const clients: RawClient[] = []
  for (let i = 0; i < 20; i++) {
    clients.push(...(await Promise.all(Array.from({ length: 100 }, () => rawClient(server.port)))))
  }
  for (const client of clients) client.send(seeds[0] as Buffer)
  for (const client of clients) await client.has('read')
  expect(server.connections).toBe(2_000)
  server.stop()
  await Promise.all(clients.map((client) => client.ended()))
  for (const client of clients) client.close()
  await goneFrom(server)
  server.close()
}, 30_000)

test('an upload that goes on for longer than the answer lingers still gets it', async () => {
  const server = listen({
    hostname: '127.0.0.1',
    port: 0,
    limits: { lingerTimeoutMs: 600 },
    handle: (exchange) => exchange.reply(413, {}, 'too much'),
    refuse: () => ({ headers: {}, body: '' }),
    onError: (error) => errors.push(error),
  })
  const client = await rawClient(server.port)
  client.send('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000000\r\n\r\n')
  for (let i = 0; i < 30; i++) {
    client.send(Buffer.alloc(10_000))
    await Bun.sleep(50)
    expect(client.error).toBeUndefined()
  }
  expect(await client.ended()).toEndWith('too much')
  // Not for ever, though.
  await goneFrom(server)
  client.close()
  server.close()
  expect(errors).toEqual([])
})

test('a stream to a reader that is slow keeps no more than a piece waiting', async () => {
  let sent = 0
  const stream = async (exchange: ServerExchange): Promise<void> => {
    exchange.begin(200, {})
    while (sent < 5_000 && !exchange.isGone) {
      sent++
      if (!exchange.send('x'.repeat(10_000))) await exchange.flushed()
    }
    exchange.end()
  }
  const server = listen({
    hostname: '127.0.0.1',
    port: 0,
    handle: (exchange) => void stream(exchange),
    refuse: () => ({ headers: {}, body: '' }),
    onError: (error) => errors.push(error),
  })
  const client = await rawClient(server.port)
  let bytes = 0
  client.socket.removeAllListeners('data').on('data', (part) => (bytes += part.length))
  client.socket.pause()
  client.send('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
  await Bun.sleep(200)
  expect(sent).toBeLessThan(1_500)
  client.socket.resume()
  await client.until(() => bytes > 50_000_000)
  expect(sent).toBe(5_000)
  client.close()
  await goneFrom(server)
  server.close()
})

test('a process ends by itself once its server is closed', async () => {
  const program = `
    const { listen } = await import(${JSON.stringify(`${import.meta.dir}/../../src/inbound/server.ts`)})
    const server = listen({ hostname: '127.0.0.1', port: 0, handle() {}, refuse: () => ({ headers: {}, body: '' }), onError: console.error })
    const client = await Bun.connect({ hostname: '127.0.0.1', port: server.port, socket: { data() {} } })
    client.write('GET / HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n')
    await Bun.sleep(50)
    server.close()
    console.log('closed', server.connections)`
  const child = Bun.spawn([process.execPath, '-e', program], { stdout: 'pipe', stderr: 'inherit' })
  const timer = setTimeout(() => child.kill(), 5_000)
  expect(await child.exited).toBe(0)
  clearTimeout(timer)
  expect(await new Response(child.stdout).text()).toBe('closed 0\n')
})

const gateway = useGateway()

const dial = (): Promise<RawClient> => rawClient(Number(new URL(gateway.baseUrl).port))
const chatHead = (...headers: string[]): string =>
  ['POST /v1/chat/completions HTTP/1.1', 'Host: a', 'Content-Type: application/json', ...headers, '', ''].join('\r\n')
const chatBody = (fields: object): string =>
  JSON.stringify({ model: 'sandbox-chat', messages: [{ role: 'user', content: 'hello' }], ...fields })
const allowed = (): string => `Authorization: Bearer ${gateway.key}`

test('gateway: what is no request gets the envelope and a request id', async () => {
  for (const [message, status] of [
    ['nonsense\r\n\r\n', 400],
    [`GET / HTTP/1.1\r\nHost: a\r\nx: ${'x'.repeat(1_000_000)}`, 431],
    ['GET / HTTP/3.0\r\n\r\n', 400],
  ] as const) {
    const client = await dial()
    const answer = await client.send(message).ended()
    expect(answer).toStartWith(`HTTP/1.1 ${status} `)
    expect(answer).toMatch(/x-request-id: req_/)
    expect(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')))).toMatchObject({ error: { param: null } })
    client.close()
  }
})

test.each([1, 50])('gateway: %d MB to a wrong key are answered 401', async (megabytes) => {
  const client = await dial()
  client.send(chatHead('Authorization: Bearer sk-wrong', `Content-Length: ${megabytes}000000`))
  client.send(Buffer.alloc(megabytes * 1_000_000, 0x20))
  expect(await client.ended()).toStartWith('HTTP/1.1 401 ')
  expect(client.error).toBeUndefined()
  client.close()
})

test('gateway: an upload beyond the bound is answered 413, declared or chunked', async () => {
  for (const framing of ['Content-Length: 50000000', 'Transfer-Encoding: chunked']) {
    const client = await dial()
    client.send(chatHead(allowed(), framing))
    if (framing.startsWith('Transfer')) client.send('2faf080\r\n')
    client.send(Buffer.alloc(50_000_000, 0x20))
    expect(await client.ended()).toStartWith('HTTP/1.1 413 ')
    expect(client.error).toBeUndefined()
    client.close()
  }
})

test('gateway: pipelined chats, streamed, chunked and whole, are answered in order', async () => {
  const client = await dial()
  const whole = chatBody({ max_tokens: 5 })
  const streamed = chatBody({ stream: true, max_tokens: 5 })
  client.send(chatHead(allowed(), `Content-Length: ${whole.length}`) + whole)
  client.send(
    `${chatHead(allowed(), 'Transfer-Encoding: chunked')}${streamed.length.toString(16)}\r\n${streamed}\r\n0\r\n\r\n`,
  )
  client.send(`GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`)
  const text = await client.ended()
  expect(client.statuses).toEqual([200, 200, 200])
  const marks = ['chat.completion"', 'data: [DONE]', '{"status":"ok"}'].map((mark) => text.indexOf(mark))
  expect(marks).toEqual(marks.toSorted((a, b) => a - b))
  expect(marks[0]).toBeGreaterThan(0)
  client.close()
})

test('gateway: clients that vanish at any moment leave a clean ledger', async () => {
  const body = chatBody({ stream: true, messages: [{ role: 'user', content: 'write 60 tokens' }] })
  const message = chatHead(allowed(), `Content-Length: ${body.length}`) + body
  await Promise.all(
    Array.from({ length: 60 }, async (_, i) => {
      const client = await dial()
      client.send(i % 4 === 0 ? message.slice(0, Math.floor((message.length * i) / 60)) : message)
      await Bun.sleep(i * 5)
      if (i % 3 === 0) client.socket.resetAndDestroy()
      else if (i % 3 === 1) client.socket.end()
      else client.close()
    }),
  )
  for (let i = 0; i < 100; i++) {
    const { held } = await gateway.operate<{ held: string }>('account.show', { account: gateway.accountId })
    if (BigInt(held ?? 0) === 0n) break
    await Bun.sleep(20)
  }
  expect(await gateway.operate('ledger.verify')).toMatchObject({ clean: true })
  expect(gateway.output()).not.toMatch(/internal|unhandled/i)
})
