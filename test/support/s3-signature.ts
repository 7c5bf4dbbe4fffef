/**
 * Verifies requests signed with AWS Signature Version 4, as S3 and other services do. It is written from the
 * documentation alone and shares no code with the signer of the product, so one mistake cannot hide in both.
 *
 * Sources, read on 2026-11-26:
 * https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html (canonical request, signed headers)
 * https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-auth-using-authorization-header.html (scope, payload hash)
 * https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html (codes and statuses)
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto'

export type S3Identity = {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly region: string
  /** Left out: S3. */
  readonly service?: string
}

/** A request as it came over the wire. */
export type WireRequest = {
  readonly method: string
  /** The target as it was sent: path and query, not decoded. */
  readonly target: string
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>
  /** Services other than S3 take its digest from the body itself. */
  readonly body?: string
}

export type S3Refusal = { readonly status: number; readonly code: string; readonly message: string }
const refusal = (status: number, code: string, message: string): S3Refusal => ({ status, code, message })

/** The server refuses a request that is older or newer than this (RequestTimeTooSkewed). */
const SKEW_MS = 15 * 60_000

const CREDENTIAL = /^AWS4-HMAC-SHA256 Credential=([^,/\s]+)\/(\d{8})\/([^,/\s]+)\/([^,/\s]+)\/aws4_request,\s*/
const PARTS = /SignedHeaders=([a-z\d;-]+),\s*Signature=([\da-f]{64})$/

/** Why the request is not accepted, or undefined. */
export function refusalOf(request: WireRequest, identity: S3Identity, nowMs: number): S3Refusal | undefined {
  const { headers } = request
  const authorization = headers['authorization']
  if (authorization === undefined) return refusal(403, 'AccessDenied', 'Access Denied')
  const [credential, parts] = [CREDENTIAL.exec(authorization), PARTS.exec(authorization)]
  if (!credential || !parts)
    return refusal(400, 'AuthorizationHeaderMalformed', 'The authorization header is malformed.')
  const [, accessKeyId = '', day = '', region = '', service = ''] = credential
  const [, signedNames = '', signature = ''] = parts
  if (accessKeyId !== identity.accessKeyId) {
    return refusal(403, 'InvalidAccessKeyId', 'The AWS Access Key Id you provided does not exist in our records.')
  }
  if (region !== identity.region || service !== (identity.service ?? 's3')) {
    const message = `The authorization header is malformed; the region '${region}' is wrong; expecting '${identity.region}'`
    return refusal(400, 'AuthorizationHeaderMalformed', message)
  }
  const problem =
    timeProblem(headers['x-amz-date'], day, nowMs) ??
    headerProblem(request, signedNames.split(';'), identity.service ?? 's3')
  if (problem) return problem
  const expected = signatureOf(request, identity, { day, signedNames })
  return timingSafeEqual(Buffer.from(expected), Buffer.from(signature))
    ? undefined
    : refusal(
        403,
        'SignatureDoesNotMatch',
        'The request signature we calculated does not match the signature you provided.',
      )
}

function timeProblem(date: string | undefined, day: string, nowMs: number): S3Refusal | undefined {
  const match = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(date ?? '')
  if (!match) return refusal(403, 'AccessDenied', 'AWS authentication requires a valid Date or x-amz-date header')
  const [year, month, date_, hours, minutes, seconds] = match.slice(1).map(Number) as [number, ...number[]]
  const sentMs = Date.UTC(year, (month ?? 0) - 1, date_, hours, minutes, seconds)
  if (!(date ?? '').startsWith(day)) return refusal(400, 'AuthorizationHeaderMalformed', 'Invalid credential date')
  if (Math.abs(sentMs - nowMs) <= SKEW_MS) return undefined
  return refusal(
    403,
    'RequestTimeTooSkewed',
    'The difference between the request time and the current time is too large.',
  )
}

/** The host and every x-amz- header must be signed, in order, and the digest of the payload must be there. */
function headerProblem({ headers }: WireRequest, signed: readonly string[], service: string): S3Refusal | undefined {
  const unsigned = Object.keys(headers).filter(
    (name) => (name === 'host' || name.startsWith('x-amz-')) && !signed.includes(name),
  )
  if (unsigned.length > 0 || signed.some((name) => headers[name] === undefined)) {
    return refusal(
      403,
      'AccessDenied',
      `There were headers present in the request which were not signed: ${unsigned.join()}`,
    )
  }
  if (signed.join(';') !== signed.toSorted().join(';')) {
    return refusal(400, 'AuthorizationHeaderMalformed', 'The signed headers are not sorted.')
  }
  if (service !== 's3' || headers['x-amz-content-sha256'] !== undefined) return undefined
  return refusal(400, 'InvalidRequest', 'Missing required header for this request: x-amz-content-sha256')
}

const encoded = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')
const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest()

function signatureOf(
  { method, target, headers, body = '' }: WireRequest,
  { secretAccessKey, region, service = 's3' }: S3Identity,
  { day, signedNames }: { readonly day: string; readonly signedNames: string },
): string {
  const [path = '', query = ''] = target.split('?')
  const canonicalPath = path
    .split('/')
    // S3 escapes a path once, and other services escape the path as it was sent.
    .map((part) => encoded(service === 's3' ? decodeURIComponent(part) : part))
    .join('/')
  const pairs = query === '' ? [] : query.split('&').map((pair) => pair.split('='))
  const canonicalQuery = pairs
    .map(([name = '', value = '']) => `${encoded(decodeURIComponent(name))}=${encoded(decodeURIComponent(value))}`)
    .toSorted()
    .join('&')
  const names = signedNames.split(';')
  const lines = names.map((name) => `${name}:${(headers[name] ?? '').trim().replace(/ +/g, ' ')}\n`).join('')
  const payload = service === 's3' ? (headers['x-amz-content-sha256'] ?? '') : sha256(body)
  const canonical = [method, canonicalPath, canonicalQuery, lines, signedNames, payload].join('\n')
  const scope = `${day}/${region}/${service}/aws4_request`
  const text = ['AWS4-HMAC-SHA256', headers['x-amz-date'], scope, sha256(canonical)].join('\n')
  const dayKey = hmac(`AWS4${secretAccessKey}`, day)
  const key = hmac(hmac(hmac(dayKey, region), service), 'aws4_request')
  return hmac(key, text).toString('hex')
}
