/**
 * Turns a credential into headers. A key is sent unchanged. A Google service account signs a statement about itself and
 * gets a one-hour token for it from its token endpoint. The private key is never sent.
 */
import { sign } from 'node:crypto'
import type { Provider } from '../domain/catalog.ts'
import type { UpstreamFailure } from '../domain/failure.ts'
import { outbound } from '../outbound/send.ts'
import { Stop } from '../outbound/stop.ts'
import type { AuthScheme, Preset } from '../vendors/preset.ts'
import { KIB } from '../lib/primitives/units.ts'
import { limit } from '../lib/primitives/limit.ts'

export type Headers = Readonly<Record<string, string>>
type CredentialFailure = { readonly kind: 'failed'; readonly failure: UpstreamFailure }
type Credential = { readonly kind: 'headers'; readonly headers: Headers } | CredentialFailure

/** The headers of a credential that needs no exchange. */
function authHeaders(scheme: AuthScheme, secret: string | undefined): Record<string, string> {
  if (!secret) return {}
  switch (scheme) {
    case 'bearer':
      return { authorization: `Bearer ${secret}` }
    case 'api-key':
      return { 'api-key': secret }
    case 'x-api-key':
      return { 'x-api-key': secret }
    case 'x-goog-api-key':
      return { 'x-goog-api-key': secret }
    case 'google-service-account':
    case 'none':
      return {}
  }
}

const AUTH_REFUSED = 401

export type Sends<Sent> = {
  readonly statusOf: (sent: Sent) => number | undefined
  /** Discards an answer that will not be read. */
  readonly discard?: (sent: Sent) => void
}

/** Sends a request with a provider's credential. An exchanged credential that is refused is renewed once. */
export const sendAs = <Sent>(
  { provider, preset }: { readonly provider: Provider; readonly preset: Preset },
  send: (credential: Headers) => Promise<Sent>,
  sends: Sends<Sent>,
): Promise<Sent | CredentialFailure> =>
  preset.auth === 'google-service-account'
    ? sendWithToken(provider, send, sends)
    : send(plainHeaders(provider, preset.auth))

/** Made once for each provider object. A changed provider is a new object. */
const plain = new WeakMap<Provider, Headers>()

function plainHeaders(provider: Provider, scheme: AuthScheme): Headers {
  const known = plain.get(provider)
  if (known) return known
  const headers = authHeaders(scheme, provider.secret)
  plain.set(provider, headers)
  return headers
}

async function sendWithToken<Sent>(
  provider: Provider,
  send: (credential: Headers) => Promise<Sent>,
  { statusOf, discard }: Sends<Sent>,
): Promise<Sent | CredentialFailure> {
  for (let attempt = 1; ; attempt++) {
    const credential = await accessTokens.headersFor(provider)
    if (credential.kind === 'failed') return credential
    const sent = await send(credential.headers)
    if (statusOf(sent) !== AUTH_REFUSED) return sent
    accessTokens.forget(provider, credential.headers)
    if (attempt === 2) return sent
    discard?.(sent)
  }
}

const TOKEN_URI = 'https://oauth2.googleapis.com/token'
const SCOPE = 'https://www.googleapis.com/auth/cloud-platform'
const GRANT = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
const STATEMENT_SECONDS = 3_600
const EXCHANGE_TIMEOUT_MS = limit(
  'tokenExchangeTimeoutMs',
  10_000,
  'A credential exchange with Google that takes longer counts as failed.',
)
const EXCHANGE_BYTES_MAX = limit(
  'tokenExchangeBytesMax',
  64 * KIB,
  'A credential exchange with a larger answer counts as failed.',
)
/** A token is given up this long before it ends, or a tenth of its life before, if that is shorter. */
const MARGIN_MS = 300_000

type Account = {
  readonly email: string
  readonly privateKey: string
  readonly keyId: string | undefined
  readonly tokenUri: string
}
type Token = { readonly headers: Headers; readonly untilMs: number }
/** One exchange runs at a time. Other requests wait for it. */
type HeldToken = { readonly secret: string; token: Token | undefined; pending: Promise<Credential> | undefined }

/** The tokens of service accounts, by provider. */
class AccessTokens {
  private readonly held = new Map<string, HeldToken>()

