/**
 * Google: a service account signs a statement about itself and gets a one-hour token for it (RFC 7523). The private key
 * is never sent.
 */
import { sign } from 'node:crypto'
import { exchangeForm, fieldsOf, credentialRefused, type Exchange } from './access-tokens.ts'

const TOKEN_URI = 'https://oauth2.googleapis.com/token'
const SCOPE = 'https://www.googleapis.com/auth/cloud-platform'
const GRANT = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
const STATEMENT_SECONDS = 3_600

type ServiceAccount = {
  readonly email: string
  readonly privateKey: string
  readonly keyId: string | undefined
  readonly tokenUri: string
}

export const exchangeWithGoogle: Exchange = async (provider) => {
  const account = readAccount(provider.secret ?? '')
  if (!account) return credentialRefused('the credential is not the JSON of a service account')
  const assertion = statementOf(account)
  if (assertion === undefined) return credentialRefused('the private key of the service account cannot sign')
  return exchangeForm(account.tokenUri, { grant_type: GRANT, assertion }, provider)
}

function readAccount(secret: string): ServiceAccount | undefined {
  const { client_email: email, private_key: privateKey, private_key_id: keyId, token_uri: uri } = fieldsOf(secret)
  if (typeof email !== 'string' || typeof privateKey !== 'string') return undefined
  const tokenUri = typeof uri === 'string' && uri !== '' ? uri : TOKEN_URI
  return { email, privateKey, keyId: typeof keyId === 'string' ? keyId : undefined, tokenUri }
}

const base64url = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')

/** The account's statement about itself. Undefined if the key cannot sign. */
function statementOf({ email, privateKey, keyId, tokenUri }: ServiceAccount): string | undefined {
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
