/**
 * Signs requests with AWS Signature Version 4, in the Authorization header. S3 differs from other services in two
 * points: it escapes the path once, and wants the digest of the body in a header.
 * Sources, read on 2026-11-26: https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html and
 * https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html.
 */
import { createHash, createHmac } from 'node:crypto'

/** The digest of an empty body. */
export const EMPTY_SHA256 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'

export type UnsignedRequest = {
  readonly method: string
  /** The host as the request names it, with a port unless it is the scheme's own. */
  readonly host: string
  /** The path, escaped. */
  readonly path: string
  /** The query, escaped and sorted by name. */
  readonly query: string
  /** Further headers, by their lower-case names. All of them are signed. */
  readonly headers: Readonly<Record<string, string>>
  /** The digest of the body, hexadecimal. */
  readonly sha256: string
}

export type SigningKey = {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  /** Of temporary keys. */
  readonly sessionToken?: string | undefined
}
/** What a signature is valid for: a service in a region. */
export type SigningScope = { readonly service: string; readonly region: string }

const ALGORITHM = 'AWS4-HMAC-SHA256'
const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest()

/** A name or a value of a query, or a key, as the signature needs it: everything escaped but RFC 3986's unreserved. */
export const escapedForAws = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)

/** A query, escaped, and sorted by name and then by value. */
export const queryForAws = (pairs: Iterable<readonly [name: string, value: string]>): string =>
  Array.from(pairs, (pair) => pair.map(escapedForAws))
    .toSorted(([a = '', one = ''], [b = '', other = '']) => (a === b ? compare(one, other) : compare(a, b)))
    .map((pair) => pair.join('='))
    .join('&')
const compare = (a: string, b: string): number => (a < b ? -1 : a === b ? 0 : 1)

/** The headers of the signed request, without `host`. */
export function signedHeaders(
  { method, host, path, query, headers, sha256 }: UnsignedRequest,
  { accessKeyId, secretAccessKey, sessionToken, service, region }: SigningKey & SigningScope,
  nowMs: number,
): Record<string, string> {
  const isS3 = service === 's3'
  const time = `${new Date(nowMs).toISOString().replaceAll(/[-:]/g, '').slice(0, 15)}Z`
  const day = time.slice(0, 8)
  const sent = {
    ...headers,
    ...(isS3 ? { 'x-amz-content-sha256': sha256 } : {}),
    'x-amz-date': time,
    ...(sessionToken === undefined ? {} : { 'x-amz-security-token': sessionToken }),
  }
  const lines = Object.entries({ ...sent, host }).toSorted(([a], [b]) => (a < b ? -1 : 1))
  const names = lines.map(([name]) => name).join(';')
  const head = lines.map(([name, value]) => `${name}:${value.trim().replaceAll(/ +/g, ' ')}\n`).join('')
  // Services other than S3 escape the escaped path again.
  const signedPath = isS3 ? path : path.split('/').map(escapedForAws).join('/')
  const canonical = [method, signedPath, query, head, names, sha256].join('\n')
  const scope = `${day}/${region}/${service}/aws4_request`
  const digest = createHash('sha256').update(canonical).digest('hex')
  const key = hmac(hmac(hmac(hmac(`AWS4${secretAccessKey}`, day), region), service), 'aws4_request')
  const signature = hmac(key, [ALGORITHM, time, scope, digest].join('\n')).toString('hex')
  const parts = [`Credential=${accessKeyId}/${scope}`, `SignedHeaders=${names}`, `Signature=${signature}`]
  return { ...sent, authorization: `${ALGORITHM} ${parts.join(isS3 ? ',' : ', ')}` }
}
