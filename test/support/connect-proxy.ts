/**
 * A strict HTTP proxy: CONNECT (RFC 9110, section 9.3.6) and requests in absolute form (RFC 9112, section 3.2.2). A
 * request that breaks a rule gets 400, and its fault is noted.
 */
import { connect, createServer, type Socket } from 'node:net'
import { once } from 'node:events'

export type ProxyRequest = { readonly method: string; readonly target: string; readonly head: string }

export type TestProxy = {
  readonly port: number
  /** In the order of arrival. */
  readonly requests: readonly ProxyRequest[]
  readonly faults: readonly string[]
  /** How many clients have connected. */
  readonly callers: () => number
  stop(): void
}

export type ProxyBehaviour = {
  /** `user:password`. Requests without it get 407. */
  readonly secret?: string
  /** Answers instead of the proxy. Undefined: it works. */
  readonly instead?: (request: ProxyRequest, socket: Socket) => boolean
  /** Where the proxy connects for a host. The default is the host itself. */
  readonly place?: (host: string, port: number) => { readonly host: string; readonly port: number }
}

const HEAD_END = '\r\n\r\n'

export async function startConnectProxy({ secret, instead, place }: ProxyBehaviour = {}): Promise<TestProxy> {
  const requests: ProxyRequest[] = []
  const faults: string[] = []
  const sockets = new Set<Socket>()
  let callers = 0
  const server = createServer((client) => {
    callers++
    sockets.add(client)
    client.on('close', () => sockets.delete(client)).on('error', () => undefined)
    let text = ''
    const onData = (bytes: Buffer): void => {
      text += bytes.toString('latin1')
      const end = text.indexOf(HEAD_END) + HEAD_END.length
      if (end < HEAD_END.length) return
      const head = text.slice(0, end - HEAD_END.length)
      const bodyEnd = end + Number(/^content-length: (\d+)$/im.exec(head)?.[1] ?? 0)
      if (text.length < bodyEnd) return
      const rest = Buffer.from(text.slice(end), 'latin1')
      text = ''
      // After CONNECT, the bytes are no longer the proxy's to read.
      if (head.startsWith('CONNECT ')) client.off('data', onData).pause()
      serve(client, head, rest)
    }
    client.on('data', onData)
  })

  function serve(client: Socket, head: string, rest: Buffer): void {
    const [method = '', target = '', version = ''] = (head.split('\r\n')[0] ?? '').split(' ')
    const request = { method, target, head }
    requests.push(request)
    if (instead?.(request, client)) return void client.resume()
    const given = /^proxy-authorization: Basic (.+)$/im.exec(head)?.[1]
    if (secret !== undefined && given !== Buffer.from(secret).toString('base64')) {
      const refusal = 'HTTP/1.1 407 Proxy Authentication Required\r\nproxy-authenticate: Basic realm="test"\r\n'
      return void client.end(`${refusal}content-length: 0\r\n\r\n`)
    }
    const host = /^host: (.+)$/im.exec(head)?.[1] ?? ''
    const url = method === 'CONNECT' ? URL.parse(`http://${target}`) : URL.parse(target)
    const fault = faultOf({ method, target, version, host, url, head })
    if (fault !== undefined || !url) {
      faults.push(fault ?? 'no address')
      return void client.end('HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n')
    }
    // `URL` drops the default port.
    const port = Number(/:(\d+)$/.exec(method === 'CONNECT' ? target : url.host)?.[1] ?? 80)
    const hostname = url.hostname.replace(/^\[|\]$/g, '')
    const origin = connect(place?.(hostname, port) ?? { host: hostname, port })
    sockets.add(origin)
    origin.on('error', () => client.end('HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n'))
    origin.on('close', () => client.destroy())
    client.on('close', () => origin.destroy())
    origin.on('connect', () => {
      if (method === 'CONNECT') client.write('HTTP/1.1 200 Connection established\r\n\r\n')
      else origin.write(`${forwardedHead(head, url)}${HEAD_END}`)
      origin.write(rest)
      if (method === 'CONNECT') client.pipe(origin)
      origin.pipe(client)
    })
  }

  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  const stop = (): void => {
    server.close()
    for (const socket of sockets) socket.destroy()
  }
  return { port, requests, faults, callers: () => callers, stop }
}

type ParsedRequest = ProxyRequest & { readonly version: string; readonly host: string; readonly url: URL | null }

function faultOf({ method, target, version, host, url, head }: ParsedRequest): string | undefined {
  if (version !== 'HTTP/1.1') return `the version is ${version}`
  if (method === 'CONNECT') {
    if (!/^(?:\[[\da-f:.]+\]|[^:/?#@]+):\d+$/.test(target)) return `${target} is not an authority with a port`
    if (/^(?:content-length|transfer-encoding|authorization):/im.test(head)) return 'CONNECT has what it must not have'
    return host === target ? undefined : `the host is ${host}, not ${target}`
  }
  if (url?.protocol !== 'http:') return `${target} is not in absolute form`
  return host === url.host ? undefined : `the host is ${host}, not ${url.host}`
}

/** The head for the origin: in origin form, and without what was meant for the proxy. */
const forwardedHead = (head: string, { pathname, search }: URL): string => {
  const [line = '', ...fields] = head.split('\r\n')
  const kept = fields.filter((field) => !/^proxy-/i.test(field))
  return [`${line.split(' ')[0]} ${pathname}${search} HTTP/1.1`, ...kept].join('\r\n')
}
