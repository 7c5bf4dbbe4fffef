/** One real call to a provider, to see whether address and credential work. */
import type { Provider } from '../domain/catalog.ts'
import { parseFields } from '../formats/fields.ts'
import { upstreamSideOf } from '../formats/upstream-sides.ts'
import { outbound } from '../outbound/send.ts'
import { Stop } from '../outbound/stop.ts'
import type { Preset } from '../providers/preset.ts'
import { sendAs } from './credentials.ts'

export type Probe = {
  readonly ok: boolean
  readonly status: number | undefined
  readonly tookMs: number
  /** What the provider said it serves, or what went wrong. */
  readonly models: readonly string[]
  readonly problem: string | undefined
}

const PROBE_TIMEOUT_MS = 15_000
/** Vertex lists its models outside of any project (2026-11). */
const VERTEX_PLACE = /\/projects\/[^/]+\/locations\/[^/]+(?=\/publishers\/)/
const PROBE_BYTES_MAX = 4 * 1024 * 1024

type Question = { readonly method: 'GET' | 'POST'; readonly path: string; readonly body?: string }
const LIST: Question = { method: 'GET', path: '/models' }

/**
 * What is asked of a vendor without a list of models: what it refuses, for nothing, once address and credential are
 * right. Undefined: every vendor of the kind has a list. (Perplexity and MediaKit have none, November 2026.)
 */
function otherQuestion({ upscaleApi, videoApi, dialects }: Preset): Question | undefined {
  if (videoApi === 'ark') return { method: 'GET', path: '/contents/generations/tasks?page_num=1&page_size=1' }
  if (upscaleApi) return { method: 'GET', path: '/tasks/none' }
  if (dialects.includes('chat')) return { method: 'POST', path: '/chat/completions', body: '{}' }
  if (dialects.includes('responses')) return { method: 'POST', path: '/responses', body: '{}' }
  return dialects.includes('messages') ? { method: 'POST', path: '/messages', body: '{}' } : undefined
}

/** What a list is taken for that everybody is shown. */
const MISSING: Judged = { ok: false, status: 404, models: [], problem: 'it has no list of models of a key' }

/** Statuses of what is not there. */
const isMissing = (status: number): boolean => status === 404 || status === 405 || status === 501

/** Asks for the provider's model list: it costs nothing and needs a valid credential nearly everywhere. */
export async function probe(provider: Provider, preset: Preset): Promise<Probe> {
  const startedMs = performance.now()
  const stop = new Stop()
  const timer = setTimeout(() => stop.stop(), PROBE_TIMEOUT_MS)
  const listed = preset.hasOpenList ? MISSING : judgedList(preset, await asked({ provider, preset, stop }, LIST))
  const other = listed.status !== undefined && isMissing(listed.status) ? otherQuestion(preset) : undefined
  const told = other ? judgedAnswer(preset, await asked({ provider, preset, stop }, other)) : listed
  clearTimeout(timer)
  return { ...told, tookMs: Math.round(performance.now() - startedMs) }
}

type Asked = { readonly provider: Provider; readonly preset: Preset; readonly stop: Stop }
type Answered = Awaited<ReturnType<typeof asked>>
type Judged = Omit<Probe, 'tookMs'>

function asked({ provider, preset, stop }: Asked, { method, path, body }: Question) {
  const url = `${provider.baseUrl.replace(VERTEX_PLACE, '')}${path}`
  const { reach } = provider
  const own = { ...upstreamSideOf(preset.dialects).headers, ...(body ? { 'content-type': 'application/json' } : {}) }
  return sendAs(
    { provider, preset },
    (credential) =>
      outbound.sendForText({ url, method, headers: { ...own, ...credential }, body, stop, reach }, PROBE_BYTES_MAX),
    { statusOf: (whole) => (whole.kind === 'whole' ? whole.status : undefined) },
  )
}

const bad = (problem: string, status?: number): Judged => ({ ok: false, status, models: [], problem })

function judgedList(preset: Preset, sent: Answered): Judged {
  if (sent.kind === 'failed') return bad(`${sent.failure.kind}: ${sent.failure.message}`, sent.failure.status)
  if (sent.kind === 'network') return bad(`no connection (${sent.message})`)
  const { status, text } = sent
  if (status !== 200) return refusal(preset, sent)
  const models = modelIds(text)
  if (!models) return bad('it answered, but not with a model list', status)
  return { ok: true, status, models, problem: undefined }
}

/** Whether a vendor without a list took the credential: it answers, or refuses what was asked as it should be. */
function judgedAnswer(preset: Preset, sent: Answered): Judged {
  if (sent.kind !== 'whole') return judgedList(preset, sent)
  const { status, text = '' } = sent
  const { kind } = upstreamSideOf(preset.dialects).failures.response(status, sent.headers, text)
  // A page of HTML says that nobody is there.
  const isTaken = status === 200 || kind === 'bad_request' || (kind === 'model_gone' && parseFields(text) !== undefined)
  return isTaken ? { ok: true, status, models: [], problem: undefined } : refusal(preset, sent)
}

function refusal({ dialects }: Preset, { status, headers, text = '' }: Extract<Answered, { kind: 'whole' }>): Judged {
  const { kind, message } = upstreamSideOf(dialects).failures.response(status, headers, text)
  return bad(`${kind}: ${message}`, status)
}

/** OpenAI's lists have ids, Google's names. */
type Listed = { readonly id?: unknown; readonly name?: unknown }
const GOOGLE_PREFIX = /^(?:publishers\/google\/)?models\//

function modelIds(text: string | undefined): string[] | undefined {
  try {
    const { data, models, publisherModels } = JSON.parse(text ?? '') as Partial<Record<string, Listed[]>>
    const named = (data ?? models ?? publisherModels)?.map(({ id, name }) => id ?? name)
    return named?.flatMap((id) => (typeof id === 'string' ? [id.replace(GOOGLE_PREFIX, '')] : []))
  } catch {
    return undefined // Not a model list.
  }
}
