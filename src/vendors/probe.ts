/** One real call to a provider, which shows whether address and credential work. */
import { secretsOf, type Provider } from '../domain/catalog.ts'
import type { UpstreamFailure } from '../domain/failure.ts'
import type { Dialect } from '../domain/turn.ts'
import { DEPLOYMENT_VERSION } from '../formats/core/model-path.ts'
import { upstreamSideOf } from '../formats/upstream-sides.ts'
import { outbound } from '../outbound/send.ts'
import { Stop } from '../outbound/stop.ts'
import type { Preset } from './preset.ts'
import { withoutSecrets } from './redaction.ts'
import { fieldsOf, type Headers } from '../upstream/access-tokens.ts'
import { sendAs } from '../upstream/credentials.ts'
import { withExtraHeaders, withExtraQuery } from '../upstream/extras.ts'
import { MIB } from '../lib/primitives/units.ts'
import { limit } from '../lib/primitives/limit.ts'

export type Probe = {
  readonly ok: boolean
  readonly status: number | undefined
  readonly tookMs: number
  /** The models that the provider lists. */
  readonly models: readonly string[]
  readonly problem: string | undefined
}

const PROBE_TIMEOUT_MS = limit('probeTimeoutMs', 15_000, 'A probe of a provider that takes longer counts as failed.')
/** Vertex lists the models of a publisher outside of any project (2026-11). */
const VERTEX_PLACE = /\/projects\/[^/]+\/locations\/[^/]+(?=\/publishers\/)/
const PROBE_BYTES_MAX = limit('probeBytesMax', 4 * MIB, 'A longer model list is not read.')

type ProbeResult = Pick<Probe, 'ok' | 'status' | 'problem'> & { readonly models?: readonly string[] }
type Reply =
  | { readonly kind: 'answer'; readonly status: number; readonly text: string; readonly failure: UpstreamFailure }
  | { readonly kind: 'none'; readonly found: ProbeResult }
type Question = { readonly method: 'GET' | 'POST'; readonly path: string; readonly body?: string }
type Ask = (question: Question) => Promise<Reply>

/** Sends the free request that the preset names. It needs a valid credential. */
export async function probe(provider: Provider, preset: Preset): Promise<Probe> {
  const startedMs = performance.now()
  const stop = new Stop()
  const timer = setTimeout(() => stop.stop(), PROBE_TIMEOUT_MS)
  const found = await probes[preset.probe](asker(provider, preset, stop), preset)
  clearTimeout(timer)
  return { models: [], ...found, tookMs: Math.round(performance.now() - startedMs) }
}

function asker(provider: Provider, preset: Preset, stop: Stop): Ask {
  const side = upstreamSideOf(preset.dialects)
  const { reach, egress } = provider
  const base = provider.baseUrl.replace(VERTEX_PLACE, '')
  const secrets = new Set([secretsOf(provider) ?? []].flat().flatMap(textsIn))
  return async ({ method, path, body }) => {
    const sent = await sendAs(
      { provider, preset },
      (credential, sign) => {
        const type = body === undefined ? {} : { 'content-type': 'application/json' }
        const headers = { ...withExtraHeaders(side.headers ?? {}, provider), ...credential, ...type }
        const unsigned = { url: base + withExtraQuery(path, provider), method, headers, body, stop, reach, egress }
        const request = sign ? sign(unsigned) : unsigned
        for (const secret of credentialsIn(request.headers)) secrets.add(secret)
        return outbound.sendForText(request, PROBE_BYTES_MAX)
      },
      { statusOf: (whole) => (whole.kind === 'whole' ? whole.status : undefined) },
    )
    if (sent.kind === 'failed') {
      const { kind, status, message } = sent.failure
      return { kind: 'none', found: { ok: false, status, problem: `${kind}: ${message}` } }
    }
    if (sent.kind === 'network') {
      return { kind: 'none', found: { ok: false, status: undefined, problem: `no connection (${sent.message})` } }
    }
    const { status, text = '' } = sent
    const { message, ...failure } = side.failures.response(status, sent.headers, text)
    // The vendor may quote what it got.
    return { kind: 'answer', status, text, failure: { ...failure, message: withoutSecrets(message, [...secrets]) } }
  }
}

const CREDENTIAL_HEADER = /^(?:authorization|x-amz-security-token|(?:.*-)?api-key)$/

/** The credentials among the headers of a request, without the word for their kind. */
const credentialsIn = (headers: Headers): readonly string[] =>
  Object.entries(headers).flatMap(([name, value]) =>
    CREDENTIAL_HEADER.test(name) ? [value.slice(value.lastIndexOf(' ') + 1)] : [],
  )

