/**
 * Signs requests to S3 with AWS Signature Version 4, in the Authorization header.
 * Source: https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html, read on 2026-11-26.
 */
import { createHash, createHmac } from 'node:crypto'
import type { S3Settings } from './bucket-settings.ts'

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

type Identity = Pick<S3Settings, 'accessKeyId' | 'secretAccessKey' | 'region'>

const ALGORITHM = 'AWS4-HMAC-SHA256'
const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest()

/** A name or a value of a query, or a key, as the signature needs it: everything escaped but RFC 3986's unreserved. */
export const escapedForS3 = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)

/** The headers of the signed request, without `host`. */
export function signedHeaders(
  { method, host, path, query, headers, sha256 }: UnsignedRequest,
  { accessKeyId, secretAccessKey, region }: Identity,
  nowMs: number,
): Record<string, string> {
  const time = `${new Date(nowMs).toISOString().replaceAll(/[-:]/g, '').slice(0, 15)}Z`
  const day = time.slice(0, 8)
  const sent = { ...headers, 'x-amz-content-sha256': sha256, 'x-amz-date': time }
  const lines = Object.entries({ ...sent, host }).toSorted(([a], [b]) => (a < b ? -1 : 1))
  const names = lines.map(([name]) => name).join(';')
  const head = lines.map(([name, value]) => `${name}:${value.trim()}\n`).join('')
  const canonical = [method, path, query, head, names, sha256].join('\n')
  const scope = `${day}/${region}/s3/aws4_request`
  const digest = createHash('sha256').update(canonical).digest('hex')
  const key = hmac(hmac(hmac(hmac(`AWS4${secretAccessKey}`, day), region), 's3'), 'aws4_request')
  const signature = hmac(key, [ALGORITHM, time, scope, digest].join('\n')).toString('hex')
  const credential = `Credential=${accessKeyId}/${scope}`
  return { ...sent, authorization: `${ALGORITHM} ${credential},SignedHeaders=${names},Signature=${signature}` }
}
