/**
 * AWS: requests are signed with keys. The credential holds them, or it names the place that has them: a profile of the
 * shared credentials file (https://docs.aws.amazon.com/sdkref/latest/guide/file-format.html, read on 2026-11-26), or a
 * role.
 */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { Provider } from '../domain/catalog.ts'
import { queryForAws, signedHeaders, type SigningKey, type SigningScope } from '../lib/http/aws-signature.ts'
import type { OutboundRequest } from '../outbound/send.ts'
import { credentialRefused, fieldsOf, type AccessToken, type Exchange, type Sign } from './access-tokens.ts'
import { keyIn, keysOfRole, type FoundKeys, type KeysInTime } from './aws-roles.ts'

const MISSING =
  'the credential is JSON without access_key_id and secret_access_key, "profile", or a "role" of "container", ' +
  '"instance" or "web_identity"'
/** Changes of the file are noticed after this time. */
const PROFILE_LIFE_MS = 60_000

export const awsKeys: Exchange = async (provider) => {
  const fields = fieldsOf(provider.secret ?? '')
  const region = typeof fields['region'] === 'string' ? fields['region'] : undefined
  const found = await foundIn(fields, region, provider)
  return found.kind === 'failed' ? found : tokenOf(found, region)
}

const tokenOf = ({ key, untilMs, endMs }: KeysInTime, region: string | undefined): AccessToken => ({
  kind: 'token',
  headers: {},
  sign: signerOf(key, region),
  untilMs,
  endMs,
})

function foundIn(
  fields: Readonly<Record<string, unknown>>,
  region: string | undefined,
  provider: Provider,
): FoundKeys | Promise<FoundKeys> {
  const key = keyIn(fields)
  if (key) return { kind: 'keys', key, untilMs: Infinity, endMs: Infinity }
  if (typeof fields['profile'] === 'string') return keysOfProfile(fields['profile'])
  return keysOfRole(fields['role'], region, provider) ?? credentialRefused(MISSING)
}

function keysOfProfile(profile: string): FoundKeys {
  const file = process.env['AWS_SHARED_CREDENTIALS_FILE'] || join(homedir(), '.aws', 'credentials')
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch {
    return credentialRefused('the shared credentials file of AWS cannot be read')
  }
  const key = keyIn(sectionOf(text, profile))
  if (!key) return credentialRefused('the profile has no keys in the shared credentials file of AWS')
  const endMs = Date.now() + PROFILE_LIFE_MS
  return { kind: 'keys', key, untilMs: endMs, endMs }
}

/** The settings below `[name]`. */
function sectionOf(text: string, name: string): Record<string, string> {
  const settings: Record<string, string> = {}
  let isInside = false
  for (const line of text.split(/\r?\n/)) {
    const [, section] = /^\s*\[\s*(.+?)\s*\]/.exec(line) ?? []
    if (section !== undefined) isInside = section === name
    const [, key, value] = /^\s*([\w-]+)\s*=\s*(.*?)\s*$/.exec(line) ?? []
    if (isInside && key !== undefined && value !== undefined) settings[key] = value
  }
  return settings
}

/** The service and the region in the name of an endpoint. A VPC endpoint has further parts before and after them. */
const ENDPOINT = /(?:^|\.)(bedrock[a-z-]*)\.([a-z]{2}[a-z\d-]+)\.(?:vpce\.)?(?:amazonaws\.com(?:\.cn)?|api\.aws)$/

function scopeOf(hostname: string, region: string | undefined): SigningScope {
  const [, endpoint = '', named] = ENDPOINT.exec(hostname) ?? []
  const service = endpoint.startsWith('bedrock-mantle') ? 'bedrock-mantle' : 'bedrock'
  return { service, region: region ?? named ?? 'us-east-1' }
}

/** Signs a request for the host that it goes to. A signature is worth nothing at another host. */
const signerOf =
  (key: SigningKey, region: string | undefined): Sign =>
  (request: OutboundRequest) => {
    const { hostname, host, pathname, searchParams } = new URL(request.url)
    const { method, body = '', headers } = request
    const isText = typeof body === 'string'
    const query = queryForAws(searchParams)
    // An upload is read once, while it is sent.
    const sha256 = isText ? createHash('sha256').update(body).digest('hex') : 'UNSIGNED-PAYLOAD'
    const signed = { ...headers, ...(isText ? {} : { 'x-amz-content-sha256': sha256 }) }
    const unsigned = { method, host, path: pathname, query, headers: signed, sha256 }
    return { ...request, headers: signedHeaders(unsigned, { ...key, ...scopeOf(hostname, region) }, Date.now()) }
  }
