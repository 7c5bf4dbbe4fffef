/**
 * AWS: requests are signed with keys. The credential holds them, or it names the place that has them: a profile of the
 * shared credentials file, or the role of this container or machine. Keys of a role end, and are then read again.
 * Sources, read on 2026-11-26: https://docs.aws.amazon.com/sdkref/latest/guide/feature-container-credentials.html,
 * https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instancedata-data-retrieval.html and
 * https://docs.aws.amazon.com/sdkref/latest/guide/file-format.html.
 */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { queryForAws, signedHeaders, type SigningKey, type SigningScope } from '../lib/http/aws-signature.ts'
import type { AddressReach } from '../outbound/guard.ts'
import type { OutboundRequest } from '../outbound/send.ts'
import {
  askForToken,
  credentialFailed,
  fieldsOf,
  givenUpAt,
  credentialRefused,
  type AccessToken,
  type CredentialFailure,
  type Exchange,
  type Sign,
} from './access-tokens.ts'

const MISSING =
  'the credential is JSON without access_key_id and secret_access_key, "profile", or "role" of "container" or "instance"'
/** Changes of the file are noticed after this time. */
const PROFILE_LIFE_MS = 60_000

/** Keys, and when they end. */
type KeysInTime = { readonly key: SigningKey; readonly untilMs: number }
type FoundKeys = (KeysInTime & { readonly kind: 'keys' }) | CredentialFailure

export const awsKeys: Exchange = async ({ secret = '' }) => {
  const fields = fieldsOf(secret)
  const found = await foundIn(fields)
  if (found.kind === 'failed') return found
  return tokenOf(found, typeof fields['region'] === 'string' ? fields['region'] : undefined)
}

const tokenOf = ({ key, untilMs }: KeysInTime, region: string | undefined): AccessToken => ({
  kind: 'token',
  headers: {},
  sign: signerOf(key, region),
  untilMs,
})

async function foundIn(fields: Readonly<Record<string, unknown>>): Promise<FoundKeys> {
  const key = keyIn(fields)
  if (key) return { kind: 'keys', key, untilMs: Infinity }
  if (typeof fields['profile'] === 'string') return keysOfProfile(fields['profile'])
  if (fields['role'] === 'container') return keysOfContainer()
  if (fields['role'] === 'instance') return keysOfInstance()
  return credentialRefused(MISSING)
}

/** The keys in an object, under the names of AWS's commands and services or those of its files. */
function keyIn(fields: Readonly<Record<string, unknown>>): SigningKey | undefined {
  const textOf = (...names: readonly string[]): string | undefined =>
    names.map((name) => fields[name]).find((value) => typeof value === 'string' && value !== '') as string | undefined
  const accessKeyId = textOf('access_key_id', 'aws_access_key_id', 'AccessKeyId')
  const secretAccessKey = textOf('secret_access_key', 'aws_secret_access_key', 'SecretAccessKey')
  if (accessKeyId === undefined || secretAccessKey === undefined) return undefined
  const sessionToken = textOf('session_token', 'aws_session_token', 'SessionToken', 'Token')
  return { accessKeyId, secretAccessKey, sessionToken }
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
  return { kind: 'keys', key, untilMs: Date.now() + PROFILE_LIFE_MS }
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

const CONTAINER = 'http://169.254.170.2'
const INSTANCE = 'http://169.254.169.254'
/** Hosts at which the agents of ECS and EKS give keys. The variable must not send the request anywhere else. */
const AGENTS = new Set(['169.254.170.2', '169.254.170.23', '[fd00:ec2::23]', '127.0.0.1', 'localhost', '[::1]'])

/** The addresses that a request for keys may go to: this machine, or the services that give keys. */
const reachOf = (url: string): AddressReach =>
  /^https?:\/\/(?:127\.|localhost[:/]|\[::1\])/.test(url) ? 'private' : 'metadata'

async function keysOfContainer(): Promise<FoundKeys> {
  const { env } = process
  const relative = env['AWS_CONTAINER_CREDENTIALS_RELATIVE_URI']
  const url = relative ? CONTAINER + relative : env['AWS_CONTAINER_CREDENTIALS_FULL_URI']
  if (!url)
    return credentialRefused(
      'this container has no role: neither AWS_CONTAINER_CREDENTIALS_RELATIVE_URI nor _FULL_URI is set',
    )
  if (!AGENTS.has(URL.parse(url)?.hostname ?? ''))
    return credentialRefused('AWS_CONTAINER_CREDENTIALS_FULL_URI is at another host')
  const authorization = agentToken()
  if (authorization === undefined) return credentialRefused('AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE cannot be read')
  return keysAt(url, authorization === '' ? {} : { authorization })
}

/** Empty: none is set. Undefined: its file cannot be read. The file is read each time, because its token changes. */
function agentToken(): string | undefined {
  const file = process.env['AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE']
  if (!file) return process.env['AWS_CONTAINER_AUTHORIZATION_TOKEN'] ?? ''
  try {
    return readFileSync(file, 'utf8').trim()
  } catch {
    return undefined
  }
}

/** The role of the machine, by version 2 of its metadata service. */
async function keysOfInstance(): Promise<FoundKeys> {
  const base = process.env['AWS_EC2_METADATA_SERVICE_ENDPOINT']?.replace(/\/$/, '') || INSTANCE
  const roles = `${base}/latest/meta-data/iam/security-credentials/`
  const session = await textAt(`${base}/latest/api/token`, 'PUT', { 'x-aws-ec2-metadata-token-ttl-seconds': '300' })
  if (session.kind === 'failed') return session
  const headers = { 'x-aws-ec2-metadata-token': session.text }
  const role = await textAt(roles, 'GET', headers)
  if (role.kind === 'failed') return role
  const [name = ''] = role.text.split('\n')
  return keysAt(roles + encodeURIComponent(name.trim()), headers)
}

type FoundText = { readonly kind: 'text'; readonly text: string } | CredentialFailure

async function textAt(
  url: string,
  method: 'GET' | 'PUT',
  headers: Readonly<Record<string, string>>,
): Promise<FoundText> {
  const body = method === 'PUT' ? '' : undefined
  const sent = await askForToken({ url, method, headers, body, reach: reachOf(url) })
  if (sent.kind === 'network')
    return credentialFailed({ kind: 'unreachable', message: `no keys of a role: ${sent.message}` })
  const { status, text } = sent
  if (status === 200 && text !== undefined) return { kind: 'text', text }
  const kind = status >= 500 || status === 429 ? 'overload' : 'auth'
  return credentialFailed({ kind, status, message: `the service that gives the keys of a role answered ${status}` })
}

async function keysAt(url: string, headers: Readonly<Record<string, string>>): Promise<FoundKeys> {
  const nowMs = Date.now()
  const answer = await textAt(url, 'GET', headers)
  if (answer.kind === 'failed') return answer
  const fields = fieldsOf(answer.text)
  const key = keyIn(fields)
  const endMs = Date.parse(String(fields['Expiration']))
  if (!key || Number.isNaN(endMs))
    return credentialRefused('the service that gives the keys of a role answered without keys')
  return { kind: 'keys', key, untilMs: givenUpAt(nowMs, endMs - nowMs) }
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
