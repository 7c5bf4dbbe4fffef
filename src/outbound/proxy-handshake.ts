/**
 * What a client and a proxy say before the way to the host is open: CONNECT (RFC 9110, section 9.3.6), and SOCKS 5
 * (RFC 1928) with user and password (RFC 1929). It is pure: bytes come in, and a step comes out.
 */
import type { ProxyAddress } from '../domain/egress.ts'
import { HeadReader } from '../lib/http/http1.ts'
import { limit } from '../lib/primitives/limit.ts'
import { KIB } from '../lib/primitives/units.ts'
import { bareHost } from './address.ts'
import { parseIp } from './ip.ts'

export type HandshakeStep =
  | { readonly kind: 'wait' | 'open' }
  | { readonly kind: 'send'; readonly bytes: Uint8Array }
  | { readonly kind: 'failed'; readonly message: string }

export type Handshake = {
  /** The first bytes of the client. */
  readonly first: Uint8Array
  /** Takes bytes of the proxy. */
  take(bytes: Buffer): HandshakeStep
}

/** Where the way is to lead. The host is a name, or an address with or without brackets. */
export type TunnelTarget = { readonly host: string; readonly port: number }

const HEAD_BYTES_MAX = limit('proxyHeadBytesMax', 16 * KIB, 'A proxy whose answer has a larger head counts as failed.')
const INTERIM_MAX = 8

const WAIT: HandshakeStep = { kind: 'wait' }
const OPEN: HandshakeStep = { kind: 'open' }
const failed = (message: string): HandshakeStep => ({ kind: 'failed', message })
/** Whoever speaks before the client does is not the host of the request. */
const TOO_EARLY = failed('the proxy sent bytes that were not asked for')

export const handshakeWith = (proxy: ProxyAddress, target: TunnelTarget): Handshake =>
  proxy.scheme === 'http' ? new ConnectHandshake(proxy, target) : new SocksHandshake(proxy, target)

/** The line with the credential of a proxy, or nothing. */
export const proxyAuthorization = ({ secret }: ProxyAddress): string =>
  secret === undefined ? '' : `proxy-authorization: Basic ${Buffer.from(secret).toString('base64')}\r\n`

class ConnectHandshake implements Handshake {
  readonly first: Uint8Array
  private head = new HeadReader(HEAD_BYTES_MAX)
  private interims = 0

  constructor(proxy: ProxyAddress, { host, port }: TunnelTarget) {
    const name = host.includes(':') && !host.startsWith('[') ? `[${host}]` : host
    const authority = `${name}:${port}`
    const fields = `host: ${authority}\r\nuser-agent: tollgate\r\n${proxyAuthorization(proxy)}`
    this.first = Buffer.from(`CONNECT ${authority} HTTP/1.1\r\n${fields}\r\n`)
  }

  take(bytes: Buffer): HandshakeStep {
    for (let at = 0; at < bytes.length;) {
      const found = this.head.push(bytes, at)
      if (found === 'too_large') return failed('the answer of the proxy has too large a head')
      if (found.end === -1) return WAIT
      const status = Number(/^HTTP\/1\.[01] ([1-9]\d\d)(?: |\r|$)/.exec(found.text)?.[1])
      if (Number.isNaN(status) || status === 101) return failed('the proxy does not answer in HTTP')
      if (status >= 200) return this.answered(status, found.end < bytes.length)
      if (++this.interims > INTERIM_MAX) return failed('the proxy sends too many interim answers')
      this.head = new HeadReader(HEAD_BYTES_MAX)
      at = found.end
    }
    return WAIT
  }

  /** After 2xx the tunnel begins with the head's end, whatever length the head states. */
  private answered(status: number, hasMore: boolean): HandshakeStep {
    if (status === 407) return failed('the proxy refuses the credential (407)')
    if (status >= 300) return failed(`the proxy refuses the connection (${status})`)
    return hasMore ? TOO_EARLY : OPEN
  }
}

const VERSION = 5
const [NO_AUTH, BY_PASSWORD] = [0, 2]
/** A name has one byte for its length. */
const NAME_CHARS_MAX = 255
const [IPV4, NAME, IPV6] = [1, 3, 4]