  headersFor(provider: Provider): Promise<Credential> {
    const { id, secret = '' } = provider
    let held = this.held.get(id)
    // A provider with a new credential must not continue with the old token.
    if (held?.secret !== secret) this.held.set(id, (held = { secret, token: undefined, pending: undefined }))
    const { token } = held
    if (token && Date.now() < token.untilMs) return Promise.resolve({ kind: 'headers', headers: token.headers })
    const current = held
    return (current.pending ??= renew(provider, current).finally(() => (current.pending = undefined)))
  }

  /**
   * Forgets a token that was refused, because it or its key was revoked. It does so once, however many requests failed.
   */
  forget({ id }: Provider, headers: Headers): void {
    const held = this.held.get(id)
    if (held?.token?.headers === headers) held.token = undefined
  }
}

const accessTokens = new AccessTokens()

const failed = (failure: UpstreamFailure): CredentialFailure => ({ kind: 'failed', failure })
const refused = (message: string): CredentialFailure => failed({ kind: 'auth', message })

async function renew(provider: Provider, held: HeldToken): Promise<Credential> {
  const account = readAccount(held.secret)
  if (!account) return refused('the credential is not the JSON of a service account')
  const got = await exchange(account, provider)
  if ('kind' in got) return got
  held.token = got
  return { kind: 'headers', headers: got.headers }
}

function fieldsOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    return {} // The caller finds nothing in it and reports that.
  }
}

function readAccount(secret: string): Account | undefined {
  const { client_email: email, private_key: privateKey, private_key_id: keyId, token_uri: uri } = fieldsOf(secret)
  if (typeof email !== 'string' || typeof privateKey !== 'string') return undefined
  const tokenUri = typeof uri === 'string' && uri !== '' ? uri : TOKEN_URI
  return { email, privateKey, keyId: typeof keyId === 'string' ? keyId : undefined, tokenUri }
}

const base64url = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')

/** The account's statement about itself (RFC 7523). Undefined if the key cannot sign. */
function statementOf({ email, privateKey, keyId, tokenUri }: Account): string | undefined {
  const iat = Math.floor(Date.now() / 1000)
  const head = { alg: 'RS256', typ: 'JWT', ...(keyId === undefined ? {} : { kid: keyId }) }
  const claims = { iss: email, scope: SCOPE, aud: tokenUri, iat, exp: iat + STATEMENT_SECONDS }
  const signed = `${base64url(head)}.${base64url(claims)}`
  try {
    return `${signed}.${sign('RSA-SHA256', Buffer.from(signed), privateKey).toString('base64url')}`
  } catch {
    return undefined // No key, or one of another kind. The library's message might quote it.
  }
}

async function exchange(account: Account, { reach }: Provider): Promise<Token | CredentialFailure> {
  const assertion = statementOf(account)
  if (assertion === undefined) return refused('the private key of the service account cannot sign')
  const stop = new Stop()
  const timer = setTimeout(() => stop.stop(), EXCHANGE_TIMEOUT_MS)
  const body = new URLSearchParams({ grant_type: GRANT, assertion }).toString()
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  const request = { url: account.tokenUri, method: 'POST', headers, body, stop, reach } as const
  const askedMs = Date.now()
  const sent = await outbound.sendForText(request, EXCHANGE_BYTES_MAX)
  clearTimeout(timer)
  // The model itself was never reached, so another offer may answer.
  if (sent.kind === 'network') return failed({ kind: 'unreachable', message: `no token: ${sent.message}` })
  const { status, text = '' } = sent
  const { access_token: token, expires_in: seconds, error } = fieldsOf(text)
  if (status !== 200) {
    const kind = status === 429 ? 'rate' : status >= 500 ? 'overload' : 'auth'
    const code = typeof error === 'string' && /^[\w.-]{1,64}$/.test(error) ? { code: error } : {}
    return failed({ kind, status, message: `the token endpoint answered ${status}`, ...code })
  }
  if (typeof token !== 'string' || token === '') return refused('the token endpoint answered without a token')
  const lifeMs = (typeof seconds === 'number' && seconds > 0 ? seconds : STATEMENT_SECONDS) * 1000
  const untilMs = askedMs + lifeMs - Math.min(MARGIN_MS, lifeMs / 10)
  return { headers: { authorization: `Bearer ${token}` }, untilMs }
}
