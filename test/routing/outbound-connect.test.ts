import { afterEach, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { Outbound, type OutboundRequest } from '../../src/outbound/send.ts'
import { Stop } from '../../src/outbound/stop.ts'
import { answering, startRawUpstream, type RawUpstream } from '../support/raw-upstream.ts'

/**
 * Certificates for localhost, 127.0.0.1 and ::1, and for other.example alone, and the authority that signed them.
 * All are valid until 2126.
 */
const fixture = (name: string): string => readFileSync(new URL(`../fixtures/tls/${name}`, import.meta.url), 'utf8')
const ca = fixture('ca.pem')
const localhost = { cert: fixture('localhost.pem'), key: fixture('localhost.key') }
const other = { cert: fixture('other.pem'), key: fixture('other.key') }

const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'

const started: RawUpstream[] = []
afterEach(() => {
  for (const each of started.splice(0)) each.stop()
})

function upstream(...args: Parameters<typeof startRawUpstream>): RawUpstream {
  const made = startRawUpstream(...args)
  started.push(made)
  return made
}

const get = (origin: string): OutboundRequest => ({
  url: `${origin}/secret`,
  method: 'GET',
  headers: { authorization: 'Bearer secret' },
  stop: new Stop(),
  reach: 'private',
})

const received = ({ callers }: RawUpstream): string => callers.map((caller) => caller.received).join('')

test('speaks TLS to a host whose certificate is good, by name and by address, and keeps the connection', async () => {
  const vendor = upstream(
    answering(() => OK),
    localhost,
  )
  const client = new Outbound({ ca })
  for (const host of ['localhost', '127.0.0.1']) {
    for (let i = 0; i < 2; i++) {
      const result = await client.sendForText(get(`https://${host}:${vendor.port}`), 100)
      expect(result).toMatchObject({ kind: 'whole', text: 'ok' })
    }
  }
  expect(vendor.callers).toHaveLength(2)
  client.close()
})

test('a large answer over TLS waits for whoever reads it, and arrives whole', async () => {
  const total = 8 * 1024 * 1024
  let sent = 0
  const fill = ({ socket }: { socket: { write(bytes: Uint8Array): number } }): void => {
    for (let taken = 1; taken > 0 && sent < total; sent += taken) {
      taken = Math.max(0, socket.write(Buffer.alloc(Math.min(65_536, total - sent), 'x')))
    }
  }
  const vendor = upstream(
    {
      onData(caller) {
        caller.socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${total}\r\n\r\n`)
        fill(caller)
      },
      onDrain: fill,
    },
    localhost,
  )
  const client = new Outbound({ ca })
  const result = await client.send(get(vendor.origin))
  if (result.kind === 'network') throw new Error(result.message)
  await Bun.sleep(100)
  let bytes = 0
  const { promise: ended, resolve, reject } = Promise.withResolvers<void>()
  result.response.deliver({
    part(part) {
      bytes += part.length
      result.response.pause()
      setTimeout(() => result.response.resume(), 1)
    },
    end(last) {
      bytes += last.length
      resolve()
    },
    broken: reject,
  })
  await ended
  expect(bytes).toBe(total)
  client.close()
})

test.each([
  ['is signed by nobody we know', 'localhost', localhost, undefined, 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
  ['belongs to another name', 'localhost', other, ca, 'ERR_TLS_CERT_ALTNAME_INVALID'],
  ['belongs to no address', '127.0.0.1', other, ca, 'ERR_TLS_CERT_ALTNAME_INVALID'],
])('sends nothing where the certificate %s', async (_, host, certificate, trusted, message) => {
  const vendor = upstream(
    answering(() => OK),
    certificate,
  )
  const client = new Outbound(trusted === undefined ? {} : { ca: trusted })
  const result = await client.sendForText(get(`https://${host}:${vendor.port}`), 100)
  expect(result).toEqual({ kind: 'network', message, reached: false })
  await Bun.sleep(20)
  expect(received(vendor)).toBe('')
})

test('trusts what NODE_EXTRA_CA_CERTS names', async () => {
  const vendor = upstream(
    answering(() => OK),
    localhost,
  )
  const path = (file: string): string => new URL(file, import.meta.url).pathname
  const script = `
    import { outbound } from ${JSON.stringify(path('../../src/outbound/send.ts'))}
    import { Stop } from ${JSON.stringify(path('../../src/outbound/stop.ts'))}
    const request = { url: '${vendor.origin}/', method: 'GET', headers: {}, stop: new Stop(), reach: 'private' }
    console.log((await outbound.sendForText(request, 100)).text)`
  const child = Bun.spawn([process.execPath, '-e', script], {
    env: { ...process.env, NODE_EXTRA_CA_CERTS: path('../fixtures/tls/ca.pem') },
    stdout: 'pipe',
    stderr: 'inherit',
  })
  expect(await new Response(child.stdout).text()).toBe('ok\n')
})

test('a host that accepts and never shakes hands has not been reached, and is given up in time', async () => {
  const vendor = upstream({})
  const client = new Outbound({ ca, connectTimeoutMs: 200 })
  const startedMs = performance.now()
  const result = await client.sendForText(get(`https://127.0.0.1:${vendor.port}`), 100)
  expect(result).toEqual({ kind: 'network', message: 'connect timeout', reached: false })
  expect(performance.now() - startedMs).toBeLessThan(2_000)
  expect(received(vendor)).not.toContain('secret')
})

test('a host that does not speak TLS, refuses, or has no address, has not been reached', async () => {
  const plain = upstream({ onData: ({ socket }) => void socket.write('HTTP/1.1 400 Bad Request\r\n\r\n') })
  const gone = startRawUpstream({})
  gone.stop()
  const client = new Outbound()
  expect(await client.send(get(`https://127.0.0.1:${plain.port}`))).toMatchObject({ kind: 'network', reached: false })
  expect(received(plain)).not.toContain('secret')
  expect(await client.send(get(gone.origin))).toEqual({ kind: 'network', message: 'ECONNREFUSED', reached: false })
  const nowhere = await client.send(get('http://nowhere.invalid'))
  expect(nowhere).toMatchObject({ kind: 'network', reached: false })
  expect(JSON.stringify(nowhere)).not.toContain('nowhere')
})

test('a name with several addresses is tried at each, in order', async () => {
  const vendor = upstream(answering(() => OK))
  const asked: string[] = []
  const client = new Outbound({
    addressesOf(hostname) {
      asked.push(hostname)
      // Nobody listens at the first.
      return Promise.resolve(['127.0.0.2', '127.0.0.1'])
    },
  })
  const origin = `http://vendor.example:${vendor.port}`
  expect(await client.sendForText(get(origin), 100)).toMatchObject({ text: 'ok' })
  expect(asked).toEqual(['vendor.example'])
  client.close()
})

test('an IPv6 address is one, in its brackets', async () => {
  const server = createServer((socket) => socket.end(OK))
  const listening = await new Promise<boolean>((resolve) => {
    server.on('error', () => resolve(false))
    server.listen(0, '::1', () => resolve(true))
  })
  if (!listening) return // A machine without IPv6.
  const { port } = server.address() as { port: number }
  expect(await new Outbound().sendForText(get(`http://[::1]:${port}`), 100)).toMatchObject({ text: 'ok' })
  server.close()
})

test('a connection that its request did not wait for serves the next', async () => {
  const vendor = upstream(
    answering(() => OK),
    localhost,
  )
  const client = new Outbound({ ca })
  const request = get(vendor.origin)
  const sent = client.send(request)
  request.stop.stop()
  expect(await sent).toEqual({ kind: 'network', message: 'aborted', reached: false })
  for (let i = 0; i < 500 && client.idleCount === 0; i++) await Bun.sleep(2)
  expect(received(vendor)).toBe('')
  expect(await client.sendForText(get(vendor.origin), 100)).toMatchObject({ text: 'ok' })
  expect(vendor.callers).toHaveLength(1)
  client.close()
})

test('addresses that never answer share the time', async () => {
  const vendor = upstream({})
  const addressesOf = (): Promise<string[]> => Promise.resolve(['127.0.0.1', '127.0.0.1', '127.0.0.1'])
  const client = new Outbound({ ca, connectTimeoutMs: 300, addressesOf })
  const startedMs = performance.now()
  const result = await client.send(get(`https://vendor.example:${vendor.port}`))
  expect(result).toEqual({ kind: 'network', message: 'connect timeout', reached: false })
  expect(performance.now() - startedMs).toBeLessThan(1_000)
  expect(vendor.callers).toHaveLength(3)
})

test('a resolver that never answers is given up in time', async () => {
  const client = new Outbound({ connectTimeoutMs: 100, addressesOf: () => new Promise(() => undefined) })
  const result = await client.send(get('http://vendor.example'))
  expect(result).toEqual({ kind: 'network', message: 'DNS timeout', reached: false })
})
