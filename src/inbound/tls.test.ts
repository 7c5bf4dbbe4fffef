/** The server with TLS of its own. */
import { afterEach, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { connect, createSecureContext, type ConnectionOptions, type TLSSocket } from 'node:tls'
import { rawClient } from '../../test/support/raw-client.ts'
import type { ConnectionLimits } from './connection-limits.ts'
import type { ServerExchange } from './exchange.ts'
import { listen, type Server, type TlsCredentials } from './server.ts'

const fixture = (name: string): string =>
  readFileSync(new URL(`../../test/fixtures/tls/${name}`, import.meta.url), 'utf8')
/** `localhost` is signed by the authority, `renewed` by itself. Both are for localhost, and valid until 2126. */
const ca = [fixture('ca.pem'), fixture('renewed.pem')]

function credentials(name: string): TlsCredentials {
  const pair = { cert: fixture(`${name}.pem`), key: fixture(`${name}.key`) }
  return { ...pair, context: createSecureContext(pair).context as object }
}

const errors: Error[] = []
let server: Server | undefined
const sockets: TLSSocket[] = []

afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy()
  server?.close()
  expect(errors.splice(0)).toEqual([])
})

function start(handle: (exchange: ServerExchange) => void, limits: Partial<ConnectionLimits> = {}): Server {
  server = listen({
    hostname: '127.0.0.1',
    port: 0,
    tls: credentials('localhost'),
    limits,
    handle,
    refuse: ({ message }) => ({ headers: {}, body: message }),
    onError: (error) => errors.push(error),
  })
  return server
}

type Client = { readonly socket: TLSSocket; readonly text: () => string; readonly ended: Promise<void> }

/** Connects, and rejects if the handshake fails. */
function dial({ port }: Server, options: ConnectionOptions = {}): Promise<Client> {
  const { promise, resolve, reject } = Promise.withResolvers<Client>()
  const { promise: ended, resolve: end } = Promise.withResolvers<void>()
  let text = ''
  const socket = connect({ host: '127.0.0.1', port, ca, ...options }, () =>
    resolve({ socket, text: () => text, ended }),
  )
  sockets.push(socket)
  socket.on('error', reject).on('close', end)
  socket.on('data', (bytes: Buffer) => (text += bytes.toString('latin1')))
  return promise
}

const sayPath = (exchange: ServerExchange): void => exchange.reply(200, {}, exchange.head.path)
const get = (path: string, ...headers: string[]): string =>
  `${[`GET ${path} HTTP/1.1`, 'Host: a', ...headers].join('\r\n')}\r\n\r\n`

async function until(holds: () => boolean): Promise<void> {
  for (let i = 0; !holds(); i++) {
    if (i > 1_000) throw new Error('nothing came of it')
    await Bun.sleep(10)
  }
}

test.each(['TLSv1.2', 'TLSv1.3'] as const)('speaks %s and keeps the connection', async (version) => {
  const client = await dial(start(sayPath), { minVersion: version, maxVersion: version })
  expect(client.socket.getProtocol()).toBe(version)
  for (const path of ['/a', '/b']) {
    client.socket.write(get(path))
    await until(() => client.text().endsWith(path))
  }
  client.socket.write(get('/last', 'Connection: close'))
  await client.ended
  expect(client.text()).toEndWith('connection: close\r\n\r\n/last')
})

test('refuses older versions and ciphers without forward secrecy', async () => {
  const target = start(sayPath)
  const refused = (options: ConnectionOptions): Promise<unknown> =>
    dial(target, options).catch(({ message }: Error) => message)
  expect(await refused({ minVersion: 'TLSv1', maxVersion: 'TLSv1.1' })).toContain('PROTOCOL_VERSION')
  expect(await refused({ maxVersion: 'TLSv1.2', ciphers: 'ECDHE-ECDSA-AES128-SHA' })).toContain('HANDSHAKE_FAILURE')
})

test('large bodies and answers pass whole, and a slow reader is waited for', async () => {
  const words = 'word '.repeat(2_000_000)
  const limits = { bytesMax: 20_000_000, graceMs: 10_000, bytesPerSecondMin: 1 }
  const client = await dial(
    start((exchange) => {
      void exchange
        .readText(limits)
        .then((body) => exchange.reply(200, {}, body.kind === 'read' ? body.text : body.kind))
    }),
  )
  client.socket.write(
    `POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: ${words.length}\r\n\r\n${words}`,
  )
  client.socket.pause()
  await Bun.sleep(300)
  client.socket.resume()
  await client.ended
  const text = client.text()
  expect(Bun.hash(text.slice(text.indexOf('\r\n\r\n') + 4))).toBe(Bun.hash(words))
})

test('a client that speaks plain HTTP is told to use https', async () => {
  const client = await rawClient(start(sayPath).port)
  const text = await client.send(get('/v1/models')).ended()
  expect(text).toStartWith('HTTP/1.1 400 Bad Request')
  expect(text).toEndWith('This port speaks HTTPS: use https:// in the base URL.')
})

test('handshakes that do not begin, stop or drip are ended in time', async () => {
  const target = start(sayPath, { headTimeoutMs: 200, lingerTimeoutMs: 200 })
  const [silent, half, drip] = await Promise.all([0, 1, 2].map(() => rawClient(target.port)))
  // The head of a record that promises 512 bytes.
  half?.send('\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03')
  drip?.send('\x16')
  const dripping = setInterval(() => drip?.send('\x03'), 50)
  await Promise.all([silent, half, drip].map(async (client) => client?.ended()))
  clearInterval(dripping)
  await until(() => target.connections === 0)
})

test('new connections get a renewed certificate, and old ones go on', async () => {
  const target = start(sayPath)
  const old = await dial(target)
  const { serialNumber: before } = old.socket.getPeerCertificate()
  target.renew(credentials('renewed'))
  const next = await dial(target, { servername: 'localhost' })
  expect(next.socket.getPeerCertificate().serialNumber).not.toBe(before)
  for (const client of [old, next]) {
    client.socket.write(get('/x'))
    await until(() => client.text().endsWith('/x'))
  }
})

test('a handshake that has begun before the end of the server still brings a request', async () => {
  const target = start(sayPath)
  const client = dial(target)
  // The connection is in the backlog: this thread has not accepted it.
  await target.retire()
  const { socket, text, ended } = await client
  socket.write(get('/late'))
  await ended
  expect(text()).toEndWith('connection: close\r\n\r\n/late')
})
