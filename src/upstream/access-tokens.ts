/**
 * Credentials that are exchanged for a token with an end, and the exchange with a token endpoint of OAuth 2.0. A token
 * is kept until shortly before its end. One exchange runs at a time, and other requests wait for it.
 */
import { secretsOf, type Provider } from '../domain/catalog.ts'
import type { UpstreamFailure } from '../domain/failure.ts'
import { outbound, type OutboundRequest, type WholeResult } from '../outbound/send.ts'
import { Stop } from '../outbound/stop.ts'
import { KIB } from '../lib/primitives/units.ts'
import { limit } from '../lib/primitives/limit.ts'

export type Headers = Readonly<Record<string, string>>
/** Adds a signature of the whole request to its headers. */
export type Sign = (request: OutboundRequest) => OutboundRequest

export type CredentialFailure = { readonly kind: 'failed'; readonly failure: UpstreamFailure }
export type Credential =
  | { readonly kind: 'headers'; readonly headers: Headers; readonly sign?: Sign | undefined }
  | CredentialFailure

export type AccessToken = {
  readonly kind: 'token'
  readonly headers: Headers
  readonly sign?: Sign | undefined
  /** When it is given up. */
  readonly untilMs: number
  /** When it ends. */
  readonly endMs: number
}
/** Gets a token for the credential of a provider. */
export type Exchange = (provider: Provider) => Promise<AccessToken | CredentialFailure>

export const credentialFailed = (failure: UpstreamFailure): CredentialFailure => ({ kind: 'failed', failure })
export const credentialRefused = (message: string): CredentialFailure => credentialFailed({ kind: 'auth', message })

const EXCHANGE_TIMEOUT_MS = limit(
  'tokenExchangeTimeoutMs',
  10_000,
  'A credential exchange with a cloud that takes longer counts as failed.',
)
const EXCHANGE_BYTES_MAX = limit(
  'tokenExchangeBytesMax',
  64 * KIB,
  'A credential exchange with a larger answer counts as failed.',
)
/** A token is given up this long before it ends, or a tenth of its life before, if that is shorter. */
const MARGIN_MS = 300_000
const USUAL_LIFE_MS = 3_600_000
/** While a token endpoint fails, the last token serves until its end, and the exchange is tried after this time. */
const AGAIN_MS = 10_000

/** The times of a token that lives so long. */
export const tokenTimes = (fromMs: number, lifeMs: number): Pick<AccessToken, 'untilMs' | 'endMs'> => ({
  untilMs: fromMs + lifeMs - Math.min(MARGIN_MS, lifeMs / 10),
  endMs: fromMs + lifeMs,
})

type HeldToken = {
  readonly secret: string
  readonly exchange: Exchange
  token: AccessToken | undefined
  pending: Promise<Credential> | undefined
}

/** The tokens by provider. A provider has one for each of its credentials. */
export class AccessTokens {
  private readonly held = new Map<string, readonly HeldToken[]>()

  credentialFor(provider: Provider, exchange: Exchange): Promise<Credential> {
    const { id, secret = '' } = provider
    const all = this.held.get(id) ?? []
    let held = all.find((one) => one.secret === secret && one.exchange === exchange)
    if (!held) {
      held = { secret, exchange, token: undefined, pending: undefined }
      // A provider with a new credential must not continue with the old token.
      const kept = new Set([secretsOf(provider)].flat())
      this.held.set(id, [...all.filter((one) => one.exchange === exchange && kept.has(one.secret)), held])
    }
    const { token } = held
    const nowMs = Date.now()
    if (token && nowMs < token.untilMs) return Promise.resolve(credentialOf(token))
    const current = held
    current.pending ??= renew(provider, current).finally(() => (current.pending = undefined))
    // Nobody waits for the next token as long as the last one is valid.
    return token && nowMs < token.endMs ? Promise.resolve(credentialOf(token)) : current.pending
  }

  /**
   * Forgets a token that was refused, because it or its key was revoked. It does so once, however many requests failed.
   */
  forget({ id }: Provider, headers: Headers): void {
    const held = this.held.get(id)?.find(({ token }) => token?.headers === headers)
    if (held) held.token = undefined
  }
}

const credentialOf = ({ headers, sign }: AccessToken): Credential => ({ kind: 'headers', headers, sign })

async function renew(provider: Provider, held: HeldToken): Promise<Credential> {
  const got = await held.exchange(provider).catch(broken)
  if (got.kind === 'token') {
    held.token = got
    return credentialOf(got)
  }
  const { token } = held
  if (token) held.token = { ...token, untilMs: Math.min(token.endMs, Date.now() + AGAIN_MS) }
  return got
}

/** A programmer's error. Its message might quote the credential. */
const broken = (error: unknown): CredentialFailure =>
  credentialFailed({ kind: 'unreachable', message: `no token: ${(error as Error).name}` })

/** The members of a JSON object. Empty if the text is none: the caller finds nothing in it and reports that. */
export function fieldsOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}

/** Requests a whole answer that belongs to an exchange. */
export async function askForToken(request: Omit<OutboundRequest, 'stop'>): Promise<WholeResult> {
  const stop = new Stop()
  const timer = setTimeout(() => stop.stop(), EXCHANGE_TIMEOUT_MS)
  const sent = await outbound.sendForText({ ...request, stop }, EXCHANGE_BYTES_MAX)
  clearTimeout(timer)
  return sent
}

/** Posts a form to a token endpoint (RFC 6749). */
export async function exchangeForm(
  url: string,
  form: Readonly<Record<string, string>>,
  { reach, egress }: Provider,
): Promise<AccessToken | CredentialFailure> {
  const body = new URLSearchParams(form).toString()
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  const askedMs = Date.now()
  const sent = await askForToken({ url, method: 'POST', headers, body, reach, egress })
  // The model itself was never reached, so another offer may answer.
  if (sent.kind === 'network') return credentialFailed({ kind: 'unreachable', message: `no token: ${sent.message}` })
  const { status, text = '' } = sent
  const { access_token: token, expires_in: seconds, error } = fieldsOf(text)
  if (status !== 200) {
    const kind = status === 429 ? 'rate' : status >= 500 ? 'overload' : 'auth'
    const code = typeof error === 'string' && /^[\w.-]{1,64}$/.test(error) ? { code: error } : {}
    return credentialFailed({ kind, status, message: `the token endpoint answered ${status}`, ...code })
  }
  if (typeof token !== 'string' || token === '') return credentialRefused('the token endpoint answered without a token')
  const lifeMs = typeof seconds === 'number' && seconds > 0 ? seconds * 1000 : USUAL_LIFE_MS
  return { kind: 'token', headers: { authorization: `Bearer ${token}` }, ...tokenTimes(askedMs, lifeMs) }
}