const SECRET_FIELD = /(?:secret|key|password|token)$/i

/** A secret, and the secrets in it if it is JSON. */
const textsIn = (secret: string): readonly string[] => [
  secret,
  ...Object.entries(fieldsOf(secret)).flatMap(([name, value]) =>
    typeof value === 'string' && SECRET_FIELD.test(name) ? [value] : [],
  ),
]

const probes: Readonly<Record<Preset['probe'], (ask: Ask, preset: Preset) => Promise<ProbeResult>>> = {
  models: probeModels,
  empty_call: probeCall,
  video_tasks: (ask) => probeReading(ask, '/contents/generations/tasks?page_num=1&page_size=1'),
  unknown_task: (ask) => probeReading(ask, '/tasks/amk-tool-none'),
}

const works = (status: number, models: readonly string[] = []): ProbeResult => ({
  ok: true,
  status,
  models,
  problem: undefined,
})
const fails = ({ status, failure }: Extract<Reply, { kind: 'answer' }>): ProbeResult => ({
  ok: false,
  status,
  problem: `${failure.kind}: ${failure.message}`,
})

/** Statuses of a vendor that has no model list, or none for this key. */
const LISTLESS = new Set([400, 403, 404, 405, 501])

/** The list of models. A vendor without one gets an empty call. */
async function probeModels(ask: Ask, preset: Preset): Promise<ProbeResult> {
  const version = preset.quirks.modelIn === 'deployment_path' ? `?${DEPLOYMENT_VERSION}` : ''
  const reply = await ask({ method: 'GET', path: `/models${version}` })
  if (reply.kind === 'none') return reply.found
  const { status } = reply
  const models = status === 200 ? modelIds(reply.text) : undefined
  if (models) return works(status, models)
  const found = status === 200 ? { ok: false, status, problem: 'it answered, but not with a model list' } : fails(reply)
  if (status !== 200 && !LISTLESS.has(status)) return found
  const called = await probeCall(ask, preset)
  return called.ok ? called : found
}

const callPaths: Readonly<Partial<Record<Dialect, string>>> = {
  chat: '/chat/completions',
  responses: '/responses',
  messages: '/messages',
  // No model has this name, so nothing can be generated.
  converse: '/model/none/converse',
}

/** A call without a model. If address and key are right, it is refused as incomplete, and nothing is generated. */
async function probeCall(ask: Ask, { dialects }: Preset): Promise<ProbeResult> {
  const path = dialects.map((dialect) => callPaths[dialect]).find((one) => one !== undefined)
  if (path === undefined) return { ok: false, status: undefined, problem: 'it has no model list' }
  const reply = await ask({ method: 'POST', path, body: '{}' })
  if (reply.kind === 'none') return reply.found
  const { status, failure, text } = reply
  const isRefusal = (status === 400 || status === 422) && failure.kind === 'bad_request' && isJson(text)
  const isAboutModel =
    status === 400 ? failure.kind === 'model_gone' : /model/i.test(`${failure.code ?? ''} ${failure.message}`)
  const isUnknownModel = (status === 404 || status === 400) && isJson(text) && isAboutModel
  // Some servers answer any body.
  const isAnswer = status === 200 && isJson(text) && !/"error"/.test(text)
  return isRefusal || isUnknownModel || isAnswer ? works(status) : fails(reply)
}

/** Reads something. 404 shows that the key works, too: a wrong key gets 401 or 403. */
async function probeReading(ask: Ask, path: string): Promise<ProbeResult> {
  const reply = await ask({ method: 'GET', path })
  if (reply.kind === 'none') return reply.found
  const { status, text } = reply
  return (status === 200 || status === 400 || status === 404) && isJson(text) ? works(status) : fails(reply)
}

/** A list of OpenAI's has ids, one of Google's has names. Together answers with the list itself (2026-11). */
type ListedModel = { readonly id?: unknown; readonly name?: unknown }
const GOOGLE_PREFIX = /^(?:publishers\/[a-z]+\/)?models\//

function modelIds(text: string): string[] | undefined {
  const answer = jsonOf(text) as Partial<Record<string, ListedModel[]>> | ListedModel[] | undefined
  const list = Array.isArray(answer) ? answer : (answer?.['data'] ?? answer?.['models'] ?? answer?.['publisherModels'])
  if (!Array.isArray(list)) return undefined
  const ids = list.map((one: ListedModel | null) => one?.id ?? one?.name)
  return ids.flatMap((id) => (typeof id === 'string' ? [id.replace(GOOGLE_PREFIX, '')] : []))
}

function jsonOf(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined // Not an answer of an API.
  }
}

const isJson = (text: string): boolean => jsonOf(text) !== undefined
