/**
 * Turns a credential into headers. A key is sent unchanged. Other credentials are exchanged for a token first, or their
 * keys sign each request.
 */
import type { Provider } from '../domain/catalog.ts'
import type { AuthScheme, Preset } from '../vendors/preset.ts'
import { AccessTokens, type CredentialFailure, type Exchange, type Headers, type Sign } from './access-tokens.ts'
import { awsKeys } from './aws-keys.ts'
import { exchangeWithEntra } from './entra-token.ts'
import { exchangeWithGoogle } from './google-token.ts'

/** How a provider's credential is used. */
type Means =
  | { readonly kind: 'plain'; readonly headers: Headers }
  | { readonly kind: 'exchanged'; readonly exchange: Exchange }

/**
 * Bedrock's endpoint `bedrock-mantle` wants a key of its own in the header of Anthropic's format
 * (https://docs.aws.amazon.com/bedrock/latest/userguide/inference-messages-api.html, read on 2026-11-26).
 */
const MANTLE_MESSAGES = /^https:\/\/bedrock-mantle\.[^/]+\/anthropic(?:\/|$)/

function meansOf(scheme: AuthScheme, { secret, baseUrl }: Provider): Means {
  if (scheme === 'google-service-account') return { kind: 'exchanged', exchange: exchangeWithGoogle }
  if (!secret) return { kind: 'plain', headers: {} }
  const isJson = secret.trimStart().startsWith('{')
  switch (scheme) {
    case 'bearer':
      return { kind: 'plain', headers: { authorization: `Bearer ${secret}` } }
    case 'azure':
      return isJson
        ? { kind: 'exchanged', exchange: exchangeWithEntra }
        : { kind: 'plain', headers: { 'api-key': secret } }
    case 'aws':
      if (isJson) return { kind: 'exchanged', exchange: awsKeys }
      return {
        kind: 'plain',
        headers: MANTLE_MESSAGES.test(baseUrl) ? { 'x-api-key': secret } : { authorization: `Bearer ${secret}` },
      }
    case 'x-api-key':
      return { kind: 'plain', headers: { 'x-api-key': secret } }
    case 'x-goog-api-key':
      return { kind: 'plain', headers: { 'x-goog-api-key': secret } }
    case 'none':
      return { kind: 'plain', headers: {} }
  }
}

const AUTH_REFUSED = 401
/** AWS answers so when the keys of a signature have ended or were withdrawn, and when a model is not allowed. */
const SIGNATURE_REFUSED = 403

export type Sends<Sent> = {
  readonly statusOf: (sent: Sent) => number | undefined
  /** Discards an answer that will not be read. */
  readonly discard?: (sent: Sent) => void
}

/** Sends with the headers of a credential. `sign` is set if the request must be signed as a whole. */
type Send<Sent> = (credential: Headers, sign?: Sign) => Promise<Sent>

/** Sends a request with a provider's credential. An exchanged credential that is refused is renewed once. */
export function sendAs<Sent>(
  { provider, preset }: { readonly provider: Provider; readonly preset: Preset },
  send: Send<Sent>,
  sends: Sends<Sent>,
): Promise<Sent | CredentialFailure> {
  const means = knownMeans(provider, preset.auth)
  return means.kind === 'plain' ? send(means.headers) : sendWithToken(provider, means.exchange, { send, ...sends })
}

/** Made once for each provider object. A changed provider is a new object. */
const known = new WeakMap<Provider, Means>()

function knownMeans(provider: Provider, scheme: AuthScheme): Means {
  const found = known.get(provider)
  if (found) return found
  const means = meansOf(scheme, provider)
  known.set(provider, means)
  return means
}

const accessTokens = new AccessTokens()

async function sendWithToken<Sent>(
  provider: Provider,
  exchange: Exchange,
  { send, statusOf, discard }: Sends<Sent> & { readonly send: Send<Sent> },
): Promise<Sent | CredentialFailure> {
  for (let attempt = 1; ; attempt++) {
    const credential = await accessTokens.credentialFor(provider, exchange)
    if (credential.kind === 'failed') return credential
    const sent = await send(credential.headers, credential.sign)
    const status = statusOf(sent)
    const isSignature = credential.sign !== undefined && status === SIGNATURE_REFUSED
    if (status !== AUTH_REFUSED && !isSignature) return sent
    accessTokens.forget(provider, credential.headers)
    // The next request, after a rest, has newer keys. This one would be sent in vain for a model that is not allowed.
    if (attempt === 2 || isSignature) return sent
    discard?.(sent)
  }
}
