/**
 * Keys of a role of AWS: of this container, of this machine, or of a web identity. They end, and are then read again.
 * Sources, read on 2026-11-26: https://docs.aws.amazon.com/sdkref/latest/guide/feature-container-credentials.html,
 * https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instancedata-data-retrieval.html and
 * https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRoleWithWebIdentity.html.
 */
import { readFileSync } from 'node:fs'
import { DIRECT } from '../domain/egress.ts'
import type { SigningKey } from '../lib/http/aws-signature.ts'
import type { AddressReach } from '../outbound/guard.ts'
import type { OutboundRequest } from '../outbound/send.ts'
import {
  askForToken,
  credentialFailed,
  credentialRefused,
  fieldsOf,
  tokenTimes,
  type AccessToken,
  type CredentialFailure,
} from './access-tokens.ts'

/** Keys, and when they end. */
export type KeysInTime = Pick<AccessToken, 'untilMs' | 'endMs'> & { readonly key: SigningKey }
export type FoundKeys = (KeysInTime & { readonly kind: 'keys' }) | CredentialFailure

/** The keys in an object, under the names of AWS's commands and services or those of its files. */
export function keyIn(fields: Readonly<Record<string, unknown>>): SigningKey | undefined {
  const textOf = (...names: readonly string[]): string | undefined =>
    names.map((name) => fields[name]).find((value) => typeof value === 'string' && value !== '') as string | undefined
  const accessKeyId = textOf('access_key_id', 'aws_access_key_id', 'AccessKeyId')
  const secretAccessKey = textOf('secret_access_key', 'aws_secret_access_key', 'SecretAccessKey')
  if (accessKeyId === undefined || secretAccessKey === undefined) return undefined
  const sessionToken = textOf('session_token', 'aws_session_token', 'SessionToken', 'Token')
  return { accessKeyId, secretAccessKey, sessionToken }
}

/** The keys of a role, by the name of the place that gives them. Undefined: no such place. */
export function keysOfRole(
  place: unknown,
  region: string | undefined,
  provider: Pick<OutboundRequest, 'reach' | 'egress'>,
): Promise<FoundKeys> | undefined {
  if (place === 'container') return keysOfContainer()
  if (place === 'instance') return keysOfInstance()
  return place === 'web_identity' ? keysOfWebIdentity(region, provider) : undefined
}

const CONTAINER = 'http://169.254.170.2'
const INSTANCE = 'http://169.254.169.254'
/** Hosts at which the agents of ECS and EKS give keys. The variable must not send the request anywhere else. */
const AGENTS = new Set(['169.254.170.2', '169.254.170.23', '[fd00:ec2::23]', '127.0.0.1', 'localhost', '[::1]'])

/** The addresses that a request for keys may go to: this machine, or the services that give keys. */
const reachOf = (url: string): AddressReach =>
  /^https?:\/\/(?:127\.|localhost[:/]|\[::1\])/.test(url) ? 'private' : 'metadata'

/** How a service of this machine is asked for keys. No proxy may see them. */
const machine = (url: string) => ({ reach: reachOf(url), egress: DIRECT })

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

/** Empty: none is set. Undefined: its file cannot be read. */
function agentToken(): string | undefined {
  const file = process.env['AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE']
  return file ? textOfFile(file) : (process.env['AWS_CONTAINER_AUTHORIZATION_TOKEN'] ?? '')
}

/** The file is read each time, because what is in it changes. */
function textOfFile(file: string): string | undefined {
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
  const session = await textAt({
    url: `${base}/latest/api/token`,
    method: 'PUT',
    headers: { 'x-aws-ec2-metadata-token-ttl-seconds': '300' },
    body: '',
    ...machine(base),
  })
  if (session.kind === 'failed') return session
  const headers = { 'x-aws-ec2-metadata-token': session.text }
  const role = await textAt({ url: roles, method: 'GET', headers, ...machine(base) })
  if (role.kind === 'failed') return role
  const [name = ''] = role.text.split('\n')
  return keysAt(roles + encodeURIComponent(name.trim()), headers)
}

type FoundText = { readonly kind: 'text'; readonly text: string } | CredentialFailure

async function textAt(request: Omit<OutboundRequest, 'stop'>): Promise<FoundText> {
  const sent = await askForToken(request)
  if (sent.kind === 'network')
    return credentialFailed({ kind: 'unreachable', message: `no keys of a role: ${sent.message}` })
  const { status, text } = sent
  if (status === 200 && text !== undefined) return { kind: 'text', text }
  const kind = status >= 500 || status === 429 ? 'overload' : 'auth'
  return credentialFailed({ kind, status, message: `the service that gives the keys of a role answered ${status}` })
}

async function keysAt(url: string, headers: Readonly<Record<string, string>>): Promise<FoundKeys> {
  const nowMs = Date.now()
  const answer = await textAt({ url, method: 'GET', headers, ...machine(url) })
  if (answer.kind === 'failed') return answer
  return keysIn(fieldsOf(answer.text), nowMs)
}

function keysIn(fields: Readonly<Record<string, unknown>>, nowMs: number): FoundKeys {
  const key = keyIn(fields)
  const endMs = Date.parse(String(fields['Expiration']))
  if (!key || Number.isNaN(endMs)) return credentialRefused('no keys are in the answer about a role')
  return { kind: 'keys', key, ...tokenTimes(nowMs, endMs - nowMs) }
}

const REGION = /^[a-z\d-]{1,32}$/
const STS_VERSION = '2011-06-15'
/** The members of the answer, which is XML. Their values are base64, ids and times. */
const MEMBER = /<(AccessKeyId|SecretAccessKey|SessionToken|Expiration)>([^<>&]+)</g

/** A role that an identity of another place may take, as that of a pod by its service account. */
async function keysOfWebIdentity(
  region: string | undefined,
  { reach, egress }: Pick<OutboundRequest, 'reach' | 'egress'>,
): Promise<FoundKeys> {
  const { env } = process
  const role = env['AWS_ROLE_ARN']
  const file = env['AWS_WEB_IDENTITY_TOKEN_FILE']
  if (!role || !file) return credentialRefused('AWS_ROLE_ARN and AWS_WEB_IDENTITY_TOKEN_FILE are not set')
  const token = textOfFile(file)
  if (token === undefined) return credentialRefused('AWS_WEB_IDENTITY_TOKEN_FILE cannot be read')
  const place = region ?? env['AWS_REGION'] ?? env['AWS_DEFAULT_REGION'] ?? 'us-east-1'
  if (!REGION.test(place)) return credentialRefused('the region is no name of a region')
  const usual = `https://sts.${place}.amazonaws.com${place.startsWith('cn-') ? '.cn' : ''}`
  const body = new URLSearchParams({
    Action: 'AssumeRoleWithWebIdentity',
    Version: STS_VERSION,
    RoleArn: role,
    RoleSessionName: env['AWS_ROLE_SESSION_NAME'] || 'tollgate',
    WebIdentityToken: token,
  }).toString()
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  const nowMs = Date.now()
  const answer = await textAt({
    url: env['AWS_ENDPOINT_URL_STS'] || usual,
    method: 'POST',
    headers,
    body,
    reach,
    egress,
  })
  if (answer.kind === 'failed') return answer
  return keysIn(Object.fromEntries(Array.from(answer.text.matchAll(MEMBER), ([, name, value]) => [name, value])), nowMs)
}
