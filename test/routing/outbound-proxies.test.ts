/** Requests that leave through a proxy: HTTP and SOCKS 5, strict ones, and ones that refuse, stall, lie or are dead. */
import { afterEach, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import type { Egress } from '../../src/domain/egress.ts'
import { EnvironmentProxies } from '../../src/outbound/environment-proxies.ts'
import { follow } from '../../src/outbound/follow.ts'
import { readProxy } from '../../src/outbound/proxy-address.ts'
import { Outbound, type OutboundRequest, type WholeResult } from '../../src/outbound/send.ts'
import { Stop } from '../../src/outbound/stop.ts'
import { startConnectProxy, type ProxyBehaviour, type TestProxy } from '../support/connect-proxy.ts'
import { answering, startRawUpstream, type RawUpstream } from '../support/raw-upstream.ts'
import { startSocksProxy, type SocksBehaviour, type SocksProxy } from '../support/socks-proxy.ts'

const fixture = (name: string): string => readFileSync(new URL(`../fixtures/tls/${name}`, import.meta.url), 'utf8')
const ca = fixture('ca.pem')
const localhost = { cert: fixture('localhost.pem'), key: fixture('localhost.key') }
const other = { cert: fixture('other.pem'), key: fixture('other.key') }

const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'
const SECRET = 'user:p@ss:word'

const started: { stop(): void }[] = []
afterEach(() => {
  for (const each of started.splice(0)) each.stop()
})

function kept<Any extends { stop(): void }>(made: Any): Any {
  started.push(made)
  return made
}
const vendor = (tls?: typeof localhost): RawUpstream =>
  kept(
    startRawUpstream(
      answering(() => OK),
      tls,
    ),
  )
const httpProxy = async (behaviour?: ProxyBehaviour): Promise<TestProxy> => kept(await startConnectProxy(behaviour))
const socksProxy = async (behaviour?: SocksBehaviour): Promise<SocksProxy> => kept(await startSocksProxy(behaviour))

function client(options: ConstructorParameters<typeof Outbound>[0] = {}): Outbound {
  const made = new Outbound({ connectTimeoutMs: 2_000, ca, ...options })
  started.push({ stop: () => made.close() })
  return made
}

function egress(proxy: string, more: Partial<Egress> = {}): Egress {
  const read = readProxy(proxy)
  if (read.kind === 'bad') throw new Error(read.message)
  return { proxy: read.proxy, ca: undefined, namedBy: 'operator', ...more }
}
const http = ({ port }: TestProxy, secret?: string): Egress => egress(`http://${at(secret)}127.0.0.1:${port}`)
const socks = ({ port }: SocksProxy, scheme = 'socks5', secret?: string): Egress =>
  egress(`${scheme}://${at(secret)}127.0.0.1:${port}`)
const at = (secret?: string): string =>
  secret === undefined ? '' : `${encodeURIComponent('user')}:${encodeURIComponent(secret.slice(5))}@`

const ask = (by: Outbound, url: string, more: Partial<OutboundRequest>): Promise<WholeResult> =>
  by.sendForText(
    {
      url,
      method: 'POST',
      body: '{}',
      headers: { authorization: 'Bearer key' },
      stop: new Stop(),
      reach: 'private',
      ...more,
    },
    1_000,
  )
const OKAY = { kind: 'whole', status: 200, text: 'ok' }
const received = ({ callers }: RawUpstream): string => callers.map((caller) => caller.received).join('')

test('a request with TLS goes through a tunnel that is kept, and the proxy sees neither key nor path', async () => {
  const [origin, proxy] = [vendor(localhost), await httpProxy({ secret: SECRET })]
  const by = client()
  for (let i = 0; i < 3; i++) {
    expect(await ask(by, `https://localhost:${origin.port}/secret`, { egress: http(proxy, SECRET) })).toMatchObject(
      OKAY,
    )
  }
  expect(proxy.faults).toEqual([])
  expect(proxy.requests.map(({ method, target }) => `${method} ${target}`)).toEqual([
    `CONNECT localhost:${origin.port}`,
  ])
  expect(proxy.requests[0]?.head).not.toMatch(/Bearer|secret/)
})

test('a request without TLS is sent in absolute form, and its vendor does not learn the proxy’s credential', async () => {
  const proxy = await httpProxy({ secret: SECRET })
  let heard = ''
  const origin = kept(startRawUpstream(answering(({ received: text }) => ((heard = text), OK))))
  const by = client()
  for (let i = 0; i < 2; i++) {
    expect(await ask(by, `${origin.origin}/v1/chat?a=b`, { egress: http(proxy, SECRET) })).toMatchObject(OKAY)
  }
  expect(proxy.faults).toEqual([])
  expect(proxy.requests[0]?.target).toBe(`${origin.origin}/v1/chat?a=b`)
  expect(heard).toStartWith('POST /v1/chat?a=b HTTP/1.1\r\n')
  expect(heard.toLowerCase()).not.toContain('proxy-')
  expect(proxy.callers()).toBe(1)
})

test.each([
  ['socks5', 'ipv4', undefined],
  ['socks5h', 'name', undefined],
  ['socks5', 'ipv4', SECRET],
  ['socks5h', 'name', SECRET],
])('%s sends the host as %s, with TLS and without', async (scheme, kind, secret) => {
  const proxy = await socksProxy({ slices: true, ...(secret === undefined ? {} : { secret }) })
  const by = client({ addressesOf: (host) => Promise.resolve([host === 'localhost' ? '127.0.0.1' : host]) })
  const [secure, plain] = [vendor(localhost), vendor()]
  for (const url of [`https://localhost:${secure.port}/`, `http://localhost:${plain.port}/`]) {
    expect(await ask(by, url, { egress: socks(proxy, scheme, secret) })).toMatchObject(OKAY)
    expect(await ask(by, url, { egress: socks(proxy, scheme, secret) })).toMatchObject(OKAY)
  }
  expect(proxy.faults).toEqual([])
  expect(proxy.targets.map((target) => target.kind)).toEqual([kind, kind] as (typeof proxy.targets)[number]['kind'][])
})

test.each([
  ['for another name', other, ca, undefined, 'ERR_TLS_CERT_ALTNAME_INVALID'],
  ['by nobody we know', localhost, undefined, undefined, 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
  ['by nobody we know', localhost, undefined, ca, undefined],
])('in a tunnel, a certificate made %s is judged as without one', async (_, certificate, trusted, own, problem) => {
  const [origin, proxy, socksOne] = [vendor(certificate), await httpProxy(), await socksProxy()]
  for (const way of [http(proxy), socks(socksOne, 'socks5h')]) {
    const by = new Outbound({ connectTimeoutMs: 2_000, ...(trusted === undefined ? {} : { ca: trusted }) })
    const result = await ask(by, `https://localhost:${origin.port}/`, { egress: { ...way, ca: own } })
    by.close()
    expect(result).toMatchObject(problem === undefined ? OKAY : { kind: 'network', message: problem, reached: false })
  }
  if (problem !== undefined) expect(received(origin)).not.toContain('Bearer')
})

test('authorities of a provider count for it alone, directly and beside those of the system', async () => {
  const origin = vendor(localhost)
  const by = new Outbound({ connectTimeoutMs: 2_000 })
  const url = `https://localhost:${origin.port}/`
  const own: Egress = { proxy: 'direct', ca, namedBy: 'operator' }
  expect(await ask(by, url, { egress: own })).toMatchObject(OKAY)
  expect(await ask(by, url, {})).toMatchObject({ kind: 'network', reached: false })
  by.close()
})

const refusals: readonly (readonly [string, ProxyBehaviour, string])[] = [
  [
    'refuses',
    { instead: (_, socket) => socket.end('HTTP/1.1 403 No\r\ncontent-length: 0\r\n\r\n') !== undefined },
    'the proxy refuses the connection (403)',
  ],
  ['wants another credential', { secret: 'a:b' }, 'the proxy refuses the credential (407)'],
  ['closes', { instead: (_, socket) => socket.end() !== undefined }, 'the proxy closed the connection'],
  [
    'speaks something else',
    { instead: (_, socket) => socket.write('SSH-2.0-OpenSSH\r\n\r\n') },
    'the proxy does not answer in HTTP',
  ],
  [
    'answers for the vendor',
    { instead: (_, socket) => socket.write(`HTTP/1.1 200 OK\r\n\r\n${OK}`) },
    'the proxy sent bytes that were not asked for',
  ],
  [
    'has an endless head',
    { instead: (_, socket) => socket.write(`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(40_000)}`) },
    'the answer of the proxy has too large a head',
  ],
  ['stalls', { instead: () => true }, 'the proxy did not connect in time'],
  [
    'has nothing behind it',
    { place: () => ({ host: '127.0.0.1', port: 1 }) },
    'the proxy refuses the connection (502)',
  ],
]
test.each(refusals)(
  'a proxy that %s is a failure in which the vendor was not reached',
  async (_, behaviour, message) => {
    const [origin, proxy] = [vendor(localhost), await httpProxy(behaviour)]
    const by = client({ connectTimeoutMs: 300 })
    const result = await ask(by, `https://localhost:${origin.port}/`, { egress: http(proxy) })
    expect(result).toEqual({ kind: 'network', message, reached: false })
    expect(origin.callers).toHaveLength(0)
  },
)

test('a dead proxy, and one that wants a credential for a forwarded request, have reached nobody', async () => {
  const [origin, proxy] = [vendor(), await httpProxy({ secret: 'a:b' })]
  const by = client()
  const dead = { kind: 'network', message: 'the proxy cannot be reached (ECONNREFUSED)', reached: false }
  for (const text of ['http://127.0.0.1:1', 'socks5://127.0.0.1:1']) {
    expect(await ask(by, origin.origin, { egress: egress(text) })).toEqual(dead as WholeResult)
  }
  const refused = { kind: 'network', message: 'the proxy refuses the credential (407)', reached: false }
  expect(await ask(by, origin.origin, { egress: http(proxy) })).toEqual(refused as WholeResult)
  expect(origin.callers).toHaveLength(0)
})

test.each([
  [{ secret: 'a:b' }, 'the proxy demands another credential'],
  [{ refusal: 2 }, 'the proxy refuses the connection (its rules forbid it)'],
  [{ refusal: 99 }, 'the proxy refuses the connection (code 99)'],
])('a SOCKS proxy with %j is named as the cause', async (behaviour, message) => {
  const [origin, proxy] = [vendor(), await socksProxy(behaviour)]
  expect(await ask(client(), origin.origin, { egress: socks(proxy) })).toEqual({
    kind: 'network',
    message,
    reached: false,
  })
})

test('a name that SOCKS cannot carry is not sent', async () => {
  const proxy = await socksProxy()
  const by = client({ addressesOf: (host) => Promise.resolve([host === '127.0.0.1' ? host : '1.2.3.4']) })
  const host = Array.from({ length: 5 }, () => 'a'.repeat(60)).join('.')
  expect(await ask(by, `http://${host}/`, { egress: socks(proxy, 'socks5h') })).toMatchObject({
    kind: 'network',
    message: 'the name of the host is too long for the proxy',
    reached: false,
  })
  expect(proxy.targets).toEqual([])
})

test('a wrong password of a SOCKS proxy is named', async () => {
  const [origin, proxy] = [vendor(), await socksProxy({ secret: 'user:right' })]
  const result = await ask(client(), origin.origin, { egress: socks(proxy, 'socks5', 'user:wrong') })
  expect(result).toEqual({ kind: 'network', message: 'the proxy refuses the credential', reached: false })
})

test('a request that is cancelled in a handshake ends at once', async () => {
  const proxy = await httpProxy({ instead: () => true })
  const stop = new Stop()
  const sent = ask(client(), 'https://localhost:1/', { egress: http(proxy), stop })
  while (proxy.requests.length === 0) await Bun.sleep(1)
  stop.stop()
  expect(await sent).toEqual({ kind: 'network', message: 'aborted', reached: false })
})

test('the guard stands before a proxy: private, metadata and rebound hosts are not asked for', async () => {
  const [proxy, socksOne] = [await httpProxy(), await socksProxy()]
  const zones: Record<string, string> = { 'inner.example': '10.0.0.7', 'meta.example': '169.254.169.254' }
  const by = client({ addressesOf: (host) => Promise.resolve([zones[host] ?? host]) })
  const hosts = ['127.0.0.1', '[::1]', 'localhost', '169.254.169.254', 'inner.example', 'meta.example']
  for (const way of [http(proxy), socks(socksOne), socks(socksOne, 'socks5h')]) {
    for (const host of hosts) {
      for (const scheme of ['http', 'https']) {
        const result = await ask(by, `${scheme}://${host}/`, { egress: way, reach: 'public' })
        expect([host, result]).toEqual([host, { kind: 'network', message: expect.any(String), reached: false }])
      }
    }
    // With the permission for private addresses, metadata services stay barred.
    const barred = await ask(by, 'http://meta.example/', { egress: way })
    expect(barred).toMatchObject({ kind: 'network', message: expect.stringContaining('never called') })
  }
  expect(proxy.requests).toEqual([])
  expect(socksOne.targets).toEqual([])
})

test('a host that a stranger named is resolved and judged here, and the proxy gets its address', async () => {
  const origin = vendor()
  const proxy = await httpProxy({ place: () => ({ host: '127.0.0.1', port: origin.port }) })
  const zones: Record<string, readonly string[]> = { 'files.example': ['1.2.3.4'], 'inner.example': ['10.0.0.7'] }
  const by = client({
    addressesOf: (host) => (zones[host] ? Promise.resolve(zones[host]) : Promise.reject(new Error('no such name'))),
  })
  // The proxy's own address is a literal.
  zones['127.0.0.1'] = ['127.0.0.1']
  const far = { egress: { ...http(proxy), namedBy: 'stranger' as const }, reach: 'public' as const }
  expect(await ask(by, 'http://files.example/a.png', far)).toMatchObject(OKAY)
  expect(proxy.requests.map(({ target }) => target)).toEqual(['1.2.3.4:80'])
  for (const host of ['inner.example', 'unknown.example']) {
    expect(await ask(by, `http://${host}/a.png`, far)).toMatchObject({ kind: 'network', reached: false })
  }
  expect(proxy.requests).toHaveLength(1)
})

test('a name that only the proxy can resolve is the proxy’s to judge, if the operator chose it', async () => {
  const origin = vendor()
  const proxy = await httpProxy({ place: () => ({ host: '127.0.0.1', port: origin.port }) })
  const by = client({
    addressesOf: (host) => (host === '127.0.0.1' ? Promise.resolve([host]) : Promise.reject(new Error('no such name'))),
  })
  expect(await ask(by, 'http://vendor.example/v1', { egress: http(proxy), reach: 'public' })).toMatchObject(OKAY)
  expect(proxy.requests[0]?.target).toBe('http://vendor.example/v1')
})

test('a redirect to another host goes through the same proxy, without the headers and the provider’s authorities', async () => {
  const target = vendor()
  const first = kept(
    startRawUpstream(
      answering(() => `HTTP/1.1 302 Found\r\nlocation: http://files.example/x\r\ncontent-length: 0\r\n\r\n`),
    ),
  )
  const proxy = await httpProxy({
    place: (host, port) => (host === '1.2.3.4' ? { host: '127.0.0.1', port: target.port } : { host, port }),
  })
  const by = client({ addressesOf: (host) => Promise.resolve([host === 'files.example' ? '1.2.3.4' : host]) })
  const start = {
    url: first.origin,
    headers: { authorization: 'Bearer key' },
    reach: 'private',
    stop: new Stop(),
  } as const
  const result = await follow(by, { ...start, egress: http(proxy) }, { hopsMax: 2, timeoutMs: 2_000 })
  if (result.kind === 'network') throw new Error(result.message)
  result.response.cancel()
  expect(proxy.requests.map(({ method, target: to }) => `${method} ${to}`)).toEqual([
    `GET ${first.origin}/`,
    'CONNECT 1.2.3.4:80',
  ])
  expect(proxy.requests[1]?.head).not.toContain('Bearer')
})

test('proxies of the environment are used from when they are set, except where the egress is direct', async () => {
  const [origin, proxy] = [vendor(), await httpProxy()]
  const by = client()
  expect(await ask(by, origin.origin, {})).toMatchObject(OKAY)
  expect(proxy.requests).toHaveLength(0)
  by.useProxies(new EnvironmentProxies({ HTTP_PROXY: `http://127.0.0.1:${proxy.port}`, NO_PROXY: 'localhost' }))
  expect(await ask(by, origin.origin, {})).toMatchObject(OKAY)
  expect(proxy.requests).toHaveLength(1)
  expect(await ask(by, `http://localhost:${origin.port}`, {})).toMatchObject(OKAY)
  expect(
    await ask(by, origin.origin, { egress: { proxy: 'direct', ca: undefined, namedBy: 'operator' } }),
  ).toMatchObject(OKAY)
  expect(proxy.requests).toHaveLength(1)
})
