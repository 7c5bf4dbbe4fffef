/** The settings of S3-compatible storage, read from the environment. */
import { readFileSync } from 'node:fs'
import { checkBaseUrl } from '../outbound/guard.ts'
import { maskedAddress } from '../lib/primitives/masked-address.ts'

export type S3Settings = {
  /** An http or https address without a path. */
  readonly endpoint: string
  readonly bucket: string
  readonly region: string
  readonly accessKeyId: string
  readonly secretAccessKey: string
  /** In front of the names of all objects. Empty, or it ends in a slash. */
  readonly prefix: string
  /** Where a request names the bucket: in the path, or in the host. */
  readonly style: 'path' | 'host'
}

export type S3SettingsResult =
  | { readonly kind: 'set'; readonly settings: S3Settings }
  | { readonly kind: 'bad'; readonly message: string }

/** A part of dots alone would be resolved away, in URLs and by servers that keep objects as files. */
const PREFIX = /^[A-Za-z\d_-][A-Za-z\d._-]*(?:\/[A-Za-z\d_-][A-Za-z\d._-]*)*\/?$/
/** https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html; other servers also take capitals. */
const BUCKET = /^[A-Za-z\d][A-Za-z\d._-]{1,61}[A-Za-z\d]$/
const REGION = /^[A-Za-z\d-]{1,64}$/
/** A key is part of a header, whose parts are separated by commas and slashes. */
const KEY_ID = /^[\x21-\x7e]{1,256}$/

const bad = (message: string): S3SettingsResult => ({ kind: 'bad', message })

/** Reads the settings. Call it only if one of the variables is set. */
export function readS3Settings(env: Readonly<Record<string, string | undefined>>): S3SettingsResult {
  const secret = secretOf(env['TOLLGATE_S3_SECRET_ACCESS_KEY'], env['TOLLGATE_S3_SECRET_ACCESS_KEY_FILE'])
  if (secret.kind === 'bad') return secret
  const endpoint = env['TOLLGATE_S3_ENDPOINT'] ?? ''
  const bucket = env['TOLLGATE_S3_BUCKET'] ?? ''
  const accessKeyId = env['TOLLGATE_S3_ACCESS_KEY_ID'] ?? ''
  const needed = { ENDPOINT: endpoint, BUCKET: bucket, ACCESS_KEY_ID: accessKeyId, SECRET_ACCESS_KEY: secret.text }
  const missing = Object.entries(needed).filter(([, value]) => value === '')
  if (missing.length > 0) {
    const names = missing.map(([name]) => `TOLLGATE_S3_${name}`).join(', ')
    return bad(`files in S3 need ${names} too; without any TOLLGATE_S3_ variable, files are in the data folder`)
  }
  const region = env['TOLLGATE_S3_REGION'] || 'us-east-1'
  const prefix = env['TOLLGATE_S3_PREFIX'] ?? ''
  const style = env['TOLLGATE_S3_PATH_STYLE'] || 'on'
  const problem = addressProblem(endpoint)
  if (problem !== undefined) return bad(`TOLLGATE_S3_ENDPOINT '${maskedAddress(endpoint)}' ${problem}`)
  if (!BUCKET.test(bucket)) return bad(`TOLLGATE_S3_BUCKET must be the name of a bucket, not '${bucket}'`)
  if (!REGION.test(region)) return bad(`TOLLGATE_S3_REGION must be the name of a region, not '${region}'`)
  if (!KEY_ID.test(accessKeyId) || /[,/]/.test(accessKeyId)) return bad('TOLLGATE_S3_ACCESS_KEY_ID is not a key id')
  if (prefix !== '' && !PREFIX.test(prefix)) {
    return bad(`TOLLGATE_S3_PREFIX must be names of letters, digits, . _ - with slashes between them, not '${prefix}'`)
  }
  if (style !== 'on' && style !== 'off') return bad(`TOLLGATE_S3_PATH_STYLE must be on or off, not '${style}'`)
  const names = { bucket, region, accessKeyId, secretAccessKey: secret.text }
  const ended = prefix === '' || prefix.endsWith('/') ? prefix : `${prefix}/`
  const origin = new URL(endpoint).origin
  return {
    kind: 'set',
    settings: { endpoint: origin, ...names, prefix: ended, style: style === 'on' ? 'path' : 'host' },
  }
}

/** The storage is the operator's own, so private addresses are allowed. Those that are never called are not. */
function addressProblem(endpoint: string): string | undefined {
  const checked = checkBaseUrl(endpoint, 'private')
  if (checked.kind !== 'good') return checked.kind === 'bad' ? checked.message : 'cannot be called'
  return checked.url.pathname === '/' ? undefined : 'must have no path: the bucket has a variable of its own'
}

type Secret = { readonly kind: 'text'; readonly text: string } | { readonly kind: 'bad'; readonly message: string }

function secretOf(text = '', file = ''): Secret {
  if (file === '') return { kind: 'text', text }
  if (text !== '') {
    return { kind: 'bad', message: 'set TOLLGATE_S3_SECRET_ACCESS_KEY or TOLLGATE_S3_SECRET_ACCESS_KEY_FILE, not both' }
  }
  try {
    const read = readFileSync(file, 'utf8').trim()
    if (read !== '') return { kind: 'text', text: read }
    return { kind: 'bad', message: `TOLLGATE_S3_SECRET_ACCESS_KEY_FILE names ${file}, which is empty` }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return { kind: 'bad', message: `TOLLGATE_S3_SECRET_ACCESS_KEY_FILE names ${file}, which cannot be read (${code})` }
  }
}