const SOCKS_REFUSALS: Readonly<Record<number, string>> = {
  1: 'a general failure',
  2: 'its rules forbid it',
  3: 'the network is unreachable',
  4: 'the host is unreachable',
  5: 'the host refused it',
  6: 'it took too long',
  7: 'the command is not supported',
  8: 'this kind of address is not supported',
}

type SocksStage = 'method' | 'password' | 'request' | 'over'

class SocksHandshake implements Handshake {
  readonly first: Uint8Array
  private readonly secret: string | undefined
  private readonly target: TunnelTarget
  private stage: SocksStage = 'method'
  /** The bytes of an answer that is not complete. */
  private arrived: Buffer = Buffer.alloc(0)

  constructor({ secret }: ProxyAddress, target: TunnelTarget) {
    this.secret = secret
    this.target = target
    this.first = Uint8Array.from(secret === undefined ? [VERSION, 1, NO_AUTH] : [VERSION, 2, NO_AUTH, BY_PASSWORD])
  }

  take(bytes: Buffer): HandshakeStep {
    const all = (this.arrived = Buffer.concat([this.arrived, bytes]))
    const length = this.stage === 'request' ? replyLength(all) : 2
    if (all.length < length) return WAIT
    // Each answer follows a question, so no proxy has a reason to send more.
    if (all.length > length) return TOO_EARLY
    this.arrived = Buffer.alloc(0)
    switch (this.stage) {
      case 'method':
        return this.methodChosen(all)
      case 'password':
        return all[1] === 0 ? this.request() : failed('the proxy refuses the credential')
      case 'request':
        return this.answered(all)
      case 'over':
        return TOO_EARLY
    }
  }

  private methodChosen([version, method]: Buffer): HandshakeStep {
    if (version !== VERSION) return failed('the proxy does not speak SOCKS 5')
    if (method === NO_AUTH) return this.request()
    if (method !== BY_PASSWORD || this.secret === undefined) return failed('the proxy demands another credential')
    this.stage = 'password'
    const colon = this.secret.indexOf(':')
    const parts = [this.secret.slice(0, colon), this.secret.slice(colon + 1)].map((part) => Buffer.from(part))
    return send(Buffer.from([1]), ...parts.flatMap((part) => [Buffer.from([part.length]), part]))
  }

  private request(): HandshakeStep {
    this.stage = 'request'
    const { host, port } = this.target
    if (host.length > NAME_CHARS_MAX) return failed('the name of the host is too long for the proxy')
    return send(Buffer.from([VERSION, 1, 0]), socksHost(host), Buffer.from([port >> 8, port & 0xff]))
  }

  private answered([version, code = 1]: Buffer): HandshakeStep {
    this.stage = 'over'
    if (version !== VERSION) return failed('the proxy does not speak SOCKS 5')
    return code === 0 ? OPEN : failed(`the proxy refuses the connection (${SOCKS_REFUSALS[code] ?? `code ${code}`})`)
  }
}

const send = (...parts: readonly Buffer[]): HandshakeStep => ({ kind: 'send', bytes: Buffer.concat(parts) })

function socksHost(host: string): Buffer {
  const literal = bareHost(host)
  const address = parseIp(literal)
  if (address === undefined) return Buffer.concat([Buffer.from([NAME, literal.length]), Buffer.from(literal)])
  const isIpv4 = !literal.includes(':')
  const digits = address
    .toString(16)
    .padStart(32, '0')
    .slice(isIpv4 ? 24 : 0)
  return Buffer.concat([Buffer.from([isIpv4 ? IPV4 : IPV6]), Buffer.from(digits, 'hex')])
}

/** The length of the answer to a request. It ends with an address and a port that nobody needs. */
function replyLength(bytes: Buffer): number {
  const [, , , kind, nameLength = 0] = bytes
  const before = 4
  const port = 2
  if (bytes.length <= before) return before + 1 + port
  if (kind === NAME) return before + 1 + nameLength + port
  return before + (kind === IPV6 ? 16 : 4) + port
}
